// Package evictions is screen 5: how often sandboxes are evicted and what retries recover, by source and provider.
package evictions

import (
	"slices"

	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/browse"
	"sandglass/views/kit"
	"sandglass/views/subjects"
)

// New makes the screen.
func New() views.Screen {
	return browse.New(browse.Config[*views.Eviction]{
		Number: 5, Name: "Evictions", Set: subjects.Evictions(), Kinds: []backend.Kind{views.KindEviction},
		Offered: func(f *views.Frame) bool {
			return f.State != nil && slices.ContainsFunc(f.State.Sources, views.CountsEvictions)
		},
		Pane: func(f *views.Frame, x *views.Eviction, room browse.Room) *kit.Doc {
			return subjects.EvictionPane(x, f, room != browse.Tight)
		},
		Nothing: func(f *views.Frame) *kit.Doc {
			return browse.Lacking(f, backend.InputEvictions, "No evictions counted",
				"The sources that count evictions have counted nothing yet.", "No source counts evictions. Sources of kind prometheus, prometheus-api and logs do.")
		},
	})
}
