package ui

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/views/keys"
	"sandglass/views/kit"
)

// start carries the plan out.
func (m *Model) start(ok actions.Confirmed) tea.Cmd {
	c := m.viewer.Control
	m.act.dialog.Busy, m.act.starting, m.act.left = true, true, false
	return func() tea.Msg {
		r, err := c.Start(context.Background(), ok) // it outlives this screen's messages; the wiring stops it at the end
		return startedMsg{r, err}
	}
}

func (m *Model) started(msg startedMsg) tea.Cmd {
	m.dirty = true
	a := &m.act
	left := a.left
	a.dialog.Busy, a.starting, a.left = false, false, false
	if msg.err != nil {
		text := backend.Clean(msg.err.Error(), 300).String()
		if m.overlay != overPlan || a.plan == nil {
			m.remark("nothing was done: " + text)
			return nil
		}
		a.dialog.Note, a.dialog.Wrong = text, true
		if refused := (*actions.RefusedError)(nil); errors.As(msg.err, &refused) {
			a.pressed = time.Time{}
			return m.makePlan(a.intent) // the plan made anew shows why, and what can be done about it
		}
		return nil
	}
	a.run, a.quitRun = msg.run, false
	switch {
	case left: // esc came after the confirmation, and means what it always means
		msg.run.Stop(backend.Text("stopped by the operator"))
	case m.overlay == overPlan:
		a.plan, a.confirming, a.pager = nil, nil, kit.Pager{}
		m.overlay = overRun
	}
	return m.follow(msg.run)
}

// follow waits for the next change of a run.
func (m *Model) follow(r *actions.Run) tea.Cmd {
	changed, stop := r.Subscribe()
	done := m.done
	return func() tea.Msg {
		defer stop()
		select {
		case <-changed:
		case <-r.Done():
		case <-done:
			return nil
		}
		return runMsg{r}
	}
}

func (m *Model) ran(msg runMsg) tea.Cmd {
	m.dirty = true
	if msg.run.Over() {
		p := msg.run.Snapshot()
		if m.overlay != overRun {
			m.remark(string(p.Plan.Verb) + ": " + p.Summary().String() + "; v shows it")
		}
		return nil
	}
	return m.follow(msg.run)
}

// inRun handles a key while a run is shown.
func (m *Model) inRun(in keys.Intent) {
	r := m.act.run
	p := r.Snapshot()
	switch in.Action {
	case keys.Cancel:
		if p.Over() {
			m.overlay = m.under
			return
		}
		r.Stop(backend.Text("stopped by the operator"))
	case keys.ShowRun:
		m.overlay = m.under
	case keys.NextWave:
		if p.CanContinue {
			r.Continue()
		}
	default:
		scroll(&m.act.pager, in)
	}
}

// showRun shows the run that goes on, or the last one.
func (m *Model) showRun() {
	if m.act.run == nil && m.viewer.Control != nil {
		m.act.run = m.viewer.Control.Current()
	}
	if m.act.run == nil {
		m.remark("no plan was carried out yet")
		return
	}
	if m.overlay != overRun {
		m.under = m.overlay
	}
	m.overlay, m.act.pager = overRun, kit.Pager{}
}

// mayQuit reports whether the program may end now: a plan under way is stopped first, and asked about once.
func (m *Model) mayQuit() bool {
	r := m.act.run
	if r == nil || r.Over() {
		return true
	}
	if m.act.quitRun {
		r.Stop(backend.Text("the operator left"))
		return true
	}
	m.act.quitRun = true
	m.remark("a plan is being carried out: the same key again stops it before its next target, and quits")
	return false
}
