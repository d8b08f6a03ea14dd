package ui

import (
	"fmt"
	"runtime/debug"

	tea "charm.land/bubbletea/v2"
)

// PanicError is a panic in the code of one viewer's program, after its terminal was restored.
type PanicError struct {
	Reason any
	Stack  []byte
}

// Error says what the panic said.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Reason) }

// guard ends the program in order when its model or one of its commands panics. Bubble Tea would restore the terminal
// too, but it would close its input under the goroutine that reads it, and print the panic's text raw.
type guard struct {
	model   *Model
	failure *PanicError
	last    tea.View
}

func (g *guard) Init() (cmd tea.Cmd) {
	defer g.recover(&cmd)
	return guarded(g.model.Init())
}

func (g *guard) Update(msg tea.Msg) (same tea.Model, cmd tea.Cmd) {
	same = g // also what a panic returns
	if failure, broken := msg.(*PanicError); broken && g.failure == nil {
		g.failure = failure
	}
	if g.failure != nil {
		return g, tea.Quit
	}
	defer g.recover(&cmd)
	_, cmd = g.model.Update(msg)
	return g, guarded(cmd)
}

func (g *guard) View() tea.View {
	if g.failure == nil {
		g.draw()
	}
	return g.last
}

func (g *guard) draw() {
	defer g.recover(nil)
	g.last = g.model.View()
}

func (g *guard) recover(cmd *tea.Cmd) {
	r := recover()
	if r == nil {
		return
	}
	g.failure = &PanicError{Reason: r, Stack: debug.Stack()}
	if cmd != nil {
		*cmd = tea.Quit
	}
}

// guarded is a command whose panic is a message. The commands of a batch are guarded one by one.
func guarded(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer func() {
			if r := recover(); r != nil {
				msg = &PanicError{Reason: r, Stack: debug.Stack()}
			}
		}()
		msg = cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i := range batch {
				batch[i] = guarded(batch[i])
			}
		}
		return msg
	}
}
