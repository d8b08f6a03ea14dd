package runbook

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// saysFails is the alert that rests on an agent's log alone, which says that commands fail; nil: there is none.
func (s *subjectView) saysFails() *alerts.Alert {
	for _, a := range s.led {
		if a.Rule == "contradiction" && alerts.AgentFails(a.Cause.String()) {
			return a
		}
	}
	return nil
}

// failsSaid is when the first line of such a log was written; zero: none says so.
func (s *subjectView) failsSaid() time.Time {
	if a := s.saysFails(); a != nil {
		return a.Bounds.Latest
	}
	return time.Time{}
}

// endFailsSaid concludes about commands of which only that is known.
func (s *subjectView) endFailsSaid(d *Diagnosis, name backend.Safe) {
	a := s.saysFails()
	d.conclude("Its agent's log says that commands in it fail. Nothing else shows it yet.")
	for _, x := range a.Subjects[:min(len(a.Subjects), 1)] {
		d.conclude("Its agent's log says that commands in it fail. Nothing else shows it yet. It is told %s.", backend.Clean(alerts.FailsSaid(x.Detail.String()), 400))
	}
	d.dont("Don't destroy it before that is known: its files may be in it.")
	d.do("Probe it: sandglass probe %s. It runs one command, and wakes the sandbox.", name)
	d.do("Does the probe's command run? Then read which commands fail, and why: sandglass why %s", name)
	d.do("Does it fail too? Save its files: sandglass rescue %s. It only reads.", name)
}
