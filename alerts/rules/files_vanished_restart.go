package rules

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// startedAgain is the cause of a loss by a container that started again.
const startedAgain = backend.Literal("its container started again, on an empty disk: its files are gone, but for those on a mount")

// endedHere is the cause of a loss by a container that Sandglass itself ended, which is no failure.
const endedHere = backend.Literal("it was destroyed or stopped through Sandglass, and its container started again, on an empty disk: its files are gone, but for those on a mount")

// clocksApart is how much later than a use a start must be, since two platforms tell the two times.
const clocksApart = time.Minute

// boxOf is the id of the sandbox that a workspace or its reference names, and that sandbox, nil where none is listed.
func boxOf(env *alerts.Env, w *backend.Workspace) (backend.ID, *backend.Sandbox) {
	if b := env.State.SandboxNamed(w.ProviderID, w.Provider); b != nil {
		return w.ProviderID, b
	}
	for _, h := range env.State.Sources {
		if x := env.State.Refs.Get(backend.Key{Kind: backend.KindRef, Source: h.Key.Source, Parent: w.Key.Parent, ID: w.Key.ID}); x != nil {
			if b := env.State.SandboxNamed(x.Sandbox, w.Provider); b != nil {
				return x.Sandbox, b
			}
		}
	}
	return w.ProviderID, nil
}

// freshDisk is the sandbox that a workspace or its reference names, if its container started again on an empty disk since a
// time; else nil.
func freshDisk(env *alerts.Env, w *backend.Workspace, since time.Time) *backend.Sandbox {
	if _, b := boxOf(env, w); b != nil && env.Ours(b.EmptySince()).After(since) {
		return b
	}
	return nil
}

// used is what is to be remembered of a workspace whose container may start again under it: since when it is known to be in use
// there. known itself where that is no news.
func (r *filesVanished) used(env *alerts.Env, w *backend.Workspace, known *lossNote) *lossNote {
	if w.Provider.String() != "cloudflare-sandbox" {
		return known
	}
	id, _ := boxOf(env, w)
	success := env.Time(&w.Meta, w.LastSuccessAt)
	if success.IsZero() || id.IsZero() || known != nil && known.Box == id && !known.Used.IsZero() {
		return known
	}
	n := lossNote{}
	if known != nil {
		n = *known
	}
	n.Box, n.Used, n.Read = id, success, env.ReadAt(&w.Meta)
	return &n
}

// emptied is the sandbox whose container started again, on an empty disk, after a workspace of a session that still runs was used in
// it; nil where there is none. What is mounted from outside is not concerned. Keeping a container alive keeps it from sleep, and from nothing else.
func (r *filesVanished) emptied(env *alerts.Env, w *backend.Workspace, n *lossNote) *backend.Sandbox {
	if n == nil || n.Used.IsZero() {
		return nil
	}
	id, b := boxOf(env, w)
	if b == nil || id != n.Box || b.EmptySince().IsZero() || !usedBefore(env, b, n) {
		return nil
	}
	if b.RootMounted() {
		return nil
	}
	if s := env.SessionOf(w); s == nil || !s.Running.Or(false) {
		return nil
	}
	return b
}

// usedBefore reports whether a use was before its container started again: by so much that the two clocks cannot tell it otherwise; or it
// was read, by our own clock, before the container of before was last seen to run.
func usedBefore(env *alerts.Env, b *backend.Sandbox, n *lossNote) bool {
	apart := env.Ours(b.EmptySince()).Sub(n.Used)
	return apart >= clocksApart || apart > 0 && !n.Read.IsZero() && !env.Ours(b.FreshAfter).Before(n.Read)
}

// emptiedBy says what empties the disk of a workspace's container.
func emptiedBy(w *backend.Workspace, b *backend.Sandbox) backend.Safe {
	if _, _, ours := b.EmptiedHere(); ours {
		return backend.Text("its disk is empty")
	}
	if _, kept := alerts.KeptAlive(w); kept {
		return backend.Text("it is kept alive, so it did not sleep: it crashed, was stopped or was replaced, and its disk is empty")
	}
	return backend.Text("after sleep, a stop or a restart its disk is empty")
}

// restarted is the verdict about a workspace under which a container started again.
func (r *filesVanished) restarted(env *alerts.Env, w *backend.Workspace, b *backend.Sandbox, n *lossNote) alerts.Verdict {
	at := env.Ours(b.EmptySince())
	if apart := at.Sub(n.Fresh); n.Fresh.IsZero() || apart > time.Second {
		c := *n
		c.Fresh, c.Seen = at, env.Now
		n = &c
	}
	over := n.Seen.Add(r.listed)
	if !env.Now.Before(over) {
		return alerts.Verdict{Outcome: alerts.False, Note: alerts.NoteOf(n)} // kept, so that the same start is not told twice
	}
	last := n.Used
	if t := env.Time(&w.Meta, w.LastSuccessAt); t.Before(at) {
		last = latestOf(last, t)
	}
	if ran := env.Ours(b.FreshAfter); !b.FreshAfter.IsZero() && ran.Before(at) { // they were there while the container of before ran
		last = latestOf(last, ran)
	}
	v := alerts.Verdict{
		Outcome: alerts.True, Cause: backend.Text(startedAgain), Fingerprint: alerts.Fingerprint(string(startedAgain)), Runbook: "2", Note: alerts.NoteOf(n),
		Bounds: alerts.Bounds{Earliest: last, Latest: at}, Recheck: over,
		Detail: backend.Textf("the container of %s started again at %s, after it was used", b.Name, env.Clock(at)),
	}
	if how, begun, ours := b.EmptiedHere(); ours {
		v.Cause, v.Fingerprint, v.Severity = backend.Text(endedHere), alerts.Fingerprint(string(endedHere)), alerts.SeverityInfo
		v.Bounds.Earliest = latestOf(last, env.Ours(begun))
		v.Detail = backend.Textf("%s was %s at %s; its next container started at %s", b.Name, how, env.Clock(env.Ours(begun)), env.Clock(at))
	}
	describe(env, w, &v)
	return v
}

// underFresh are the workspaces of a sandbox whose container started again, or stopped: nothing of them changed by that.
func underFresh(env *alerts.Env, b *backend.Sandbox) (out []backend.Key) {
	if b.EmptySince().IsZero() && b.StoppedAt().IsZero() || b.Session.IsZero() {
		return nil
	}
	for _, h := range env.State.Sources {
		for w := range env.State.Workspaces.Of(backend.KindWorkspace, h.Key.Source, b.Session) {
			out = append(out, w.Key)
		}
	}
	return out
}

// judgeRestarted judges a workspace for what its container or its session did; false where it cannot be judged now.
func (r *filesVanished) judgeRestarted(env *alerts.Env, key backend.Key, known alerts.Known) (alerts.Found, bool) {
	w := env.State.Workspace(key)
	if _, _, gap := env.Gap(key.Source); gap || w == nil || w.Stale {
		return alerts.Found{}, false
	}
	v := r.Judge(env, w, known.Note(key))
	if v.Outcome == alerts.NoData {
		return alerts.Found{}, false
	}
	v.Source, v.Confirmed = key.Source, env.ReadAt(&w.Meta)
	return alerts.Found{Key: key, Verdict: v}, true
}
