package rules

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// newerThan is the sandbox that a reference names by id or name, when it was made after the reference was saved: another
// one than the reference was written for.
func newerThan(env *alerts.Env, x *backend.Ref) (b *backend.Sandbox, made, saved time.Time) {
	if b = env.State.SandboxNamed(x.Sandbox, x.Provider); b == nil || !b.IsSandbox || b.Stale || x.Stale || env.State.EndedOf(x) != nil {
		return nil, made, saved
	}
	made, saved = env.Time(&b.Meta, b.CreatedAt), env.Time(&x.Meta, x.SavedAt)
	if !fleet.MadeAfter(made, saved) {
		return nil, made, saved
	}
	return b, made, saved
}

// newer finds the references of running sessions whose sandbox was made after they were saved.
func (r *refMismatch) newer(env *alerts.Env, found map[backend.Key]alerts.Verdict) {
	if env.State.Sandboxes.Len() == 0 {
		return
	}
	for x := range env.State.Refs.All() {
		b, made, saved := newerThan(env, x)
		if b == nil || env.ReadAt(&x.Meta).Sub(made) < saveLag { // it may have been saved anew since
			continue
		}
		_, why, gap := env.Gap(x.Key.Source)
		if !gap {
			_, why, gap = env.Gap(b.Key.Source)
		}
		if gap {
			found[x.Key] = alerts.Verdict{Outcome: alerts.NoData, Why: why}
			continue
		}
		home := env.HomeOf(backend.Series{Source: x.Key.Source, Session: x.Session})
		s := env.State.Session(backend.Key{Kind: backend.KindSession, Source: home, ID: x.Session})
		if s == nil || !s.Running.Or(false) && !s.ListedRunning.Or(false) {
			continue
		}
		found[x.Key] = newerVerdict(env, x, b, made, saved, s, home)
	}
}

func newerVerdict(env *alerts.Env, x *backend.Ref, b *backend.Sandbox, made, saved time.Time, s *backend.Session, home string) alerts.Verdict {
	cause := backend.Text("the sandbox of a running session was made after its stored reference was written: it is another sandbox")
	return alerts.Verdict{
		Outcome: alerts.True, Source: home, Via: b.Key.Source, Cause: cause, Fingerprint: alerts.Fingerprint(cause.String()), Runbook: "6",
		Session: x.Session, Provider: x.Provider, Tenant: s.Tenant, Confirmed: env.ReadAt(&x.Meta), Bounds: alerts.Bounds{Earliest: saved, Latest: made},
		Detail: backend.Textf("%s was made at %s, its reference was written at %s", b.Name, env.Clock(made), env.Clock(saved)),
		Evidence: []alerts.Evidence{
			{Text: backend.Textf("the reference of %s to sandbox %s was written at %s", x.Key.Safe(), x.Sandbox.Safe(), env.Clock(saved)), Source: x.Key.Source, At: env.Display(env.ReadAt(&x.Meta))},
			{Text: backend.Textf("sandbox %s was made at %s: %s", b.Name, env.Clock(made), x.Agent.LostBefore()), Source: b.Key.Source, At: env.Display(env.ReadAt(&b.Meta))},
		},
	}
}

// madeAfterItsRef is the stored reference of a workspace when the sandbox that it names was made after it, else nil.
func madeAfterItsRef(env *alerts.Env, w *backend.Workspace) *backend.Ref {
	for _, h := range env.State.Sources {
		x := env.State.Refs.Get(backend.Key{Kind: backend.KindRef, Source: h.Key.Source, Parent: w.Key.Parent, ID: w.Key.ID})
		if x == nil {
			continue
		}
		if b, _, _ := newerThan(env, x); b != nil {
			return x
		}
	}
	return nil
}
