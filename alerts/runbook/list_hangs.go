package runbook

import (
	"strings"

	"sandglass/backend"
)

// listHangs adds to commands that run that the list of processes of the same server was not answered: what needs that list fails.
func (s *subjectView) listHangs(c Check) Check {
	if c.Mark != RuledOut {
		return c
	}
	for _, b := range s.sandboxes {
		o, _ := b.Proved()
		if v, tried := o.Of(backend.PlaneExec); tried && v.Outcome == backend.OutcomeOK && strings.Contains(v.What.String(), backend.ListHangs) {
			c.Fact = backend.Textf("%s, but in %s %s: it cannot be told what runs there", c.Fact, called(b), backend.Text(backend.ListHangs))
			break
		}
	}
	return c
}
