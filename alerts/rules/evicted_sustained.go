package rules

import (
	"cmp"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// SustainedOptions are the keys of `[rules.evicted-sustained]`.
type SustainedOptions struct {
	Common
	Over   backend.Duration `toml:"over" doc:"the window of polls"`
	Share  float64          `toml:"share" doc:"share of the window's polls that must find it evicted (0 to 1)"`
	Leave  float64          `toml:"leave" doc:"the alert ends below this share"`
	Failed backend.Duration `toml:"failed" doc:"attempts that fail this long are left to hammered-and-failing; equal to that rule's after"`
}

func sustainedDefaults() *SustainedOptions {
	return &SustainedOptions{Common: common(alerts.SeverityWarning), Over: backend.Duration(10 * time.Minute), Share: 0.8, Leave: 0.4, Failed: backend.Duration(5 * time.Minute)}
}

func (o *SustainedOptions) build() (alerts.Rule, error) {
	r := &evictedSustained{base: o.base("evicted-sustained", backend.KindWorkspace, backend.InputRegistry, backend.InputRegistry), over: o.Over.Std(), share: o.Share, leave: o.Leave, failed: o.Failed.Std()}
	return r, cmp.Or(
		share("share", o.Share),
		refuse(o.Leave <= 0 || o.Leave > o.Share, "leave", "must be more than 0 and at most share"),
		positive("over", o.Over),
		positive("failed", o.Failed),
	)
}

// sustainedNote holds when the state of a workspace turned. The last turn is the newest poll, so there are always two.
type sustainedNote struct {
	Seen      time.Time `json:"seen,omitzero"`         // when it was first read as evicted
	Sustained bool      `json:"was_evicted,omitempty"` // the alert is true
	Turns     []point   `json:"points,omitempty"`      // N[0]: 1 evicted, 0 anything else
	causeNote
}

type evictedSustained struct {
	base
	remembers[sustainedNote]
	over, failed time.Duration
	share, leave float64
}

// step is how often the share is brought up to date while nothing changes.
func (r *evictedSustained) step() time.Duration { return max(r.over/20, time.Second) }

func (r *evictedSustained) Judge(env *alerts.Env, e backend.Entity, known alerts.Note) alerts.Verdict {
	note := alerts.NoteAs[sustainedNote](known)
	w, ok := e.(*backend.Workspace)
	if !ok {
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	if w.Unreadable {
		return alerts.Verdict{Outcome: alerts.NoData, Why: backend.Text("its registry cannot be read any more"), Note: known}
	}
	f := factsOf(env, w)
	return whileUsed(env, w, f, func() alerts.Verdict { return r.judge(env, w, f, note) })
}

func (r *evictedSustained) judge(env *alerts.Env, w *backend.Workspace, f facts, note *sustainedNote) alerts.Verdict {
	evicted := w.Class == backend.ClassEvicted
	if note == nil && !evicted {
		return alerts.Verdict{Outcome: alerts.False}
	}
	n := r.watch(env, w, f, note, evicted)
	share, first := r.measure(env.Now, n)
	if share == 0 && !evicted {
		return alerts.Verdict{Outcome: alerts.False}
	}
	v := alerts.Verdict{Outcome: alerts.False, Note: alerts.NoteOf(n), Recheck: env.Now.Add(r.step())}
	base := f.success
	if base.IsZero() {
		base = first
	}
	limit := r.share
	if n.Sustained {
		limit = r.leave
	}
	sustained := share >= limit && !(f.failing() && f.attempt.Sub(base) >= r.failed)
	if n.Sustained != sustained {
		n = own(note, n)
		n.Sustained = sustained
		v.Note = alerts.NoteOf(n)
	}
	if !sustained {
		return v
	}
	v.Outcome, v.Runbook, v.Detail = alerts.True, "7", detail(w)
	n, v.Cause, v.Fingerprint = causeOf(env, w, note, n, "evicted without a lastError")
	if w.LastError.IsEmpty() && !f.failing() { // nothing was tried since: it may sleep
		v.Severity = alerts.SeverityInfo
	}
	v.Note = alerts.NoteOf(n)
	v.Bounds = alerts.Bounds{Earliest: f.success, Latest: first}
	if f.success.After(first) {
		v.Bounds.Earliest = time.Time{} // it came back in between
	}
	describe(env, w, &v)
	return v
}

// watch adds the newest poll to the note.
func (r *evictedSustained) watch(env *alerts.Env, w *backend.Workspace, f facts, note *sustainedNote, evicted bool) *sustainedNote {
	state := 0.0
	if evicted {
		state = 1
	}
	now := point{At: f.read, N: [3]float64{state}}
	if note == nil {
		n := &sustainedNote{Seen: f.read}
		start := now
		if f.failing() && f.attempt.Before(f.read) { // nothing was tried since it failed, so nothing changed since
			start.At = f.attempt
		}
		n.Turns = []point{start, now}
		return n
	}
	last := note.Turns[len(note.Turns)-1]
	if !f.read.After(last.At) {
		return note
	}
	n := *note
	n.Turns = append([]point(nil), note.Turns...)
	if unseen := f.read.Sub(last.At) - r.patience(env, w.Key.Source); unseen > 0 {
		for i := range n.Turns {
			n.Turns[i].At = n.Turns[i].At.Add(unseen) // the window's clock stood still
		}
	}
	n.Turns[len(n.Turns)-1] = now // the state before held until this poll
	if n.Turns[len(n.Turns)-2].N[0] != state {
		n.Turns = append(n.Turns, now)
	}
	for len(n.Turns) > 2 && (env.Now.Sub(n.Turns[1].At) > r.over || len(n.Turns) > maxTurns) {
		n.Turns = n.Turns[1:]
	}
	return &n
}

// maxTurns bounds the remembered changes of one workspace's state.
const maxTurns = 120

// patience is the longest time between two polls that counts as watched.
func (r *evictedSustained) patience(env *alerts.Env, source string) time.Duration {
	p := 2 * r.step()
	if h := env.State.Source(source); h != nil {
		p = max(p, 2*h.Interval+h.Deadline)
	}
	return p
}

// measure is the share of the window that ends now in which it was evicted, and when that began.
func (r *evictedSustained) measure(now time.Time, n *sustainedNote) (share float64, first time.Time) {
	var sum time.Duration
	from := now.Add(-r.over)
	for i := range n.Turns[:len(n.Turns)-1] {
		p := n.Turns[i]
		if p.N[0] == 0 {
			continue
		}
		if first.IsZero() {
			first = p.At
		}
		if start, end := latestOf(p.At, from), n.Turns[i+1].At; end.After(start) {
			sum += end.Sub(start)
		}
	}
	return float64(sum) / float64(r.over), first
}

func (r *evictedSustained) Evidence(env *alerts.Env, a *alerts.Alert, oldest backend.Entity) []alerts.Evidence {
	w, _ := oldest.(*backend.Workspace)
	out := workspaceEvidence(env, a, w)
	if w == nil {
		return out
	}
	limit := backend.Textf("evicted for %s %% or more of %s when it began; it ends below %s %%", number(100*r.share), text(r.over), number(100*r.leave))
	if f := factsOf(env, w); !a.Bounds.Latest.IsZero() && env.Watching.Sub(a.Bounds.Latest) > r.step() && f.failing() {
		limit = backend.Textf("evicted since its newest failed attempt, by the registry's times: that was not watched; it ends below %s %% of %s", number(100*r.leave), text(r.over))
	}
	return append(out, alerts.Evidence{
		Text:   limit,
		Source: w.Key.Source, At: env.Display(env.ReadAt(&w.Meta)),
	})
}
