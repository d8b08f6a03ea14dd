// Package workspaces is screen 2: the entries of the agent framework's registries.
package workspaces

import (
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/browse"
	"sandglass/views/kit"
	"sandglass/views/subjects"
)

// New makes the screen.
func New() views.Screen {
	return browse.New(browse.Config[*backend.Workspace]{
		Number: 2, Name: "Workspaces", Set: subjects.Workspaces(), Kinds: []backend.Kind{backend.KindWorkspace},
		Follows: true,
		Offered: func(f *views.Frame) bool {
			return f.Summary.Workspaces > 0 || f.Summary.Framework && f.State != nil && f.State.MayRead(backend.InputRegistry)
		},
		Nothing: func(f *views.Frame) *kit.Doc {
			return browse.Lacking(f, backend.InputRegistry, "No workspaces",
				"Every source that lists workspaces answers, and no session has one.", "No source lists workspaces. A source of kind helix does.")
		},
	})
}
