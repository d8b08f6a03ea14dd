package subjects

import (
	"strconv"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// EvictionPane describes a row beside or below the table: what its columns leave out, and the last hour where there is room.
func EvictionPane(x *views.Eviction, f *views.Frame, roomy bool) *kit.Doc {
	w := &writer{Doc: &kit.Doc{}, f: f}
	name := "provider not named"
	if !x.Provider.IsEmpty() {
		name = x.Provider.String()
	}
	w.Line(kit.Span{Tone: theme.Strong, Text: name}, dim("  counted by "+x.Source+"  "), w.state(evictionState(x)))
	w.evictionFacts(x)
	if !roomy {
		w.evictionChart(x, x.Of(), time.Hour, plotHeight-2)
		return w.Doc
	}
	w.evictionCharts(x, time.Hour)
	w.evictionCharts(x, fleet.DaySpan)
	return w.Doc
}

// eviction writes everything about a row.
func (w *writer) eviction(x *views.Eviction) {
	w.cell("state", evictionState(x))
	w.evictionFacts(x)
	w.to(x.Health.Key)
	w.cell("source", StatusCell(x.Health.Status), normal("  "+x.Source), dim(lastRead(x.Health, w.f)))
	if !x.Health.Error.IsEmpty() {
		w.tone("why", StatusCell(x.Health.Status).Tone, x.Health.Error.String())
	}
	if a := stormAlert(x, w.f); a != nil {
		w.to(views.AlertKey(a))
		w.Field("storm", w.state(SeverityCell(a)), kit.Span{Tone: theme.Strong, Text: "  " + a.Rule}, normal("  "+a.Cause.String()), dim("  for "+backend.Age(w.f.Now.Sub(a.Since))))
	}
	w.evictionCharts(x, time.Hour)
	w.evictionCharts(x, fleet.DaySpan)
	w.Blank()
	w.Line(dim("· nothing was read then. It is not known whether there were evictions."))
}

func lastRead(h *fleet.SourceHealth, f *views.Frame) string {
	if h.LastOK.IsZero() {
		return "  never read"
	}
	return "  read " + backend.Age(f.Now.Sub(h.LastOK)) + " ago"
}

func (w *writer) evictionFacts(x *views.Eviction) {
	rate, known := x.Rate.Get()
	switch retries, told := x.Retries.Get(); {
	case x.Rate.IsNotApplicable():
		w.Field("rate", dim("not counted: "+x.Source+" reads lines about exhausted retries only"))
	case !known:
		w.Field("rate", dim("unknown: fewer than two readings within 5m"))
	case !told:
		w.Field("rate", normal(orMore(x, kit.Rate(rate))+" evictions/s"), dim("  within 5m; retries are not known"))
	default:
		w.Field("rate", normal(orMore(x, kit.Rate(rate))+" evictions/s, "+kit.Rate(retries)+" retries/s"), dim("  within 5m"))
	}
	if share, ok := x.Recovered.Get(); ok {
		w.Field("recovered", normal(kit.Percent(share)+" of the evictions"))
	} else if !x.Recovered.IsNotApplicable() {
		w.Field("recovered", dim("unknown"))
	}
	if n, ok := x.Exhausted.Get(); ok {
		w.Field("exhausted", normal(kit.Count(int(n), "line", "lines")), dim("  within 5m say that the retries ran out"))
	} else if !x.Exhausted.IsNotApplicable() {
		w.Field("exhausted", dim("unknown"))
	}
	c := directionCell(x)
	w.Field("direction", kit.Span{Tone: c.Tone, Text: c.Text.String()}, dim("  over the last hour"))
}

// plotHeight is how many lines a chart of a page has.
const plotHeight = 8

// evictionCharts draws a span: evictions, retries, and what retries recovered; of a log the lines about exhausted retries.
func (w *writer) evictionCharts(x *views.Eviction, span time.Duration) {
	if w.evictionChart(x, x.Of(), span, plotHeight); !x.Counter() {
		return
	}
	w.evictionChart(x, backend.MetricEvictionRetries, span, plotHeight)
	w.Blank()
	w.Plot(plotHeight, func(cells int) *kit.Plot {
		p := chartOf(span)
		p.Title = []kit.Span{{Tone: theme.Strong, Text: "recovered by a retry"}, dim("  " + spanWord(span) + ", share of the evictions")}
		p.Values, p.Scale, p.Most = shares(x, w.f, span, chartParts(span, cells)), kit.Percent, 1
		return p
	})
}

// evictionChart draws what one metric counted a second, with storms marked.
func (w *writer) evictionChart(x *views.Eviction, m backend.Metric, span time.Duration, h int) {
	title := map[backend.Metric]string{backend.MetricEvictions: "evictions a second", backend.MetricEvictionRetries: "retries a second"}[m]
	if title == "" {
		title = "lines a second about exhausted retries"
	}
	l := x.Line(m)
	w.Blank()
	w.Plot(h, func(cells int) *kit.Plot {
		p, n := chartOf(span), chartParts(span, cells)
		p.Title = []kit.Span{{Tone: theme.Strong, Text: title}, dim("  " + spanWord(span) + ", " + countedIn(l, w.f, span))}
		p.Values, p.Scale = evictedPerSecond(x, l, w.f, span, n), axisRate
		p.Marked, p.MarkWord = storming(x, w.f, span, n), "storm"
		return p
	})
}

func spanWord(span time.Duration) string {
	if span > time.Hour {
		return "24h"
	}
	return "1h"
}

// chartOf is an empty chart of a span with its times.
func chartOf(span time.Duration) *kit.Plot {
	if span > time.Hour {
		return &kit.Plot{From: "24h ago", Mid: "12h ago"}
	}
	return &kit.Plot{From: "1h ago", Mid: "30m ago"}
}

// axisRate writes a rate at an axis, where small ones have to be told apart.
func axisRate(f float64) string {
	if f > 0 && f < 1 {
		return strconv.FormatFloat(f, 'g', 2, 64)
	}
	return kit.Rate(f)
}

// chartParts is into how many parts a span is split: whole minutes, as many as there is room for.
func chartParts(span time.Duration, cells int) int {
	room := kit.PlotWidth(cells)
	parts := []int{60, 30, 20, 12}
	if span > time.Hour {
		parts = []int{144, 96, 72, 48, 24}
	}
	for _, n := range parts {
		if n <= room {
			return n
		}
	}
	return parts[len(parts)-1]
}

// countedIn is the sum of a line, with how long it was read where that is less.
func countedIn(l fleet.Line, f *views.Frame, span time.Duration) string {
	n, known := f.State.Day.Parts(l, f.Now, span, 1)[0].Get()
	if !known {
		return "not read"
	}
	text := kit.Number(int64(n)) + " in all"
	if read := f.Now.Sub(f.State.Day.Since(l)); read < span-time.Minute {
		text += ", read for " + backend.Age(read)
	}
	return text
}

func perSecond(values []backend.Value[float64], span time.Duration) []backend.Value[float64] {
	part := span.Seconds() / float64(len(values))
	for i, v := range values {
		if n, known := v.Get(); known {
			values[i] = backend.Known(n / part)
		}
	}
	return values
}

// evictedPerSecond are the rates of a chart. What a counter counted is divided by how long that was: at its beginning and now, a minute
// is not whole.
func evictedPerSecond(x *views.Eviction, l fleet.Line, f *views.Frame, span time.Duration, n int) []backend.Value[float64] {
	values := f.State.Day.Parts(l, f.Now, span, n)
	if !x.Counter() {
		return perSecond(values, span)
	}
	read := f.State.Day.Measured(l, f.Now, span, n, x.Health.Interval)
	for i, v := range values {
		if n, known := v.Get(); known && read[i] > 0 {
			values[i] = backend.Known(n / read[i].Seconds())
		}
	}
	return values
}

// shares is what retries recovered in each part: unknown where one of both was not read, nothing where there was no eviction.
func shares(x *views.Eviction, f *views.Frame, span time.Duration, n int) []backend.Value[float64] {
	out := f.State.Day.Parts(x.Line(backend.MetricEvictions), f.Now, span, n)
	retries := f.State.Day.Parts(x.Line(backend.MetricEvictionRetries), f.Now, span, n)
	for i, v := range out {
		evicted, known := v.Get()
		again, told := retries[i].Get()
		switch {
		case known && evicted == 0:
			out[i] = backend.NotApplicable[float64]()
		case !known || !told:
			out[i] = backend.Unknown[float64]()
		default:
			out[i] = backend.Known(min(again/evicted, 1))
		}
	}
	return out
}

// storming marks the parts of a span in which the counts were those of a storm, by the limits of the rule, and those of the alert.
func storming(x *views.Eviction, f *views.Frame, span time.Duration, n int) []bool {
	marked := make([]bool, n)
	minutes := int(span / time.Minute)
	mark := func(minute int) {
		if i := minute * n / minutes; i >= 0 && i < n {
			marked[i] = true
		}
	}
	if a := stormAlert(x, f); a != nil {
		for m := minutes - 1 - int(f.Now.Sub(a.Since)/time.Minute); m < minutes; m++ {
			mark(max(m, 0))
		}
	}
	rule := f.Board.Rule("eviction-storm")
	if rule == nil || !x.Counter() {
		return marked
	}
	limits := rule.Thresholds
	over := max(int(limits.Span("over")/time.Minute), 1)
	evicted, again := f.State.Day.Parts(x.Line(backend.MetricEvictions), f.Now, span, minutes), f.State.Day.Parts(x.Line(backend.MetricEvictionRetries), f.Now, span, minutes)
	var sum, recovered float64
	for i := range evicted {
		sum, recovered = sum+evicted[i].Or(0), recovered+again[i].Or(0)
		if i >= over {
			sum, recovered = sum-evicted[i-over].Or(0), recovered-again[i-over].Or(0)
		}
		if sum > 0 && sum >= limits["rate"]*float64(over)*60 && recovered < limits["recovery"]*sum && evicted[i].Or(0) > 0 {
			mark(i)
		}
	}
	return marked
}
