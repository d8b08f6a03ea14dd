// Package sources is screen 9: the health of the configured backends, what reading them costs, and what each lets us
// see and not see.
package sources

import (
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/ui/kit"
	"sandglass/ui/theme"
	"sandglass/views"
	"sandglass/views/browse"
	"sandglass/views/columns"
	"sandglass/views/detail"
)

// New makes the screen.
func New() views.Screen {
	return browse.New(browse.Config[*fleet.SourceHealth]{
		Number: 9, Name: "Sources", Set: columns.Sources(), Kind: backend.KindSource, Pane: pane,
		Nothing: func(*views.Frame) *kit.Doc {
			doc := &kit.Doc{}
			doc.Blank()
			doc.Line(kit.Span{Tone: theme.Strong, Text: "No sources"})
			doc.Field("", kit.Span{Tone: theme.Dim, Text: "Nothing is configured. `sandglass config init` writes a commented configuration."})
			return doc
		},
	})
}

func pane(f *views.Frame, h *fleet.SourceHealth, _ bool) *kit.Doc {
	doc := &kit.Doc{}
	c := columns.StatusCell(h.Status)
	doc.Line(kit.Span{Tone: theme.Strong, Text: h.Key.Source}, kit.Span{Tone: theme.Dim, Text: "  " + h.Kind + "  "},
		kit.Span{Tone: c.Tone, Text: f.Theme.Mark(c.Mark) + " " + c.Text.String()})
	if !h.Error.IsEmpty() {
		doc.Field("why", kit.Span{Tone: c.Tone, Text: h.Error.String()})
	}
	detail.Source(doc, h, f)
	return doc
}
