package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"sandglass/actions"
	"sandglass/views/keys"
)

// context is where keys go.
func (m *Model) context() keys.Context {
	switch m.overlay {
	case overDetails, overHelp:
		return keys.Details
	case overPalette:
		return keys.Menu
	case overEntry:
		return keys.Entry
	case overForm:
		return keys.Form
	case overSilences:
		return keys.Muted
	case overPlan:
		return keys.Plan
	case overRun:
		return keys.Running
	case overVerbs:
		return keys.Doable
	case noOverlay:
	}
	return keys.List
}

func (m *Model) press(msg tea.KeyPressMsg) tea.Cmd {
	in, bound := m.keymap.Lookup(m.context(), msg.String())
	switch {
	case bound:
		return m.do(in)
	case m.overlay == overEntry:
		return m.typed(msg)
	case m.overlay == overPalette:
		return m.palette.update(msg, m.keymap)
	case m.overlay == overForm:
		return m.typedInForm(msg)
	case m.overlay == overPlan:
		return m.typedInPlan(msg)
	}
	return nil
}

// do carries an intent out: those of the program here, those of the screen there.
func (m *Model) do(in keys.Intent) tea.Cmd {
	switch in.Action {
	case keys.Quit:
		if m.mayQuit() {
			return tea.Quit
		}
		return nil
	case keys.Suspend:
		if m.viewer.CanSuspend {
			return tea.Suspend
		}
		m.remark("there is no shell to go back to: q quits")
		return nil
	case keys.Redraw:
		return tea.ClearScreen
	case keys.Help:
		m.toggleHelp()
		return nil
	case keys.Palette:
		m.overlay = overPalette
		return m.palette.open(m.keymap)
	case keys.Screen:
		m.say = "" // it was about what was shown
		m.open(in.N)
		return m.goOn()
	case keys.Arm:
		return m.openArming(in.Text, nil)
	case keys.Disarm:
		return m.disarm()
	}
	if in.Action == keys.ShowRun && m.overlay != overRun {
		m.showRun()
		return nil
	}
	if m.overlay == noOverlay || m.overlay == overDetails {
		switch in.Action {
		case keys.Act:
			return m.intend(actions.Verb(in.Text), keys.OfVerb(in.Text))
		case keys.Verbs:
			subjects, _, label := m.chosen()
			m.act.label = label
			return m.showVerbs(subjects, "")
		case keys.Bundle:
			return m.bundle()
		case keys.Acknowledge, keys.Unacknowledge, keys.Silence:
			return m.give(in)
		case keys.SilenceList:
			m.openSilences()
			return nil
		}
	}
	switch m.overlay {
	case overForm:
		return m.inForm(in)
	case overSilences:
		return m.inSilences(in)
	case overDetails:
		return m.outcome(m.detail.update(in, &m.frame, &m.overlay))
	case overHelp:
		m.help.update(in, &m.overlay)
		return nil
	case overPlan:
		return m.inPlan(in)
	case overRun:
		m.inRun(in)
		return nil
	case overVerbs:
		return m.inVerbs(in)
	case overPalette:
		if text, arms := strings.CutPrefix(strings.TrimSpace(m.palette.entry.value()), "arm "); arms && in.Action == keys.Accept {
			m.overlay = noOverlay
			return m.openArming(text, nil)
		}
		chosen, ok := m.palette.act(in)
		if in.Action == keys.Cancel || in.Action == keys.Accept {
			m.overlay = noOverlay
		}
		if ok {
			return m.do(chosen)
		}
		return nil
	case overEntry:
		if in.Action == keys.Complete {
			return m.complete()
		}
		m.endEntry(in)
		return m.goOn()
	case noOverlay:
	}
	if in.Action == keys.Back {
		m.unfinished = nil // seen
		if m.act.reading {
			m.dropPlan()
			m.remark("the plan was dropped")
			return nil
		}
	}
	switch in.Action {
	case keys.Filter:
		m.overlay = overEntry
		return m.entry.open(m.screen().FilterText())
	case keys.Runbook:
		return m.runbook()
	}
	return tea.Batch(m.outcome(m.screen().Update(in, &m.frame)), m.goOn())
}
