package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// need is what is known of the session behind a sandbox.
type need struct {
	session *backend.Session // nil: no list names it
	home    *fleet.SourceHealth
	known   bool // the lists were read
}

// needOf looks the session of a sandbox up.
func needOf(env *alerts.Env, b *backend.Sandbox) need {
	homes := env.HomesOf(b.Key.Source)
	if onPlatform(b) { // only its platform's hub lists its session, and a session that a log line joined may be one that the hub forgot
		homes = slices.DeleteFunc(slices.Clone(homes), func(h *fleet.SourceHealth) bool { return h.Key.Source != b.Key.Source })
	}
	out := need{known: len(homes) > 0 && !b.Session.IsZero() && b.JoinedBy.IsEmpty()}
	for _, h := range homes {
		if _, _, gap := env.Gap(h.Key.Source); gap {
			out.known = false
			continue
		}
		s := env.State.Session(backend.Key{Kind: backend.KindSession, Source: h.Key.Source, ID: b.Session})
		if s != nil && !s.Stale {
			return need{session: s, home: h, known: true}
		}
		out.known = out.known && s == nil
	}
	return out
}

// runs reports whether a list says that the session runs.
func (n need) runs() bool {
	return n.session != nil && (n.session.Running.Or(false) || n.session.ListedRunning.Or(false))
}

// needed reports whether a sandbox may be in use: nothing says that its session is over. A hub wakes a session that it calls
// paused or in error; its history it only keeps.
func needed(env *alerts.Env, b *backend.Sandbox) bool {
	n := needOf(env, b)
	if n.session != nil && n.session.Hub != nil {
		return n.session.Hub.Bucket.String() != "history"
	}
	return !n.known || n.session != nil && n.session.MayRun()
}

// ended is the verdict about a container that ended or could not start while its session runs.
func (r *contradiction) ended(env *alerts.Env, b *backend.Sandbox, n *contradictionNote) alerts.Verdict {
	need := needOf(env, b)
	var w *backend.Workspace
	if need.session != nil {
		w = env.State.Workspace(backend.Key{Kind: backend.KindWorkspace, Source: need.home.Key.Source, Parent: b.Session, ID: b.Workspace})
	}
	what, how, at, is := r.down(env, b, w)
	if !is || !b.IsSandbox || env.Now.Sub(at) > youngTrouble && !n.Proved {
		return alerts.Verdict{Outcome: alerts.False}
	}
	if n.Fault == faultDown && n.Proved && !need.known && len(env.HomesOf(b.Key.Source)) > 0 {
		return alerts.Verdict{Outcome: alerts.NoData, Why: backend.Text("its session list is not read"), Note: alerts.NoteOf(n), Recheck: recheckOf(env, b.Key)}
	}
	if !need.runs() || hasAnother(env, b, at) || w != nil && !n.Proved && !claims(w) { // the last: its registry says itself that it does not work
		return alerts.Verdict{Outcome: alerts.False}
	}
	due := at.Add(max(r.settle, 2*need.home.Interval))
	late := !env.Now.Before(due) && !env.ReadAt(&need.session.Meta).Before(at)
	n.Proved = n.Proved || late
	n.Fault, n.Down, n.Onset = faultDown, how, at
	v := r.verdict(b, n)
	v.Tenant, v.Bounds = need.session.Tenant, alerts.Bounds{Earliest: at, Latest: at}
	v.Cause = backend.Textf("its session is reported running, but %s", what)
	if w != nil && claims(w) {
		v.Cause = backend.Textf("%s lists its workspace as %s, but %s", backend.Clean(w.Key.Source, 80), w.Reported, what)
	}
	v.Detail = v.Cause
	if v.Recheck = recheckOf(env, b.Key); !n.Proved {
		v.Suspected, v.Why = true, backend.Textf("fires when its session still runs at %s", env.Clock(due))
		v.Recheck = latestOf(due, env.Now.Add(time.Second))
	}
	return v
}

// down is how a container came to run no more: it could not start, was killed at its memory limit, or ended with an error.
// What is stopped by a signal or ends well is stopped on purpose, but for one that was killed behind a Worker.
func (r *contradiction) down(env *alerts.Env, b *backend.Sandbox, w *backend.Workspace) (what backend.Safe, how string, at time.Time, is bool) {
	at = endedAt(env, b)
	switch {
	case !b.StartError.IsEmpty() && (b.Class == backend.SandboxCreated || b.Class == backend.SandboxExited || b.Class == backend.SandboxDead):
		cause, fp := env.Cause(b.StartReason())
		return backend.Textf("its container could not start: %s", backend.Clean(cause.String(), 160)), downStart + fp, latestOf(at, env.Time(&b.Meta, b.CreatedAt)), true
	case b.Class == backend.SandboxCreated && r.succeeded(env, b, w, env.Time(&b.Meta, b.CreatedAt)):
		return backend.Text("its container was never started"), "unstarted", env.Time(&b.Meta, b.CreatedAt), true
	case b.Class != backend.SandboxExited && b.Class != backend.SandboxDead || at.IsZero():
		return what, how, at, false
	case b.OOMKilled.Or(false):
		return backend.Text("its container was killed at its memory limit"), "oom", at, true
	case b.FailedEnd() && !b.ExitCode.IsKnown():
		return downText(downFailed), downFailed, at, true
	case b.FailedEnd():
		return backend.Textf("its container ended with exit code %s", backend.ExitText(b.ExitCode.Or(0))), fmt.Sprint(downExit, b.ExitCode.Or(0)), at, true
	}
	return what, how, at, false
}

// How containers came to run no more: with the identity of their error, or with their exit code, behind it.
const (
	downStart = "start-"
	downExit  = "exit-"

	downFailed = "failed" // its platform says so, and no code
)

// downText says of many containers how they came to run no more.
func downText(how string) backend.Safe {
	switch {
	case how == "oom":
		return backend.Text("its container was killed at its memory limit")
	case how == downFailed:
		return backend.Text("its container ended, which its platform calls a failure")
	case how == "unstarted":
		return backend.Text("its container was never started")
	case strings.HasPrefix(how, downStart):
		return backend.Text("its container could not start, with the same error")
	case strings.HasPrefix(how, downExit):
		return backend.Textf("its container ended with exit code %s", backend.Clean(how[len(downExit):], 8))
	}
	return backend.Text("its container is down or gone")
}

// alike is what sandboxes of one incident have in common: the fault, and of containers that are down how they came to be.
func (n *contradictionNote) alike() string {
	if n.Fault == faultDown && n.Down != "" {
		return n.Fault + "-" + n.Down
	}
	return n.Fault
}

// onset is when the trouble of a member began, as it was written down.
func (n *contradictionNote) onset() time.Time {
	switch {
	case n.Fault == faultDown:
		return n.Onset
	case len(n.Failed) > 0:
		return n.Began
	}
	return n.Seen
}

// succeeded reports whether a registry tells a success of a workspace for which no container runs.
func (r *contradiction) succeeded(env *alerts.Env, b *backend.Sandbox, w *backend.Workspace, since time.Time) bool {
	return w != nil && claims(w) && env.Time(&w.Meta, w.LastSuccessAt).After(since.Add(r.settle)) &&
		!slices.ContainsFunc(env.State.SandboxesOf(b.Session), func(x *backend.Sandbox) bool { return x.Key != b.Key && x.Class == backend.SandboxRunning })
}

// hasAnother reports whether the session got another container for the same workspace since.
func hasAnother(env *alerts.Env, b *backend.Sandbox, since time.Time) bool {
	for _, x := range env.State.SandboxesOf(b.Session) {
		same := x.Workspace.IsZero() || b.Workspace.IsZero() || x.Workspace == b.Workspace
		began := latestOf(env.Time(&x.Meta, x.CreatedAt), env.Time(&x.Meta, x.StartedAt))
		if x.IsSandbox && x.Key != b.Key && same && (began.After(since) || began.Equal(since) && !x.Class.Ended()) {
			return true
		}
	}
	return false
}

// readyWords are the words by which registries call a workspace ready, where the configuration does not say what they mean.
var readyWords = map[string]bool{"open": true, "opened": true, "ready": true, "idle": true, "active": true, "running": true, "healthy": true, "ok": true}

// claims reports whether a registry says that a workspace works.
func claims(w *backend.Workspace) bool {
	ready := w.Class == backend.ClassHealthy || w.Class == backend.ClassUnknown && readyWords[w.Reported.String()]
	return ready && !w.Unreadable && !w.Stale && w.LastError.IsEmpty()
}
