package rules

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// saidFull is what the log of an agent said of the disk of its sandbox: the server inside answered its SDK that no space is left.
type saidFull struct {
	At     time.Time `json:"at"` // of the newest line; that log's
	Source string    `json:"source"`
}

// saidFullFor is how long such a line counts: nothing that a probe reads is sure to show that there is room again.
const saidFullFor = time.Hour

// diskSaid is the verdict about a sandbox of which only its agent's log says that its disk has no space left. That is the agent's word, so
// that it is pending: a probe or a df proves it. false: no line says so.
func (r *contradiction) diskSaid(env *alerts.Env, b *backend.Sandbox, n *contradictionNote) (alerts.Verdict, bool) {
	if at, source := env.State.SaidFull(b); n.Full == nil || at.After(n.Full.At) {
		if n.Full = nil; !at.IsZero() {
			n.Full = &saidFull{at, source}
		}
	}
	x := n.Full
	if x == nil || b.Class.Ended() || b.Class == backend.SandboxRemoving || goneAt(b).After(x.At) || b.CreatedAt.Or(time.Time{}).After(x.At) || !env.Ours(x.At).Add(saidFullFor).After(env.Now) {
		n.Full = nil
		return alerts.Verdict{}, false
	}
	v := r.verdict(b, n)
	v.Suspected, v.Why = true, backend.WithFlags(backend.Textf("its agent's word: fires when a probe, or a df that one reads, shows it: sandglass probe %s", called(b)), env.State.ReachTo(only(b.Key)))
	v.Cause = backend.Textf("reported %s, but its disk has no space left, its agent's log says", reported(b))
	v.Detail = backend.Textf("%s: the server inside answered it so, the newest line at %s", v.Cause, env.Clock(env.Ours(x.At)))
	v.Session, v.Confirmed = env.State.SessionOn(b), env.Ours(x.At)
	v.Bounds = alerts.Bounds{Latest: env.Ours(x.At)}
	v.Recheck = env.Ours(x.At).Add(saidFullFor)
	return v, true
}
