package plan

import (
	"sandglass/actions"
	"sandglass/backend"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// Verb is one line of the list of verbs.
type Verb struct {
	actions.Ability
	Key string // that does it without the list; empty: none
}

// Verbs draws the list of what can be done to a subject, in at most w×h cells. What cannot be done says why.
func Verbs(subject backend.Safe, vs []Verb, at, w, h int, t *theme.Theme) kit.Block {
	w = min(w, width)
	inner := w - 4
	name := 6
	for _, v := range vs {
		name = max(name, kit.Width(string(v.Spec.Verb)))
	}
	var lines []string
	first, end := 0, 0
	for i, v := range vs {
		if i == at {
			first = len(lines)
		}
		denied := !v.Denied.IsEmpty()
		tone, text := theme.Normal, backend.Clean(v.Spec.Effect, 300).String()
		if denied {
			tone, text = theme.Dim, "not available: "+v.Denied.String()
		}
		for j, part := range kit.Wrap(text, max(inner-name-8, 10)) {
			l := kit.NewLine(t, inner)
			if i == at {
				l.OnCursor()
			}
			switch {
			case j > 0:
				l.Gap(name + 8)
			case i == at:
				l.Put(theme.Accent, "› ").Cell(theme.Strong, v.Key, 2, false).Gap(2).Cell(tone, string(v.Spec.Verb), name, false).Gap(2)
			default:
				l.Gap(2).Cell(theme.Strong, v.Key, 2, false).Gap(2).Cell(tone, string(v.Spec.Verb), name, false).Gap(2)
			}
			lines = append(lines, l.Put(tone, part).String())
		}
		if i == at {
			end = len(lines)
		}
	}
	if len(vs) == 0 {
		lines = append(lines, kit.NewLine(t, inner).Put(theme.Dim, "Sandglass can do nothing to this").String())
	}
	foot := []string{kit.Rule(t, inner)}
	for _, part := range kit.Wrap("enter plans it; nothing is done before you confirm the plan", inner) {
		foot = append(foot, kit.NewLine(t, inner).Put(theme.Dim, part).String())
	}
	room := max(h-2-len(foot), 1)
	top := 0
	if end > room {
		top = min(first, end-room)
	}
	if below := len(lines) - top - room; below > 0 {
		foot[0] = kit.RuleWith(t, inner, theme.Strong, "more ↓")
	}
	lines = append(lines[top:min(top+room, len(lines))], foot...)
	return kit.Frame(t, w, "what can be done to "+kit.Cut(subject.String(), inner-24), lines)
}
