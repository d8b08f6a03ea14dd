package rules

import (
	"maps"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/internal/stable"
)

// believed is the verdict about a sandbox that its agent takes for something else than it was seen to be; false: it does not. That only
// the check of its SDK failed counts once a command ran. What that check would say counts for nothing until a log tells that it did.
func (r *contradiction) believed(env *alerts.Env, b *backend.Sandbox, n *contradictionNote) (alerts.Verdict, bool) {
	x, is := env.State.BeliefOn(b)
	runs, known := x.Runs.Get()
	if !is || !known || x.Told == nil || x.Differs.IsEmpty() || !b.Judged() {
		return alerts.Verdict{}, false
	}
	over := b.Class.Ended() || b.Class == backend.SandboxRemoving
	o, _ := b.Proved()
	exec, _ := o.Of(backend.PlaneExec)
	ran := exec.Outcome == backend.OutcomeOK && !exec.Past
	switch {
	case runs && !over: // what failed in it is told by what failed
		return alerts.Verdict{}, false
	case !runs && (over || !needed(env, b)):
		return alerts.Verdict{}, false
	case !runs && x.Told.Hint && !ran:
		return alerts.Verdict{}, false
	}
	word := backend.Text("not running")
	if runs {
		word = backend.Text("running")
	}
	v := r.verdict(b, n)
	v.Cause = backend.Textf("its agent takes it for %s, %s", word, x.Differs)
	v.Detail, v.Confirmed = v.Cause, env.ReadAt(&b.Meta)
	v.Bounds = alerts.Bounds{Latest: env.Ours(x.At)}
	if !runs {
		v.Severity = alerts.SeverityWarning
	}
	v.Recheck = env.Ours(x.Told.At).Add(backend.ReportsFor + time.Second)
	if !runs { // it ends with its session, which may only fall silent
		v.Recheck = earlierOf(v.Recheck, env.Now.Add(time.Minute))
	}
	return v, true
}

// toldEvidence is the line of a log that says what an agent takes its sandbox for.
func toldEvidence(t *fleet.Told) alerts.Evidence {
	return alerts.Evidence{Text: backend.Textf("log: %s", backend.Clean(t.Text.String(), 300)), Source: t.Source, At: t.At}
}

// lost are the saved states whose sandbox its platform does not list, while the log of their agent says after that that it runs.
func (r *contradiction) lost(env *alerts.Env, known alerts.Known) []alerts.Found {
	look := map[backend.Key]*backend.Ref{}
	for k := range known.All {
		if k.Kind == backend.KindRef {
			look[k] = env.State.Refs.Get(k)
		}
	}
	for x := range env.State.Refs.All() {
		if x.Agent != nil && !x.Sandbox.IsZero() && !x.Stale && env.State.SandboxNamed(x.Sandbox, x.Provider) == nil {
			look[x.Key] = x
		}
	}
	var out []alerts.Found
	for _, k := range stable.Sorted(maps.Keys(look), backend.Key.Compare) {
		if look[k] == nil || look[k].Agent == nil {
			continue // the engine ends it
		}
		v := r.lostOne(env, look[k], alerts.NoteAs[contradictionNote](known.Note(k)))
		if v.Outcome == alerts.True || !v.Note.IsZero() || known.Finding(k) != "" || !known.Note(k).IsZero() {
			out = append(out, alerts.Found{Key: k, Verdict: v})
		}
	}
	return out
}

// lostOne judges one saved state. Its session may end between a line and a list: only a line after the list that lacked the sandbox
// counts.
func (r *contradiction) lostOne(env *alerts.Env, x *backend.Ref, old *contradictionNote) alerts.Verdict {
	m := env.State.MatchOf(x)
	told, says := env.State.ToldOf(x)
	switch {
	case m.Result == fleet.RefUnknown && old != nil:
		return alerts.Verdict{Outcome: alerts.NoData, Why: m.Why, Note: alerts.NoteOf(old)}
	case m.Result != fleet.RefGone || env.State.SandboxNamed(x.Sandbox, x.Provider) != nil || !says || !told.Runs:
		return alerts.Verdict{Outcome: alerts.False}
	}
	n := contradictionNote{Session: x.Session, Sandbox: x.Sandbox, Seen: env.Now}
	if old != nil && old.Sandbox == x.Sandbox && !old.Seen.IsZero() {
		n.Seen = old.Seen
	}
	said := env.Ours(told.At)
	if !said.After(n.Seen) {
		return alerts.Verdict{Outcome: alerts.False, Note: alerts.NoteOf(&n)}
	}
	cause := backend.Textf("its agent takes it for running, but it is %s", m.Why)
	return alerts.Verdict{Outcome: alerts.True, Source: x.Key.Source, Session: x.Session, Provider: x.Provider, Runbook: "contradiction", Cause: cause, Detail: backend.Textf("sandbox %s: %s", x.Sandbox.Safe(), cause),
		Fingerprint: subjectFingerprint(x.Key), Note: alerts.NoteOf(&n), Confirmed: said, Bounds: alerts.Bounds{Latest: n.Seen}, Recheck: said.Add(backend.ReportsFor + time.Second),
		Evidence: []alerts.Evidence{
			{Text: backend.Textf("the saved state of session %s names sandbox %s, which is %s", x.Session.Safe(), x.Sandbox.Safe(), m.Why), Source: x.Key.Source, At: env.Display(env.ReadAt(&x.Meta))},
			toldEvidence(&told)}}
}
