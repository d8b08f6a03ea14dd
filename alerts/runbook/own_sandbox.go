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
	if !s.wide || s.only != nil {
		killed, first := 0, Check{}
		for _, b := range s.sandboxes {
			if a := s.killedOn(b.Key); a != nil {
				if killed++; killed == 1 {
					first = q.yes(origin{a.Source, a.Confirmed}, "%s", toldOf(a, b.Key))
				}
			}
		}
		if killed > 0 {
			return s.shareOf(first, killed)
		}
		if c := s.sandboxOOM(); c.Mark == Confirmed && len(s.sandboxes) > 0 {
			c.Name, c.Question = q.name, backend.Text(q.text)
			return s.shareOf(c, 1)
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

// shareOf says how many of the workspaces of the page's alert a trouble of sandboxes explains.
func (s *subjectView) shareOf(c Check, n int) Check {
	if s.only == nil || len(s.workspaces) < 2 {
		return c
	}
	c.Fact = backend.Textf("%d of %s, one of them: %s", n, plural(len(s.workspaces), "workspace"), c.Fact)
	return c.share(n, len(s.workspaces))
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

// detailOf is what an alert says of a sandbox, without its name or id.
func detailOf(a *alerts.Alert, b *backend.Sandbox) backend.Safe {
	for i := range a.Subjects {
		if x := &a.Subjects[i]; x.Key == b.Key && !x.Detail.IsEmpty() {
			return x.Detail
		}
	}
	return a.Cause
}

// sandboxTrouble asks whether the sandbox behind the subject is down or broken: that explains what its workspace reports.
func (s *subjectView) sandboxTrouble() Check {
	q := question{"sandbox", "Is its sandbox down or broken?", "a container source whose sandboxes are joined to sessions"}
	if s.wide && s.only == nil {
		return q.unsure("this page looks at the sandboxes of one session at a time")
	}
	sound, broken, first := 0, 0, Check{}
	for _, b := range s.sandboxes {
		a := s.brokenBy(b.Key)
		if a != nil || b.Broken() {
			if broken++; broken > 1 {
				continue
			}
			if first = q.yes(s.from(&b.Meta), "%s is %s", b.Name, b.Reported); a != nil {
				first = q.yes(origin{a.Source, a.Confirmed}, "%s fires for %s: %s", backend.Clean(a.Rule, 60), b.Name, detailOf(a, b))
			}
			continue
		}
		if b.Class == backend.SandboxRunning {
			sound++
		}
	}
	if broken > 0 {
		return s.shareOf(first, broken)
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
		if (a.Runbook == "container" || a.Rule == "contradiction" || a.Rule == "files-vanished") && a.State == alerts.StateFiring &&
			slices.ContainsFunc(a.Subjects, func(x alerts.Subject) bool { return x.Key == k && x.State != alerts.StateEnded }) {
			return a
		}
	}
	return nil
}
