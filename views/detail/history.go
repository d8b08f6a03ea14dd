package detail

import (
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/ui/kit"
	"sandglass/ui/theme"
	"sandglass/views"
	"sandglass/views/columns"
)

// charts draws the last hour of what a source counted and showed, and the last day once it is longer than that. What
// was counted and never happened is left out.
func charts(d *kit.Doc, source string, f *views.Frame) {
	for _, l := range f.State.Day.Lines(source) {
		if sum, _ := whole(l, f, fleet.DaySpan); !l.IsLevel() && sum == 0 || !charted(l.Name) {
			continue
		}
		name := strings.ReplaceAll(string(l.Name), "-", " ")
		d.Chart(name, kit.Chart{Parts: []int{12, 30, 60}, Tone: theme.Accent,
			Values: func(n int) []backend.Value[float64] { return f.State.Day.Parts(l, f.Now, time.Hour, n) },
			After:  []kit.Span{dim("  " + amount(l, f, time.Hour) + " in 1h")}})
		day(d, "", l, f)
	}
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
	case l.Name == fleet.LineLatency:
		return "at most " + columns.Latency(time.Duration(n*float64(time.Second)))
	case l.IsLevel():
		return "at most " + columns.Number(int64(n))
	case backend.Metric(l.Name) == backend.MetricLogBytes:
		return backend.Bytes(int64(n))
	}
	return columns.Number(int64(n))
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
			switch a.Subjects[0].Key.Kind {
			case backend.KindWorkspace:
				names = append(names, fleet.LineBroken)
			case backend.KindTmpdir:
				names = append(names, fleet.LineTmpdirs)
			case backend.KindSession, backend.KindSandbox, backend.KindHost, backend.KindRef, backend.KindExecution, backend.KindJob, backend.KindSource:
			}
		}
	}
	for _, name := range names {
		for _, h := range st.Sources {
			l := fleet.Line{Source: h.Key.Source, Name: name}
			about := h.Key.Source == a.Source || !l.IsLevel() && h.SpeaksAbout(a.Source)
			if about && !st.Day.Since(l).IsZero() {
				return l, true
			}
		}
	}
	return fleet.Line{}, false
}
