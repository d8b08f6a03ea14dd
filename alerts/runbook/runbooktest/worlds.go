package runbooktest

import (
	"slices"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// Less lists what the page of an alert says against it where less is read than when it began: the other sources are not
// configured, or its sessions closed and nothing lists them any more.
func Less(st *fleet.State, b *alerts.Board, a *alerts.Alert) (out []string) {
	sources, sessions := []string{a.Source}, []backend.ID{}
	for i := range a.Subjects {
		k := a.Subjects[i].Key
		sources = append(sources, k.Source)
		if k.Kind == backend.KindSession {
			sessions = append(sessions, k.ID)
		} else if k.Kind == backend.KindWorkspace || k.Kind == backend.KindRef {
			sessions = append(sessions, k.Parent)
		}
	}
	alone := kept(st, func(k backend.Key) bool { return slices.Contains(sources, k.Source) })
	alone.Sources = slices.DeleteFunc(slices.Clone(st.Sources), func(h *fleet.SourceHealth) bool { return !slices.Contains(sources, h.Key.Source) })
	for _, what := range Differences(alone, b, a) {
		out = append(out, "without the other sources: "+what)
	}
	if len(sessions) == 0 {
		return out
	}
	ended := kept(st, func(k backend.Key) bool {
		return k.Kind == backend.KindSandbox || k.Kind != backend.KindRef && !slices.Contains(sessions, k.ID) && !slices.Contains(sessions, k.Parent)
	})
	for _, what := range Differences(ended, b, a) {
		out = append(out, "after its sessions closed: "+what)
	}
	return out
}

// kept is a State with some of its entities.
func kept(st *fleet.State, keep func(backend.Key) bool) *fleet.State {
	out := *st
	out.Sessions, out.Workspaces = some(st.Sessions, keep), some(st.Workspaces, keep)
	out.Tmpdirs, out.Hosts, out.Refs = some(st.Tmpdirs, keep), some(st.Hosts, keep), some(st.Refs, keep)
	return out.WithSandboxes(some(st.Sandboxes, keep))
}

func some[T any, P interface {
	*T
	backend.Entity
}](t fleet.Table[T, P], keep func(backend.Key) bool) fleet.Table[T, P] {
	var out []P
	for e := range t.All() {
		if keep(e.EntityMeta().Key) {
			out = append(out, e)
		}
	}
	return fleet.NewTable(out...)
}
