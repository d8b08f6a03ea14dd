package runbook

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// manyAtOnce asks whether other sandboxes show the same: then the cause is not in this one.
func (s *subjectView) manyAtOnce() Check {
	q := question{"many", "Do many sandboxes show it at once?", "the alerts about the others"}
	if s.Board == nil {
		return q.unsure("no rule was evaluated")
	}
	for _, a := range s.led {
		if a.SubjectCount > 1 && a.Rule == "contradiction" { // of another rule they have no more in common than its name
			return q.yes(origin{a.Source, a.Confirmed}, "%s of %s at once%s", plural(a.SubjectCount, "sandbox"), backend.Clean(a.Source, 80), s.othersWell())
		}
	}
	if c, is := s.lineOfMany(q); is {
		return c
	}
	if c, is := s.groupOf(q); is {
		return c
	}
	same, undecided := s.alike(alerts.StateFiring, s.sameSign), len(s.alike(alerts.StatePending, s.sameSign))
	switch n := len(same); {
	case n == 0 && (len(s.led) == 0 || s.led[0].State != alerts.StateFiring):
		return q.unsure("no alert about it fires")
	case n == 0 && undecided > 0:
		return q.unsure("%s, and not decided yet", backend.Counted(undecided, "other alert tells the same", "other alerts tell the same"))
	case n == 1 && undecided > 0:
		return q.unsure("1 other sandbox shows the same: %s. %s, and not decided yet", s.nameOf(same[0]), backend.Counted(undecided, "more alert tells it", "more alerts tell it"))
	case n == 0:
		return q.no(origin{s.led[0].Source, s.led[0].Confirmed}, "no other alert tells the same")
	case n == 1:
		return q.no(origin{same[0].Source, same[0].Confirmed}, "1 other sandbox shows the same: %s; two are not many", s.nameOf(same[0]))
	case n == 2:
		return q.yes(origin{same[0].Source, same[0].Confirmed}, "2 other sandboxes show the same: %s, %s%s", s.nameOf(same[0]), s.nameOf(same[1]), s.othersWell())
	default:
		return q.yes(origin{same[0].Source, same[0].Confirmed}, "%d other sandboxes show the same%s", n, s.othersWell())
	}
}

// alike are the alerts in a state about one other sandbox each that tell the same as the page's first one.
func (s *subjectView) alike(in alerts.AlertState, same func(*alerts.Alert) bool) []*alerts.Alert {
	if s.Board == nil {
		return nil
	}
	own := map[backend.Key]bool{s.Subject: true}
	for _, a := range s.led {
		for i := range a.Subjects {
			own[a.Subjects[i].Key] = true
		}
	}
	var found []*alerts.Alert
	for _, a := range s.Board.Alerts {
		if a.Rule == "contradiction" && a.State == in && a.SubjectCount == 1 && len(a.Subjects) == 1 && !own[a.Subjects[0].Key] && same(a) {
			found = append(found, a)
		}
	}
	return found
}

// othersWell says how many others of the region or source were observed well the way in which the page's sandbox fails: then that is
// not what it has in common with those that fail. Empty: none was.
func (s *subjectView) othersWell() backend.Safe {
	n, of := s.besides()
	if n == 0 {
		return backend.Safe{}
	}
	return backend.Textf("; %s not, observed the same way", backend.Counted(n, fmt.Sprintf("other of %s does", of), fmt.Sprintf("others of %s do", of)))
}

// besides counts them, and names the region or source.
func (s *subjectView) besides() (n int, of backend.Safe) {
	for _, b := range s.sandboxes {
		o, _ := b.Proved()
		failed := o.Failed()
		if len(failed) == 0 {
			continue
		}
		q := alerts.Beside{Source: b.Key.Source}
		of = backend.Clean(b.Key.Source, 80)
		if !b.OfWorker() && !b.Region.IsEmpty() {
			q.Region, of = b.Region, backend.Textf("region %s", b.Region)
		}
		for i := range failed {
			v := &failed[i]
			q.Planes = append(q.Planes, v.Plane)
			if from := v.First().Add(-alerts.BesideBefore); q.From.IsZero() || from.Before(q.From) {
				q.From = from
			}
		}
		return q.Well(s.State, func(k backend.Key) bool { return k == b.Key }), of
	}
	return 0, of
}

// ofItself reports whether the page's sandbox lacks a directory or room of its own, while others of its source have theirs: it is repaired
// by itself.
func (s *subjectView) ofItself() bool {
	n, _ := s.besides()
	return n > 0 && slices.ContainsFunc(s.sandboxes, func(b *backend.Sandbox) bool {
		o, _ := b.Proved()
		return slices.ContainsFunc(o.Failed(), func(v backend.Verdict) bool { return alerts.OfItself(v.Kind) })
	})
}

// nameOf is the name of the only sandbox of an alert.
func (s *subjectView) nameOf(a *alerts.Alert) backend.Safe {
	if b := s.State.Sandbox(a.Subjects[0].Key); b != nil && !b.Name.IsEmpty() {
		return b.Name
	}
	return a.Subjects[0].Label
}

// nearly is how far the onsets of two faults lie apart at most that may have one cause.
const nearly = 15 * time.Minute

// removedTogether is the step before a repair where other sandboxes of the engine lost the same at nearly the same time: what
// removes it may undo each repair. Empty otherwise.
func (s *subjectView) removedTogether() backend.Safe {
	if n := s.together(); n > 1 {
		return backend.Textf("%d sandboxes lost it: find what removes it, such as a cleanup job, a mount or the last change. Then repair each. ", n)
	}
	return backend.Safe{}
}

// waitTogether is the step before the others where several sandboxes of the engine began to wait at nearly the same time.
func (s *subjectView) waitTogether() backend.Safe {
	if n := s.together(); n > 1 {
		return backend.Textf("%d sandboxes wait: look at disks and mounts of the host of %s. ", n, backend.Clean(s.led[0].Source, 80))
	}
	return backend.Safe{}
}

// together counts the sandbox and those of its engine that failed alike at nearly the same time.
func (s *subjectView) together() int {
	n := 1
	for _, a := range s.alike(alerts.StateFiring, s.sameFault) {
		x, y := a.Bounds, s.led[0].Bounds
		if !x.Latest.IsZero() && !y.Latest.IsZero() && x.Earliest.Sub(y.Latest) <= nearly && y.Earliest.Sub(x.Latest) <= nearly {
			n++
		}
	}
	return n
}

// partOfMany reports whether the page is about a part of an incident that has a line of its own.
func (s *subjectView) partOfMany() bool {
	if s.Board == nil || s.ofItself() {
		return false
	}
	for _, a := range s.led {
		if a.InhibitedBy == "" || a.Rule != "contradiction" {
			continue
		}
		if i := slices.IndexFunc(s.Board.Alerts, func(x *alerts.Alert) bool { return x.ID == a.InhibitedBy }); i >= 0 {
			if x := s.Board.Alerts[i]; x.Rule == "contradiction" && x.SubjectCount > 1 {
				return true
			}
		}
	}
	return false
}

// sameFault reports whether an alert tells the same as the page's first one.
func (s *subjectView) sameFault(a *alerts.Alert) bool {
	if len(s.led) == 0 {
		return false
	}
	tail := func(x *alerts.Alert) string {
		_, rest, _ := strings.Cut(x.Cause.String(), ", but ")
		return rest
	}
	return tail(a) == tail(s.led[0]) && a.Source == s.led[0].Source
}

// sameSign reports whether an alert tells the same as the page's first one, or both are about commands of agents that do not begin,
// whatever their logs name as the cause.
func (s *subjectView) sameSign(a *alerts.Alert) bool {
	return s.sameFault(a) || len(s.led) > 0 && a.Source == s.led[0].Source && alerts.AgentSays(a.Cause.String()) && alerts.AgentSays(s.led[0].Cause.String())
}
