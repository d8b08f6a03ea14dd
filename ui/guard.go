package ui

import (
	"fmt"
	"runtime/debug"
	"time"

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
	burst   burst
}

// burst draws once a frame while keys come faster than that, so that the last of thousands is not late.
type burst struct {
	now   func() time.Time
	key   time.Time // when the newest key came
	waits bool      // a frame is due
}

// frameDue asks for the frame that a burst of keys waits for.
type frameDue struct{}

const frame = time.Second / framesPerSec

// keyPressed returns what asks for the frame when this key belongs to a burst that does not wait for one yet.
func (b *burst) keyPressed() tea.Cmd {
	now := b.now()
	before := b.key
	if b.key = now; b.waits || now.Sub(before) >= frame || now.Before(before) {
		return nil
	}
	b.waits = true
	return tea.Tick(frame, func(time.Time) tea.Msg { return frameDue{} })
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
	switch msg.(type) {
	case frameDue:
		g.burst.waits = false
		return g, nil
	case tea.KeyPressMsg:
		_, cmd = g.model.Update(msg)
		return g, guarded(tea.Batch(cmd, g.burst.keyPressed()))
	}
	_, cmd = g.model.Update(msg)
	return g, guarded(cmd)
}

func (g *guard) View() tea.View {
	if g.failure == nil && !g.burst.waits {
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
