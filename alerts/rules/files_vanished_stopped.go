package rules

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// stoppedUnder is the cause of a loss by a container that stopped and did not start again.
const stoppedUnder = backend.Literal("its container stopped: its files are gone with its disk, but for those on a mount, and its next start has an empty one")

// stopNote is what is known of a container that stopped under a workspace in use.
type stopNote struct {
	Stopped time.Time `json:"stopped,omitzero"` // when it did; zero: it did not
	Heard   time.Time `json:"heard,omitzero"`   // when that was first read
}

// stopped is the sandbox whose container stopped, by sleep or by a stop, after a workspace of a session that still runs was used in it; nil
// where there is none.
func (r *filesVanished) stopped(env *alerts.Env, w *backend.Workspace, n *lossNote) *backend.Sandbox {
	if n == nil || n.Used.IsZero() {
		return nil
	}
	id, b := boxOf(env, w)
	if b == nil || id != n.Box || b.Stale || b.StoppedAt().IsZero() {
		return nil
	}
	at, last := env.Ours(b.StoppedAt()), n.lastUse(env, w)
	if started, known := b.StartedAt.Get(); last.Sub(at) >= clocksApart || known && last.Before(env.Ours(started).Add(-clocksApart)) {
		return nil // it runs again, or was not used in the run that ended
	}
	if s := env.SessionOf(w); s == nil || !s.Running.Or(false) {
		return nil
	}
	return b
}

// lastUse is the newest success that is known of a workspace in its container.
func (n *lossNote) lastUse(env *alerts.Env, w *backend.Workspace) time.Time {
	return latestOf(n.Used, env.Time(&w.Meta, w.LastSuccessAt))
}

// underStop is the verdict about a workspace under which a container stopped. A session that ends stops its container before its list tells
// that it is over.
func (r *filesVanished) underStop(env *alerts.Env, w *backend.Workspace, b *backend.Sandbox, n *lossNote) alerts.Verdict {
	if o, why, gap := env.Gap(b.Key.Source); gap {
		return alerts.Verdict{Outcome: o, Why: why, Note: alerts.NoteOf(n)}
	}
	at := env.Ours(b.StoppedAt())
	if apart := at.Sub(n.Stopped); n.Stopped.IsZero() || apart > time.Second {
		c := *n
		c.stopNote = stopNote{Stopped: at, Heard: env.Now}
		n = &c
	}
	over := n.Heard.Add(r.listed)
	if !env.Now.Before(over) {
		return alerts.Verdict{Outcome: alerts.False, Note: alerts.NoteOf(n)} // kept, so that the same stop is not told twice
	}
	v := alerts.Verdict{
		Outcome: alerts.True, Cause: backend.Text(stoppedUnder), Fingerprint: alerts.Fingerprint(string(stoppedUnder)), Runbook: "2", Note: alerts.NoteOf(n),
		Bounds: alerts.Bounds{Earliest: at, Latest: at}, Recheck: over,
		Detail: backend.Textf("the container of %s stopped at %s, after it was used", b.Name, env.Clock(at)),
	}
	s, home := env.SessionOf(w), env.State.Source(w.Key.Source)
	due := at.Add(sleepSettles)
	if home != nil {
		due = at.Add(max(sleepSettles, 2*home.Interval))
	}
	switch why := b.MayStillHold(); {
	case !why.IsEmpty():
		v.Suspected, v.Why = true, why
	case env.Now.Before(due) || env.ReadAt(&s.Meta).Before(at):
		v.Suspected, v.Why = true, backend.Textf("fires when its session still runs at %s", env.Clock(due))
		v.Recheck = latestOf(due, env.Now.Add(time.Second))
	}
	describe(env, w, &v)
	return v
}

// sleepSettles is how long after the stop of its container a session must still run.
const sleepSettles = 15 * time.Second

// stopEvidence states how the container of a workspace stopped, and what that means for its files.
func stopEvidence(env *alerts.Env, w *backend.Workspace) []alerts.Evidence {
	_, b := boxOf(env, w)
	if b == nil || b.StoppedAt().IsZero() || w.Provider.String() != "cloudflare-sandbox" {
		return nil
	}
	how := backend.Textf("reported: %s", b.Reported)
	if code, known := b.ExitCode.Get(); known {
		how = backend.Textf("exit code %s", backend.ExitText(code))
	}
	why := backend.Text("asleep, or stopped")
	if _, kept := alerts.KeptAlive(w); kept {
		why = backend.Text("it is kept alive, so it did not sleep: it was stopped")
	} else if after, known := w.SleepAfter.Get(); known {
		why = backend.Textf("asleep, or stopped; it sleeps after %s", backend.Age(after))
	}
	return append([]alerts.Evidence{{Text: backend.Textf("the container of sandbox %s stopped at %s (%s): %s", b.Name, env.Clock(env.Ours(b.StoppedAt())), how, why),
		Source: b.Key.Source, At: env.Display(env.ReadAt(&b.Meta))}}, routesDiffer(env, b)...)
}
