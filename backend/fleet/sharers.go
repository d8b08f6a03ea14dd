package fleet

import (
	"slices"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// SharersOf are the sessions whose workspaces and references name one sandbox, sorted, where its platform gives it to none of them and
// more than one names it; else none.
func (s *State) SharersOf(b *backend.Sandbox) []backend.ID {
	if b == nil || !b.IsSandbox || !b.Session.IsZero() {
		return nil
	}
	var out []backend.ID
	look := func(session, id backend.ID, provider backend.Safe) {
		if (provider.IsEmpty() || SamePlatform(provider, b.Provider)) && s.SandboxNamed(id, provider) == b && !slices.Contains(out, session) {
			out = append(out, session)
		}
	}
	workspaces, refs := s.Workspaces.All(), s.Refs.All()
	if s.sharing != nil {
		workspaces, refs = s.Workspaces.withKeys(s.sharing.workspaces), s.Refs.withKeys(s.sharing.refs)
	}
	for w := range workspaces {
		look(w.Key.Parent, w.ProviderID, w.Provider)
	}
	for r := range refs {
		look(r.Session, r.Sandbox, r.Provider)
	}
	if len(out) < 2 {
		return nil
	}
	stable.Sort(out, backend.ID.Compare)
	return out
}

// LiveSharers are those of SharersOf that are taken to run, and why.
func (s *State) LiveSharers(b *backend.Sandbox) (live []backend.ID, why []backend.Safe) {
	for _, id := range s.SharersOf(b) {
		c := *b
		c.Session = id
		if says := s.LiveOn(&c); !says.IsEmpty() {
			live, why = append(live, id), append(why, says)
		}
	}
	return live, why
}
