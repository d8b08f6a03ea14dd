// Package ui is the console's program: routing, focus, overlays. It is built from a Viewer and a Feed and reads no
// environment, standard stream, clock or global by itself, so that many of them can run side by side.
package ui

import (
	"context"
	"time"

	"github.com/charmbracelet/colorprofile"

	"sandglass/actions"
	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views/theme"
)

// Viewer is who looks, and through what.
type Viewer struct {
	// leaving ends when the console is to end.
	leaving context.Context
	// ID tells this viewer from every other one of its Feed; empty: Name and Origin do.
	ID           string
	Name, Origin string // who, and from where: "mara", "bastion-2"
	// Environ are the viewer's environment variables, as NAME=value; those of the far end of an SSH session.
	Environ []string
	Size    Size
	// ColorProfile is what the viewer's terminal can do; Unknown: found out from Environ.
	ColorProfile colorprofile.Profile
	Glyphs       theme.Glyphs
	// Permissions are what this viewer may do. Those of its Control are the same.
	Permissions actions.Permissions
	// Control is what carries actions out; nil: there is nothing that acts.
	Control Control
	// Unfinished are plans of former runs that were broken off; the console opens on them.
	Unfinished []backend.Safe
	// Bundle writes the evidence about a subject into a file and returns its path; nil: there is no place for it.
	Bundle func(context.Context, backend.Key) (path string, err error)
	// Sent lists the requests and commands that were sent last, the newest first; nil: they are not kept.
	Sent func() []backend.Sent
	// Examine reads a source for doctor; nil: it cannot be done here.
	Examine Examine
	// Logs is how logs are read.
	Logs Logs
	// Settings are those of the configuration; Reload reads it again, nil: there is no file.
	Settings
	Reload Reload
	// Kept is what former runs kept.
	Kept Kept
	// Keep changes what is kept on disk, as the newest file has it; nil: there is no place for it.
	Keep func(change func(*Kept)) error
	// Reopens says that the console begins where the one before was left, and keeps where it is left itself.
	Reopens bool
	// Focus is the raw id of what to show first; empty: the home screen.
	Focus string
	// Environment names what is watched; Production says that it is precious.
	Environment string
	Production  bool
	// CanSuspend says that a shell is there to come back to; without one ctrl+z would hang for ever.
	CanSuspend bool
	// HideNames shows hashes instead of the names of subjects, for a screen that others see; it is what the hashes are made with,
	// at least 16 random bytes. Empty: names are shown.
	HideNames []byte
	// Zone is the viewer's time zone; nil: not known.
	Zone *time.Location
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

// Control is how this viewer acts; *actions.Operator is one.
type Control interface {
	Arming
	Planner
	Runs
}

// Arming lets the viewer act for a while.
type Arming interface {
	Armed() (actions.Arming, bool)
	Arm(ctx context.Context, lasting time.Duration, claimed, reason backend.Safe) (actions.Arming, error)
	Disarm(context.Context) error
	// NeedsName reports whether whoever arms says who they are.
	NeedsName() bool
}

// Planner says what the viewer can do, makes plans of it and starts the confirmed ones.
type Planner interface {
	CanAct() bool
	All() []actions.Ability
	Again(ctx context.Context, old *actions.Plan, in actions.Intent) (*actions.Plan, []backend.Safe, error)
	Start(context.Context, actions.Confirmed) error
	// TakesTerminal reports whether the plan takes over the viewer's terminal while it is carried out.
	TakesTerminal(*actions.Plan) bool
}

// Runs is the plan that some viewer carries out, or carried out last. Only its own viewer steers it.
type Runs interface {
	Progress() (p actions.Progress, ok bool)
	// Subscribe returns a channel of one slot that is filled when a plan begins or moves on.
	Subscribe() (changed <-chan struct{}, stop func())
	Stop(digest string, why backend.Safe) error
	Continue(digest string) error
}

// id tells one viewer from another.
func (v *Viewer) id() string {
	if v.ID != "" {
		return v.ID
	}
	return v.Name + "@" + v.Origin
}

// denied says why the viewer may not do something of that access level; empty: it may.
func (v *Viewer) denied(needed actions.Access) string {
	return v.Permissions.Denied(backend.Clean(v.Name, 60), needed).String()
}

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
