package plan

import (
	"strings"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/views/kit"
	"sandglass/views/subjects"
	"sandglass/views/theme"
)

// step is one line about a step of an effect, or about a plane that it observed.
type step struct {
	name   string
	result backend.Outcome // steps have the words of outcomes
	word   string          // beside the name where it is not ok; empty: the result
	took   string
	said   string
	beside string // what is known of the suspect sandbox
}

// steps are the lines below a target: what its effect tried, step by step or plane by plane.
func (v *Progress) steps(l *actions.Line, w int, t *theme.Theme) []string {
	var all []step
	for i, x := range l.Done.Steps {
		if next := i + 1; x.Result == actions.StepStarting && next < len(l.Done.Steps) && l.Done.Steps[next].Name == x.Name {
			continue // how that wait ended is in the next line
		}
		s := step{name: x.Name.String(), result: backend.Outcome(x.Result), said: x.Said.String()}
		switch {
		case x.Result == actions.StepNotTried && x.Said.IsEmpty() && (v.Suspect == nil || x.Plane == ""):
			if n := len(all); n > 0 && all[n-1].name == notTried { // one line for all that follow
				all[n-1].said += ", " + s.name
			} else {
				all = append(all, step{name: notTried, result: backend.OutcomeNotTried, said: s.name})
			}
			continue
		case x.Result == actions.StepNotTried:
			s.result = backend.OutcomeNotTried
		case x.Took > 0:
			s.took = kit.Latency(x.Took)
		}
		if s.said != "" && strings.HasSuffix(l.Text.String(), s.said) {
			s.said = "" // the line above says it
		}
		if v.Suspect != nil && x.Plane != "" {
			s.beside = actions.Beside(v.Suspect.Observed.Or(backend.Observation{}), v.Suspect.Reported, x.Plane, v.Now).String()
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		all = observed(l)
	}
	name, took := 0, 0
	for i := range all {
		name, took = max(name, kit.Width(all[i].name)), max(took, kit.Width(all[i].took))
	}
	var out []string
	if v.Suspect != nil && len(all) > 0 {
		out = append(out, kit.NewLine(t, w).Gap(4).Cell(theme.Dim, "STEP", name+2, false).Gap(2).Cell(theme.Dim, "TOOK", max(took, 4), true).Gap(2).
			Put(theme.Dim, strings.ToUpper(v.Suspect.Name.String())).String())
	}
	for i := range all {
		out = append(out, all[i].draw(name, took, v.Suspect != nil, w, t)...)
	}
	return out
}

// notTried is the name of the line about what was not tried.
const notTried = "not tried"

// observed are the planes of a probe, those not tried in one line.
func observed(l *actions.Line) []step {
	var all []step
	o := backend.Observation{Verdicts: l.Done.Observed}
	for _, x := range o.Verdicts {
		if !x.Tried() {
			continue
		}
		s := step{name: x.Plane.String(), result: x.Outcome, word: x.Word().String(), took: kit.Latency(x.Took), said: x.What.String()}
		if x.What == l.Text {
			s.said = ""
		}
		all = append(all, s)
	}
	if rest := o.NotTried(); len(all) > 0 && len(rest) > 0 {
		all = append(all, step{name: notTried, result: backend.OutcomeNotTried, said: backend.PlaneNames(rest).String()})
	}
	return all
}

// draw draws a step: beside a suspect in columns, else with what was said of it.
func (s *step) draw(name, took int, compared bool, w int, t *theme.Theme) []string {
	tone, mark := subjects.OutcomeLook(s.result)
	if s.result == backend.OutcomeNotTried {
		mark = theme.MarkIdle
	}
	line := kit.NewLine(t, w).Gap(4).Put(tone, t.Mark(mark)).Gap(1).Cell(theme.Dim, s.name, name, false).Gap(2)
	var said []string
	if s.result != backend.OutcomeOK && s.name != notTried {
		said = append(said, s.word)
		if s.word == "" {
			said[0] = strings.ReplaceAll(string(s.result), "-", " ")
		}
	}
	if s.said != "" && (!compared || s.result != backend.OutcomeOK) {
		said = append(said, s.said)
	}
	text := strings.Join(said, ": ")
	if compared {
		took = max(took, 4)
	}
	if took > 0 {
		line.Cell(theme.Dim, s.took, took, true).Gap(2)
	}
	if compared {
		if text == "" || s.beside != "" {
			out := []string{line.Put(theme.Dim, s.beside).String()}
			for _, part := range kit.Wrap(text, max(w-8, 10)) {
				if text != "" {
					out = append(out, kit.NewLine(t, w).Gap(8).Put(tone, part).String())
				}
			}
			return out
		}
	}
	indent := w - line.Left()
	var out []string
	for i, part := range kit.Wrap(text, max(line.Left(), 10)) {
		if i > 0 {
			line = kit.NewLine(t, w).Gap(indent)
		}
		out = append(out, line.Put(theme.Dim, part).String())
	}
	if len(out) == 0 {
		return []string{line.String()}
	}
	return out
}
