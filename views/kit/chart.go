package kit

import (
	"strings"

	"sandglass/backend"
	"sandglass/views/theme"
)

// Sparkline draws values as one cell each, scaled to the largest; all zero is a flat line. Only the last w values are
// drawn.
func Sparkline(t *theme.Theme, values []float64, w int) string {
	if len(values) > w {
		values = values[len(values)-max(w, 0):]
	}
	known := make([]backend.Value[float64], len(values))
	for i, v := range values {
		known[i] = backend.Known(v)
	}
	return sparkCells(t, known)
}

// Spark draws values as one cell each, scaled to the largest; an unknown value has its own sign.
func Spark(t *theme.Theme, values []backend.Value[float64]) string { return sparkCells(t, values) }

// sparkCells draws values as one cell each, scaled to the largest; an unknown value has its own sign.
func sparkCells(t *theme.Theme, values []backend.Value[float64]) string {
	top := 0.0
	for _, v := range values {
		top = max(top, v.Or(0))
	}
	var b strings.Builder
	for _, v := range values {
		switch n, known := v.Get(); {
		case !known:
			b.WriteString(t.NoSpark())
		case top <= 0:
			b.WriteString(t.Spark(0))
		default:
			b.WriteString(t.Spark(max(n, 0) / top * 0.999))
		}
	}
	return b.String()
}

// Chart is a line of history that is as fine as there is room for.
type Chart struct {
	// Parts says into how many parts the history may be split, fewest first.
	Parts []int
	// Values are the parts, oldest first.
	Values func(n int) []backend.Value[float64]
	Tone   theme.Tone
	After  []Span // what stands behind it
}

// Chart adds a labelled chart: the finest one that fits beside what stands behind it, at least the coarsest.
func (d *Doc) Chart(label string, c Chart) {
	d.label = max(d.label, min(Width(label), MaxLabel))
	d.add(part{kind: partChart, label: label, chart: &c})
}

func (c *Chart) spans(t *theme.Theme, w int) []Span {
	n := 0
	for i, parts := range c.Parts {
		if i == 0 || parts+spansWidth(c.After) <= w {
			n = parts
		}
	}
	return append([]Span{{Tone: c.Tone, Text: sparkCells(t, c.Values(n))}}, c.After...)
}
