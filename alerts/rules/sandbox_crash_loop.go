package rules

import (
	"cmp"
	"fmt"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// CrashLoopOptions are the keys of `[rules.sandbox-crash-loop]`.
type CrashLoopOptions struct {
	Common
	Restarts int              `toml:"restarts" doc:"restarts by its policy"`
	Over     backend.Duration `toml:"over" doc:"within how long"`
}

func crashLoopDefaults() *CrashLoopOptions {
	return &CrashLoopOptions{Common: common(alerts.SeverityWarning), Restarts: 3, Over: backend.Duration(10 * time.Minute)}
}

func (o *CrashLoopOptions) build() (alerts.Rule, error) {
	r := &crashLoop{sandboxTrouble: troubleBase(&o.Common, "sandbox-crash-loop"), restarts: o.Restarts, over: o.Over.Std()}
	return r, cmp.Or(atLeast("restarts", o.Restarts, 2), positive("over", o.Over))
}

// restartPoint is a restart count and by when it was reached.
type restartPoint struct {
	At time.Time `json:"at"`
	N  int       `json:"n"`
}

// crashLoopNote is what was seen of a container's restarts within the window, and when it was last seen to change.
type crashLoopNote struct {
	Points []restartPoint `json:"points"`
	// Onset is between what moments the loop that lasts began, as it was first known; a restart more does not move it.
	Onset alerts.Bounds `json:"onset,omitzero"`
	Code  *int          `json:"code,omitempty"` // of the newest end that was read
	// Reason is how its runs end, by which alerts are told apart; Next is another one that was read once, at restart NextAt.
	Reason loopReason `json:"reason,omitzero"`
	Next   loopReason `json:"next,omitzero"`
	NextAt int        `json:"next_at,omitempty"`
}

// loopReason is how a run of a container ended; zero: not read yet.
type loopReason struct {
	Known  bool `json:"known,omitempty"`
	Killed bool `json:"killed,omitempty"` // at its memory limit
	Code   int  `json:"code,omitempty"`
}

// reasonOf is how the newest run of a container that does not run ended.
func reasonOf(b *backend.Sandbox) loopReason {
	code, known := b.ExitCode.Get()
	switch {
	case b.Class == backend.SandboxRunning || !known:
		return loopReason{}
	case b.OOMKilled.Or(false):
		return loopReason{Known: true, Killed: true}
	}
	return loopReason{Known: true, Code: code}
}

// ends takes how a run ended into the note. A second reason in a row counts: one run that ends in another way is no other loop.
func (n *crashLoopNote) ends(x loopReason, restarts int) {
	switch {
	case !x.Known:
	case !n.Reason.Known || x == n.Reason:
		n.Reason, n.Next, n.NextAt = x, loopReason{}, 0
	case x != n.Next:
		n.Next, n.NextAt = x, restarts
	case restarts > n.NextAt:
		n.Reason, n.Next, n.NextAt = x, loopReason{}, 0
	}
}

// loops is the cause of the alert, the same for all containers whose runs end alike.
func (x loopReason) loops() backend.Safe {
	switch {
	case !x.Known:
		return backend.Text("it ends and is started again and again")
	case x.Killed:
		return backend.Text("killed at its memory limit and started again and again")
	}
	return backend.Textf("ends with exit code %d and is started again and again", x.Code)
}

// gaveUp is loops of a container that is not started any more.
func (x loopReason) gaveUp() backend.Safe {
	if !x.Known {
		return backend.Text("it ended again and again until its restart policy gave up")
	}
	return backend.Textf("ended with exit code %d until its restart policy gave up", x.Code)
}

// fingerprint tells codes apart, which a fingerprint of a sentence does not.
func (x loopReason) fingerprint(cause string) string {
	if x.Known && !x.Killed {
		return fmt.Sprintf("%s-%d", alerts.Fingerprint(cause), x.Code)
	}
	return alerts.Fingerprint(cause)
}

// maxRestartPoints bounds the note; the oldest point of the window stays.
const maxRestartPoints = 16

type crashLoop struct {
	sandboxTrouble
	remembers[crashLoopNote]
	restarts int
	over     time.Duration
}

// engineWaits is a wait before a restart that shows several quick ends in a row: Docker doubles it from 100 ms and begins
// anew after a run of 10 s.
const engineWaits = 5 * time.Second

func (r *crashLoop) Judge(env *alerts.Env, e backend.Entity, known alerts.Note) alerts.Verdict {
	b, ok := e.(*backend.Sandbox)
	if !ok || !b.Judged() {
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	n, counted := b.RestartCount.Get()
	if !counted {
		return alerts.Verdict{Outcome: alerts.NoData, Why: backend.Text("its restart count was not read yet"), Note: known}
	}
	if n == 0 {
		return alerts.Verdict{Outcome: alerts.False}
	}
	newest := endedAt(env, b)
	note := r.noted(env, known, restartPoint{newest, n})
	count, since := r.lately(env, b, note, newest)
	wait := env.ReadAt(&b.Meta).Sub(newest)
	gaveUp := b.Crashed() && b.Class != backend.SandboxRestarting
	if x, ended := b.ExitCode.Get(); ended && b.Class != backend.SandboxRunning {
		note.Code = &x
	}
	note.ends(reasonOf(b), n)
	code := backend.Text("")
	if note.Code != nil {
		code = backend.Textf("; exit code %d", *note.Code)
	}
	detail := backend.Textf("restarted %s, %d of them between %s and %s%s", plural(n, "time"), count, env.Clock(since), env.Clock(newest), code)
	if note.Onset.Latest.IsZero() {
		note.Onset = alerts.Bounds{Earliest: since, Latest: newest}
	}
	v := failing(b, note.Reason.loops(), note.Onset, detail)
	v.Fingerprint, v.Note, v.Recheck = note.Reason.fingerprint(v.Cause.String()), alerts.NoteOf(note), newest.Add(r.over+time.Second)
	switch {
	case gaveUp && n >= r.restarts:
		v.Cause = note.Reason.gaveUp()
		v.Fingerprint, v.Bounds = note.Reason.fingerprint(v.Cause.String()), alerts.Bounds{Earliest: since, Latest: newest}
		v.Detail = backend.Textf("restarted %s, then ended for good at %s%s", plural(n, "time"), env.Clock(newest), code)
		return until(env, v, newest)
	case b.Class != backend.SandboxRunning && b.Class != backend.SandboxRestarting:
	case count >= r.restarts && env.Now.Sub(newest) <= r.over:
		return v
	case n >= r.restarts && b.Class == backend.SandboxRestarting && wait >= engineWaits:
		v.Detail = backend.Textf("restarted %s; the engine has waited since %s to start it again%s", plural(n, "time"), env.Clock(newest), code)
		return v
	case n >= r.restarts && env.Now.Sub(newest) <= r.over:
		v.Detail = backend.Textf("restarted %s since %s, the last at %s%s", plural(n, "time"), env.Clock(env.Time(&b.Meta, b.CreatedAt)), env.Clock(newest), code)
		if b.Class == backend.SandboxRestarting {
			v.Recheck = env.Now.Add(engineWaits)
		}
		v.Suspected, v.Why = true, backend.Textf("fires when %s fall within %s", plural(r.restarts, "restart"), text(r.over))
		return v
	}
	note.Onset, note.Reason, note.Next, note.NextAt = alerts.Bounds{}, cmp.Or(reasonOf(b), note.Reason), loopReason{}, 0
	if env.Now.Sub(newest) > r.over { // how it ended then says nothing about another loop
		note.Reason = loopReason{}
	}
	return alerts.Verdict{Outcome: alerts.False, Note: alerts.NoteOf(note)}
}

// noted takes a count into the note. A count that fell was set back by a start by hand.
func (r *crashLoop) noted(env *alerts.Env, known alerts.Note, p restartPoint) *crashLoopNote {
	var out crashLoopNote
	if old := alerts.NoteAs[crashLoopNote](known); old != nil {
		out.Onset, out.Code, out.Reason, out.Next, out.NextAt = old.Onset, old.Code, old.Reason, old.Next, old.NextAt
		for i, q := range old.Points {
			inside := env.Now.Sub(q.At) <= r.over
			if q.N > p.N {
				out = crashLoopNote{}
				break
			}
			// The newest point before the window says how many there were when it began.
			if inside || i == len(old.Points)-1 || env.Now.Sub(old.Points[i+1].At) <= r.over {
				out.Points = append(out.Points, q)
			}
		}
	}
	if n := len(out.Points); n == 0 || out.Points[n-1].N != p.N {
		out.Points = append(out.Points, p)
	}
	if over := len(out.Points) - maxRestartPoints; over > 0 {
		out.Points = append(out.Points[:1:1], out.Points[1+over:]...)
	}
	return &out
}

// lately is how many restarts certainly fell within the window before the newest, and since when. All of them did when the
// container is younger than the window, and their mean tells as much when they are evenly many in all its life.
func (r *crashLoop) lately(env *alerts.Env, b *backend.Sandbox, n *crashLoopNote, newest time.Time) (int, time.Time) {
	last := n.Points[len(n.Points)-1]
	count, since := 0, newest
	for _, p := range n.Points {
		if newest.Sub(p.At) <= r.over && last.N-p.N > count {
			count, since = last.N-p.N, p.At
		}
	}
	if made := env.Time(&b.Meta, b.CreatedAt); !made.IsZero() && newest.After(made) {
		if life := newest.Sub(made); life <= youngTrouble && float64(last.N)*float64(r.over) >= float64(r.restarts)*float64(max(life, r.over)) && last.N > count {
			return last.N, made
		}
	}
	return count, since
}
