// Package executions is screen 0: the executions and jobs of sandboxes and sessions, what waits first.
package executions

import (
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/browse"
	"sandglass/views/kit"
	"sandglass/views/subjects"
	"sandglass/views/theme"
)

// New makes the screen.
func New() views.Screen {
	return browse.New(browse.Config[backend.Worker]{
		Number: 0, Name: "Executions", Set: subjects.Work(), Kinds: backend.WorkKinds(),
		Follows: true,
		Offered: func(f *views.Frame) bool { return f.Summary.Work > 0 },
		Nothing: func(*views.Frame) *kit.Doc {
			doc := &kit.Doc{}
			doc.Blank()
			doc.Line(kit.Span{Tone: theme.Strong, Text: "No executions known"})
			doc.Line(kit.Span{Tone: theme.Dim, Text: "No source reports an execution or a job. Sources of kind agentuity and helix can."})
			return doc
		},
	})
}
