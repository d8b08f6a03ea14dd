package actions

import (
	"context"
	"io"

	"sandglass/backend"
)

// Terminal is the local terminal of a person, which a verb takes over for a while.
type Terminal interface {
	// Take gives the terminal to a session, in raw mode, and restores it however the session ends. The context of the session
	// ends with ctx, and when the program is told to end.
	Take(ctx context.Context, session func(context.Context, TerminalSession) error) error
}

// TerminalSession is a terminal that was taken over.
type TerminalSession struct {
	In    io.Reader           // ends with the session; what was typed before is read first
	Out   io.Writer           //
	Sizes <-chan TerminalSize // the present size first
	Name  string              // TERM; empty: not known
}

// TerminalSize is in cells.
type TerminalSize struct{ Width, Height uint }

// TerminalUser is an effect that needs the person's terminal.
type TerminalUser interface{ UseTerminal(Terminal) }

// noTerminal denies a verb that takes over a terminal to a viewer who has none on this machine. system is the name that Go has for
// the machine's.
func noTerminal(system string) backend.Safe {
	if system == "windows" {
		return backend.Text("Sandglass opens no shell on Windows: run docker exec -it NAME sh, or start Sandglass in WSL")
	}
	return backend.Text("it takes over a terminal of this machine: run sandglass shell NAME in one")
}

// TakesTerminal reports whether a plan takes over the viewer's terminal for as long as it is carried out.
func (o *Operator) TakesTerminal(p *Plan) bool {
	a, err := o.ability(p.Source, p.Verb)
	return err == nil && a.Spec.Takes
}

// UseTerminal gives the viewer's verbs a local terminal; without one those that take it over are denied. It is called before
// the first plan.
func (o *Operator) UseTerminal(t Terminal) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.terminal = t
}

func (o *Operator) localTerminal() Terminal {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.terminal
}
