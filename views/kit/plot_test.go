package kit

import (
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"sandglass/backend"
	"sandglass/views/theme"
)

func TestPlot(t *testing.T) {
	known := func(f float64) backend.Value[float64] { return backend.Known(f) }
	p := Plot{Title: []Span{{Tone: theme.Strong, Text: "request latency"}}, Top: "80ms", From: "1h ago",
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

// An axis with a scale ends at a round number, a value that cannot be leaves its column empty, and marked columns are named.
func TestPlotWithAScale(t *testing.T) {
	known := func(f float64) backend.Value[float64] { return backend.Known(f) }
	p := Plot{Title: []Span{{Tone: theme.Strong, Text: "evictions"}}, From: "1h ago", Mid: "30m ago", Scale: func(f float64) string { return strconv.FormatFloat(f, 'g', 2, 64) },
		MarkWord: "storm"}
	for i := range 40 {
		switch {
		case i < 2:
			p.Values = append(p.Values, backend.Unknown[float64]())
		case i < 5:
			p.Values = append(p.Values, backend.NotApplicable[float64]())
		case i >= 34:
			p.Values = append(p.Values, known(0.35))
		default:
			p.Values = append(p.Values, known(0))
		}
		p.Marked = append(p.Marked, i >= 34)
	}
	var got []string
	for _, l := range p.Lines(theme.New(theme.NoColours, theme.ASCII), 54, 8) {
		got = append(got, strings.TrimRight(ansi.Strip(l), " "))
	}
	want := ` evictions
      0.4 |                                  ......
          |                                  ######
          |                                  ######
      0.2 |                                  ######
          |                                  ######
        0 |??   _____________________________######
          +1h ago           30m ago       storm now`
	if s := strings.Join(got, "\n"); s != want {
		t.Errorf("got\n%s\nwant\n%s", s, want)
	}
	p.Values = p.Values[:2]
	if s := strings.Join(p.Lines(theme.New(theme.NoColours, theme.ASCII), 54, 8), "\n"); strings.ContainsAny(ansi.Strip(s), "024") {
		t.Errorf("an axis of which nothing was read has figures:\n%s", s)
	}
}
