package runbook

import (
	"sandglass/alerts"
	"sandglass/backend"
)

// ofAll rules a cause out on a page about several sandboxes only where it is disproved of each: what one of them shows tells nothing of
// the others.
func (s *subjectView) ofAll(ask func(*subjectView) Check) Check {
	c := ask(s)
	if c.Mark != RuledOut {
		return c
	}
	open := func(l backend.Literal, args ...any) Check {
		q := question{name: c.Name, needs: "the same question about one of them, by its id"}
		x := q.unsure(l, args...)
		x.Question = c.Question
		return x
	}
	for _, b := range s.sandboxes {
		if len(s.sandboxes) < 2 {
			break
		}
		one := *s
		one.sandboxes = []*backend.Sandbox{b}
		if x := ask(&one); x.Mark != RuledOut {
			return open("%s; that tells nothing of %s", c.Fact, called(b))
		}
	}
	if n := s.unseen(); n > 0 {
		return open("%s; that tells nothing of %s that the alert counts", c.Fact, backend.Counted(n, "other sandbox", "other sandboxes"))
	}
	return c
}

// unseen counts the sandboxes of the page's alert that the page does not look at.
func (s *subjectView) unseen() int {
	if s.alert == nil || !s.wide || len(s.alert.Subjects) == 0 || s.alert.Subjects[0].Key.Kind != backend.KindSandbox {
		return 0
	}
	return max(0, s.alert.SubjectCount+s.alert.Pending-len(s.sandboxes))
}

// groupOf answers whether many show it at once where the page starts from an alert about several: the group's own size counts. false:
// it starts from no such alert.
func (s *subjectView) groupOf(q question) (Check, bool) {
	a := s.alert
	if a == nil && len(s.led) > 0 {
		a = s.led[0]
	}
	if a == nil || a.SubjectCount < 2 || len(a.Subjects) == 0 {
		return Check{}, false
	}
	spec, from := a.Subjects[0].Key.Kind.Spec(), origin{a.Source, a.Confirmed}
	all := backend.Counted(a.SubjectCount, spec.Name, spec.Plural)
	switch {
	case a.State == alerts.StatePending:
		return q.unsure("%s in its alert, and not decided yet", all), true
	case a.SubjectCount == 2:
		return q.no(from, "%s in its alert; two are not many", all), true
	}
	return q.yes(from, "%s in its alert%s", all, s.othersWell()), true
}

// ofMembers are the alerts of the same rule about single sandboxes for which an alert stands, in its order.
func (s *subjectView) ofMembers(of *alerts.Alert) (out []*alerts.Alert) {
	if s.Board == nil || of.SubjectCount < 2 {
		return nil
	}
	about := map[backend.Key]*alerts.Alert{}
	for _, a := range s.Board.Alerts {
		if a.Rule == of.Rule && a.SubjectCount == 1 && len(a.Subjects) == 1 && certainty(a.State) > 0 {
			about[a.Subjects[0].Key] = a
		}
	}
	for i := range of.Subjects {
		if a := about[of.Subjects[i].Key]; a != nil {
			out = append(out, a)
		}
	}
	return out
}

// members are the sandboxes for which the page's alert stands.
func (s *subjectView) members() (out []*backend.Sandbox) {
	for _, a := range s.led {
		if a.Rule != "contradiction" || a.SubjectCount < 2 {
			continue
		}
		for i := range a.Subjects {
			if b := s.sandboxOf(a.Subjects[i].Key); b != nil {
				out = append(out, b)
			}
		}
	}
	return out
}
