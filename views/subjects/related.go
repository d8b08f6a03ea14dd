package subjects

import (
	"slices"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// ofSession adds a session, and of its workspaces, sandboxes and references those that may belong to the workspace of that
// name; no name: all. A home bounds sessions and workspaces to one source.
func ofSession(st *fleet.State, session, name backend.ID, home string, add func(backend.Key)) {
	if session.IsZero() {
		return
	}
	fits := func(source string, of, its backend.ID) bool {
		return of == session && (home == "" || source == home) && (name.IsZero() || its.IsZero() || its == name)
	}
	for x := range st.Sessions.All() {
		if fits(x.Key.Source, x.Key.ID, backend.ID{}) {
			addWithParts(st, x.Key, add)
		}
	}
	for x := range st.Workspaces.All() {
		if fits(x.Key.Source, x.Key.Parent, x.Key.ID) {
			add(x.Key)
		}
	}
	for x := range st.Sandboxes.All() {
		if fits(home, x.Session, x.Workspace) {
			addWithParts(st, x.Key, add)
			mountedBy(st, x, add)
		}
	}
	for x := range st.Refs.All() {
		if fits(home, x.Session, x.Workspace) {
			add(x.Key)
		}
	}
}

// mountedBy adds the scratch directories that a sandbox mounts.
func mountedBy(st *fleet.State, b *backend.Sandbox, add func(backend.Key)) {
	for t := range st.Tmpdirs.All() {
		if mounts(b, t) {
			add(t.Key)
		}
	}
}

func mounts(b *backend.Sandbox, t *backend.Tmpdir) bool {
	return !t.RawPath.IsZero() && slices.ContainsFunc(b.Mounts, func(m backend.Mount) bool { return m.RawSource == t.RawPath })
}

// addWithParts adds a sandbox or a session and the work that belongs to it.
func addWithParts(st *fleet.State, k backend.Key, add func(backend.Key)) {
	add(k)
	for e := range partsOf(st, k) {
		add(e.EntityMeta().Key)
	}
}
