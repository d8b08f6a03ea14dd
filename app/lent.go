package app

import (
	"context"
	"errors"

	"sandglass/actions"
	"sandglass/ui"
)

// lentTerminal is the terminal of a console, which the screen gives away for as long as a verb has it.
type lentTerminal struct {
	local actions.Terminal
	lend  ui.Lender // nil until the screen begins
}

// lentBy makes the console's own terminal one for verbs; nil where there is none to give away.
func lentBy(local actions.Terminal) *lentTerminal {
	if local == nil {
		return nil
	}
	return &lentTerminal{local: local}
}

// Take takes the screen down for a session, and draws it again afterwards.
func (l *lentTerminal) Take(ctx context.Context, session func(context.Context, actions.TerminalSession) error) error {
	if l.lend == nil {
		return errors.New("the screen has not begun")
	}
	return l.lend(ctx, func(ctx context.Context) error { return l.local.Take(ctx, session) })
}
