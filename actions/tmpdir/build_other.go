//go:build !linux

package tmpdir

import (
	"context"
	"errors"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/backend/hostfs"
)

// unsupported says why nothing is offered here.
func unsupported() backend.Safe {
	return backend.Text("directories are only listed on this system: removing them safely needs Linux (openat2, renameat2 and /proc), so run sandglass clean there")
}

func whose(actions.Site, hostfs.Scratch) (self, owner uint32) { return 0, 0 }

func (t *tool) part(actions.Verb) actions.Part { return actions.Part{} }

func (t *tool) waiting(context.Context, backend.ID) ([]Waiting, error) {
	return nil, errors.New(unsupported().String())
}

func (t *tool) lookWaiting(context.Context, []backend.Key, *fleet.State, time.Time) []actions.Candidate {
	return nil
}

func (t *tool) purge(context.Context, actions.Target) (actions.Done, error) {
	return actions.Done{}, errors.New(unsupported().String())
}
