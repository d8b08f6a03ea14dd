package kit

import (
	"fmt"
	"strings"
	"testing"

	"sandglass/backend"
	"sandglass/views/theme"
)

func TestChartsAreAsFineAsThereIsRoom(t *testing.T) {
	d := &Doc{}
	d.Chart("a day", Chart{Parts: []int{4, 8, 16}, After: []Span{{Text: "  last 24h"}}, Values: func(n int) []backend.Value[float64] {
		out := make([]backend.Value[float64], n)
		for i := n / 2; i < n; i++ {
			out[i] = backend.Known(float64(i))
		}
		return out
	}})
	for width, want := range map[int]string{40: "········▅▅▆▆▇▇██  last 24h", 34: "····▅▆▇█  last 24h", 24: "··▆█  last 24h", 14: "··▆█"} {
		lines := d.Layout(theme.New(theme.NoColours, theme.Unicode), width)
		if !strings.Contains(lines[0], want) || strings.Count(lines[0], "·") != strings.Count(want, "·") {
			t.Errorf("%d cells: %q, want %q", width, lines, want)
		}
		for _, l := range lines {
			if Width(l) != width {
				t.Errorf("%d cells: %q", width, l)
			}
		}
	}
	if got := fmt.Sprint(d.Layout(theme.New(theme.NoColours, theme.ASCII), 24)); !strings.Contains(got, "??") || strings.Contains(got, "·") {
		t.Errorf("ASCII: %s", got)
	}
	zero := sparkCells(theme.New(theme.NoColours, theme.Unicode), []backend.Value[float64]{{}, backend.Known(0.0), backend.NotApplicable[float64]()})
	if zero != "·▁·" {
		t.Errorf("nothing known and nothing happened look like %q", zero)
	}
}
