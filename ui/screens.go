package ui

import (
	"sandglass/views"
	alertsview "sandglass/views/alerts"
	"sandglass/views/executions"
	"sandglass/views/keys"
	"sandglass/views/sandboxes"
	"sandglass/views/sessions"
	"sandglass/views/sources"
	"sandglass/views/timeline"
	"sandglass/views/tmpdirs"
	"sandglass/views/workspaces"
)

// screens is the table of screens, in the order of the tabs. Number keys, tabs, palette, help and docs/keys.md follow
// from it: a new screen is its package and one line here.
func screens() []views.Screen {
	return []views.Screen{
		alertsview.New(),
		workspaces.New(),
		sandboxes.New(),
		sessions.New(),
		tmpdirs.New(),
		timeline.New(),
		sources.New(),
		executions.New(),
	}
}

func screenNames(screens []views.Screen) []keys.ScreenName {
	names := make([]keys.ScreenName, len(screens))
	for i, s := range screens {
		names[i] = keys.ScreenName{N: s.Number(), Name: s.Name()}
	}
	return names
}
