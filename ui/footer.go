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
func (m *Model) footer(w int, typed prompter) (line string, cursor int) {
	l := kit.NewLine(m.frame.Theme, w)
	inTable := len(m.stack) == 0
	filter, problem := m.screen().FilterText(), m.screen().FilterProblem()
	switch {
	case typed != nil:
		cursor = typed.prompt(l)
		l.Gap(3)
	case m.say != "":
		l.Put(theme.Accent, " "+m.say).Gap(3)
	case filter != "" && inTable:
		l.Put(theme.Accent, " /"+backend.Clean(filter, 60).String()).Put(theme.Dim, "  esc clears it").Gap(3)
	}
	if problem != "" && (inTable || typed != nil && m.height < footerAlways) {
		l.Put(theme.Warn, problem).Gap(3)
	}
	status := ""
	if m.overTable() {
		status = m.screen().Status(&m.frame)
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
	if o, ok := m.stack.top().(offerer); ok {
		return o.offers(a, &m.frame)
	}
	if len(m.stack) > 0 {
		return true
	}
	key := m.screen().Cursor(&m.frame)
	switch a {
	case keys.Verbs, keys.Mark:
		return m.frame.Acting.Can && actable(key.Kind, a)
	case keys.Enter:
		return key != (backend.Key{})
	case keys.Runbook:
		if key.Kind == views.KindAlert {
			_, written := subjects.PageOf(key, &m.frame)
			return written
		}
		return key != (backend.Key{})
	case keys.Acknowledge, keys.Silence:
		return key.Kind == views.KindAlert
	}
	return true
}
