// Package timeline is screen 8: what happened, newest first: alerts that changed, what was done and by whom, notes, what
// backends reported, and changes that may explain what followed.
package timeline

import (
	"sandglass/views"
	"sandglass/views/browse"
	"sandglass/views/kit"
	"sandglass/views/subjects"
	"sandglass/views/theme"
)

// New makes the screen.
func New() views.Screen {
	return browse.New(browse.Config[views.Event]{
		Number: 8, Name: "Timeline", Set: subjects.Events(), History: true,
		Nothing: func(f *views.Frame) *kit.Doc {
			doc := &kit.Doc{}
			doc.Line(kit.Span{Tone: theme.Strong, Text: "Nothing happened yet"})
			doc.Line(kit.Span{Tone: theme.Dim, Text: f.Pasted("Alerts that change, actions, notes (sandglass note TEXT) and what backends report are listed here for 7 days.")})
			return doc
		},
	})
}
