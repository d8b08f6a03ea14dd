package plan

import (
	"sandglass/actions"
	"sandglass/backend"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// Verb is one line of the list of verbs: one that can be planned, or those that are refused for one reason.
type Verb struct {
	actions.Ability
	Key     string       // that does it without the list; empty: none
	NotNow  backend.Safe // why the diagnosis advises against it
	Unfit   backend.Safe // why no target would accept it
	Refused *actions.Refused
	Reads   bool // it only reads, without a plan
}

// line says what a verb does, or why it is refused or unsafe now.
func (v *Verb) line() (name, text string, tone theme.Tone) {
	switch {
	case v.Refused != nil:
		return v.Refused.Names(), "not now: " + v.Refused.Why.String(), theme.Dim
	case !v.Unfit.IsEmpty():
		return string(v.Spec.Verb), "not now: " + v.Unfit.String(), theme.Dim
	case !v.NotNow.IsEmpty():
		return string(v.Spec.Verb), "not now: " + v.NotNow.String(), theme.Warn
	}
	return string(v.Spec.Verb), backend.Clean(v.Spec.Effect, 300).String(), theme.Normal
}

// Verbs draws the list of what can be done to a subject, in at most w×h cells. What cannot be done says why.
func Verbs(subject backend.Safe, vs []Verb, at, w, h int, t *theme.Theme) kit.Block {
	w = min(w, width)
	inner := w - 4
	name, plans, foots := 6, false, "enter makes a plan; nothing is done before you confirm it"
	for i := range vs {
		if vs[i].Reads {
			foots = "enter makes a plan for you to confirm; " + string(vs[i].Spec.Verb) + " runs at once"
		}
		if r := vs[i].Refused; r == nil || len(r.Verbs) == 1 {
			verb, _, _ := vs[i].line()
			name, plans = max(name, kit.Width(verb)), plans || r == nil && vs[i].Unfit.IsEmpty() && !vs[i].Reads
		}
	}
	var lines []string
	first, end := 0, 0
	for i := range vs {
		if i == at {
			first = len(lines)
		}
		lines = append(lines, vs[i].draw(i == at, name, inner, t)...)
		if i == at {
			end = len(lines)
		}
	}
	foot := []string{kit.Rule(t, inner)}
	put := func(to *[]string, text string) {
		for _, part := range kit.Wrap(text, inner) {
			*to = append(*to, kit.NewLine(t, inner).Put(theme.Dim, part).String())
		}
	}
	switch {
	case plans:
		put(&foot, foots)
	default:
		foot = nil
	}
	room := max(h-2-len(foot), 1)
	top := 0
	if end > room {
		top = min(first, end-room)
	}
	if below := len(lines) - top - room; below > 0 && len(foot) > 0 {
		foot[0] = kit.RuleWith(t, inner, theme.Strong, "more ↓")
	}
	lines = append(lines[top:min(top+room, len(lines))], foot...)
	return kit.Frame(t, w, "what can be done to "+kit.Cut(subject.String(), inner-24), lines)
}

// draw draws one line of the list, wrapped; name is the width of the column of verbs.
func (v *Verb) draw(onCursor bool, name, w int, t *theme.Theme) (lines []string) {
	verb, text, tone := v.line()
	indent := name + 8
	if v.Refused != nil && kit.Width(verb) > name {
		text, verb, indent = verb+"  "+text, "", 6
	}
	for j, part := range kit.Wrap(text, max(w-indent, 10)) {
		l := kit.NewLine(t, w)
		if onCursor {
			l.OnCursor()
		}
		switch {
		case j > 0:
			l.Gap(indent)
		case onCursor:
			l.Put(theme.Accent, "› ").Cell(theme.Strong, v.Key, 2, false)
		default:
			l.Gap(2).Cell(theme.Strong, v.Key, 2, false)
		}
		if j == 0 && verb != "" {
			l.Gap(2).Cell(tone, verb, name, false)
		}
		lines = append(lines, l.PadTo(indent).Put(tone, part).String())
	}
	return lines
}
