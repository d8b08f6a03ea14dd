package rules

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// saidFailsMany is how many commands must have failed by an agent's log alone, with none that is known to have run: one that does not end
// in time is ordinary.
const saidFailsMany = 3

// failsSaid is the verdict about a sandbox of which its agent's log says that commands in it fail, newer than any that is known to have run.
// That is the agent's word, so that it is pending: a probe proves it. The first line counts that says that its root is missing, or that
// there is no such sandbox. false: no such line counts.
func (r *contradiction) failsSaid(env *alerts.Env, b *backend.Sandbox, n *contradictionNote) (alerts.Verdict, bool) {
	x := n.takeFails(env, b)
	if x == nil || !onPlatform(b) || !reportedLive(b) || !needed(env, b) {
		return alerts.Verdict{}, false
	}
	plain := x.Kind == backend.FailWorkDirMissing || x.Kind == backend.FailGone
	if !plain && x.N < saidFailsMany {
		return alerts.Verdict{}, false
	}
	v := r.verdict(b, n)
	v.Suspected, v.Why = true, backend.WithFlags(backend.Textf("its agent's word: fires when a probe shows it: sandglass probe %s", called(b)), env.State.ReachTo(only(b.Key)))
	v.Cause = backend.Textf("reported %s, but commands of its agent fail, its agent's log says", reported(b))
	if text, known := saidFaults[x.Kind]; known {
		v.Cause = backend.Textf("reported %s, but commands of its agent fail: %s, its agent's log says", reported(b), text)
	}
	v.Detail = backend.Textf("%s: %s", v.Cause, x.Said(func(t time.Time) string { return env.Clock(env.Ours(t)) }))
	v.Session, v.Confirmed = env.State.SessionOn(b), env.Ours(x.At)
	v.Bounds = alerts.Bounds{Latest: env.Ours(x.First)}
	if o, _ := b.Proved(); o.Works() {
		if ran, is := o.Of(backend.PlaneExec); is && ran.Outcome == backend.OutcomeOK && ran.At.Before(x.First) {
			v.Bounds.Earliest = env.Ours(ran.At)
		}
	}
	if ran := env.State.RanByLog(b); !ran.IsZero() && ran.Before(x.First) && env.Ours(ran).After(v.Bounds.Earliest) {
		v.Bounds.Earliest = env.Ours(ran)
	}
	v.Recheck = env.Ours(x.At).Add(backend.ReportsFor)
	return v, true
}

// saidFaults are the finer kinds that an agent's line tells, as the end of a sentence.
var saidFaults = map[backend.FailureKind]backend.Literal{
	backend.FailWorkDirMissing: "its root is missing",
	backend.FailGone:           "its platform answers that there is no such sandbox",
	backend.FailWaking:         "it did not answer",
	backend.FailExecTimeout:    "they do not end in time",
	backend.FailControl5xx:     "they are answered with server errors",
}

// takeFails adds the new lines to those that were read before, also by another process, and forgets them an hour after the newest and when a
// command is known to have run since. nil: none counts.
func (n *contradictionNote) takeFails(env *alerts.Env, b *backend.Sandbox) *fleet.AgentFailures {
	sum := fleet.AgentFailures{}
	if n.Fails != nil && !env.State.ProvedAt(b).After(n.Fails.At) {
		sum = *n.Fails
	}
	if x := env.State.AgentFailuresOn(b, sum.At); x.N > 0 {
		if sum.N == 0 {
			sum.First = x.First
		}
		x.N, x.First = sum.N+x.N, sum.First
		sum = x
	}
	if n.Fails = nil; sum.N > 0 && !b.Class.Ended() && b.Class != backend.SandboxRemoving && env.Ours(sum.At).Add(backend.ReportsFor).After(env.Now) {
		n.Fails = &sum
	}
	return n.Fails
}
