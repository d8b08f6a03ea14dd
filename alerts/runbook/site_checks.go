package runbook

import (
	"slices"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/internal/stable"
)

// siteAnswer is what a check of the site's own ([[check]]) says about one question: r2.reachable about "storage".
type siteAnswer struct {
	question string // name of the check of ours that it answers
	cause    bool   // the cause that the question asks for is there
	fact     backend.Fact
	source   string
	old      bool // the check has not answered lately: it says nothing about now
}

// wellKnown are the facts whose meaning needs no configuration: the question that each of them rules out.
func wellKnown(fact string) []string {
	switch fact {
	case "r2.reachable", "storage.reachable":
		return []string{"storage"}
	}
	return nil
}

// siteAnswers are the answers that the site's own checks give about the subject, those that find a cause first.
func (s *subjectView) siteAnswers() []siteAnswer {
	var out []siteAnswer
	for _, h := range s.State.Sources {
		if len(h.Facts) == 0 || !s.speaksHere(h.Key.Source) {
			continue
		}
		old := h.Status == fleet.StatusDown || h.Overdue(s.State.Wall)
		for _, f := range h.Facts {
			rulesOut := f.RulesOut
			if len(rulesOut)+len(f.Confirms) == 0 {
				rulesOut = wellKnown(f.Name)
			}
			for _, q := range rulesOut {
				out = append(out, siteAnswer{q, !f.Holds, f, h.Key.Source, old})
			}
			for _, q := range f.Confirms {
				out = append(out, siteAnswer{q, f.Holds, f, h.Key.Source, old})
			}
		}
	}
	stable.Sort(out, func(a, b siteAnswer) int { return weight(b) - weight(a) })
	return out
}

func weight(f siteAnswer) int {
	switch {
	case f.old:
		return 0
	case f.cause:
		return 2
	}
	return 1
}

// text says what the check found out.
func (f siteAnswer) text() backend.Safe {
	word := "false"
	if f.fact.Holds {
		word = "true"
	}
	return backend.Textf("%s is %s: %s", backend.Clean(f.fact.Name, 60), word, f.fact.Text)
}

// answers completes checks before anything is concluded from them.
func (s *subjectView) answers(checks ...Check) []Check {
	return s.startFrom(s.withSiteChecks(s.fresh(checks)))
}

// withSiteChecks lets the site's own checks answer. One that finds the cause outweighs readings that do not show it, because
// it looked where they do not; one that does not find it proves nothing against a reading that does. Where a check does
// not answer any more its last word stands beside the question, and answers nothing.
func (s *subjectView) withSiteChecks(checks []Check) []Check {
	facts := s.siteAnswers()
	for i := range checks {
		for _, f := range facts {
			if f.question == checks[i].Name {
				s.applySiteAnswer(&checks[i], f)
			}
		}
	}
	return checks
}

func (s *subjectView) applySiteAnswer(c *Check, f siteAnswer) {
	switch {
	case f.old:
		c.Fact = beside(c.Fact, backend.Textf("%s does not answer now; %s before it said: %s", backend.Clean(f.source, 80),
			backend.Clean(backend.Age(s.now.Sub(f.fact.At)), 20), f.text()))
	case c.Mark == CannotTell, c.Mark == RuledOut && f.cause:
		rest := backend.Safe{}
		if c.Mark == RuledOut {
			rest = c.Fact
		}
		c.Mark, c.Fact, c.WouldTell = RuledOut, beside(f.text(), rest), backend.Safe{}
		if f.cause {
			c.Mark = Confirmed
		}
		c.Source, c.At = f.source, f.fact.At
	case (c.Mark == Confirmed) != f.cause && c.Source != f.source:
		c.Fact = beside(c.Fact, backend.Textf("but %s says: %s", backend.Clean(f.source, 80), f.text()))
	}
}

// beside joins two statements, either of which may be empty. What the first holds is not said again.
func beside(a, b backend.Safe) backend.Safe {
	switch {
	case a.IsEmpty():
		return b
	case b.IsEmpty(), strings.Contains(a.String(), b.String()):
		return a
	}
	return backend.Textf("%s; %s", a, b)
}

// Questions are the names of the questions that diagnoses ask, sorted: what a site's own check can answer.
func Questions() []string {
	var names []string
	empty := &fleet.State{Wall: time.Unix(0, 0)}
	for _, p := range All() {
		d := Diagnose(p.Number, empty, nil, backend.Key{})
		for i := range d.Checks {
			names = append(names, d.Checks[i].Name)
		}
	}
	stable.Sort(names, strings.Compare)
	return slices.Compact(names)
}
