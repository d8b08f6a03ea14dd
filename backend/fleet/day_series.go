package fleet

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// DaySpan is how far back Day reaches.
const DaySpan = 24 * time.Hour

const (
	// maxLines bounds the lines of a Day, each of which takes at most 1,440 points of 24 bytes: 14 MB in all.
	maxLines = 400
	// maxAhead is how far a count's time may be ahead of our clock; a later one is put at the present.
	maxAhead = 2 * time.Minute
)

// LineName says what a line of a Day shows: a Metric, of which it keeps what was counted in each minute, or one of the
// levels below, of which it keeps the highest of each minute.
type LineName string

// The levels. They are updated from changes, so that a large fleet costs no more than a small one.
const (
	LineBroken    LineName = "broken" // workspaces reported failed or evicted
	LineSandboxes LineName = "running sandboxes"
	LineTmpdirs   LineName = "scratch directories"
	LineLatency   LineName = "request latency" // seconds, 95 of 100 requests are faster
)

// Line names one charted series of one source.
type Line struct {
	Source string
	Name   LineName
	// Provider is the provider whose part it is, as counted; empty: the source as a whole. Evictions and retries are kept by
	// provider too.
	Provider string
}

// IsLevel reports whether the line shows a level; others show how many things happened.
func (l Line) IsLevel() bool {
	return l.Name == LineBroken || l.Name == LineSandboxes || l.Name == LineTmpdirs || l.Name == LineLatency
}

func compareLines(a, b Line) int {
	return cmp.Or(strings.Compare(a.Source, b.Source), strings.Compare(string(a.Name), string(b.Name)), strings.Compare(a.Provider, b.Provider))
}

// byProvider reports whether a metric has a line of each provider.
func byProvider(m backend.Metric) bool {
	return m == backend.MetricEvictions || m == backend.MetricEvictionRetries || m == backend.MetricEvictionExhausted
}

// Day is the last 24 hours of what each source counted and showed as a whole, by the minute. It begins with the process,
// or with the oldest count that a source delivered at its start. It is immutable; the zero Day is empty.
type Day struct {
	lines []*dayLine // sorted
}

// minute is one point: Unix time in minutes, the sum or level, and the seconds of the first and the last count in it.
type minute struct {
	at       int64
	n        float64
	from, to uint8
}

// join adds another point of the same minute.
func (m minute) join(p minute, level bool) minute {
	if m.from, m.to = min(m.from, p.from), max(m.to, p.to); level {
		m.n = max(m.n, p.n)
	} else {
		m.n += p.n
	}
	return m
}

// dayLine is one line. closed only grows at its end and may be shared between Days; the newest minute is apart.
type dayLine struct {
	key    Line
	closed []minute
	open   minute
}

// Lines are the lines of one source as a whole, by name.
func (d Day) Lines(source string) []Line {
	var out []Line
	for _, x := range d.lines {
		if x.key.Source == source && x.key.Provider == "" {
			out = append(out, x.key)
		}
	}
	return out
}

// Providers are the providers of which a source counted something in the last 24 hours, in the order of their names.
func (d Day) Providers(source string) []string {
	var out []string
	for _, x := range d.lines {
		if x.key.Source == source && x.key.Provider != "" && !slices.Contains(out, x.key.Provider) {
			out = append(out, x.key.Provider)
		}
	}
	slices.Sort(out)
	return out
}

// Parts splits the span that ends at now into n equal parts, oldest first: the sum of each for what was counted, the
// highest for a level; unknown where nothing was read.
func (d Day) Parts(l Line, now time.Time, span time.Duration, n int) []backend.Value[float64] {
	out := make([]backend.Value[float64], n)
	x := d.find(l)
	if x == nil || n == 0 || span < time.Minute {
		return out
	}
	to := now.Unix()/60 + 1
	minutes := int64(span / time.Minute)
	put := func(p minute) {
		if p.at < to-minutes || p.at >= to {
			return
		}
		part := &out[(p.at-(to-minutes))*int64(n)/minutes]
		switch was, known := part.Get(); {
		case !known:
			*part = backend.Known(p.n)
		case l.IsLevel():
			*part = backend.Known(max(was, p.n))
		default:
			*part = backend.Known(was + p.n)
		}
	}
	first := sort.Search(len(x.closed), func(i int) bool { return x.closed[i].at >= to-minutes })
	for _, p := range x.closed[first:] {
		put(p)
	}
	put(x.open)
	return out
}

// Measured is how long a counted line was read in each of the parts that Parts makes. Counts are so far apart as every says, and each
// is about the time before it: the first minute and the newest one are rarely whole.
func (d Day) Measured(l Line, now time.Time, span time.Duration, n int, every time.Duration) []time.Duration {
	out := make([]time.Duration, n)
	x := d.find(l)
	if x == nil || n == 0 || span < time.Minute {
		return out
	}
	first := x.open
	if len(x.closed) > 0 {
		first = x.closed[0]
	}
	to, minutes := now.Unix()/60+1, int64(span/time.Minute)
	for at := max(first.at, to-minutes); at <= min(x.open.at, to-1); at++ {
		whole := time.Minute
		for _, p := range [2]minute{first, x.open} {
			if p.at == at && every > 0 {
				whole = min(whole, time.Duration(p.to-p.from)*time.Second+every)
			}
		}
		out[(at-(to-minutes))*int64(n)/minutes] += whole
	}
	return out
}

// Since is the first minute that a line has, zero when there is no such line.
func (d Day) Since(l Line) time.Time {
	x := d.find(l)
	switch {
	case x == nil:
		return time.Time{}
	case len(x.closed) > 0:
		return time.Unix(x.closed[0].at*60, 0)
	}
	return time.Unix(x.open.at*60, 0)
}

// NewDay builds a Day from counts alone, as of a time; a Metric with the name of a level is one. It serves tests and
// readers of recordings.
func NewDay(now time.Time, counts ...backend.Count) Day {
	d := newDaySeries()
	d.addCounts(counts, now)
	return Day{}.with(d.points, now.Add(-DaySpan).Unix()/60)
}

func (d Day) find(l Line) *dayLine {
	if i, ok := d.search(l); ok {
		return d.lines[i]
	}
	return nil
}

func (d Day) search(l Line) (int, bool) {
	return slices.BinarySearchFunc(d.lines, l, func(x *dayLine, l Line) int { return compareLines(x.key, l) })
}

// with adds points. Those of one line must be in the order of their times; only points of past minutes may come late.
func (d Day) with(points map[Line][]minute, oldest int64) Day {
	if len(points) == 0 && !slices.ContainsFunc(d.lines, func(x *dayLine) bool { return x.open.at < oldest }) {
		return d
	}
	out := Day{lines: make([]*dayLine, 0, len(d.lines)+1)}
	for _, x := range d.lines {
		if x.open.at < oldest {
			continue // nothing was read for a day
		}
		if ps := points[x.key]; ps != nil {
			x = x.with(ps, oldest)
		}
		out.lines = append(out.lines, x)
	}
	for _, key := range sortedLines(points) {
		i, had := out.search(key)
		if had || len(out.lines) >= maxLines {
			continue
		}
		ps := points[key]
		out.lines = slices.Insert(out.lines, i, (&dayLine{key: key, open: ps[0]}).with(ps[1:], oldest))
	}
	return out
}

func sortedLines(points map[Line][]minute) []Line {
	keys := make([]Line, 0, len(points))
	for k := range points {
		keys = append(keys, k)
	}
	stable.Sort(keys, compareLines)
	return keys
}

func (x *dayLine) with(ps []minute, oldest int64) *dayLine {
	next := *x
	for _, p := range ps {
		switch {
		case p.at == next.open.at:
			next.open = next.open.join(p, x.key.IsLevel())
		case p.at > next.open.at:
			next.closed = append(next.closed, next.open)
			next.open = p
		default:
			next.late(p)
		}
	}
	from := sort.Search(len(next.closed), func(i int) bool { return next.closed[i].at >= oldest })
	next.closed = next.closed[from:]
	return &next
}

// late adds a point to a minute that is over. Older Days share those, so they are copied.
func (x *dayLine) late(p minute) {
	i := sort.Search(len(x.closed), func(i int) bool { return x.closed[i].at >= p.at })
	x.closed = slices.Clone(x.closed)
	if i < len(x.closed) && x.closed[i].at == p.at {
		x.closed[i] = x.closed[i].join(p, x.key.IsLevel())
		return
	}
	x.closed = slices.Insert(x.closed, i, p)
}

// daySeries collects the points that the next Day adds, and keeps the levels up to date.
type daySeries struct {
	points map[Line][]minute
	levels map[Line]int
}

func newDaySeries() *daySeries {
	return &daySeries{points: map[Line][]minute{}, levels: map[Line]int{}}
}

// addCounts adds the counts of one reading. now bounds their times: a source's clock may be ahead.
func (d *daySeries) addCounts(counts []backend.Count, now time.Time) {
	sums := map[Line]map[int64]minute{}
	var last Line // counts of one metric mostly follow each other, one for each session
	var sum map[int64]minute
	of := func(l Line) map[int64]minute {
		if sums[l] == nil {
			sums[l] = map[int64]minute{}
		}
		return sums[l]
	}
	add := func(to map[int64]minute, at int64, n float64) {
		second := uint8(at % 60) // #nosec G115 -- below 60
		p := minute{at / 60, n, second, second}
		if was, known := to[p.at]; known {
			p = was.join(p, false)
		}
		to[p.at] = p
	}
	for _, c := range counts {
		at := c.At
		if at.After(now.Add(maxAhead)) {
			at = now
		}
		l := Line{Source: c.Series.Source, Name: LineName(c.Series.Name)}
		if l != last || sum == nil {
			last, sum = l, of(l)
		}
		add(sum, at.Unix(), c.N)
		if c.Series.Provider != "" && byProvider(c.Series.Name) {
			l.Provider = c.Series.Provider
			add(of(l), at.Unix(), c.N)
		}
	}
	for l, by := range sums {
		ps := make([]minute, 0, len(by))
		for _, p := range by {
			ps = append(ps, p)
		}
		stable.Sort(ps, func(a, b minute) int { return cmp.Compare(a.at, b.at) })
		d.points[l] = append(d.points[l], ps...)
	}
}

// levels are the lines that count entities of a kind, with the input that delivers them. counts selects the entities.
var levels = [...]struct {
	kind   backend.Kind
	input  backend.Input
	line   LineName
	counts func(backend.Entity) bool
}{
	{backend.KindWorkspace, backend.InputRegistry, LineBroken, func(e backend.Entity) bool {
		class := e.(*backend.Workspace).Class
		return class == backend.ClassFailed || class == backend.ClassEvicted
	}},
	{backend.KindSandbox, backend.InputContainers, LineSandboxes, func(e backend.Entity) bool {
		b := e.(*backend.Sandbox)
		return b.IsSandbox && b.Class == backend.SandboxRunning
	}},
	{backend.KindTmpdir, backend.InputTmpdirs, LineTmpdirs, func(backend.Entity) bool { return true }},
}

// addLevels adds the present levels of the sources that answer; the levels of the others are unknown.
func (d *daySeries) addLevels(now time.Time, health []*SourceHealth) {
	at := now.Unix() / 60
	for _, h := range health {
		if h.LastOK.IsZero() || h.Status == StatusDown || h.Status == StatusAbsent || h.Overdue(now) {
			continue
		}
		for _, in := range h.Inputs {
			for _, x := range levels {
				if l := (Line{Source: h.Key.Source, Name: x.line}); x.input == in {
					d.points[l] = append(d.points[l], minute{at: at, n: float64(max(d.levels[l], 0))})
				}
			}
		}
		if h.P95 > 0 {
			l := Line{Source: h.Key.Source, Name: LineLatency}
			d.points[l] = append(d.points[l], minute{at: at, n: h.P95.Seconds()})
		}
	}
}

// updateDay adds the points since the last State to the Day. touched are the entities that changed or were removed.
func (s *store) updateDay(touched []backend.Key, now time.Time, health []*SourceHealth) {
	for _, k := range touched {
		for _, x := range levels {
			if x.kind != k.Kind {
				continue
			}
			t, l := s.of(k.Kind), Line{Source: k.Source, Name: x.line}
			if e := t.before(k); e != nil && x.counts(e) {
				s.daySeries.levels[l]--
			}
			if e := t.after(k); e != nil && x.counts(e) {
				s.daySeries.levels[l]++
			}
		}
	}
	s.daySeries.addLevels(now, health)
	s.day = s.day.with(s.daySeries.points, now.Add(-DaySpan).Unix()/60)
	clear(s.daySeries.points)
}
