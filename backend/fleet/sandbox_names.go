package fleet

import (
	"cmp"
	"iter"
	"slices"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// shortID is how many characters of an id container engines print.
const shortID = 12

// namesOf are what others may call a sandbox: its id, the short form of that, its name, and the platform's id of its container.
func namesOf(b *backend.Sandbox) []backend.ID {
	raw := []string{b.Key.ID.Raw(), b.Name.String()}
	if len(raw[0]) > shortID {
		raw = append(raw, raw[0][:shortID])
	}
	if !b.Container.IsZero() {
		raw = append(raw, b.Container.Raw())
	}
	var out []backend.ID
	for _, r := range raw {
		if id, err := backend.NewID(r); err == nil && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// indexByName finds sandboxes by what others call them. What several are called is nil: it names none of them. One that no list has
// takes no name from one that a list has.
func indexByName(t Table[backend.Sandbox, *backend.Sandbox]) map[backend.ID]*backend.Sandbox {
	by := make(map[backend.ID]*backend.Sandbox, 3*t.Len())
	for b := range t.All() {
		for _, id := range namesOf(b) {
			switch other, taken := by[id]; {
			case !taken, other != nil && other.Unlisted && !b.Unlisted:
				by[id] = b
			case !b.Unlisted || other != nil && other.Unlisted:
				by[id] = nil
			}
		}
	}
	return by
}

// SandboxNamed finds the sandbox that a workspace or reference of a provider names by id, short id or name; nil when none
// or several are called so. A name means another thing with another provider.
func (s *State) SandboxNamed(id backend.ID, provider backend.Safe) *backend.Sandbox {
	if id.IsZero() || s.Sandboxes.Len() == 0 {
		return nil
	}
	if s.byName == nil {
		s = s.WithSandboxes(s.Sandboxes)
	}
	b := s.byName[id]
	if b == nil || b.Key.ID != id && !provider.IsEmpty() && !SamePlatform(provider, b.Provider) {
		return nil
	}
	return b
}

// labelledElsewhere is a workspace or reference that names a sandbox which its label gives to another session.
type labelledElsewhere struct {
	named backend.Key
	id    backend.ID // as it is named
	box   *backend.Sandbox
}

// elsewhere compares what is named with the labels of sandboxes.
func (n *placeIndex) elsewhere(byName map[backend.ID]*backend.Sandbox) []labelledElsewhere {
	var out []labelledElsewhere
	for id, b := range byName {
		if b == nil || b.Session.IsZero() || !b.IsSandbox || b.JoinedBy == namedBy {
			continue
		}
		p := placeName{StorageSandbox, id}
		if k, named := n.first[p]; named && k.Parent != b.Session {
			out = append(out, labelledElsewhere{k, id, b})
		}
		for k := range n.more[p] {
			if k.Parent != b.Session {
				out = append(out, labelledElsewhere{k, id, b})
			}
		}
	}
	stable.Sort(out, func(a, b labelledElsewhere) int {
		return cmp.Or(a.named.Compare(b.named), a.id.Compare(b.id))
	})
	return out
}

// namedElsewhere walks the pairs of a State: those that the index holds, else all.
func (s *State) namedElsewhere() iter.Seq[labelledElsewhere] {
	if s.sharing != nil {
		return slices.Values(s.elsewhere)
	}
	return func(yield func(labelledElsewhere) bool) {
		if s.Sandboxes.Len() == 0 {
			return
		}
		by := s.WithSandboxes(s.Sandboxes) // so that the names are looked up once
		look := func(k backend.Key, id backend.ID) bool {
			b := by.byName[id]
			return id.IsZero() || b == nil || !b.IsSandbox || b.JoinedBy == namedBy || b.Session.IsZero() || b.Session == k.Parent || yield(labelledElsewhere{k, id, b})
		}
		for w := range s.Workspaces.All() {
			if !look(w.Key, w.ProviderID) {
				return
			}
		}
		for x := range s.Refs.All() {
			if !look(x.Key, x.Sandbox) {
				return
			}
		}
	}
}

// sharedByLabel adds the sandboxes that a label gives to one session and a workspace or reference to another.
func (s *State) sharedByLabel(homeOf func(string, backend.ID) string, g *storageCollector) {
	for x := range s.namedElsewhere() {
		user := StorageUser{Session: x.named.Parent, Workspace: x.named.ID}
		home, provider := x.named.Source, backend.Safe{}
		if r := s.Refs.Get(x.named); r != nil {
			home, provider, user.Evidence = homeOf(r.Key.Source, r.Session), r.Provider, &r.Meta
		}
		user.Entity = s.Workspace(backend.Key{Kind: backend.KindWorkspace, Source: home, Parent: user.Session, ID: user.Workspace})
		if user.Evidence == nil && user.Entity != nil {
			provider, user.Evidence = user.Entity.Provider, &user.Entity.Meta
		}
		if user.Evidence == nil || s.SandboxNamed(x.id, provider) != x.box {
			continue
		}
		b := x.box
		owner := homeOf(b.Key.Source, b.Session)
		g.add(home, StorageSandbox, x.id, user)
		g.add(owner, StorageSandbox, x.id, StorageUser{Session: b.Session, Workspace: b.Workspace, Evidence: &b.Meta,
			Entity: s.Workspace(backend.Key{Kind: backend.KindWorkspace, Source: owner, Parent: b.Session, ID: b.Workspace})})
	}
}
