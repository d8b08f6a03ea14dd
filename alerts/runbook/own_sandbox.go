package runbook

import (
	"fmt"
	"slices"
	"strings"

	"sandglass/alerts"
	"sandglass/backend"
)

// killedForMemory asks whether the subject's sandbox or process was killed for lack of memory. The alert about its sandbox
// decides; an exit code of 137 alone says only that something killed it.
func (s *subjectView) killedForMemory() Check {
	q := question{"memory", "Was it killed for lack of memory?", "the engine's OOM flag, or the text of the error"}
	if !s.wide {
		for _, b := range s.sandboxes {
			if a := s.firingOn("sandbox-oom", b.Key); a != nil {
				return q.yes(origin{a.Source, a.Confirmed}, "%s", toldOf(a, b.Key))
			}
		}
		if c := s.sandboxOOM(); c.Mark == Confirmed && len(s.sandboxes) > 0 {
			c.Name, c.Question = q.name, backend.Text(q.text)
			return c
		}
	}
	c := s.byErrors(q, alerts.NamesMemory|alerts.NamesIsolate)
	for i := range s.errors {
		e := &s.errors[i]
		if code := fmt.Sprint(exitKilled); c.Mark != RuledOut && backend.HoldsWord(e.text.String(), code) &&
			(alerts.NamesMemory|alerts.NamesIsolate).In(strings.ReplaceAll(e.text.String(), code, "")) == 0 {
			return q.unsure("%s reports exit code %d, which is a kill; its engine does not say whether memory was the reason", e.who, exitKilled)
		}
	}
	return c
}

// toldOf is what an alert says of one of its subjects.
func toldOf(a *alerts.Alert, k backend.Key) backend.Safe {
	for i := range a.Subjects {
		if x := &a.Subjects[i]; x.Key == k && !x.Detail.IsEmpty() {
			if x.Label.IsEmpty() || strings.Contains(x.Detail.String(), x.Label.String()) {
				return x.Detail
			}
			return backend.Textf("%s: %s", x.Label, x.Detail)
		}
	}
	return a.Cause
}

// sandboxTrouble asks whether the sandbox behind the subject is down or broken: that explains what its workspace reports.
func (s *subjectView) sandboxTrouble() Check {
	q := question{"sandbox", "Is its sandbox down or broken?", "a container source whose sandboxes are joined to sessions"}
	if s.wide {
		return q.unsure("this page looks at the sandboxes of one session at a time")
	}
	sound := 0
	for _, b := range s.sandboxes {
		if a := s.brokenBy(b.Key); a != nil {
			return q.yes(origin{a.Source, a.Confirmed}, "%s fires for %s: %s", backend.Clean(a.Rule, 60), b.Name, toldOf(a, b.Key))
		}
		if b.Broken() {
			return q.yes(s.from(&b.Meta), "%s is %s", b.Name, b.Reported)
		}
		if b.Class == backend.SandboxRunning {
			sound++
		}
	}
	if sound > 0 && sound == len(s.sandboxes) {
		return s.aged(q, s.sandboxes[0], q.no(s.from(&s.sandboxes[0].Meta), "%s runs", s.sandboxes[0].Name))
	}
	return q.unsure("no running sandbox of this subject is listed")
}

// brokenBy is the alert about a sandbox's own trouble, nil when there is none.
func (s *subjectView) brokenBy(k backend.Key) *alerts.Alert {
	if s.Board == nil {
		return nil
	}
	for _, a := range s.Board.Alerts {
		if (a.Runbook == "container" || a.Rule == "files-vanished") && a.State == alerts.StateFiring &&
			slices.ContainsFunc(a.Subjects, func(x alerts.Subject) bool { return x.Key == k && x.State != alerts.StateEnded }) {
			return a
		}
	}
	return nil
}
