package fleet

import (
	"slices"
	"strings"

	"sandglass/backend"
)

// agentIndex finds the saved states of agent SDKs by what they name.
type agentIndex struct {
	states map[backend.Key]*backend.Ref
	// named are the newest that name a sandbox, also where it was made after they were saved.
	named map[backend.Key]*backend.Ref
	// digits are the sessions by the first digits of their ids; zero where two begin so.
	digits map[string]backend.ID
	// boxes are the sandboxes that the states of a session name.
	boxes map[backend.ID][]*backend.Sandbox
	// others are the sandboxes by sessions of which a state names one that is not called by their digits, owns the sessions of which one
	// names none, or that which is.
	others map[backend.ID]backend.ID
	owns   map[backend.ID]bool
}

// indexAgents reads the references of a State that knows its sandboxes by name.
func indexAgents(s *State) *agentIndex {
	x := &agentIndex{map[backend.Key]*backend.Ref{}, map[backend.Key]*backend.Ref{}, map[string]backend.ID{}, map[backend.ID][]*backend.Sandbox{}, map[backend.ID]backend.ID{}, map[backend.ID]bool{}}
	newest := func(in map[backend.Key]*backend.Ref, k backend.Key, r *backend.Ref) {
		if old := in[k]; old == nil || r.SavedAt.Or(r.FirstSeen).After(old.SavedAt.Or(old.FirstSeen)) {
			in[k] = r
		}
	}
	for r := range s.Refs.All() {
		if r.Agent == nil {
			continue
		}
		b, digits := s.SandboxNamed(r.Sandbox, r.Provider), digitsOf(r.Session)
		if digits != "" {
			if other, taken := x.digits[digits]; !taken {
				x.digits[digits] = r.Session
			} else if other != r.Session {
				x.digits[digits] = backend.ID{}
			}
			if r.Sandbox.IsZero() || r.Sandbox.Raw() == agentPrefix+digits || b != nil && b.Name.String() == agentPrefix+digits {
				x.owns[r.Session] = true
			} else {
				x.others[r.Session] = r.Sandbox
			}
		}
		if b == nil || r.Sandbox.IsZero() {
			continue
		}
		newest(x.named, b.Key, r)
		x.boxes[r.Session] = append(x.boxes[r.Session], b)
		saved, known := r.SavedAt.Get()
		if made, is := b.CreatedAt.Get(); known && is && MadeAfter(made, saved) {
			continue
		}
		newest(x.states, b.Key, r)
	}
	return x
}

func (s *State) agentRefs() *agentIndex {
	if s.agents != nil {
		return s.agents
	}
	return indexAgents(s)
}

// StateOn is the newest saved state of an agent SDK that names a sandbox, nil: none does. One that was saved before the sandbox was
// made is of another sandbox.
func (s *State) StateOn(b *backend.Sandbox) *backend.Ref {
	if s.Refs.Len() == 0 {
		return nil
	}
	return s.agentRefs().states[b.Key]
}

// StateNaming is the newest saved state of an agent SDK that names a sandbox, also one of an earlier sandbox of this name; nil: none
// does.
func (s *State) StateNaming(b *backend.Sandbox) *backend.Ref {
	if s.Refs.Len() == 0 {
		return nil
	}
	return s.agentRefs().named[b.Key]
}

// SandboxesOfState are the sandboxes that the saved states of a session name.
func (s *State) SandboxesOfState(session backend.ID) []*backend.Sandbox {
	if s.Refs.Len() == 0 {
		return nil
	}
	return s.agentRefs().boxes[session]
}

// SessionOfDigits is the session whose id is these hexadecimal digits, or begins with them where they are sessionDigits at least; zero:
// no saved state has it, or several do.
func (s *State) SessionOfDigits(digits string) backend.ID {
	if s.Refs.Len() == 0 || len(digits) < sessionDigits {
		return backend.ID{}
	}
	id := s.agentRefs().digits[digits[:sessionDigits]]
	if !strings.HasPrefix(strings.ReplaceAll(id.Raw(), "-", ""), digits) {
		return backend.ID{}
	}
	return id
}

// NamesAnother is the session that begins with some digits and the sandbox that its saved state names, where no state of it names one that
// is called by those digits; zero: it is not so.
func (s *State) NamesAnother(digits string) (session, sandbox backend.ID) {
	if s.Refs.Len() == 0 {
		return session, sandbox
	}
	x := s.agentRefs()
	if session = x.digits[digits]; x.owns[session] || x.others[session].IsZero() {
		return backend.ID{}, backend.ID{}
	}
	return session, x.others[session]
}

// SessionOn is the session of a sandbox: the one that it is joined to, else that of the state which names it, else that of the workspace
// which does, else the one with whose digits its name begins. Zero: nothing tells.
func (s *State) SessionOn(b *backend.Sandbox) backend.ID {
	if !b.Session.IsZero() {
		return b.Session
	}
	if r := s.StateOn(b); r != nil {
		return r.Session
	}
	if r, is := s.registryOn(b); is {
		return r.session
	}
	session, _ := s.AgentSession(b)
	return session
}

// BoxesOf are the sandboxes of a session: those that are joined to it, those that its saved states or its workspaces name, and the one
// that an agent SDK named with the digits of its id, where a saved state tells that no other session begins with them.
func (s *State) BoxesOf(session backend.ID) []*backend.Sandbox {
	boxes := s.SandboxesOf(session)
	more := append(slices.Clip(s.SandboxesOfState(session)), s.namedAfter(session))
	if s.registry != nil {
		more = append(more, s.registry.boxes[session]...)
	}
	for _, b := range more {
		if b != nil && b.IsSandbox && s.SessionOn(b) == session && !slices.ContainsFunc(boxes, func(x *backend.Sandbox) bool { return x.Key == b.Key }) {
			boxes = append(slices.Clip(boxes), b)
		}
	}
	return boxes
}

// CandidateOf is the sandbox that an agent SDK named with the digits of a session's id, where nothing joins it to any session; nil: there
// is none.
func (s *State) CandidateOf(session backend.ID) *backend.Sandbox {
	b := s.namedAfter(session)
	if b == nil || !b.IsSandbox || !s.SessionOn(b).IsZero() {
		return nil
	}
	if _, digits := s.AgentSession(b); digits == "" {
		return nil
	}
	return b
}

// namedAfter is the sandbox that is called as an agent SDK would name that of a session; nil: none is.
func (s *State) namedAfter(session backend.ID) *backend.Sandbox {
	digits := digitsOf(session)
	if digits == "" {
		return nil
	}
	name, err := backend.NewID(agentPrefix + digits)
	if err != nil {
		return nil
	}
	return s.SandboxNamed(name, backend.Safe{})
}
