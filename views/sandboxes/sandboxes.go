// Package sandboxes is screen 3: the machines behind workspaces, what is reported about them beside what was observed.
package sandboxes

import (
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/browse"
	"sandglass/views/kit"
	"sandglass/views/subjects"
)

// New makes the screen.
func New() views.Screen {
	return browse.New(browse.Config[*backend.Sandbox]{
		Number: 3, Name: "Sandboxes", Set: subjects.Sandboxes(), Kinds: []backend.Kind{backend.KindSandbox},
		Follows: true,
		Aside: func(f *views.Frame) string {
			if n := f.Summary.Listed; n > 0 {
				return kit.Number(n) + " not watched"
			}
			return ""
		},
		Nothing: func(f *views.Frame) *kit.Doc {
			return browse.Lacking(f, backend.InputContainers, "No sandboxes",
				"Every source that lists sandboxes answers, and there is none.", "No source lists sandboxes. A source of kind docker does.")
		},
	})
}
