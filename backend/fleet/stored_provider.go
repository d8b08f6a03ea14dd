package fleet

import "sandglass/backend"

// WithStoredProvider is a workspace with the provider that its stored reference names, where its registry names none.
func (s *State) WithStoredProvider(w *backend.Workspace) *backend.Workspace {
	if !w.Provider.IsEmpty() || s.Refs.Len() == 0 {
		return w
	}
	for _, h := range s.Sources {
		if !h.ReportsOn(w.Key.Source) {
			continue
		}
		x := s.Refs.Get(backend.Key{Kind: backend.KindRef, Source: h.Key.Source, Parent: w.Key.Parent, ID: w.Key.ID})
		if x != nil && !x.Provider.IsEmpty() {
			c := *w
			c.Provider = x.Provider
			return &c
		}
	}
	return w
}
