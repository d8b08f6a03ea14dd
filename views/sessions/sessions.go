// Package sessions is screen 4: agent runs, with what a hub says of its own.
package sessions

import (
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/browse"
	"sandglass/views/kit"
	"sandglass/views/subjects"
)

// New makes the screen.
func New() views.Screen {
	return browse.New(browse.Config[*backend.Session]{
		Number: 4, Name: "Sessions", Set: subjects.Sessions(), Kinds: []backend.Kind{backend.KindSession},
		Follows: true,
		Offered: func(f *views.Frame) bool { return f.Summary.Sessions > 0 },
		Nothing: func(f *views.Frame) *kit.Doc {
			return browse.Lacking(f, backend.InputSessions, "No sessions",
				"Every source that lists sessions answers, and there is none.", "No source lists sessions. Sources of kind helix and agentuity do.")
		},
	})
}
