package alerts

import (
	"strings"
	"unicode"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// KeptOnPurpose finds what says that a sandbox is meant to outlive its session: a label that keeps it alive, its registry, or its
// workspace's saved reference (shared, kept alive, or paused on exit; refs sources keep such members under their own
// names). It returns whose words they are and the words; nil when nothing says so. How names are written does not
// matter: keepAlive, keep-alive and keep_alive are one.
func KeptOnPurpose(st *fleet.State, b *backend.Sandbox) (*backend.Meta, backend.Field) {
	for _, l := range b.Labels {
		switch bareName(l.Name) {
		case "keepalive", "sandglass.keepalive":
			if !strings.EqualFold(l.Value.String(), "false") {
				return &b.Meta, l
			}
		}
	}
	session := st.SessionOn(b)
	if session.IsZero() {
		return nil, backend.Field{}
	}
	for _, h := range st.Sources {
		for w := range st.Workspaces.Of(backend.KindWorkspace, h.Key.Source, session) {
			if !b.Workspace.IsZero() && w.Key.ID != b.Workspace {
				continue
			}
			if f, kept := KeptAlive(w); kept {
				return &w.Meta, f
			}
		}
		for x := range st.Refs.Of(backend.KindRef, h.Key.Source, session) {
			if !x.Workspace.IsZero() && !b.Workspace.IsZero() && x.Workspace != b.Workspace {
				continue
			}
			if x.Agent != nil && x.Agent.PauseOnExit.Or(false) {
				return &x.Meta, backend.Field{Name: backend.Text("pause_on_exit"), Value: backend.Text("true")}
			}
			for _, f := range x.Extra {
				switch bareName(f.Name) {
				case "pauseonexit", "keepalive", "shareacrosssessions", "shared":
					if f.Value.String() == "true" {
						return &x.Meta, f
					}
				}
			}
		}
	}
	return nil, backend.Field{}
}

// KeptAlive finds what the registry says of keeping a workspace's sandbox alive.
func KeptAlive(w *backend.Workspace) (backend.Field, bool) {
	for _, f := range w.Extra {
		if bareName(f.Name) == "keepalive" && f.Value.String() == "true" {
			return f, true
		}
	}
	return backend.Field{}, false
}

// bareName is a name without what its writers do differently.
func bareName(name backend.Safe) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' {
			return -1
		}
		return unicode.ToLower(r)
	}, name.String())
}
