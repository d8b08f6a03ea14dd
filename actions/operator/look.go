package operator

import (
	"context"
	"slices"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/backend/wire"
)

// targetReader reads targets from what the console knows; the run polls the source before it asks again.
type targetReader struct {
	of         backend.Kind
	call       *Call
	credential wire.Credential // the acting one
	// loses is what every target loses, empty for nothing.
	loses backend.Safe
	// only are the reported states that the verb is for; empty: any.
	only []string
	// ref makes the stored reference a part of the identity.
	ref bool
	// judge excludes workspaces that the verb is not for; nil: none.
	judge func(*backend.Workspace) backend.Safe
	// fingerprint identifies the cause of a failure; nil: causes are no part of an identity.
	fingerprint func(backend.Safe) string
}

// Look judges each key by the newest State.
func (l *targetReader) Look(_ context.Context, q actions.Question) []actions.Candidate {
	out := make([]actions.Candidate, 0, len(q.Keys))
	var refs map[backend.ID][]*backend.Ref
	if l.ref {
		refs = refsBySession(q.State)
	}
	for _, k := range q.Keys {
		out = append(out, l.candidate(k, q.State, refs))
	}
	return out
}

func (l *targetReader) candidate(k backend.Key, s *fleet.State, refs map[backend.ID][]*backend.Ref) actions.Candidate {
	c := actions.Candidate{Key: k, Label: k.Safe(), Name: k.Path().Raw()}
	e := s.Entity(k)
	if e == nil || k.Kind != l.of {
		c.Why = backend.Text("its source does not list it any more")
		return c
	}
	if why, stale := s.StaleWhy(e.EntityMeta()); stale {
		c.Why = backend.Textf("what is known of it is old: %v", why)
		return c
	}
	c.Identity = []actions.Fact{{Name: "id", Value: k.Path().Raw()}, {Name: "state", Value: e.StatusWord().String()}}
	switch e := e.(type) {
	case *backend.Workspace:
		l.workspace(&c, e, s, refs)
	case *backend.Session:
		l.session(&c, e)
	case *backend.Sandbox:
		l.sandbox(&c, e)
	}
	if len(l.only) > 0 && c.Why.IsEmpty() && !slices.ContainsFunc(l.only, func(word string) bool { return isState(e, word) }) {
		c.Why = backend.Textf("it is reported %v, which this verb is not for", spoken(e.StatusWord()))
	}
	if c.Why.IsEmpty() && !l.loses.IsEmpty() {
		c.Loses = []backend.Safe{l.loses}
	}
	l.request(&c)
	return c
}

func (l *targetReader) workspace(c *actions.Candidate, w *backend.Workspace, s *fleet.State, refs map[backend.ID][]*backend.Ref) {
	// The newest attempt is no part of the identity: what keeps trying and failing would be another one every time.
	addFact(c, factSuccess, moment(w.LastSuccessAt))
	if l.fingerprint != nil && !w.LastError.IsEmpty() {
		addFact(c, "cause", l.fingerprint(w.LastError))
	}
	addFact(c, factSandbox, sandboxOf(w, s).Raw())
	addFact(c, factProvider, w.Provider.String())
	if l.ref {
		ref := storedRef(w, refs[w.Key.Parent])
		addFact(c, factRef, ref.Raw())
		if ref.IsZero() {
			c.Why = backend.Text("no stored reference that is read names its sandbox, so no plan can name what to restore")
		}
	}
	c.Useless = w.Class == backend.ClassFailed
	if at, ok := w.LastAttemptAt.Get(); ok && w.Class == backend.ClassFailed {
		c.CauseSeen = at
	}
	c.Owner = backend.Textf("session %v", w.Key.Parent)
	if owner := s.SessionOf(w); owner != nil && !owner.Tenant.IsEmpty() {
		c.Owner = backend.Textf("%v of %v", c.Owner, owner.Tenant)
	}
	switch {
	case w.Unreadable:
		c.Why = backend.Text("its registry cannot be read any more")
	case !c.Why.IsEmpty():
	case w.Named && !l.call.namesWorkspace():
		c.Why = backend.Text("the configured call says which session, but not which of its workspaces; put {workspace} into it")
	case l.judge != nil:
		c.Why = l.judge(w)
	}
}

func (l *targetReader) session(c *actions.Candidate, s *backend.Session) {
	addFact(c, "started", moment(s.StartedAt))
	c.Owner = s.Tenant
}

func (l *targetReader) sandbox(c *actions.Candidate, s *backend.Sandbox) {
	addFact(c, "created", moment(s.CreatedAt))
	addFact(c, "started", moment(s.StartedAt))
	addFact(c, factName, s.Name.String())
	addFact(c, factSession, s.Session.Raw())
	addFact(c, factWorkspace, s.Workspace.Raw())
	addFact(c, factProvider, s.Provider.String())
	if !s.Session.IsZero() {
		c.Owner = backend.Textf("session %v", s.Session)
	}
	if !s.IsSandbox {
		c.Why = backend.Text("it is not a sandbox of an agent")
	}
}

// request adds what is sent to the identity, so that a plan covers it and a changed configuration is noticed. What the
// call cannot name is excluded.
func (l *targetReader) request(c *actions.Candidate) {
	if !c.Why.IsEmpty() {
		return
	}
	sent, err := l.call.sends(values(c.Key, c.Identity), l.credential)
	if err != nil {
		c.Why = backend.Textf("it cannot be named to the server: %v", err)
		return
	}
	addFact(c, sent.name, sent.value)
	if sent.name == factCommand {
		c.Notes = append(c.Notes, backend.Textf("runs %s", backend.Clean(sent.shown, longestShown)))
	}
}

// sandboxOf is the raw id of the machine behind a workspace: what its registry says, else the only one that is joined to
// it. Zero when it is not known.
func sandboxOf(w *backend.Workspace, s *fleet.State) backend.ID {
	if !w.ProviderID.IsZero() {
		return w.ProviderID
	}
	var found backend.ID
	for _, box := range s.SandboxesOf(w.Key.Parent) {
		if box.Workspace != w.Key.ID {
			continue
		}
		if !found.IsZero() {
			return backend.ID{}
		}
		found = box.Key.ID
	}
	return found
}

// refsBySession are the stored references, by their session.
func refsBySession(s *fleet.State) map[backend.ID][]*backend.Ref {
	out := map[backend.ID][]*backend.Ref{}
	for r := range s.Refs.All() {
		out[r.Session] = append(out[r.Session], r)
	}
	return out
}

// storedRef is the sandbox that a workspace's references name, among those of its session; zero when none does or two differ.
func storedRef(w *backend.Workspace, refs []*backend.Ref) backend.ID {
	var found backend.ID
	for _, r := range refs {
		if r.Workspace != w.Key.ID && (w.Named || !r.Workspace.IsZero()) || r.Sandbox.IsZero() {
			continue
		}
		if !found.IsZero() && found != r.Sandbox {
			return backend.ID{}
		}
		found = r.Sandbox
	}
	return found
}

// What identities say instead of a time.
const (
	neverMoment   = "never"
	unknownMoment = "unknown"
)

// moment is a time as an identity spells it.
func moment(v backend.Value[time.Time]) string {
	switch at, known := v.Get(); {
	case known:
		return at.UTC().Format(time.RFC3339Nano)
	case v.IsNotApplicable():
		return neverMoment
	}
	return unknownMoment
}

// spoken is a reported word, or what to say where there is none.
func spoken(word backend.Safe) backend.Safe {
	if word.IsEmpty() {
		return backend.Text("without a state")
	}
	return word
}

// isState reports whether the entity's own word, or what that word is known to mean, is the given one.
func isState(e backend.Entity, word string) bool {
	if e.StatusWord().String() == word {
		return true
	}
	switch e := e.(type) {
	case *backend.Workspace:
		return string(e.Class) == word
	case *backend.Sandbox:
		return string(e.Class) == word
	}
	return false
}

func addFact(c *actions.Candidate, name, value string) {
	c.Identity = append(c.Identity, actions.Fact{Name: name, Value: value})
}
