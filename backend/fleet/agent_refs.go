package fleet

import "sandglass/backend"

// StateOn is the newest saved state of an agent SDK that names a sandbox, nil: none does. One that was saved before the sandbox was
// made is of another sandbox.
func (s *State) StateOn(b *backend.Sandbox) *backend.Ref {
	var found *backend.Ref
	for r := range s.Refs.All() {
		if r.Agent == nil || r.Sandbox.IsZero() || s.SandboxNamed(r.Sandbox, r.Provider) != b {
			continue
		}
		saved, known := r.SavedAt.Get()
		if made, is := b.CreatedAt.Get(); known && is && MadeAfter(made, saved) {
			continue
		}
		if found == nil || saved.After(found.SavedAt.Or(found.FirstSeen)) {
			found = r
		}
	}
	return found
}

// SessionOn is the session of a sandbox: the one that it is joined to, else that of the state which names it, else the one with whose
// digits its name begins. Zero: nothing tells.
func (s *State) SessionOn(b *backend.Sandbox) backend.ID {
	if !b.Session.IsZero() {
		return b.Session
	}
	if r := s.StateOn(b); r != nil {
		return r.Session
	}
	session, _ := s.AgentSession(b)
	return session
}
