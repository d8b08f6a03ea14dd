package subjects

import (
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// Evictions are the counts of evictions, one row for each source that counts and each provider.
func Evictions() *Set[*views.Eviction] {
	type row = *views.Eviction
	rate := func(c Column[row], get func(row) backend.Value[float64]) Column[row] {
		return numColumn(c, func(r row) SortKey { return sortNum(get(r)) }, func(r row) string { return orMore(r, kit.Rate(get(r).Or(0))) },
			func(r row) bool { return get(r).IsNotApplicable() })
	}
	recovered := numColumn(Column[row]{Name: "recovered", Title: "RECOVERED", Brief: "RECOV", Help: "share of the evictions that a retry recovered; – without an eviction", Min: 5, Ideal: 9, Priority: 1},
		func(r row) SortKey { return sortNum(r.Recovered) }, func(r row) string { return kit.Percent(r.Recovered.Or(0)) },
		func(r row) bool { return r.Recovered.IsNotApplicable() })
	recovered.Descending = false // the worst first
	return &Set[row]{
		Kind: "evictions",
		Of:   views.EvictionRows,
		Key:  func(r row) backend.Key { return r.Key },
		Text: func(r row) string { return r.Provider.String() + " " + r.Source + " " + evictionState(r).Text.String() },
		Stale: func(r row, c *views.Snapshot) bool {
			return r.Health.Status == fleet.StatusDown || r.Health.Overdue(c.Now)
		},
		DefaultSort: "rate",
		Columns: []Column[row]{
			{Name: "provider", Title: "PROVIDER", Help: "whose sandboxes are evicted; ? where the counts name none", Min: 18, Ideal: 20, Flex: 1, Priority: 0,
				Cell: func(r row, _ *views.Snapshot) Cell { return evictedFrom(r) },
				Sort: func(r row, _ *views.Snapshot) SortKey { return sortText(r.Provider.String()) }},
			{Name: "state", Title: "STATE", Help: "storm, evictions, quiet, or unknown where too little was read", Min: 10, Ideal: 11, Priority: 0, Descending: true,
				Cell: func(r row, _ *views.Snapshot) Cell { return evictionState(r) },
				Sort: func(r row, _ *views.Snapshot) SortKey { return evictionOrder(r) }},
			rate(Column[row]{Name: "rate", Title: "EVICTED/S", Brief: "EVICT/S", Help: "evictions a second, within 5 minutes", Min: 8, Ideal: 9, Priority: 0}, func(r row) backend.Value[float64] { return r.Rate }),
			rate(Column[row]{Name: "retries", Title: "RETRIES/S", Brief: "RETRY/S", Help: "retries a second that recovered an eviction, within 5 minutes", Min: 7, Ideal: 9, Priority: 3}, func(r row) backend.Value[float64] { return r.Retries }),
			recovered,
			numColumn(Column[row]{Name: "exhausted", Title: "EXHAUSTED", Brief: "EXH", Help: "lines within 5 minutes that say that the retries ran out", Min: 5, Ideal: 9, Priority: 2},
				func(r row) SortKey { return sortNum(r.Exhausted) }, func(r row) string { return kit.Number(int64(r.Exhausted.Or(0))) },
				func(r row) bool { return r.Exhausted.IsNotApplicable() }),
			{Name: "direction", Title: "DIRECTION", Brief: "TREND", Help: "where the last hour goes: rising, falling, steady, stopped, none or unknown", Min: 7, Ideal: 26, Priority: 1,
				Cell: func(r row, _ *views.Snapshot) Cell { return directionCell(r) },
				Sort: func(r row, _ *views.Snapshot) SortKey { return sortText(r.Direction) }},
			sourceColumn(func(r row) string { return r.Source }, 2),
			ageColumn(Column[row]{Name: "read", Title: "READ", Help: "age of the source's newest answer", Min: 4, Ideal: 5, Priority: 4},
				func(r row) backend.Value[time.Time] {
					if r.Health.LastOK.IsZero() {
						return backend.Unknown[time.Time]()
					}
					return backend.Known(r.Health.LastOK)
				}),
		},
	}
}

// orMore marks a count that may be too low.
func orMore(r *views.Eviction, s string) string {
	if r.LowerBound {
		return "≥" + s
	}
	return s
}

func evictedFrom(r *views.Eviction) Cell {
	if r.Provider.IsEmpty() {
		return Cell{Text: backend.Text("? not named"), Tone: theme.Dim}
	}
	return Cell{Text: r.Provider, Tone: theme.Strong}
}

// evictionState says what goes on, and never that nothing does where that is not known.
func evictionState(r *views.Eviction) Cell {
	judged := r.Rate
	if !r.Counter() {
		judged = r.Exhausted
	}
	n, known := judged.Get()
	switch {
	case r.Storm != "" && r.Held:
		return Cell{Text: backend.Text("storm held"), Short: backend.Text("storm"), Tone: theme.Warn, Mark: theme.MarkHeld}
	case r.Storm != "":
		return Cell{Text: backend.Text("storm"), Tone: theme.Critical, Mark: theme.MarkCritical}
	case !known:
		return Cell{Text: backend.Text("unknown"), Tone: theme.Dim, Mark: theme.MarkUnknown}
	case n > 0:
		return Cell{Text: backend.Text("evictions"), Short: backend.Text("evicting"), Tone: theme.Warn, Mark: theme.MarkWarn}
	}
	return Cell{Text: backend.Text("quiet"), Tone: theme.Good, Mark: theme.MarkGood}
}

func evictionOrder(r *views.Eviction) SortKey {
	mark := evictionState(r).Mark
	if mark == theme.MarkUnknown {
		return SortKey{Unknown: true}
	}
	return SortKey{Num: map[theme.Mark]float64{theme.MarkCritical: 2, theme.MarkHeld: 2, theme.MarkWarn: 1}[mark]}
}

// directionCell says where the evictions go, and how fast.
func directionCell(r *views.Eviction) Cell {
	c := Cell{Text: plain(r.Direction)}
	if _, how, told := strings.Cut(r.Heading.Text().String(), ": "); told && r.Heading.Time > 0 {
		c.Short, c.Text = c.Text, backend.Textf("%s: %s", c.Text, backend.Clean(how, 60))
	}
	switch r.Direction {
	case "rising":
		c.Tone = theme.Bad
	case "none", "unknown":
		c.Tone = theme.Dim
	}
	return c
}

type evictionKind struct{ base }

func (evictionKind) listing() Listing { return Evictions().Listing() }

func (evictionKind) name(k backend.Key, _ *views.Snapshot) backend.Safe {
	if _, provider, named := strings.Cut(k.ID.Raw(), k.Source+"/"); named {
		return backend.Clean(provider, 80)
	}
	return k.Safe()
}

func (evictionKind) title(k backend.Key, f *views.Frame) string {
	if x := views.FindEviction(f.Snapshot, k); x != nil && !x.Provider.IsEmpty() {
		return "evictions from " + x.Provider.String() + ", counted by " + x.Source
	}
	return "evictions, counted by " + k.Source
}

func (evictionKind) page(k backend.Key, f *views.Frame) (incident, why string, trouble bool) {
	x := views.FindEviction(f.Snapshot, k)
	return "7", "This page covers evictions.", x != nil && x.Storm != ""
}

func (evictionKind) details(w *writer, k backend.Key) bool {
	return write(w, views.FindEviction(w.f.Snapshot, k), w.eviction)
}

// stormAlert is the alert of a row's storm, nil where there is none.
func stormAlert(x *views.Eviction, f *views.Frame) *alerts.Alert {
	for _, a := range f.Board.Alerts {
		if a.ID == x.Storm {
			return a
		}
	}
	return nil
}
