package runbook

import (
	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// storedRefs are the persisted references that a State's sources have read, and those that they read before a session left.
func storedRefs(st *fleet.State, b *alerts.Board) []Ref {
	out := make([]Ref, 0, st.Refs.Len())
	add := func(r *backend.Ref) {
		x := Ref{Session: r.Session, Workspace: r.Key.ID, Provider: r.Provider, SchemaVersion: r.SchemaVersion, Resource: r.Sandbox,
			Source: r.Key.Source, At: st.ReadAt(&r.Meta), Agent: r.Agent != nil}
		if x.Agent {
			x.SchemaVersion = backend.Value[int]{}
		}
		out = append(out, x)
	}
	for r := range st.Refs.All() {
		add(r)
	}
	for _, p := range b.PastOf(backend.KindRef) {
		if r, ok := p.Entity.(*backend.Ref); ok && st.Refs.Get(r.Key) == nil {
			add(r)
		}
	}
	return out
}
