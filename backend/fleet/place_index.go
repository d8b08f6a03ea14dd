package fleet

import "sandglass/backend"

// placeName is a place as an entity names it; State.HomeOf says which source lists it.
type placeName struct {
	what StorageKind
	id   backend.ID // zero: none is named
}

// placesOfWorkspace are the places that a workspace names.
func placesOfWorkspace(w *backend.Workspace) (named [2]placeName) {
	if w != nil {
		named = [2]placeName{{StorageSandbox, w.ProviderID}, {StorageNamespace, w.Namespace}}
	}
	return named
}

// placesOfRef are the places that a stored reference names.
func placesOfRef(r *backend.Ref) (named [2]placeName) {
	if r != nil {
		named = [2]placeName{{StorageSandbox, r.Sandbox}, {StorageNamespace, r.Namespace}}
	}
	return named
}

// placeIndex holds which workspaces and refs name each place. It is updated from changes, because comparing 100,000
// entities for every State takes too long. Most places are named once, which costs no list.
type placeIndex struct {
	first map[placeName]backend.Key
	more  map[placeName]map[backend.Key]struct{} // the others, where there are any

	moved   bool // more changed since it was published
	touched bool // anything changed since it was compared with the labels of sandboxes
	shared  *sharedKeys
}

// sharedKeys are the sorted keys of the workspaces and refs that name a place which another of them names too.
type sharedKeys struct{ workspaces, refs []backend.Key }

func newPlaceIndex() *placeIndex {
	return &placeIndex{first: map[placeName]backend.Key{}, more: map[placeName]map[backend.Key]struct{}{}, shared: &sharedKeys{}}
}

// update replaces the places that one entity names.
func (n *placeIndex) update(k backend.Key, before, after [2]placeName) {
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

func (n *placeIndex) add(p placeName, k backend.Key) {
	n.touched = true
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

func (n *placeIndex) remove(p placeName, k backend.Key) {
	n.touched = true
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

// publish returns the entities that share places now; nil when they are so many that walking all costs no more.
func (n *placeIndex) publish() *sharedKeys {
	if !n.moved {
		return n.shared
	}
	n.moved = false
	var keys []backend.Key
	for p, others := range n.more {
		keys = append(keys, n.first[p])
		for k := range others {
			keys = append(keys, k)
		}
		if len(keys) > 1000 && len(keys) > len(n.first)/4 {
			n.shared = nil
			return nil
		}
	}
	n.shared = &sharedKeys{}
	for _, k := range unique(keys) {
		if k.Kind == backend.KindWorkspace {
			n.shared.workspaces = append(n.shared.workspaces, k)
		} else {
			n.shared.refs = append(n.shared.refs, k)
		}
	}
	return n.shared
}
