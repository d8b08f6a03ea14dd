package ui

import (
	"fmt"
	"strings"

	"sandglass/backend"
	"sandglass/views"
	alertsview "sandglass/views/alerts"
	"sandglass/views/evictions"
	"sandglass/views/executions"
	"sandglass/views/keys"
	"sandglass/views/rejections"
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
		evictions.New(),
		rejections.New(),
		tmpdirs.New(),
		timeline.New(),
		sources.New(),
		executions.New(),
	}
}

// KeyTable is the table of keys as it is without a configuration.
func KeyTable() []keys.Binding { return keys.Bindings(screenNames(screens())) }

// CommandKeys are the keys that do on the screens what a command does, by the command as our texts name it.
func CommandKeys() map[string]string {
	of := make(map[string]string)
	for _, b := range keys.Bindings(nil) {
		if b.Context != keys.List {
			continue
		}
		key := ":" + b.Command
		if len(b.Keys()) > 0 {
			key = b.Keys()[0]
		}
		switch b.Intent.Action {
		case keys.Enter:
			of["why"] = key
		case keys.Bundle:
			of["bundle"] = key
		case keys.Act:
			of[b.Intent.Text] = key
		case keys.Verbs: // it lists those that have no key of their own
			of["rescue"], of["replace"], of["wake"] = key, key, key
		}
	}
	for _, s := range screenNames(screens()) {
		list := strings.ToLower(s.Name)
		if list == "timeline" {
			list = "events"
		}
		of["get "+list] = fmt.Sprint(s.N)
		for _, k := range backend.SubjectKinds() {
			if k.List == list {
				of["get "+k.Short] = fmt.Sprint(s.N)
			}
		}
	}
	of["clean"] = of["get tmpdirs"] + ", mark rows, then " + of["clean"] // the command finds the abandoned ones itself
	return of
}

func screenNames(screens []views.Screen) []keys.ScreenName {
	names := make([]keys.ScreenName, len(screens))
	for i, s := range screens {
		names[i] = keys.ScreenName{N: s.Number(), Name: s.Name()}
	}
	return names
}
