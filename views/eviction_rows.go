package views

import (
	"iter"
	"slices"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/internal/stable"
)

// EvictionWindow is the window of the rates of evictions, as of the rule eviction-storm by default.
const EvictionWindow = 5 * time.Minute

// Eviction is what one source counts of evictions from one provider. A source whose counts name no provider has one row without.
type Eviction struct {
	Key      backend.Key  `json:"key"`
	Source   string       `json:"source"` // that counts
	Provider backend.Safe `json:"provider,omitzero"`
	raw      string       // Provider as it was counted
	// Rate and Retries are per second over EvictionWindow; null: too little of it was read.
	Rate    backend.Value[float64] `json:"evictions_per_second"`
	Retries backend.Value[float64] `json:"retries_per_second"`
	// Recovered is the share of evictions that a retry recovered, from 0 to 1; not applicable without an eviction.
	Recovered backend.Value[float64] `json:"recovered,omitzero"`
	// Exhausted is how many lines said within EvictionWindow that the retries ran out.
	Exhausted  backend.Value[float64] `json:"exhausted,omitzero"`
	LowerBound bool                   `json:"lower_bound,omitempty"` // more may have happened than was counted
	Direction  string                 `json:"direction"`             // rising, falling, steady, stopped, none or unknown; of the last hour
	Storm      string                 `json:"storm,omitempty"`       // the id of the alert of a storm there

	Held    bool                `json:"storm_held,omitempty"` // that alert fired, and its data is gone
	Heading alerts.Direction    `json:"-"`
	Health  *fleet.SourceHealth `json:"-"`
}

// CountsEvictions reports whether a source counts evictions, or is asked to.
func CountsEvictions(h *fleet.SourceHealth) bool {
	return h.Status != fleet.StatusAbsent && (h.Watches(backend.InputEvictions) || h.Watches(backend.InputEvictionLogs))
}

// EvictionRows are the rows of every source that counts evictions.
func EvictionRows(c *Snapshot) iter.Seq[*Eviction] {
	return func(yield func(*Eviction) bool) {
		for _, h := range c.State.Sources {
			if !CountsEvictions(h) {
				continue
			}
			for _, x := range evictionsOf(h, c) {
				if !yield(x) {
					return
				}
			}
		}
	}
}

// FindEviction returns the row with that key, nil when there is none.
func FindEviction(c *Snapshot, key backend.Key) *Eviction {
	for x := range EvictionRows(c) {
		if x.Key == key {
			return x
		}
	}
	return nil
}

// Line is a line of the day of a row.
func (x *Eviction) Line(m backend.Metric) fleet.Line {
	return fleet.Line{Source: x.Source, Name: fleet.LineName(m), Provider: x.raw}
}

// Counter reports whether the row's source counts evictions themselves; others read only lines about exhausted retries.
func (x *Eviction) Counter() bool { return x.Health.Watches(backend.InputEvictions) }

// evictionsOf are the rows of one source, by provider.
func evictionsOf(h *fleet.SourceHealth, c *Snapshot) []*Eviction {
	by := map[string]map[backend.Metric]fleet.Increase{"": {}}
	for _, p := range c.State.Day.Providers(h.Key.Source) {
		by[p] = map[backend.Metric]fleet.Increase{}
	}
	counted := map[backend.Metric]bool{} // by the source at all
	for _, m := range []backend.Metric{backend.MetricEvictions, backend.MetricEvictionRetries, backend.MetricEvictionExhausted} {
		for s := range c.State.Windows.All(m) {
			if s.Source != h.Key.Source {
				continue
			}
			in := c.State.Windows.Over(s, c.Now, EvictionWindow)
			counted[m] = counted[m] || in.Samples > 0
			p := providerOf(s, c.State)
			if by[p] == nil {
				by[p] = map[backend.Metric]fleet.Increase{}
			}
			by[p][m] = by[p][m].Add(in)
		}
	}
	if len(by) > 1 && silent(by[""]) {
		delete(by, "")
	}
	var rows []*Eviction
	for p, in := range by {
		x := newEviction(h, p)
		x.measure(in, counted)
		x.heads(c)
		if a := x.stormOf(c); a != nil {
			x.Storm, x.Held = a.ID, a.State == alerts.StateHeld
		}
		rows = append(rows, x)
	}
	stable.Sort(rows, func(a, b *Eviction) int { return a.Key.Compare(b.Key) })
	return rows
}

// silent reports whether nothing was counted.
func silent(in map[backend.Metric]fleet.Increase) bool {
	for _, i := range in {
		if i.N > 0 {
			return false
		}
	}
	return true
}

// providerOf is the provider of a count: the one it names, or else of the workspace or of all workspaces of the session that a log
// line names. Empty: unknown.
func providerOf(s backend.Series, st *fleet.State) string {
	if s.Provider != "" || s.Session.IsZero() {
		return s.Provider
	}
	home := st.HomeOf(s.Source, s.Session)
	only := ""
	for w := range st.Workspaces.Of(backend.KindWorkspace, home, s.Session) {
		p := w.Provider.String()
		if w.Key.ID == s.Workspace && p != "" {
			return p
		}
		if p == "" || only != "" && p != only {
			only = ""
			if s.Workspace.IsZero() {
				return ""
			}
			continue
		}
		only = p
	}
	return only
}

func newEviction(h *fleet.SourceHealth, provider string) *Eviction {
	id := h.Key.Source
	if provider != "" {
		id += "/" + provider
	}
	return &Eviction{Key: backend.Key{Kind: KindEviction, Source: h.Key.Source, ID: backend.MustID(id[:min(len(id), backend.MaxIDBytes)])},
		Source: h.Key.Source, Provider: backend.Clean(provider, 80), raw: provider, Health: h}
}

// measure fills in the rates. The time that was read begins one interval before the first count, which is about that interval.
func (x *Eviction) measure(in map[backend.Metric]fleet.Increase, counted map[backend.Metric]bool) {
	rate := func(m backend.Metric) backend.Value[float64] {
		i := in[m]
		if i.Samples == 0 && counted[m] {
			return backend.Known(0.0) // the source counts it, and none of this provider
		}
		read := min(i.Last.Sub(i.First)+x.Health.Interval, EvictionWindow)
		if i.Samples < 2 || read <= 0 {
			return backend.Unknown[float64]()
		}
		return backend.Known(i.N / read.Seconds())
	}
	x.Recovered, x.Exhausted = backend.NotApplicable[float64](), backend.NotApplicable[float64]()
	if x.Counter() {
		x.Rate, x.Retries = rate(backend.MetricEvictions), rate(backend.MetricEvictionRetries)
		x.Recovered = recovered(x.Rate, x.Retries)
	} else {
		x.Rate, x.Retries = backend.NotApplicable[float64](), backend.NotApplicable[float64]()
	}
	if x.Health.Watches(backend.InputEvictionLogs) {
		x.Exhausted = backend.Unknown[float64]()
		if i := in[backend.MetricEvictionExhausted]; i.Samples > 0 || counted[backend.MetricEvictionExhausted] {
			x.Exhausted = backend.Known(i.N)
		}
	}
	for _, i := range in {
		x.LowerBound = x.LowerBound || i.LowerBound
	}
}

// recovered is the share of evictions that retries recovered.
func recovered(evictions, retries backend.Value[float64]) backend.Value[float64] {
	e, known := evictions.Get()
	r, told := retries.Get()
	switch {
	case known && e == 0:
		return backend.NotApplicable[float64]()
	case !known || !told:
		return backend.Unknown[float64]()
	}
	return backend.Known(min(r/e, 1))
}

// Of is the metric by which a row is judged and charted.
func (x *Eviction) Of() backend.Metric {
	if x.Counter() {
		return backend.MetricEvictions
	}
	return backend.MetricEvictionExhausted
}

// heads fills in the direction of the last hour, since the last gap.
func (x *Eviction) heads(c *Snapshot) {
	const parts = 30
	values := c.State.Day.Parts(x.Line(x.Of()), c.Now, time.Hour, parts)
	if n := len(values); n > 0 && !values[n-1].IsKnown() {
		values = values[:n-1] // the newest minutes may not be read yet
	}
	var trend []float64
	sum := 0.0
	for _, v := range values {
		n, known := v.Get()
		if !known {
			trend, sum = nil, 0
			continue
		}
		trend, sum = append(trend, n), sum+n
	}
	x.Direction = "unknown"
	switch span := time.Hour / parts * time.Duration(len(trend)); {
	case len(trend) == 0:
	case sum == 0:
		x.Direction = "none"
	default:
		x.Heading = alerts.DirectionOf(trend, span)
		x.Direction = directionWord(x.Heading)
	}
}

func directionWord(d alerts.Direction) string {
	switch d.Heading {
	case alerts.HeadingWorse:
		return "rising"
	case alerts.HeadingSteady:
		return "steady"
	case alerts.HeadingEnding:
		if d.Time == 0 {
			return "stopped"
		}
		return "falling"
	case alerts.HeadingUnknown:
	}
	return "unknown"
}

// stormOf is the alert of a storm at the row's provider, on a source that the row's source reports on.
func (x *Eviction) stormOf(c *Snapshot) *alerts.Alert {
	for _, a := range c.Board.Alerts {
		if a.Rule != "eviction-storm" || a.State != alerts.StateFiring && a.State != alerts.StateHeld || !x.Health.ReportsOn(a.Source) {
			continue
		}
		if x.raw == "" || slices.ContainsFunc(a.Subjects, func(s alerts.Subject) bool { return x.about(s.Key, c.State) }) {
			return a
		}
	}
	return nil
}

// about reports whether a subject of a storm is of the row's provider.
func (x *Eviction) about(k backend.Key, st *fleet.State) bool {
	if k.Kind == backend.KindSource {
		return k.ID.Raw() == k.Source+"/"+x.Provider.String()
	}
	w := st.Workspace(k)
	return w != nil && w.Provider.String() == x.Provider.String()
}
