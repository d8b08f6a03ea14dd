package ui

import (
	"strings"

	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/kit"
	"sandglass/views/subjects"
	"sandglass/views/theme"
)

// footer is the last line: what is being typed, a remark, or the filter in force; then keys; the place at the right.
func (m *Model) footer(w int) (line string, cursor int) {
	l := kit.NewLine(m.frame.Theme, w)
	cursor = -1
	status := m.screen().Status(&m.frame)
	if m.overlay != noOverlay && m.overlay != overEntry && m.overlay != overPalette {
		status = ""
	}
	switch {
	case m.overlay == overEntry:
		l.Put(theme.Accent, " /")
		cursor = 2 + m.entry.draw(l)
		l.Gap(3)
	case m.say != "":
		l.Put(theme.Accent, " "+m.say).Gap(3)
	case m.screen().FilterText() != "" && m.overlay == noOverlay:
		l.Put(theme.Accent, " /"+backend.Clean(m.screen().FilterText(), 60).String()).Put(theme.Dim, "  esc clears it").Gap(3)
	}
	if p := m.screen().FilterProblem(); p != "" && (m.overlay == overEntry && m.height < footerAlways || m.overlay == noOverlay) {
		l.Put(theme.Warn, p).Gap(3)
	}
	for _, b := range m.hints(l.Left() - kit.Width(status) - 2) {
		l.Gap(1).Put(theme.Strong, hintKey(b)).Gap(1).Put(theme.Dim, b.Hint).Gap(2)
	}
	if status != "" {
		l.End(theme.Dim, status+" ")
	}
	return l.String(), cursor
}

// hints chooses the keys that the footer names in room cells: the way out and the help always, then as many of the others as
// fit, in the table's order.
func (m *Model) hints(room int) []keys.Binding {
	var all, out []keys.Binding
	for _, b := range m.keymap.Of(m.context()) {
		if b.Hint != "" && m.offers(b.Intent.Action) {
			all = append(all, b)
		}
	}
	cells := func(b keys.Binding) int { return kit.Width(hintKey(b)) + kit.Width(b.Hint) + 4 }
	always := func(b keys.Binding) bool {
		return b.Intent.Action == keys.Back || b.Intent.Action == keys.Cancel || b.Intent.Action == keys.Help
	}
	for _, b := range all {
		if always(b) {
			room -= cells(b)
		}
	}
	full := false
	for _, b := range all {
		if !always(b) {
			if room -= cells(b); room < 0 {
				full = true
			}
			if full {
				continue
			}
		}
		out = append(out, b)
	}
	return out
}

func hintKey(b keys.Binding) string { return strings.ReplaceAll(b.Keys[0], "pgdown", "pgdn") }

// actable reports whether something can be done to things of a kind, or to what they are about; those are chosen one at a
// time.
func actable(k backend.Kind, a keys.Action) bool {
	return k == backend.KindWorkspace || k == backend.KindSandbox || k == backend.KindTmpdir || k == backend.KindSession ||
		a == keys.Verbs && (k == views.KindAlert || k == views.KindEvent)
}

// offers reports whether a key that works does anything here that is worth a place in the footer.
func (m *Model) offers(a keys.Action) bool {
	ordering := a == keys.Acknowledge || a == keys.Silence
	acting := a == keys.Verbs || a == keys.Mark
	switch {
	case acting && (m.viewer.Control == nil || !m.viewer.Control.CanAct()):
		return false
	case acting && m.overlay == noOverlay:
		return actable(m.screen().Cursor(&m.frame).Kind, a)
	case acting && m.overlay == overDetails:
		return actable(m.detail.here().key.Kind, a)
	case m.overlay == noOverlay && (a == keys.Enter || a == keys.Runbook):
		key := m.screen().Cursor(&m.frame)
		if a == keys.Runbook && key.Kind == views.KindAlert {
			_, written := subjects.PageOf(key, &m.frame)
			return written
		}
		return key != (backend.Key{})
	case ordering && m.overlay == noOverlay:
		return m.screen().Cursor(&m.frame).Kind == views.KindAlert
	case ordering && m.overlay == overDetails && m.detail.here().key.Kind != views.KindAlert:
		return false
	case m.overlay == overRun && m.act.run != nil:
		p := m.act.run.Snapshot()
		return a != keys.NextWave && a != keys.Cancel || a == keys.NextWave && p.CanContinue || a == keys.Cancel && !p.Over()
	case m.overlay == overPlan && a == keys.Accept:
		return m.act.plan != nil && m.act.dialog.Enter()
	case m.overlay == overSilences && (a == keys.Down || a == keys.Expire):
		return len(m.silences.list) > 0
	case m.overlay == overDetails && (a == keys.NextLink || a == keys.Enter):
		return len(m.detail.here().links) > 0
	case m.overlay == overDetails:
		reading := m.detail.here().page != nil
		return a != keys.Runbook && a != keys.NextPage || reading == (a == keys.NextPage)
	case m.overlay == overHelp:
		return a == keys.Back || a == keys.Palette || a == keys.Quit
	}
	return true
}
