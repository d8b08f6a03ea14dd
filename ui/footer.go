package ui

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/help"
	"charm.land/bubbles/v2/key"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/kit"
	"sandglass/views/subjects"
	"sandglass/views/theme"
)

// footer is the last line: what is being typed, a remark, or the filter in force; then keys; the place at the right.
func footer(m *Model, w int, typed prompter) (line string, cursor int) {
	l := kit.NewLine(m.frame.Theme, w)
	inTable := len(m.stack) == 0
	filter := m.screen().FilterText()
	problem, _ := m.screen().FilterProblem()
	switch {
	case typed != nil:
		cursor = typed.prompt(l)
		l.Gap(3)
	case m.say != "" && m.acting.making:
		l.Put(theme.Accent, " "+m.frame.Spin+" "+m.say).Gap(3)
	case m.say != "":
		l.Put(theme.Accent, " "+m.say).Gap(3)
	case filter != "" && inTable:
		l.Put(theme.Accent, " /"+backend.Clean(filter, 60).String()).Put(theme.Dim, "  esc clears it").Gap(3)
	}
	if problem != "" && (inTable || typed != nil && m.overTable() && m.height < footerAlways) {
		l.Put(theme.Warn, problem).Gap(3)
	}
	var statuses []string // the first is shown, or the first that leaves room for the clock
	if m.overTable() {
		for _, brief := range []bool{false, true} {
			statuses = append(statuses, m.screen().Status(&m.frame, brief))
		}
	} else {
		statuses = []string{""}
	}
	named, status, gap := ending(m, l.Left(), statuses)
	l.Gap(1).Styled(m.hints.line(m.frame.Theme, named, gap))
	if status != "" {
		l.End(theme.Dim, status+" ")
	}
	return l.String(), cursor
}

// ending chooses what stands in room cells: keys, gap cells apart, and the status, with the clock where the lines above have no
// room for it. No key leaves for the clock.
func ending(m *Model, room int, statuses []string) (named []key.Binding, status string, gap int) {
	fit := func(status string, gap int) []key.Binding {
		return hinted(m.keymap.Of(m.context()), m.offers, room-kit.Width(status)-2, gap)
	}
	named = fit(statuses[0], betweenHints)
	if !m.clockBelow || m.width < footerClock {
		return named, statuses[0], betweenHints
	}
	for _, status := range statuses {
		timed := strings.TrimSpace(status + "  " + clockOf(&m.frame))
		for gap := betweenHints; gap >= betweenHints-1; gap-- {
			if x := fit(timed, gap); len(x) == len(named) {
				return x, timed, gap
			}
		}
	}
	return named, statuses[0], betweenHints
}

// betweenHints is how many cells are between two keys of the footer, at most.
const betweenHints = 3

// footerClock is the width from which the footer has the clock where the lines above have no room for it.
const footerClock = 60

// hinted chooses the keys that the footer names in room cells, gap cells apart: the way out and the help always, then as many of the others
// as fit, in the table's order.
func hinted(bindings []keys.Binding, offers func(keys.Action) bool, room, gap int) []key.Binding {
	always := func(a keys.Action) bool { return a == keys.Back || a == keys.Cancel || a == keys.Help }
	var all []*keys.Binding
	for i := range bindings {
		b := &bindings[i]
		if b.Hint.Help().Desc == "" || !offers(b.Intent.Action) {
			continue
		}
		all = append(all, b)
		if always(b.Intent.Action) {
			room -= hintWidth(b.Hint) + gap
		}
	}
	var out []key.Binding
	full := false
	for _, b := range all {
		if !always(b.Intent.Action) {
			room -= hintWidth(b.Hint) + gap
			full = full || room < 0
			if full {
				continue
			}
		}
		out = append(out, b.Hint)
	}
	return out
}

func hintWidth(b key.Binding) int { return kit.Width(b.Help().Key) + 1 + kit.Width(b.Help().Desc) }

// hintLine draws keys with their words. It keeps the last line: rendering styles for every key press takes too long.
type hintLine struct {
	theme *theme.Theme
	shown []key.Binding
	gap   int
	text  string
	width int
}

func (h *hintLine) line(t *theme.Theme, shown []key.Binding, gap int) (text string, width int) {
	same := func(a, b key.Binding) bool { return a.Help() == b.Help() }
	if h.theme == t && h.gap == gap && slices.EqualFunc(h.shown, shown, same) {
		return h.text, h.width
	}
	view := help.New()
	view.ShortSeparator = strings.Repeat(" ", gap)
	view.Styles = help.Styles{ShortKey: t.Style(theme.Strong), ShortDesc: t.Style(theme.Dim)}
	*h = hintLine{theme: t, shown: shown, gap: gap, text: view.ShortHelpView(shown)}
	h.width = kit.Width(h.text)
	return h.text, h.width
}

// actable reports whether there are verbs for a thing, or for what it is about; what it is about is chosen one at a time.
func actable(k backend.Key, a keys.Action, f *views.Frame) bool {
	switch {
	case f.Acting.Examines && a == keys.Verbs && examinable(k):
		return true
	case !f.Acting.Can:
		return false
	case k.Kind == views.KindAlert || k.Kind == views.KindEvent:
		return a == keys.Verbs
	}
	return slices.ContainsFunc(f.Acting.Abilities, func(x actions.Ability) bool { return x.For(k) })
}

// offers reports whether a key that works does anything here that is worth a place in the footer.
func (m *Model) offers(a keys.Action) bool {
	if a == keys.Logs {
		key := m.screen().Cursor(&m.frame)
		if one, shows := m.stack.top().(subjected); shows {
			key = one.subject()
		}
		return m.viewer.Logs.worthOffering(key, &m.frame)
	}
	if o, ok := m.stack.top().(offerer); ok {
		return o.offers(a, &m.frame)
	}
	return len(m.stack) > 0 || offersOnRow(a, m.screen().Cursor(&m.frame), &m.frame)
}

// offersOnRow is the same for a table with the cursor on a key, the zero Key when it is on nothing.
func offersOnRow(a keys.Action, key backend.Key, f *views.Frame) bool {
	switch a {
	case keys.Verbs, keys.Mark:
		return actable(key, a, f)
	case keys.Enter:
		return key != (backend.Key{})
	case keys.Runbook:
		if key.Kind == views.KindAlert {
			_, written := subjects.PageOf(key, f)
			return written
		}
		return key != (backend.Key{})
	case keys.Acknowledge, keys.Silence:
		return key.Kind == views.KindAlert
	}
	return true
}
