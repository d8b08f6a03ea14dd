// Package sources is screen 9: the health of the configured backends, what reading them costs, and what each lets us
// see and not see.
package sources

import (
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/browse"
	"sandglass/views/kit"
	"sandglass/views/subjects"
	"sandglass/views/theme"
)

// New makes the screen.
func New() views.Screen {
	return browse.New(browse.Config[*fleet.SourceHealth]{
		Number: 9, Name: "Sources", Set: subjects.Sources(), Kinds: []backend.Kind{backend.KindSource},
		Pane: func(f *views.Frame, h *fleet.SourceHealth, room browse.Room) *kit.Doc {
			return subjects.SourcePane(h, f, room != browse.Tight, room != browse.Beside)
		},
		Beneath: func(f *views.Frame, h *fleet.SourceHealth, w, room int) []string {
			return subjects.Plots(h.Key.Source, f, w, room)
		},
		Nothing: func(*views.Frame) *kit.Doc {
			doc := &kit.Doc{}
			doc.Blank()
			doc.Line(kit.Span{Tone: theme.Strong, Text: "No sources"})
			doc.Field("", kit.Span{Tone: theme.Dim, Text: "Nothing is configured. `sandglass config init` writes a commented configuration."})
			return doc
		},
	})
}
