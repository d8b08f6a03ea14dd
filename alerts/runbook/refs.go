package runbook

import "sandglass/backend/fleet"

// storedRefs are the persisted references that a State's sources have read.
func storedRefs(st *fleet.State) []Ref {
	out := make([]Ref, 0, st.Refs.Len())
	for r := range st.Refs.All() {
		out = append(out, Ref{Session: r.Session, Workspace: r.Key.ID, Provider: r.Provider, SchemaVersion: r.SchemaVersion, Resource: r.Sandbox,
			Source: r.Key.Source, At: st.ReadAt(&r.Meta)})
	}
	return out
}
