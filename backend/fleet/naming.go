package fleet

import "sandglass/backend"

// placeName is a place as an entity names it; whose it is follows from State.HomeOf.
type placeName struct {
	what PlaceKind
	id   backend.ID // zero: none is named
}

// placesOfWorkspace are the places that a workspace names.
func placesOfWorkspace(w *backend.Workspace) (named [2]placeName) {
	if w != nil {
		named = [2]placeName{{PlaceSandbox, w.ProviderID}, {PlaceNamespace, w.Namespace}}
	}
	return named
}

// placesOfRef are the places that a stored reference names.
func placesOfRef(r *backend.Ref) (named [2]placeName) {
	if r != nil {
		named = [2]placeName{{PlaceSandbox, r.Sandbox}, {PlaceNamespace, r.Namespace}}
	}
	return named
}

// naming follows which workspaces and refs name each place, from the changes alone: to find in every State what 100,000 of
// them have in common would cost several times what there is time for. Most places are named once, which costs no list.
type naming struct {
	first map[placeName]backend.Key
	more  map[placeName]map[backend.Key]struct{} // the others, where there are any

	moved   bool // more changed since it was published
	sharing *sharing
}

// sharing are the keys of the workspaces and refs that name a place which another of them names too, in their order.
type sharing struct{ workspaces, refs []backend.Key }

func newNaming() *naming {
	return &naming{first: map[placeName]backend.Key{}, more: map[placeName]map[backend.Key]struct{}{}, sharing: &sharing{}}
}

// saw takes in that one entity names other places than before.
func (n *naming) saw(k backend.Key, before, after [2]placeName) {
	for i := range before {
		if before[i] == after[i] {
			continue
		}
		if !before[i].id.IsZero() {
			n.remove(before[i], k)
		}
		if !after[i].id.IsZero() {
			n.add(after[i], k)
		}
	}
}

func (n *naming) add(p placeName, k backend.Key) {
	if _, named := n.first[p]; !named {
		n.first[p] = k
		return
	}
	if n.more[p] == nil {
		n.more[p] = map[backend.Key]struct{}{}
	}
	n.more[p][k] = struct{}{}
	n.moved = true
}

func (n *naming) remove(p placeName, k backend.Key) {
	others := n.more[p]
	n.moved = n.moved || len(others) > 0
	if n.first[p] == k {
		delete(n.first, p)
		for o := range others { // any of them
			n.first[p], k = o, o
			break
		}
	}
	delete(others, k)
	if len(others) == 0 {
		delete(n.more, p)
	}
}

// publish is who shares places now: nil when they are so many that all may as well be looked at.
func (n *naming) publish() *sharing {
	if !n.moved {
		return n.sharing
	}
	n.moved = false
	var keys []backend.Key
	for p, others := range n.more {
		keys = append(keys, n.first[p])
		for k := range others {
			keys = append(keys, k)
		}
		if len(keys) > 1000 && len(keys) > len(n.first)/4 {
			n.sharing = nil
			return nil
		}
	}
	n.sharing = &sharing{}
	for _, k := range unique(keys) {
		if k.Kind == backend.KindWorkspace {
			n.sharing.workspaces = append(n.sharing.workspaces, k)
		} else {
			n.sharing.refs = append(n.sharing.refs, k)
		}
	}
	return n.sharing
}
