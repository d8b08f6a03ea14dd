package fleet

import (
	"slices"

	"sandglass/backend"
)

// ReachTo is Reach for a text about some subjects: where the id of a subject in a command means others too, the command names
// its source, and its kind where that source has other kinds of that id. about walks the subjects until yield returns false.
func (s *State) ReachTo(about func(yield func(backend.Key) bool)) backend.Reach {
	r := s.Reach
	r.Which = func(command, id string) (source, kind string) {
		for k := range about {
			if s.calls(k, id) {
				return s.which(k, id, backend.ReadsAny(command))
			}
		}
		return "", ""
	}
	return r
}

// calls reports whether a command may mean a subject by this text.
func (s *State) calls(k backend.Key, id string) bool {
	if k.Path().Raw() == id || k.Safe().String() == id {
		return true
	}
	if k.Kind != backend.KindSandbox {
		return false
	}
	b := s.Sandbox(k)
	return b != nil && b.Name.String() == id
}

// which is what tells a subject from others of the same text; nothing where no other has it. Where not any kind is meant,
// only others of its own kind count.
func (s *State) which(k backend.Key, text string, anyKind bool) (source, kind string) {
	elsewhere, beside := false, false // on another source, of another kind on its own
	for o := range s.sameText(k, text) {
		elsewhere = elsewhere || o.Source != k.Source && (anyKind || o.Kind == k.Kind)
		beside = beside || anyKind && o.Source == k.Source && o.Kind != k.Kind
	}
	if elsewhere {
		source = k.Source
	}
	if beside {
		kind = string(k.Kind)
	}
	return source, kind
}

// sameText walks the subjects and sources other than k that have a text as their whole id, and of sandboxes also as a name.
func (s *State) sameText(k backend.Key, text string) func(yield func(backend.Key) bool) {
	return func(yield func(backend.Key) bool) {
		id, err := backend.NewID(text)
		if err != nil {
			return
		}
		for _, h := range s.Sources {
			for _, kind := range backend.SubjectKinds() {
				o := backend.Key{Kind: kind.Kind, Source: h.Key.Source, ID: id}
				if kind.PathHasParent {
					if o.Parent, o.ID = k.Parent, k.ID; o.Path() != id {
						continue
					}
				}
				if o.Kind == backend.KindRef { // that of a workspace means the workspace
					continue
				}
				if o != k && s.Entity(o) != nil && !yield(o) {
					return
				}
			}
			if h.Key.ID == id && !yield(h.Key) {
				return
			}
		}
		if b, called := s.byName[id]; called && b == nil {
			for b := range s.Sandboxes.All() {
				if b.Key != k && slices.Contains(namesOf(b), id) && !yield(b.Key) {
					return
				}
			}
		} else if called && b.Key != k {
			yield(b.Key)
		}
	}
}
