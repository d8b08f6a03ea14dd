package kit

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"sandglass/backend"
	"sandglass/views/theme"
)

func TestPlot(t *testing.T) {
	known := func(f float64) backend.Value[float64] { return backend.Known(f) }
	p := Plot{Title: []Span{{theme.Strong, "request latency"}}, Top: "80ms", From: "1h ago",
		Values: []backend.Value[float64]{{}, {}, known(0), known(20), known(40), known(80), known(60), known(0), known(80), known(80)}}
	th := theme.New(theme.NoColours, theme.ASCII)
	lines := p.Lines(th, 30, 6)
	var got []string
	for _, l := range lines {
		if Width(l) != 30 {
			t.Errorf("%d cells: %q", Width(l), l)
		}
		got = append(got, strings.TrimRight(ansi.Strip(l), " "))
	}
	want := ` request latency
     80ms |     #  ##
          |     ## ##
          |    ### ##
          |??_####_##
          +1h ago now`
	if s := strings.Join(got, "\n"); s != want {
		t.Errorf("got\n%s\nwant\n%s", s, want)
	}
}
