package runbook

import (
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// threshold names a figure of a rule: the rule and the key. Diagnoses have no figures of their own to compare with.
type threshold string

const (
	stormOver       threshold = "eviction-storm.over"
	stormRate       threshold = "eviction-storm.rate"
	stormRecovery   threshold = "eviction-storm.recovery"
	stormEvicted    threshold = "eviction-storm.evicted"
	floodOver       threshold = "audit-saturation.over"
	floodRejections threshold = "audit-saturation.rejections"
	floodBytes      threshold = "audit-saturation.bytes"
	floodProbing    threshold = "audit-saturation.probing"
	floodProbeOver  threshold = "audit-saturation.probing_over"
	floodLoop       threshold = "audit-saturation.loop"
	agentFile       threshold = "agent-oom.file"
	agentOpens      threshold = "agent-oom.opens"
	agentRestarts   threshold = "agent-oom.restarts"
	agentOver       threshold = "agent-oom.over"
	changeWithin    threshold = "restart-storm.within"
	changeShare     threshold = "restart-storm.share"
	orphanAfter     threshold = "tmpdir-orphaned.after"
	rootFree        threshold = "tmpdir-pileup.free"
	rootBytes       threshold = "tmpdir-root-unusable.bytes"
	rootInodes      threshold = "tmpdir-root-unusable.inodes"
	memoryAvailable threshold = "host-oom.available"
	memoryPressure  threshold = "host-oom.pressure"
	memoryRecent    threshold = "host-oom.recent"
	killedRecently  threshold = "sandbox-oom.recent"
	sandboxGone     threshold = "wont-terminate.gone"
	triedAfter      threshold = "hammered-and-failing.after"
)

func (t threshold) rule() string {
	rule, _, _ := strings.Cut(string(t), ".")
	return rule
}

// number is the configured figure; false where its rule is not evaluated.
func (s *subjectView) number(t threshold) (float64, bool) {
	rule, key, _ := strings.Cut(string(t), ".")
	if s.Board == nil || s.Board.Rule(rule) == nil {
		return 0, false
	}
	n, ok := s.Board.Rule(rule).Thresholds[key]
	return n, ok
}

// span is a configured figure that is a duration.
func (s *subjectView) span(t threshold) (time.Duration, bool) {
	n, ok := s.number(t)
	return time.Duration(n * float64(time.Second)), ok
}

// off answers where the rule that holds the threshold is not evaluated.
func (q question) off(t threshold) Check {
	return q.unsure("the rule %s, which says from when, is switched off", backend.Clean(t.rule(), 60))
}

// verdict is what a rule concludes about the subject or its source.
type verdict struct {
	alert *alerts.Alert // the most certain one, nil where the rule is not known to be true
	off   bool          // the rule is not evaluated
	blind backend.Safe  // why the rule cannot see the subject's source, empty when it can
}

// fires reports whether the alert is more than a suspicion.
func (v verdict) fires() bool { return v.alert != nil && v.alert.State == alerts.StateFiring }

// unproved answers with why the rule says neither yes nor no, if that is so.
func (v verdict) unproved(q question, told backend.Safe) (Check, bool) {
	switch {
	case v.alert != nil && v.alert.State == alerts.StateHeld:
		return q.unsure("the alert is held, %s; %s", v.alert.Why, told), true
	case v.alert != nil:
		return q.unsure("the alert is pending, %s; %s", v.alert.Why, told), true
	case !v.blind.IsEmpty():
		return q.unsure("%s; beyond that: %s", told, v.blind), true
	case v.off:
		return q.unsure("%s; the rule that would judge this is switched off", told), true
	}
	return Check{}, false
}

// verdict finds what a rule says of the subject, or of its source where the subject is one; about narrows it to some of the
// rule's alerts. An alert about others of the source says nothing of the subject.
func (s *subjectView) verdict(rule string, about ...func(*alerts.Alert) bool) verdict {
	if s.Board == nil {
		return verdict{off: true}
	}
	v := verdict{off: s.Board.Rule(rule) == nil, blind: s.blindWhy(rule)}
	best := 0
	for _, a := range s.Board.Alerts {
		weight := certainty(a.State)
		own := s.wide && a.Source == s.Subject.Source
		if s.only != nil && !shares(s.only, a) {
			continue
		}
		if a.Rule != rule || weight == 0 || !own && !s.here(a.Source) && !s.countedBy(a.Source) || !s.wide && !s.mayBeAbout(a) {
			continue
		}
		if own {
			weight++
		}
		if weight > best && (len(about) == 0 || about[0](a)) {
			v.alert, best = a, weight
		}
	}
	return v
}

// mayBeAbout reports whether an alert names the subject, or names more subjects than are kept.
func (s *subjectView) mayBeAbout(a *alerts.Alert) bool {
	return s.isAbout(a) || a.Left() > 0 && s.here(a.Source)
}

// countedBy reports whether a source of metrics or logs is configured to speak about the source that the subject is.
func (s *subjectView) countedBy(source string) bool {
	h := s.State.Source(source)
	return s.wide && h != nil && len(h.About) > 0 && onlyCounts(h) && s.speaksHere(source)
}

func certainty(s alerts.AlertState) int {
	switch s {
	case alerts.StateFiring:
		return 6
	case alerts.StateHeld:
		return 4
	case alerts.StatePending:
		return 2
	case alerts.StateEnded, alerts.StateResolved:
	}
	return 0
}

// firing finds the alert of a rule that fires about the subject's source, nil when there is none.
func (s *subjectView) firing(rule string) *alerts.Alert {
	if v := s.verdict(rule); v.fires() {
		return v.alert
	}
	return nil
}

// namesSession reports whether an alert is about the subject's session, or about a whole source.
func (s *subjectView) namesSession(a *alerts.Alert) bool {
	if s.wide || s.sessionID.IsZero() {
		return true
	}
	for i := range a.Subjects {
		if k := a.Subjects[i].Key; k.Kind == backend.KindSource || k.ID == s.sessionID || k.Parent == s.sessionID {
			return true
		}
	}
	return false
}

// firingOn finds the alert of a rule that fires about one entity, nil when there is none.
func (s *subjectView) firingOn(rule string, k backend.Key) *alerts.Alert {
	return s.firingWhere(k, func(a *alerts.Alert) bool { return a.Rule == rule })
}

// firingWhere is the first of some alerts that fires about a subject, nil where there is none.
func (s *subjectView) firingWhere(k backend.Key, some func(*alerts.Alert) bool) *alerts.Alert {
	if s.Board == nil {
		return nil
	}
	for _, a := range s.Board.Alerts {
		if !some(a) || a.State != alerts.StateFiring {
			continue
		}
		for i := range a.Subjects {
			if x := &a.Subjects[i]; x.Key == k && x.State != alerts.StateEnded {
				return a
			}
		}
	}
	return nil
}

// blindWhy says why a rule cannot see the subject's source, empty when it can.
func (s *subjectView) blindWhy(rule string) backend.Safe {
	for _, x := range s.Board.Blind {
		if x.Rule == rule && (s.here(x.Source) || s.wide && x.Source == s.Subject.Source || x.Source == "") {
			return x.Why
		}
	}
	return backend.Safe{}
}

// saysAlert confirms a question with an alert that fires.
func (q question) saysAlert(a *alerts.Alert) Check {
	c := q.yes(origin{a.Source, a.Confirmed}, "%s", beside(a.Cause, figures(a)))
	c.echo = true
	return c
}
