package runbook

import (
	"slices"

	"sandglass/alerts"
	"sandglass/backend"
)

// mostBeside is of how many alerts a page names the first step.
const mostBeside = 3

// beside adds the first step of each alert about the subject of a page: a page of two alerts ends by the first of them, and what is to
// be done about the other stays to be done. The page of an alert is about that one alone.
func (s *subjectView) beside(d *Diagnosis) {
	if s.alert != nil || s.wide || len(s.led) == 0 {
		return
	}
	var rules []string
	for _, a := range s.Board.Alerts {
		if len(rules) == mostBeside || certainty(a.State) == 0 || a.Runbook == "" || a.ID == "" || slices.Contains(rules, a.Rule) || !s.alertNames(a) {
			continue
		}
		rules = append(rules, a.Rule)
		c := s.Case
		c.Alert = a.ID
		p, ok := Incident(a.Runbook)
		if !ok {
			continue
		}
		own, _ := c.concluded(p)
		if len(own.Do) == 0 || slices.Contains(d.Do, own.Do[0]) {
			continue
		}
		of := backend.Clean(a.Rule, 60)
		if a.State == alerts.StatePending {
			of = backend.Textf("%s, which is pending", of)
		}
		d.do("For %s: %s", of, own.Do[0])
	}
}

// alertNames reports whether an alert names the subject itself, or the session of a sandbox.
func (s *subjectView) alertNames(a *alerts.Alert) bool {
	return slices.ContainsFunc(a.Subjects, func(x alerts.Subject) bool {
		of := s.Subject.Kind == backend.KindSandbox && !s.sessionID.IsZero() && x.Key.Kind == backend.KindSession && x.Key.ID == s.sessionID
		return x.State != alerts.StateEnded && (x.Key == s.Subject || of)
	})
}

// decides reports whether a page may end by an alert: one that is pending does where none fires.
func (s *subjectView) decides(a *alerts.Alert) bool {
	return a.State != alerts.StatePending || s.led[0].State == alerts.StatePending
}
