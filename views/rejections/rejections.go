// Package rejections is screen 6: the commands that guards refused, by session, workspace, first word and metacharacter.
package rejections

import (
	"slices"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/browse"
	"sandglass/views/kit"
	"sandglass/views/subjects"
)

// New makes the screen.
func New() views.Screen {
	return browse.New(browse.Config[views.Rejection]{
		Number: 6, Name: "Rejections", Set: subjects.Rejections(), Kinds: []backend.Kind{views.KindRejection},
		Offered: func(f *views.Frame) bool {
			return f.State != nil && slices.ContainsFunc(f.State.Sources, func(h *fleet.SourceHealth) bool {
				return h.Status != fleet.StatusAbsent && h.Watches(backend.InputRejections)
			})
		},
		Pane: func(f *views.Frame, r views.Rejection, _ browse.Room) *kit.Doc { return subjects.RejectionPane(r, f) },
		Nothing: func(f *views.Frame) *kit.Doc {
			return browse.Lacking(f, backend.InputRejections, "No rejected commands",
				"Every source that reads rejections answers, and no command was rejected in the last hour.", "No source reads rejections. Sources of kind logs do.")
		},
	})
}
