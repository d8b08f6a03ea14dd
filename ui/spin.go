package ui

import (
	"time"

	"charm.land/bubbles/v2/spinner"
	tea "charm.land/bubbletea/v2"

	"sandglass/views/theme"
)

// spin turns while the viewer waits for an answer. At other times it sends nothing.
type spin struct {
	model   spinner.Model
	turning bool
}

// turnEvery is slow enough for a slow line: a turn is some 30 bytes.
const turnEvery = 200 * time.Millisecond

func newSpin(g theme.Glyphs) spin {
	frames := spinner.MiniDot.Frames
	if g == theme.ASCII {
		frames = spinner.Line.Frames
	}
	return spin{model: spinner.New(spinner.WithSpinner(spinner.Spinner{Frames: frames, FPS: turnEvery}))}
}

// start turns it when something is awaited.
func (s *spin) start(awaited bool) tea.Cmd {
	if !awaited || s.turning {
		return nil
	}
	s.turning = true
	return s.model.Tick
}

// turn shows the next sign, or stops.
func (s *spin) turn(msg spinner.TickMsg, awaited bool) (cmd tea.Cmd) {
	if s.turning = awaited; awaited {
		s.model, cmd = s.model.Update(msg)
	}
	return cmd
}

// waiter is an overlay that may wait for an answer.
type waiter interface{ waits() bool }

// awaits reports whether the viewer waits for an answer.
func (m *Model) awaits() bool {
	w, ok := m.stack.top().(waiter)
	return m.acting.making || ok && w.waits()
}
