package rules

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// ExpiringOptions are the keys of `[rules.sandbox-expiring]`.
type ExpiringOptions struct {
	Common
	Before backend.Duration `toml:"before" doc:"time until the platform removes it; at most a quarter of its whole life"`
}

func expiringDefaults() *ExpiringOptions {
	return &ExpiringOptions{Common: common(alerts.SeverityWarning), Before: backend.Duration(time.Hour)}
}

func (o *ExpiringOptions) build() (alerts.Rule, error) {
	r := &sandboxExpiring{dueBase(&o.Common, "sandbox-expiring"), o.Before.Std()}
	r.meta.Inhibits = []alerts.Inhibition{{Rules: []string{"reaped-soon"}}}
	return r, positive("before", o.Before)
}

// liveByLog is how long a session counts as running after its agent's log said that its sandbox runs, where no list tells.
const liveByLog = 15 * time.Minute

type sandboxExpiring struct {
	cloudDue
	before time.Duration
}

// Judge looks when the platform removes a sandbox on which a session runs.
func (r *sandboxExpiring) Judge(env *alerts.Env, e backend.Entity, _ alerts.Note) alerts.Verdict {
	b, ok := e.(*backend.Sandbox)
	if !ok || !b.Judged() || !onPlatform(b) {
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	end, by, from := b.Removal()
	if end.IsZero() || b.Class.Ended() || b.Class == backend.SandboxRemoving {
		return alerts.Verdict{Outcome: alerts.False}
	}
	before := r.before
	if life := end.Sub(from); !from.IsZero() && life > 0 {
		before = min(before, life/4)
	}
	end = env.Ours(end)
	due := end.Add(-before)
	if env.Now.Before(due) {
		return waitsUntil(due)
	}
	s, v := liveOn(env, b)
	cause, says, runs := "sandbox expiring", backend.Text("a session runs on it, and its platform removes it soon"), backend.Text("runs")
	candidate := s == nil
	if candidate {
		var why backend.Safe
		if s, why = candidateOn(env, b); s == nil || v.Outcome != alerts.False {
			return v
		}
		cause, says, runs = "sandbox of its name expiring", backend.Text("a session may run on it, and its platform removes it soon"), backend.Textf("runs and may sit on it: %s", why)
	}
	v = r.due(env, b, cause, says, due)
	v.Session, v.Tenant, v.Recheck, v.Ends = s.Key.ID, s.Tenant, recheckOf(env, b.Key), end
	ends := backend.Text("ends")
	if !end.After(env.Now) {
		ends = backend.Text("ended")
	}
	v.Detail = backend.Textf("%s %s at %s, and session %s %s", by, ends, env.Clock(end), s.Key.ID.Safe(), runs)
	if candidate {
		v.Suspected, v.Why = true, backend.Text("fires when a saved state, a label or a registry names this sandbox and its session")
	}
	return v
}

// candidateOn is a session that is listed as running and may be on a sandbox, and why; nil: there is none.
func candidateOn(env *alerts.Env, b *backend.Sandbox) (*backend.Session, backend.Safe) {
	runs := func(x *backend.Session) bool {
		_, _, gap := env.Gap(x.Key.Source)
		return !gap && !x.Stale && (x.Running.Or(false) || x.ListedRunning.Or(false))
	}
	for _, x := range env.State.CandidatesOn(b) {
		if runs(x) {
			return x, backend.Text("its id begins with the digits of the name")
		}
	}
	for _, id := range env.State.SharersOf(b) {
		for _, h := range env.HomesOf(b.Key.Source) {
			if x := env.State.Session(backend.Key{Kind: backend.KindSession, Source: h.Key.Source, ID: id}); x != nil && runs(x) {
				return x, backend.Text("it names it, as another session does")
			}
		}
	}
	return nil, backend.Safe{}
}

// Evidence is what the platform reports of the one that goes first, and what removes each.
func (r *sandboxExpiring) Evidence(env *alerts.Env, a *alerts.Alert, oldest backend.Entity) []alerts.Evidence {
	if len(a.Subjects) > 0 {
		if first := env.Sandbox(a.Subjects[0].Key); first != nil {
			oldest = first
		}
	}
	out := r.cloudDue.Evidence(env, a, oldest)
	return append(out, details(env, a)...)
}

// details are what is told of each subject of an alert.
func details(env *alerts.Env, a *alerts.Alert) (out []alerts.Evidence) {
	for _, x := range a.Subjects[:min(len(a.Subjects), maxListed)] {
		if b := env.Sandbox(x.Key); b != nil && !x.Detail.IsEmpty() {
			out = append(out, alerts.Evidence{Text: backend.Textf("%s: %s", called(b), x.Detail), Source: b.Key.Source, At: env.Display(env.ReadAt(&b.Meta))})
		}
	}
	return out
}

// noSessionList says of a source of cloud sandboxes that nothing tells which of their sessions run. An engine alone needs no sessions.
func noSessionList(h *fleet.SourceHealth) (backend.Safe, bool) {
	return backend.Textf("no session list speaks about %s: which sessions run on its sandboxes, and which are over, is not known", backend.Clean(h.Key.Source, 80)), h.Delivers(backend.InputPlatform)
}

// Blind says where nothing tells which sessions run.
func (r *sandboxExpiring) Blind(st *fleet.State, h *fleet.SourceHealth) (backend.Safe, bool) {
	if len(st.SessionSourcesOf(h.Key.Source)) > 0 {
		return backend.Safe{}, false
	}
	return noSessionList(h)
}

// liveOn is the session that is known to run on a sandbox. Without one it is nil, and the verdict says what is known.
func liveOn(env *alerts.Env, b *backend.Sandbox) (*backend.Session, alerts.Verdict) {
	none := waitsUntil(recheckOf(env, b.Key)) // a session begins without its sandbox changing
	for _, h := range env.State.Sources {     // any of them may name its session, or say that it runs
		if h.Status == fleet.StatusStarting && h.ReportsOn(b.Key.Source) {
			none.Outcome, none.Unread, none.Why = alerts.NoData, true, backend.Textf("%s has not been read yet", backend.Clean(h.Key.Source, 80))
		}
	}
	id := env.State.SessionOn(b)
	if id.IsZero() {
		return nil, none
	}
	for _, h := range env.HomesOf(b.Key.Source) {
		s := env.State.Session(backend.Key{Kind: backend.KindSession, Source: h.Key.Source, ID: id})
		if s == nil {
			continue
		}
		if o, why, gap := env.Gap(h.Key.Source); gap {
			none.Outcome, none.Why = o, why
			return nil, none
		}
		if s.Stale {
			none.Outcome, none.Why = alerts.SourceError, backend.Textf("its session could not be read: %s", s.StaleWhy)
			return nil, none
		}
		if s.Running.Or(false) || s.ListedRunning.Or(false) {
			return s, alerts.Verdict{}
		}
	}
	if t, says := env.State.ToldOn(b); says && t.Runs && env.Now.Sub(env.Ours(t.At)) < liveByLog { // no list names it
		return &backend.Session{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSession, Source: t.Source, ID: id}}}, alerts.Verdict{}
	}
	return nil, none
}
