package subjects

import (
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/internal/stable"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// charts draws the last hour of what a source counted and showed, and the last day once it is longer than that.
func charts(d *kit.Doc, source string, f *views.Frame) {
	for _, l := range shownLines(source, f) {
		d.Chart(lineTitle(l), kit.Chart{Parts: []int{12, 30, 60}, Tone: theme.Accent,
			Values: func(n int) []backend.Value[float64] { return f.State.Day.Parts(l, f.Now, time.Hour, n) },
			After:  []kit.Span{dim("  " + amount(l, f, time.Hour) + " in 1h")}})
		day(d, "", l, f)
	}
}

// shownLines are the lines of a source that are worth a chart: what was counted and never happened is not.
func shownLines(source string, f *views.Frame) []fleet.Line {
	var shown []fleet.Line
	for _, l := range f.State.Day.Lines(source) {
		if sum, _ := whole(l, f, fleet.DaySpan); (l.IsLevel() || sum != 0) && charted(l.Name) {
			shown = append(shown, l)
		}
	}
	return shown
}

// Sizes of a tall chart: lines with its title and its times.
const (
	plotLeast = 5
	plotMost  = 14
	plotWide  = 44 // cells, from which two stand side by side
)

// Plots draws the same lines as charts with their height, as many as h lines of w cells have room for: how long requests
// took first, since a slow source is the first to be blamed.
func Plots(source string, f *views.Frame, w, h int) []string {
	shown := shownLines(source, f)
	latencyFirst := func(l fleet.Line) int {
		if l.Name == fleet.LineLatency {
			return 0
		}
		return 1
	}
	stable.Sort(shown, func(a, b fleet.Line) int { return latencyFirst(a) - latencyFirst(b) })
	if len(shown) == 0 {
		return []string{kit.NewLine(f.Theme, w).Put(theme.Dim, " nothing of this source is counted over time").String()}
	}
	across := 1
	if w >= 2*plotWide {
		across = 2
	}
	wide := w / across
	parts := 30
	if kit.PlotWidth(wide) >= 60 {
		parts = 60
	}
	down := min((len(shown)+across-1)/across, max(h/(plotLeast+1), 1))
	each := min(h/down-1, plotMost)
	var lines []string
	for row := range down {
		var pair [][]string
		for _, l := range shown[row*across : min((row+1)*across, len(shown))] {
			pair = append(pair, plot(l, f, parts, wide, each))
		}
		for i := range pair[0] {
			line := pair[0][i]
			if len(pair) > 1 {
				line += pair[1][i]
			}
			lines = append(lines, line+kit.NewLine(f.Theme, w-len(pair)*wide).String())
		}
		lines = append(lines, kit.NewLine(f.Theme, w).String())
	}
	return lines
}

// plot draws the last hour of one line.
func plot(l fleet.Line, f *views.Frame, parts, w, h int) []string {
	p := kit.Plot{Title: []kit.Span{{Tone: theme.Strong, Text: lineTitle(l)}, dim("  " + amount(l, f, time.Hour) + " in 1h")},
		Values: f.State.Day.Parts(l, f.Now, time.Hour, parts), From: "1h ago"}
	peak, known := 0.0, false
	for _, v := range p.Values {
		peak, known = max(peak, v.Or(0)), known || v.IsKnown()
	}
	if known {
		p.Top = measure(l, peak)
	}
	return p.Lines(f.Theme, w, h)
}

// lineTitle is what a line of history is called.
func lineTitle(l fleet.Line) string {
	if l.Name == fleet.LineBroken {
		return "failed, evicted"
	}
	return strings.ReplaceAll(string(l.Name), "-", " ")
}

// charted leaves out what is counted for rules alone.
func charted(name fleet.LineName) bool {
	switch backend.Metric(name) {
	case backend.MetricNamed, backend.MetricRejectedWords, backend.MetricRollups:
		return false
	}
	return true
}

// day draws the last 24 hours of a line that was read for longer than an hour; before that they would show nothing that
// the hour does not.
func day(d *kit.Doc, label string, l fleet.Line, f *views.Frame) {
	since := f.State.Day.Since(l)
	read := f.Now.Sub(since)
	if since.IsZero() || read <= time.Hour {
		return
	}
	after := "  " + amount(l, f, fleet.DaySpan) + " in 24h"
	if read < fleet.DaySpan-time.Minute {
		after += ", read for " + backend.Age(read)
	}
	d.Chart(label, kit.Chart{Parts: []int{24, 48, 96}, Tone: theme.Accent, After: []kit.Span{dim(after)},
		Values: func(n int) []backend.Value[float64] { return f.State.Day.Parts(l, f.Now, fleet.DaySpan, n) }})
}

// whole is the sum of what was counted in a span, or the highest level.
func whole(l fleet.Line, f *views.Frame, span time.Duration) (n float64, known bool) {
	return f.State.Day.Parts(l, f.Now, span, 1)[0].Get()
}

func amount(l fleet.Line, f *views.Frame, span time.Duration) string {
	n, known := whole(l, f, span)
	switch {
	case !known:
		return "not read"
	case l.IsLevel():
		return "at most " + measure(l, n)
	}
	return measure(l, n)
}

// measure writes one value of a line in its unit.
func measure(l fleet.Line, n float64) string {
	switch {
	case l.Name == fleet.LineLatency:
		return kit.Latency(time.Duration(n * float64(time.Second)))
	case backend.Metric(l.Name) == backend.MetricLogBytes:
		return backend.Bytes(int64(n))
	}
	return kit.Number(int64(n))
}

// lineOf is the line of the day behind an alert, false where none is kept.
func lineOf(a *alerts.Alert, st *fleet.State) (fleet.Line, bool) {
	var names []fleet.LineName
	switch a.Rule {
	case "eviction-storm", "evicted-sustained":
		names = []fleet.LineName{fleet.LineName(backend.MetricEvictions), fleet.LineName(backend.MetricEvictionExhausted), fleet.LineBroken}
	case "audit-saturation":
		names = []fleet.LineName{fleet.LineName(backend.MetricRejections)}
	default:
		names = []fleet.LineName{fleet.LineName(a.Rule)} // some rules watch one metric and are called like it
		if len(a.Subjects) > 0 {
			if line := kindOf(a.Subjects[0].Key.Kind).day(); line != "" {
				names = append(names, line)
			}
		}
	}
	for _, name := range names {
		for _, h := range st.Sources {
			l := fleet.Line{Source: h.Key.Source, Name: name}
			about := h.Key.Source == a.Source || !l.IsLevel() && h.ReportsOn(a.Source)
			if about && !st.Day.Since(l).IsZero() {
				return l, true
			}
		}
	}
	return fleet.Line{}, false
}
