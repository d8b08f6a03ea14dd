package fleet

import (
	"slices"

	"sandglass/backend"
)

// registryJoin is the one session whose workspace names a sandbox by its exact id and provider.
type registryJoin struct {
	session, workspace backend.ID
	source             string // of the workspace
	several            bool   // more than one session names it: then it is joined to none
}

// registryJoins are those joins, with the sandboxes of each session.
type registryJoins struct {
	of    map[backend.Key]registryJoin
	boxes map[backend.ID][]*backend.Sandbox
	// called is how many listed sandboxes of one provider have an id or name that a workspace names, where there are several.
	called map[boxName]int
	// may are the sessions whose workspaces may mean a sandbox, where several are called so.
	may map[backend.Key][]backend.ID
}

type boxName struct {
	provider string
	id       backend.ID
}

// byRegistry reports whether the sandboxes of a platform are joined so: it knows no sessions of a registry, and its ids are its own.
func byRegistry(provider backend.Safe) bool {
	return provider.String() == "blaxel" || provider.String() == "agentuity"
}

// joins looks up which of a State's sandboxes workspaces name. It walks the sandboxes once, and asks the index of places for each.
func (n *placeIndex) joins(s *State) *registryJoins {
	j := &registryJoins{map[backend.Key]registryJoin{}, map[backend.ID][]*backend.Sandbox{}, map[boxName]int{}, map[backend.Key][]backend.ID{}}
	if len(n.first) == 0 {
		return j
	}
	found := map[boxName][]*backend.Sandbox{}
	var names []boxName
	for b := range s.Sandboxes.All() {
		if !b.IsSandbox || b.Unlisted || !byRegistry(b.Provider) {
			continue
		}
		ids := []backend.ID{b.Key.ID}
		if id, err := backend.NewID(b.Name.String()); err == nil && id != b.Key.ID {
			ids = append(ids, id)
		}
		for _, id := range ids {
			if _, named := n.first[placeName{StorageSandbox, id}]; !named {
				continue
			}
			x := boxName{b.Provider.String(), id}
			if found[x] = append(found[x], b); len(found[x]) == 1 {
				names = append(names, x)
			}
		}
	}
	for _, x := range names {
		if len(found[x]) == 1 {
			j.take(s, n, x, found[x][0])
			continue
		}
		j.called[x] = len(found[x])
		for _, w := range n.naming(s, x) {
			for _, b := range found[x] {
				if !slices.Contains(j.may[b.Key], w.Key.Parent) {
					j.may[b.Key] = append(j.may[b.Key], w.Key.Parent)
				}
			}
		}
	}
	for _, x := range names {
		b := found[x][0]
		if r := j.of[b.Key]; !r.session.IsZero() && !r.several && !slices.Contains(j.boxes[r.session], b) {
			j.boxes[r.session] = append(j.boxes[r.session], b)
		}
	}
	return j
}

// naming are the workspaces that name a sandbox of a provider so.
func (n *placeIndex) naming(s *State, x boxName) (out []*backend.Workspace) {
	for _, k := range n.called(x) {
		if w := s.Workspaces.Get(k); w != nil && w.Provider.String() == x.provider {
			out = append(out, w)
		}
	}
	return out
}

// called are what names any sandbox so, each once, in the order of their keys.
func (n *placeIndex) called(x boxName) []backend.Key {
	p := placeName{StorageSandbox, x.id}
	keys := []backend.Key{n.first[p]}
	for k := range n.more[p] {
		keys = append(keys, k)
	}
	return unique(keys)
}

// take adds what names a sandbox so. A saved state of another session makes it ambiguous, unless it is of an earlier sandbox of the name.
func (j *registryJoins) take(s *State, n *placeIndex, x boxName, b *backend.Sandbox) {
	r := j.of[b.Key]
	for _, w := range n.naming(s, x) {
		k := w.Key
		switch {
		case r.session.IsZero():
			r.session, r.workspace, r.source = k.Parent, k.ID, k.Source
		case r.session != k.Parent:
			r.several = true
		case r.workspace != k.ID: // two workspaces of one session
			r.workspace = backend.ID{}
		}
	}
	if r.session.IsZero() {
		return
	}
	for _, k := range n.called(x) {
		ref := s.Refs.Get(k)
		if ref != nil && ref.Session != r.session && (ref.Provider.IsEmpty() || ref.Provider == b.Provider) && !MadeAfter(b.CreatedAt.Or(ref.FirstSeen), ref.SavedAt.Or(ref.FirstSeen)) {
			r.several = true
		}
	}
	j.of[b.Key] = r
}

// registryOn is the join of a sandbox by its registry; false: there is none, or several sessions name it.
func (s *State) registryOn(b *backend.Sandbox) (registryJoin, bool) {
	if s.registry == nil || len(s.registry.of) == 0 || !b.Session.IsZero() {
		return registryJoin{}, false
	}
	r, is := s.registry.of[b.Key]
	if own := s.Source(b.Key.Source); !is || r.several || own != nil && !own.ReportsOn(r.source) {
		return registryJoin{}, false
	}
	return r, true
}

// RegistryNames is the workspace that names a sandbox by its exact id, where nothing joins it otherwise; the key is empty where none does,
// or several sessions do.
func (s *State) RegistryNames(b *backend.Sandbox) (named backend.Key, by backend.Safe) {
	if r, is := s.registryOn(b); is && s.StateOn(b) == nil {
		return backend.Key{Kind: backend.KindWorkspace, Source: r.source, Parent: r.session, ID: r.workspace}, namedBy
	}
	return backend.Key{}, backend.Safe{}
}

// Namesakes is how many listed sandboxes a workspace may mean, where they are several: then it is joined to none.
func (s *State) Namesakes(w *backend.Workspace) int {
	if s.registry == nil {
		return 0
	}
	return s.registry.called[boxName{w.Provider.String(), w.ProviderID}]
}

// WorkspaceOn is the name of the workspace that uses a sandbox; zero: nothing tells.
func (s *State) WorkspaceOn(b *backend.Sandbox) backend.ID {
	if r, is := s.registryOn(b); b.Workspace.IsZero() && is && s.SessionOn(b) == r.session {
		return r.workspace
	}
	return b.Workspace
}
