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
	Recovery  float64          `toml:"recovery" doc:"share of evictions that retries recover (0 to 1); below it is a storm"`
	Over      backend.Duration `toml:"over" doc:"the window of all counts"`
	Exhausted int              `toml:"exhausted" doc:"lines about exhausted retries within the window"`
	Evicted   int              `toml:"evicted" doc:"evicted workspaces, and at least half of those in use"`
	Leave     float64          `toml:"leave" doc:"the alert ends below this share of the rate"`
}

func stormDefaults() *StormOptions {
	o := &StormOptions{
		Common: common(alerts.SeverityCritical), Rate: 0.2, Recovery: 0.5, Over: backend.Duration(5 * time.Minute), Exhausted: 3, Evicted: 5, Leave: 0.8,
	}
	o.For = backend.Duration(time.Minute) // an ordinary restart is over by then
	o.KeepFiringFor = backend.Duration(time.Minute)
	return o
}

func (o *StormOptions) build() (alerts.Rule, error) {
	r := &evictionStorm{base: o.base("eviction-storm", backend.KindWorkspace, backend.InputRegistry, backend.InputEvictions, backend.InputEvictionLogs, backend.InputRegistry), rate: o.Rate, recovery: o.Recovery, over: o.Over.Std(),
		exhausted: float64(o.Exhausted), evicted: o.Evicted, leave: o.Leave}
	r.meta.Window, r.meta.OwnFor = r.over, true
	r.meta.Inhibits = []alerts.Inhibition{{
		Rules: []string{"failed-too-long", "hammered-and-failing", "evicted-sustained", "intermittent-failure"},
		Equal: []string{alerts.LabelSource, alerts.LabelProvider},
	}}
	return r, cmp.Or(
		refuse(o.Rate <= 0, "rate", "must be more than 0"),
		share("recovery", o.Recovery),
		refuse(o.Exhausted < 2, "exhausted", "must be at least 2: a single line is not a storm"),
		refuse(o.Evicted < 2, "evicted", "must be at least 2: a single workspace is not a storm"),
		refuse(o.Leave <= 0 || o.Leave > 1, "leave", "must be more than 0 and at most 1"),
		window("over", o.Over),
	)
}

// evictedNote is what is remembered of a workspace while it is evicted.
type evictedNote struct {
	Success time.Time `json:"success,omitzero"`
	Seen    time.Time `json:"seen,omitzero"`  // when it was first read as evicted
	Attempt time.Time `json:"last,omitzero"`  // the newest attempt
	Evicted time.Time `json:"first,omitzero"` // when it was last seen to become evicted, or to be tried while it was
	After   time.Time `json:"after,omitzero"` // the reading before Evicted, where that is more than `over` earlier
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
	By         stormInput `json:"by,omitempty"` // what proved it so far: these have to disprove it
	seriesNote            // the log lines of sessions that were counted there
	Line       time.Time  `json:"line,omitzero"` // when the newest of them was written
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
		n.Seen, n.Evicted, n.After = note.Seen, note.Evicted, note.After
	}
	r.watch(env, w, f, note, &n)
	if n.Raw = w.LastError; note != nil && note.Raw == n.Raw {
		n.Cause, n.Fingerprint = note.Cause, note.Fingerprint
	} else {
		n.Cause, n.Fingerprint = env.Cause(w.LastError)
	}
	return alerts.Verdict{Outcome: alerts.False, Note: alerts.NoteOf(&n)}
}

// gap is how far apart two readings of a source lie at most that watch what happens between them, also when two processes took
// them.
func (r *evictionStorm) gap() time.Duration { return 3 * r.over }

// watch notes that a workspace was seen to become evicted, or to be tried in vain: the reading before this one shows it.
func (r *evictionStorm) watch(env *alerts.Env, w *backend.Workspace, f facts, note, n *evictedNote) {
	if note != nil && !f.attempt.After(note.Attempt) {
		return
	}
	before := env.Earlier(w)
	apart := f.read.Sub(before.At)
	switch watched := !before.At.IsZero() && apart > 0 && apart <= r.gap(); {
	case note != nil && !watched:
		if env.Now.Sub(f.attempt) <= r.over { // it says itself that it was tried lately
			n.Evicted, n.After = f.attempt, time.Time{}
		}
		return
	case note == nil && (!watched || r.asleep(env, w, f) || !f.attempt.After(before.At) && (!before.Read || before.Evicted)):
		return
	}
	n.Evicted, n.After = f.read, time.Time{}
	if apart > r.over {
		if !f.attempt.After(f.success) { // used until it slept, as far as such readings tell
			n.Evicted = time.Time{}
			return
		}
		n.After = before.At
	}
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
			if v.Outcome == alerts.True {
				v.Evidence = append(v.Evidence, r.byProvider(env, sites, id.home)...)
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
	was, note := known.Finding(key), alerts.NoteAs[stormNote](known.Note(key))
	proved := stormInput(0)
	if note != nil {
		proved = note.By
	}
	v, by := r.judge(env, id, s, was == alerts.StateFiring || was == alerts.StateHeld, proved)
	if via := known.Via(key); v.Outcome == alerts.False && via != "" && len(s.evictions)+len(s.exhausted)+len(s.lines) == 0 && !r.counts(env, via) {
		// what proved it has counted nothing since, not even zero: that is no proof of the contrary
		v = alerts.Verdict{Outcome: alerts.NoData, Why: backend.Textf("%s has counted nothing lately", backend.Clean(via, 80))}
		if o, why, gap := env.Gap(via); gap {
			v.Outcome, v.Why = o, why
		}
	}
	if v.Outcome == alerts.False && note != nil && proved&stormLines != 0 && !r.recovered(env, id, s, note.Line) {
		if why, is := logStopped(env, id.home, s.told(), newestLine(env, s.told(), note.Line)); is {
			v.Outcome, v.Why, v.Stopped, v.Note = alerts.NoData, why, true, known.Note(key)
		}
	}
	if v.Outcome == alerts.True {
		r.began(env, s, note, by|proved, &v)
		r.lasts(env, id, s, by, &v)
	}
	return v
}

// recovered reports whether the registry shows that the workspaces there work again: none is evicted, and one of them succeeded
// since the newest line.
func (r *evictionStorm) recovered(env *alerts.Env, id siteID, s *site, line time.Time) bool {
	if s.evicted.Len() > 0 {
		return false
	}
	for w := range env.State.Workspaces.All() {
		if w.Key.Source == id.home && factsOf(env, w).success.After(line) {
			return true
		}
	}
	return false
}

// counts reports whether a source counted evictions or lines lately, zero of them too.
func (r *evictionStorm) counts(env *alerts.Env, source string) bool {
	for _, m := range []backend.Metric{backend.MetricEvictions, backend.MetricEvictionExhausted, backend.MetricWorkspaceEvicted} {
		for x := range env.State.Windows.All(m) {
			if x.Source == source && env.Rate([]backend.Series{x}, r.over).Known {
				return true
			}
		}
	}
	return false
}

// lasts leaves a storm suspected that is younger than the rule's `for`: one restart evicts many at once, and is over soon.
// It goes by the evidence, so that a console that starts later need not wait.
func (r *evictionStorm) lasts(env *alerts.Env, id siteID, s *site, by stormInput, v *alerts.Verdict) {
	if v.Suspected || r.meta.For <= 0 {
		return
	}
	age := env.Now.Sub(v.Bounds.Latest)
	if by == stormStates {
		age = min(age, env.Watched(id.home, v.Bounds.Latest))
	}
	if by == stormLines { // lines stay in the window when what they tell of is over
		age = min(age, spread(env, slices.Concat(s.exhausted, s.lines), r.over))
	}
	if age >= r.meta.For {
		return
	}
	v.Suspected = true
	v.Why = backend.Textf("fires once it has lasted %s", text(r.meta.For))
	v.Recheck = earlierOf(env.Now.Add(r.meta.For-age), env.Now.Add(r.meta.For))
}

// spread is how far apart the first and the last thing that series counted within a window lie.
func spread(env *alerts.Env, series []backend.Series, window time.Duration) time.Duration {
	var first, last time.Time
	for _, x := range series {
		for at, n := range env.State.Windows.Counts(x) {
			at = env.Ours(at)
			if n <= 0 || env.Now.Sub(at) >= window {
				continue
			}
			if first.IsZero() || at.Before(first) {
				first = at
			}
			last = latestOf(last, at)
		}
	}
	return last.Sub(first)
}

// began remembers what was counted there, and since when it is a storm: by the counts as far as they reach back, else by
// the evicted workspaces themselves, of which enough have to be evicted at the same time.
func (r *evictionStorm) began(env *alerts.Env, s *site, was *stormNote, by stormInput, v *alerts.Verdict) {
	n := s.remember(was, by)
	v.Note = alerts.NoteOf(n)
	counted := by&(stormCounters|stormLines) != 0
	if counted && v.Suspected {
		return // a rate that is not proved yet began at no moment
	}
	c := *n
	if by&stormLines != 0 {
		c.Line = newestLine(env, s.told(), c.Line)
	}
	v.Bounds = onset(env, &c.onsetNote, func() alerts.Bounds {
		if !counted {
			return s.evictedSince(env, r.evicted, r.over)
		}
		least := r.rate * r.over.Seconds()
		return heldSince(env, r.over, func(sums []float64) bool {
			return sums[0] >= least && sums[1] < r.recovery*sums[0] || sums[2] >= r.exhausted || sums[3] >= least && uncounted(sums[0], sums[3])
		}, s.evictions, s.retries, s.exhausted, s.lines)
	})
	if !c.Line.Equal(n.Line) || !c.Held.Equal(n.Held) || !c.HeldNot.Equal(n.HeldNot) || !c.Sought.Equal(n.Sought) {
		v.Note = alerts.NoteOf(&c)
	}
}

// evictedSince is between which moments so many workspaces had come to be evicted.
func (s *site) evictedSince(env *alerts.Env, many int, over time.Duration) alerts.Bounds {
	var worked, failed []time.Time
	for _, n := range each[evictedNote](s.evicted) {
		if !n.inUse(env, over) {
			continue
		}
		at := n.Seen
		if !n.Attempt.IsZero() && n.Attempt.Before(at) {
			at = n.Attempt
		}
		worked, failed = append(worked, n.Success), append(failed, at)
	}
	return alerts.Bounds{Earliest: nth(worked, many), Latest: nth(failed, many)}
}
