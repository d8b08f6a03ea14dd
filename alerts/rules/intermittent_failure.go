package rules

import (
	"cmp"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// IntermittentOptions are the keys of `[rules.intermittent-failure]`.
type IntermittentOptions struct {
	Common
	Over     backend.Duration `toml:"over" doc:"the window of failures; counters of evictions are kept for an hour only"`
	Episodes int              `toml:"episodes" doc:"how often one workspace must fail and work again, or how many sessions must fail"`
	Time     float64          `toml:"time" doc:"share of its watched time that it must have failed (0 to 1)"`
	Attempts float64          `toml:"attempts" doc:"… or share of its attempts, or of evictions that no retry recovered (0 to 1)"`
	Share    float64          `toml:"share" doc:"share of the providers' watched workspace time that failed (0 to 1); from 0.5 on one level more severe"`
	Lost     int              `toml:"lost" doc:"evictions within an hour that no retry recovered"`
}

func intermittentDefaults() *IntermittentOptions {
	return &IntermittentOptions{Common: common(alerts.SeverityWarning), Over: backend.Duration(2 * time.Hour), Episodes: 5, Time: 0.05, Attempts: 0.25, Share: 0.2, Lost: 20}
}

func (o *IntermittentOptions) build() (alerts.Rule, error) {
	r := &intermittent{base: o.base("intermittent-failure", backend.KindWorkspace, backend.InputRegistry, backend.InputRegistry, backend.InputEvictions),
		over: o.Over.Std(), episodes: o.Episodes, time: o.Time, attempts: o.Attempts, share: o.Share, lost: float64(o.Lost)}
	r.meta.Window = lostOver
	r.meta.Inhibits = sameCause("hammered-and-failing")
	return r, cmp.Or(
		refuse(o.Over.Std() < 20*time.Minute, "over", "must be at least 20m: what fails now and then is seen over a long time only"),
		refuse(o.Episodes < 3 || o.Episodes > maxPoints, "episodes", "must be between 3 and 60"),
		share("time", o.Time),
		share("attempts", o.Attempts),
		share("share", o.Share),
		atLeast("lost", o.Lost, 2),
	)
}

// intermittent judges what fails again and again: a single workspace that fails and works in turn, a cause that hits
// one short session after the other, evictions of which many are not recovered though they are no storm.
type intermittent struct {
	base
	over                  time.Duration
	episodes              int
	time, attempts, share float64
	lost                  float64
}

// NewNote is about a workspace or a cause at a source.
func (r *intermittent) NewNote(key backend.Key) alerts.Note {
	if key.Kind == backend.KindWorkspace {
		return alerts.NoteOf(new(flakeNote))
	}
	return alerts.NoteOf(new(failingTimeNote))
}

// spread is how far the first and the newest failure must lie apart, so that one restart or deploy is none.
func (r *intermittent) spread() time.Duration { return r.over / 4 }

// flakeNote is how one workspace failed and worked in turn.
type flakeNote struct {
	Failing bool      `json:"failing,omitempty"`
	Open    bool      `json:"open,omitempty"`    // its newest attempt had no success yet
	Evicted bool      `json:"evicted,omitempty"` // it was evicted in its newest failure
	Attempt time.Time `json:"attempt,omitzero"`  // the newest one
	Success time.Time `json:"success,omitzero"`  // the newest one
	Read    time.Time `json:"read,omitzero"`     // up to when its time is counted
	Began   time.Time `json:"began,omitzero"`    // when it was first read as failing, the newest time that it was
	Again   *relapses `json:"again,omitempty"`   // nil until it worked again
	causeNote
	owner
}

// relapses is what is known of a workspace that failed before and worked again. What is counted has two parts, of the
// present half of the window and of the one before.
type relapses struct {
	Stayed  backend.Safe `json:"stayed,omitzero"`  // the lastError that the server still showed while it worked
	Before  []time.Time  `json:"before,omitempty"` // when it began to fail before, oldest first, within the window
	Half    time.Time    `json:"half,omitzero"`    // when the present half began
	Watched [2]float64   `json:"watched,omitzero"` // seconds
	Failed  [2]float64   `json:"failed,omitzero"`  // seconds of Watched
	Counted time.Time    `json:"counted,omitzero"` // the newest attempt that was counted
	Tried   [2]int32     `json:"tried,omitzero"`
	Lost    [2]int32     `json:"lost,omitzero"` // of Tried
}

// first is when it began to fail for the first time in the window.
func (n *flakeNote) first() time.Time {
	if n.Again != nil && len(n.Again.Before) > 0 {
		return n.Again.Before[0]
	}
	return n.Began
}

func (n *flakeNote) subject() alerts.Subject {
	return alerts.Subject{Since: n.first(), Bounds: alerts.Bounds{Latest: n.first()}, Detail: n.Cause}
}

// time is the watched time since its second failure and the failed part of it, in seconds.
func (x *relapses) time() (watched, failed float64) {
	return x.Watched[0] + x.Watched[1], x.Failed[0] + x.Failed[1]
}

// attempts is how many were seen since its second failure, and how many of them failed.
func (x *relapses) attempts() (tried, lost int) {
	return int(x.Tried[0] + x.Tried[1]), int(x.Lost[0] + x.Lost[1])
}

// Judge takes notes of workspaces that fail, and goes on after they recovered.
func (r *intermittent) Judge(env *alerts.Env, e backend.Entity, known alerts.Note) alerts.Verdict {
	note := alerts.NoteAs[flakeNote](known)
	w, ok := e.(*backend.Workspace)
	if !ok {
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	if w.Unreadable {
		return alerts.Verdict{Outcome: alerts.NoData, Note: known}
	}
	f := factsOf(env, w)
	failing := failsNow(w, f, note)
	if note == nil && (!failing || !seenToBegin(env, w, f)) {
		return alerts.Verdict{Outcome: alerts.False}
	}
	n := r.watch(env, w, f, note, failing)
	if !n.Failing && env.Now.Sub(n.Began) > r.over {
		return alerts.Verdict{Outcome: alerts.False}
	}
	v := alerts.Verdict{Outcome: alerts.False, Note: alerts.NoteOf(n)}
	if n == note {
		v.Note = known
	}
	switch {
	case n.Again != nil && len(n.Again.Before) > 0:
		v.Recheck = env.Now.Add(time.Minute)
	case !n.Failing:
		v.Recheck = n.Began.Add(r.over + 1)
	}
	return v
}

// seenToBegin reports whether a workspace that fails did not fail already when the console started.
func seenToBegin(env *alerts.Env, w *backend.Workspace, f facts) bool {
	return !f.worked.IsZero() || env.Appeared(w).Sub(env.Watching) > startupSpan
}

// failsNow reports whether a workspace fails. An attempt without a success may be one that goes on, so it proves a failure only
// with an error that was not there while it worked, or when another attempt followed. A sandbox that sleeps reads evicted
// without an error.
func failsNow(w *backend.Workspace, f facts, n *flakeNote) bool {
	switch {
	case w.Class == backend.ClassFailed:
		return true
	case w.Class == backend.ClassEvicted:
		return f.failing() || !w.LastError.IsEmpty()
	case !f.failing() || w.Class == backend.ClassClosed:
		return false
	case n == nil:
		return !w.LastError.IsEmpty()
	case n.Failing:
		return true
	case n.Open && f.attempt.After(n.Attempt) && !f.success.After(n.Success):
		return true
	}
	return !w.LastError.IsEmpty() && (n.Again == nil || w.LastError != n.Again.Stayed)
}

// watch adds the newest reading to the note.
func (r *intermittent) watch(env *alerts.Env, w *backend.Workspace, f facts, note *flakeNote, failing bool) *flakeNote {
	if note != nil && !f.read.After(note.Read) {
		return note
	}
	n := &flakeNote{}
	if note != nil {
		*n = *note
		if note.Again != nil {
			n.Again = new(*note.Again)
		}
	}
	r.count(env, w, f, n)
	if failing {
		fp := n.Fingerprint
		n, _, _ = causeOf(env, w, note, n, "fails without a lastError")
		if !n.Failing {
			if fp != "" && fp != n.Fingerprint { // another trouble begins
				*n = flakeNote{causeNote: n.causeNote}
			}
			n.owner = ownerOf(env, w)
			r.begins(n, f.read)
		}
		n.Evicted = w.Class == backend.ClassEvicted
	} else {
		if n.Again == nil {
			n.Again = &relapses{}
		}
		n.Again.Stayed = w.LastError
	}
	n.Failing, n.Open, n.Attempt, n.Success, n.Read = failing, f.failing(), f.attempt, f.success, f.read
	return n
}

// begins adds the beginning of a failure. Those that follow each other quickly count as one, so that the few that are kept
// reach back far enough.
func (r *intermittent) begins(n *flakeNote, at time.Time) {
	was := n.Began
	if n.Began = at; was.IsZero() {
		return
	}
	x := n.Again
	x.Before = withinSpan(x.Before, at.Add(-r.over))
	if k := len(x.Before); k == 0 || was.Sub(x.Before[k-1]) >= r.spread()/time.Duration(2*r.episodes) {
		x.Before = append(x.Before, was)
		x.Before = x.Before[max(len(x.Before)-4*r.episodes, 0):]
	}
}

// withinSpan copies the moments that are not before another.
func withinSpan(times []time.Time, from time.Time) []time.Time {
	var out []time.Time
	for _, t := range times {
		if !t.Before(from) {
			out = append(out, t)
		}
	}
	return out
}

// attemptGap is how far counted attempts with the same result lie apart: retries of one operation follow each other quickly.
const attemptGap = 30 * time.Second

// count adds time and attempts since the last reading; time in which nothing was read does not count.
func (r *intermittent) count(env *alerts.Env, w *backend.Workspace, f facts, n *flakeNote) {
	x := n.Again
	if x == nil || len(x.Before) == 0 {
		return // its first failure decides nothing
	}
	if x.Half.IsZero() {
		x.Half = f.read
	} else if f.read.Sub(x.Half) >= r.over/2 {
		x.Half = f.read
		x.Watched, x.Failed = [2]float64{0, x.Watched[0]}, [2]float64{0, x.Failed[0]}
		x.Tried, x.Lost = [2]int32{0, x.Tried[0]}, [2]int32{0, x.Lost[0]}
	}
	if d := f.read.Sub(n.Read); d <= readPatience(env, w.Key.Source) {
		x.Watched[0] += d.Seconds()
		if n.Failing {
			x.Failed[0] += d.Seconds()
		}
	}
	if !f.attempt.After(n.Attempt) || f.failing() == n.Open && f.attempt.Sub(x.Counted) < attemptGap {
		return
	}
	x.Counted = f.attempt
	x.Tried[0]++
	if f.failing() {
		x.Lost[0]++
	}
}

// readPatience is the longest time between two readings that counts as watched.
func readPatience(env *alerts.Env, source string) time.Duration {
	p := 2 * time.Minute
	if h := env.State.Source(source); h != nil {
		p = max(p, 2*h.Interval+h.Deadline)
	}
	return p
}

// recurs reports whether one workspace fails again and again for long enough to count.
func (r *intermittent) recurs(env *alerts.Env, n *flakeNote) bool {
	if n.Again == nil || env.Now.Sub(n.Began) > r.spread() {
		return false
	}
	before := withinSpan(n.Again.Before, env.Now.Add(-r.over))
	if len(before)+1 < r.episodes || n.Began.Sub(before[0]) < r.spread() {
		return false
	}
	watched, failed := n.Again.time()
	tried, lost := n.Again.attempts()
	return watched > 0 && atShare(failed, r.time, watched) || tried >= 2*r.episodes && atShare(float64(lost), r.attempts, float64(tried))
}
