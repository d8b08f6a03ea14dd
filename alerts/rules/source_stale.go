package rules

import (
	"cmp"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// StaleOptions are the keys of `[rules.source-stale]`.
type StaleOptions struct {
	Common
	After  backend.Duration `toml:"after" doc:"age of the newest data of a source that answers"`
	Active int              `toml:"active" doc:"least sessions that another source shows at work"`
}

func staleDefaults() *StaleOptions {
	return &StaleOptions{Common: common(alerts.SeverityWarning), After: backend.Duration(15 * time.Minute), Active: 3}
}

func (o *StaleOptions) build() (alerts.Rule, error) {
	r := &sourceStale{base: o.base("source-stale", "", backend.InputRegistry, backend.InputEvictionLogs, backend.InputRejections), after: o.After.Std(), active: o.Active}
	r.meta.Window = r.after
	return r, cmp.Or(
		window("after", o.After),
		refuse(o.After.Std() <= activeWithin, "after", "must be longer than "+text(activeWithin)+", the time within which sessions count as being at work"),
		atLeast("active", o.Active, 1),
	)
}

// activeWithin is how recently a session must have been seen at work to count.
const activeWithin = 5 * time.Minute

// staleSweep is how often all workspaces are looked at for their newest times.
const staleSweep = 30 * time.Second

// staleNote is what the newest full look at a source showed.
type staleNote struct {
	Looked time.Time `json:"seen,omitzero"`
	Newest time.Time `json:"last,omitzero"`        // its newest data; of a silent log, since when it is watched
	Silent bool      `json:"was_failed,omitempty"` // its log was watched and wrote no line
	Active int32     `json:"count,omitempty"`      // its sessions that another source shows at work
	Date   string    `json:"date,omitempty"`       // the Date header of its newest answer
	Dated  time.Time `json:"dated,omitzero"`       // when that Date was first seen
}

type sourceStale struct {
	base
	remembers[staleNote]
	after  time.Duration
	active int
}

func (r *sourceStale) JudgeFleet(env *alerts.Env, known alerts.Known) []alerts.Found {
	var out []alerts.Found
	var work map[string]*atWork
	for _, h := range env.State.Sources {
		registry, log := h.Delivers(backend.InputRegistry), h.Kind == "logs" || h.Delivers(backend.InputRejections)
		v := alerts.Verdict{Source: h.Key.Source, Note: known.Note(h.Key)}
		if r.copied(env, h, &v) {
			out = append(out, alerts.Found{Key: h.Key, Verdict: v})
			continue
		}
		if !registry && !log {
			if known.Finding(h.Key) != "" || !v.Note.IsZero() {
				v.Outcome = alerts.False
				out = append(out, alerts.Found{Key: h.Key, Verdict: v})
			}
			continue
		}
		if o, why, gap := env.Gap(h.Key.Source); gap {
			v.Outcome, v.Why = o, why
			out = append(out, alerts.Found{Key: h.Key, Verdict: v})
			continue
		}
		n := alerts.NoteAs[staleNote](v.Note)
		if n == nil || env.Now.Sub(n.Looked) >= staleSweep {
			if work == nil {
				work = newestWork(env)
			}
			was := n
			if n = r.sweep(env, h, registry, work); was != nil {
				n.Date, n.Dated = was.Date, was.Dated
			}
			v.Note = alerts.NoteOf(n)
		}
		r.judge(env, h, registry, n, &v)
		out = append(out, alerts.Found{Key: h.Key, Verdict: v})
	}
	return out
}

// copied judges by the answers themselves: a Date that does not advance, or an Age, is that of a copy. The note keeps the
// Date, so that two runs of check compare theirs.
func (r *sourceStale) copied(env *alerts.Env, h *fleet.SourceHealth, v *alerts.Verdict) bool {
	if h.Status == fleet.StatusDown || h.Status == fleet.StatusStarting || h.Status == fleet.StatusAbsent || h.Interval <= 0 {
		return false
	}
	n := alerts.NoteAs[staleNote](v.Note)
	if h.BodyDate != "" && (n == nil || n.Date != h.BodyDate) && (h.BodyAge > 0 || n == nil || env.Now.Sub(n.Dated) >= staleSweep) {
		c := staleNote{}
		if n != nil {
			c = *n
		}
		c.Date, c.Dated = h.BodyDate, env.Ours(h.DataAt())
		n = &c
		v.Note = alerts.NoteOf(n)
	}
	age, by := h.BodyAge, h.BodyBy
	if n != nil && h.BodyDate != "" && n.Date == h.BodyDate {
		if stood := env.Ours(h.LastOK).Sub(n.Dated).Truncate(time.Second); stood > age { // since a run before this one
			age, by = stood, "Date"
		}
	}
	if age <= 2*h.Interval {
		return false
	}
	v.Outcome, v.Runbook, v.Cause = alerts.True, "source", backend.Text("it serves a copy")
	v.Fingerprint, v.Detail = alerts.Fingerprint(v.Cause.String()), v.Cause
	v.Bounds, v.Confirmed = alerts.Bounds{Latest: env.Ours(h.LastOK).Add(-age)}, env.Ours(h.LastOK)
	if v.Suspected = age < 3*h.Interval; v.Suspected {
		v.Why = backend.Textf("fires when its answers are %s old", text(3*h.Interval))
	}
	v.Evidence = []alerts.Evidence{{
		Text:  backend.Textf("it answers, and what %s answers is of %s: %s", h.BodyWhere, env.Clock(v.Bounds.Latest), proof(h, by, age)),
		Value: backend.Known(age.Seconds()), Unit: "s", Source: h.Key.Source, At: h.LastOK,
	}}
	return true
}

// proof says which header proves how old an answer is.
func proof(h *fleet.SourceHealth, by string, age time.Duration) backend.Safe {
	if by == "Age" {
		return backend.Textf("its Age header says %s", text(age))
	}
	return backend.Textf("its Date header has not moved from %s for %s", backend.Clean(h.BodyDate, 40), text(age))
}

// atWork is what the registries of one source say of who works.
type atWork struct {
	newest time.Time
	active map[backend.ID]bool
}

func newestWork(env *alerts.Env) map[string]*atWork {
	out := map[string]*atWork{}
	for w := range env.State.Workspaces.All() {
		if w.Stale || w.Unreadable {
			continue
		}
		x := out[w.Key.Source]
		if x == nil {
			x = &atWork{active: map[backend.ID]bool{}}
			out[w.Key.Source] = x
		}
		at := latestOf(env.Time(&w.Meta, w.LastAttemptAt), env.Time(&w.Meta, w.LastSuccessAt))
		x.newest = latestOf(x.newest, at)
		if !at.IsZero() && env.Now.Sub(at) <= activeWithin {
			x.active[w.Key.Parent] = true
		}
	}
	return out
}

func (r *sourceStale) sweep(env *alerts.Env, h *fleet.SourceHealth, registry bool, work map[string]*atWork) *staleNote {
	n := &staleNote{Looked: env.Now}
	if registry {
		if x := work[h.Key.Source]; x != nil {
			n.Newest = x.newest
		}
		for s := range env.State.Windows.All(backend.MetricNamed) {
			if s.Session.IsZero() || env.HomeOf(s) != h.Key.Source {
				continue
			}
			if env.Over(s, activeWithin).N > 0 {
				n.Active++
			}
		}
		return n
	}
	for id, x := range work {
		if h.ReportsOn(id) {
			n.Active += int32(len(x.active))
		}
	}
	lines := backend.Series{Source: h.Key.Source, Name: backend.MetricLogLines}
	all := env.Over(lines, r.after)
	for s := range env.State.Windows.All(backend.MetricLogLines) {
		if s.Source == h.Key.Source && s != lines {
			all = all.Add(env.Over(s, r.after))
		}
	}
	switch {
	case all.Samples == 0:
	case all.N > 0:
		n.Newest = env.Now
	case env.Now.Sub(env.Ours(all.First)) >= r.after*9/10: // watched for nearly the whole time, and not one line
		n.Newest, n.Silent = env.Ours(all.First), true
	}
	return n
}

func (r *sourceStale) judge(env *alerts.Env, h *fleet.SourceHealth, registry bool, n *staleNote, v *alerts.Verdict) {
	v.Outcome = alerts.False
	old := !n.Newest.IsZero() && env.Now.Sub(n.Newest) >= r.after || n.Silent
	if !old || int(n.Active) < r.active {
		return
	}
	v.Outcome, v.Runbook = alerts.True, "source"
	who, what := "log lines name", "the newest attempt in its registries"
	v.Cause = backend.Text("its registries do not move")
	v.Suspected = true // a newest timestamp that stands still is a hint, never alone a proof
	v.Why = backend.Text("a newest attempt that does not move is only a hint: it fires when the Date of its answers does not move, or their Age is too high")
	if !registry {
		v.Why = backend.Text("a log without new lines is a hint only: nothing may have happened that it would tell")
		v.Cause = backend.Text("its log is silent")
		who, what = "registries show attempts of", "the newest line"
	}
	v.Fingerprint, v.Detail = alerts.Fingerprint(v.Cause.String()), v.Cause
	v.Bounds = alerts.Bounds{Earliest: n.Newest, Latest: n.Newest.Add(r.after)}
	v.Confirmed = env.Ours(h.LastOK)
	newest := alerts.Evidence{Text: backend.Textf("it answers, and %s is of %s", backend.Clean(what, 60), env.Clock(n.Newest)), Source: h.Key.Source, At: env.Display(n.Looked)}
	if n.Silent {
		newest.Text = backend.Textf("it answers, and no line was written since %s at least", env.Clock(n.Newest))
	}
	v.Evidence = []alerts.Evidence{newest, {
		Text:  backend.Textf("%s %s within %s", backend.Clean(who, 60), plural(int(n.Active), "session"), text(activeWithin)),
		Value: backend.Known(float64(n.Active)), Unit: "sessions", Source: h.Key.Source, At: env.Display(n.Looked),
	}}
}
