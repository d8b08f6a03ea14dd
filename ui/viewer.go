// Package ui is the console's program: routing, focus, overlays. It is built from a Viewer and a Feed and reads no
// environment, standard stream, clock or global by itself, so that many of them can run side by side.
package ui

import (
	"context"
	"time"

	"github.com/charmbracelet/colorprofile"

	"sandglass/actions"
	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views/theme"
)

// Viewer is who looks, and through what.
type Viewer struct {
	Name, Origin string // who, and from where: "mara", "bastion-2"
	// Environ are the viewer's environment variables, as NAME=value; those of the far end of an SSH session.
	Environ []string
	Size    Size
	// ColorProfile is what the viewer's terminal can do; Unknown: found out from Environ.
	ColorProfile colorprofile.Profile
	Glyphs       theme.Glyphs
	// Control is what carries actions out; nil: this viewer only looks.
	Control *actions.Control
	// Unfinished are plans of former runs that were broken off; the console opens on them.
	Unfinished []backend.Safe
	// Bundle writes the evidence about a subject into a file and returns its path; nil: there is no place for it.
	Bundle func(context.Context, backend.Key) (path string, err error)
	// Focus is the raw id of what to show first; empty: the home screen.
	Focus string
	// Environment names what is watched; Production says that it is precious.
	Environment string
	Production  bool
	// Bell is the severity from which a new alert rings the terminal's bell; empty: never.
	Bell alerts.Severity
	// CanSuspend says that a shell is there to come back to; without one ctrl+z would hang for ever.
	CanSuspend bool
	// Runbook is what the operators of this site add to the runbook, by rule and by page.
	Runbook map[string]runbook.Local
	// Now reads the clock. Required.
	Now func() time.Time
}

// Size is a terminal's size in cells.
type Size struct{ Width, Height int }

// Feed is where States and Boards come from. Subscribe's channel holds at most one notice; its function ends the
// subscription. All methods return at once.
type Feed interface {
	Latest() (*fleet.State, *alerts.Board)
	Subscribe() (<-chan struct{}, func())
	// SetVisible tells which rows a viewer sees now; nil when it has gone.
	SetVisible(viewer string, keys []backend.Key)
}

// id tells one viewer from another.
func (v *Viewer) id() string { return v.Name + "@" + v.Origin }

func (v *Viewer) getenv(name string) string {
	for i := len(v.Environ) - 1; i >= 0; i-- {
		if e := v.Environ[i]; len(e) > len(name) && e[len(name)] == '=' && e[:len(name)] == name {
			return e[len(name)+1:]
		}
	}
	return ""
}

// owner is who acknowledges and silences.
func (v *Viewer) owner() backend.Safe { return backend.Clean(v.Name, 60) }
