//go:build !unix

package app

import (
	"context"

	"sandglass/actions"
)

// LocalTerminal is nil: a terminal of this system cannot be handed over.
func (s *Station) LocalTerminal(context.Context) actions.Terminal { return nil }
