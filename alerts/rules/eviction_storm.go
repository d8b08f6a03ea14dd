package rules

import (
	"cmp"
	"slices"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// StormOptions are the keys of `[rules.eviction-storm]`.
type StormOptions struct {
	Common
	Rate      float64          `toml:"rate" doc:"evictions a second"`
	Recovery  float64          `toml:"recovery" doc:"share of evictions that retries recover, below which it is a storm (0 to 1)"`
	Over      backend.Duration `toml:"over" doc:"the window of all counts"`
	Exhausted int              `toml:"exhausted" doc:"lines that say that retries were exhausted, within the window"`
	Evicted   int              `toml:"evicted" doc:"workspaces that must be evicted where neither metrics nor logs tell"`
	Leave     float64          `toml:"leave" doc:"the alert ends below this share of the rate"`
}

func stormDefaults() *StormOptions {
	o := &StormOptions{
		Common: common(alerts.SeverityCritical), Rate: 0.2, Recovery: 0.5, Over: backend.Duration(5 * time.Minute), Exhausted: 3, Evicted: 5, Leave: 0.8,
	}
	o.KeepFiringFor = backend.Duration(time.Minute)
	return o
}

func (o *StormOptions) build() (alerts.Rule, error) {
	r := &evictionStorm{base: o.base("eviction-storm", backend.KindWorkspace, backend.InputRegistry, backend.InputEvictions, backend.InputEvictionLogs, backend.InputRegistry), rate: o.Rate, recovery: o.Recovery, over: o.Over.Std(),
		exhausted: float64(o.Exhausted), evicted: o.Evicted, leave: o.Leave}
	r.meta.Window = r.over
	r.meta.Inhibits = []alerts.Inhibition{{
		Rules: []string{"failed-too-long", "hammered-and-failing", "evicted-sustained"},
		Equal: []string{alerts.LabelSource, alerts.LabelProvider},
	}}
	return r, cmp.Or(
		refuse(o.Rate <= 0, "rate", "must be more than 0"),
		share("recovery", o.Recovery),
		refuse(o.Exhausted < 2, "exhausted", "must be at least 2: a single line is no storm"),
		refuse(o.Evicted < 2, "evicted", "must be at least 2: a single workspace is no storm"),
		refuse(o.Leave <= 0 || o.Leave > 1, "leave", "must be more than 0 and at most 1"),
		window("over", o.Over),
	)
}

// evictedNote is what is remembered of a workspace while it is evicted.
type evictedNote struct {
	Success time.Time `json:"success,omitzero"`
	Seen    time.Time `json:"seen,omitzero"`  // when it was first read as evicted
	Attempt time.Time `json:"last,omitzero"`  // the newest attempt
	Evicted time.Time `json:"first,omitzero"` // when it was last seen to become evicted, or to fail again while it was
	causeNote
	owner
}

func (n *evictedNote) subject() alerts.Subject {
	by := n.Seen
	if n.Evicted.After(by) {
		by = n.Evicted
	}
	return alerts.Subject{Since: n.Seen, Bounds: alerts.Bounds{Earliest: n.Success, Latest: by}, Detail: n.Cause}
}

// stormNote is what is remembered of a storm.
type stormNote struct {
	onsetNote
	seriesNote // the log lines of sessions that were counted there
}

type evictionStorm struct {
	base
	rate, recovery   float64
	exhausted, leave float64
	evicted          int
	over             time.Duration
}

// NewNote is about a workspace or a site.
func (r *evictionStorm) NewNote(key backend.Key) alerts.Note {
	if key.Kind == backend.KindWorkspace {
		return alerts.NoteOf(new(evictedNote))
	}
	return alerts.NoteOf(new(stormNote))
}

// Judge takes notes of evicted workspaces; a single one is never a storm.
func (r *evictionStorm) Judge(env *alerts.Env, e backend.Entity, known alerts.Note) alerts.Verdict {
	note := alerts.NoteAs[evictedNote](known)
	w, ok := e.(*backend.Workspace)
	if !ok || w.Class != backend.ClassEvicted || w.Unreadable {
		return alerts.Verdict{Outcome: alerts.False}
	}
	f := factsOf(env, w)
	n := evictedNote{Success: f.success, Seen: f.read, Attempt: f.attempt, owner: ownerOf(env, w)}
	if note != nil {
		n.Seen, n.Evicted = note.Seen, note.Evicted
		if f.attempt.After(note.Attempt) {
			n.Evicted = f.read
		}
	} else if seen := env.Ours(w.FirstSeen); !seen.IsZero() && seen.Before(f.read) && env.Now.After(env.Watching) {
		n.Evicted = f.read // it was something else when it was read before
	}
	if n.Raw = w.LastError; note != nil && note.Raw == n.Raw {
		n.Cause, n.Fingerprint = note.Cause, note.Fingerprint
	} else {
		n.Cause, n.Fingerprint = env.Cause(w.LastError)
	}
	return alerts.Verdict{Outcome: alerts.False, Note: alerts.NoteOf(&n)}
}

func (r *evictionStorm) JudgeFleet(env *alerts.Env, known alerts.Known) []alerts.Found {
	sites := r.sites(env, known)
	r.attribute(env, known, sites)
	r.joinNameless(env, known, sites)
	for key, state := range known.Findings {
		if id := siteOf(key); state != alerts.StateEnded && sites[id] == nil {
			sites[id] = &site{} // nothing speaks about it any more
		}
	}
	out := make([]alerts.Found, 0, len(sites))
	storms := map[siteID]bool{}
	for _, told := range []bool{true, false} { // what may be a part of others comes after these
		for id, s := range sites {
			if told != (len(s.may) == 0) {
				continue
			}
			v := r.judgeSite(env, known, id, s)
			storms[id] = v.Outcome == alerts.True
			if slices.ContainsFunc(s.may, func(o siteID) bool { return storms[o] }) {
				v = alerts.Verdict{Outcome: alerts.False} // one of them tells it
			}
			if key := s.key(id); v.Outcome == alerts.True || known.Finding(key) != "" {
				out = append(out, alerts.Found{Key: key, Verdict: v})
			}
		}
	}
	return out
}

func (r *evictionStorm) judgeSite(env *alerts.Env, known alerts.Known, id siteID, s *site) alerts.Verdict {
	key := s.key(id)
	was := known.Finding(key)
	v := r.judge(env, id, s, was == alerts.StateFiring || was == alerts.StateHeld)
	if via := known.Via(key); v.Outcome == alerts.False && via != "" && len(s.evictions)+len(s.exhausted) == 0 {
		// what proved it has counted nothing since, not even zero: that is no proof of the contrary
		v = alerts.Verdict{Outcome: alerts.NoData, Why: backend.Textf("%s has counted nothing lately", backend.Clean(via, 80))}
		if o, why, gap := env.Gap(via); gap {
			v.Outcome, v.Why = o, why
		}
	}
	if v.Outcome == alerts.True {
		r.began(env, s, alerts.NoteAs[stormNote](known.Note(key)), &v)
	}
	return v
}

// began remembers what was counted there, and since when it is a storm: by the counts as far as they reach back, else by
// the evicted workspaces themselves, of which enough have to be evicted at the same time.
func (r *evictionStorm) began(env *alerts.Env, s *site, was *stormNote, v *alerts.Verdict) {
	n := s.remember(was)
	v.Note = alerts.NoteOf(n)
	counted := len(s.evictions)+len(s.exhausted) > 0
	if counted && v.Suspected {
		return // a rate that is not proved yet began at no moment
	}
	c := *n
	v.Bounds = onset(env, &c.onsetNote, func() alerts.Bounds {
		if !counted {
			return s.evictedSince(r.evicted)
		}
		least := r.rate * r.over.Seconds()
		return heldSince(env, r.over, func(sums []float64) bool {
			return sums[0] > least && sums[1] < r.recovery*sums[0] || sums[2] >= r.exhausted
		}, s.evictions, s.retries, s.exhausted)
	})
	if !c.Held.Equal(n.Held) || !c.HeldNot.Equal(n.HeldNot) || !c.Sought.Equal(n.Sought) {
		v.Note = alerts.NoteOf(&c)
	}
}

// evictedSince is between which moments so many workspaces had come to be evicted.
func (s *site) evictedSince(many int) alerts.Bounds {
	var worked, failed []time.Time
	for _, n := range each[evictedNote](s.evicted) {
		at := n.Seen
		if !n.Attempt.IsZero() && n.Attempt.Before(at) {
			at = n.Attempt
		}
		worked, failed = append(worked, n.Success), append(failed, at)
	}
	return alerts.Bounds{Earliest: nth(worked, many), Latest: nth(failed, many)}
}

// judge weighs what the counters, the log lines and the registry say about one provider.
func (r *evictionStorm) judge(env *alerts.Env, id siteID, s *site, firing bool) alerts.Verdict {
	m := storm{
		evictions: env.Rate(s.evictions, r.over), retries: env.Rate(s.retries, r.over), exhausted: env.Rate(s.exhausted, r.over),
	}
	limit := r.rate
	if firing {
		limit *= r.leave
	}
	o, suspected := alerts.NoData, false
	if len(s.evictions) > 0 {
		if o, suspected = m.evictions.Exceeds(limit); o == alerts.True && m.recovered() >= r.recovery {
			o = alerts.False
		}
	} else if m.exhausted.Known {
		o = alerts.False
	}
	if m.exhausted.N >= r.exhausted {
		o, suspected = alerts.True, false
	}
	var why backend.Safe
	// Lines that may belong to this site leave it open whether it is a storm.
	unsure := o != alerts.True && len(s.evictions) == 0 && env.Rate(s.unplaced, r.over).N > 0
	if len(s.evictions)+len(s.exhausted) == 0 || unsure {
		o, suspected, why = r.seen(env, id, s, &m)
	}
	v := alerts.Verdict{Outcome: o, Suspected: suspected, Source: id.home, Via: s.via(id.home), Why: why}
	if o != alerts.True {
		if o == alerts.NoData && v.Why.IsEmpty() {
			v.Why = backend.Textf("too little of the last %s was read", text(r.over))
		}
		inputs := []backend.Input{backend.InputEvictionLogs}
		if len(s.evictions) > 0 {
			inputs = []backend.Input{backend.InputEvictions}
		}
		if why, is := env.Silent(v.Via, inputs...); is {
			v.Outcome, v.Why = alerts.SourceError, why
		}
		if _, gap, is := env.Gap(v.Via); is {
			v.Outcome, v.Why = alerts.SourceError, gap
		}
		return v
	}
	if suspected && why.IsEmpty() {
		v.Why = backend.Textf("fires when the rate holds: %s of the window of %s were read", text(m.evictions.Covered.Round(time.Second)), text(r.over))
	}
	r.tell(env, id, s, &m, &v)
	return v
}

// seen judges by what the polls saw, where nothing counts evictions: a lower bound.
func (r *evictionStorm) seen(env *alerts.Env, id siteID, s *site, m *storm) (alerts.Outcome, bool, backend.Safe) {
	if o, why, gap := env.Gap(id.home); gap {
		return o, false, why
	}
	if s.evicted.Len() < r.evicted {
		return alerts.False, false, backend.Safe{}
	}
	m.total = id.count(env)
	if float64(s.evicted.Len()) < (1-r.recovery)*float64(m.total) {
		return alerts.False, false, backend.Safe{}
	}
	for _, n := range each[evictedNote](s.evicted) {
		if !n.Evicted.IsZero() && env.Now.Sub(n.Evicted) <= r.over {
			m.churned++
		}
	}
	m.least = true
	if float64(m.churned)/r.over.Seconds() > r.rate || 2*m.churned >= s.evicted.Len() {
		return alerts.True, false, backend.Safe{}
	}
	return alerts.True, true, backend.Textf("%d of %d are evicted now, %d of them were seen to become so: fires when half of them are seen to be evicted or to fail again",
		s.evicted.Len(), m.total, m.churned)
}
