package runbook

import (
	"slices"
	"strings"

	"sandglass/alerts"
	"sandglass/backend"
)

// reportedError is one reported error, searched for causes.
type reportedError struct {
	who   backend.Safe
	key   backend.Key
	text  backend.Safe
	cause alerts.Naming
	from  origin
	ws    *backend.Workspace // nil when the error is the session's
	line  bool               // a log line says it
}

// reason reports whether the error says why something failed. That an evicted sandbox is gone is no reason for its eviction.
func (e *reportedError) reason() bool {
	why := e.cause & alerts.NamesReason
	if e.evicted() {
		why &^= alerts.NamesGone
	}
	return why != 0
}

// evicted reports whether the framework calls the error an eviction.
func (e *reportedError) evicted() bool {
	return strings.Contains(e.text.String(), "WorkspaceEvictedError") || e.ws != nil && e.ws.Class == backend.ClassEvicted
}

// readErrors searches what the registries report, and the answer of the session's own route.
func (s *subjectView) readErrors() {
	known := map[backend.Safe]alerts.Naming{}
	for _, w := range s.workspaces {
		if s.errorsOf != nil && !in(s.errorsOf, w) {
			continue
		}
		if why, old := s.State.StaleWhy(&w.Meta); old && s.old.IsEmpty() {
			s.old = why
		}
		if w.LastError.IsEmpty() {
			switch {
			case bad(w):
				s.mute++
			case s.runsLong(w), w.TriedSince() && s.watchesAlert():
				s.running++
			}
			continue
		}
		if s.wide && !s.ledOn[w.Key] && !bad(w) && !w.TriedSince() && w.LastSuccessAt.IsKnown() {
			continue // it works again: its error is history
		}
		c, seen := known[w.LastError]
		if !seen && len(known) >= maxErrors {
			s.unread++
			continue
		}
		if !seen {
			c = alerts.NamesIn(w.LastError.String())
			known[w.LastError] = c
		}
		c &^= alerts.Foreign(s.providerOf(w), w.LastError.String())
		s.errors = append(s.errors, reportedError{w.Key.Safe(), w.Key, backend.Clean(w.LastError.String(), 200), c, s.from(&w.Meta), w, false})
	}
	for _, a := range s.led {
		if cut := a.Left(); (s.only != nil || s.errorsOf != nil) && cut > 0 {
			s.unread += cut
		}
	}
	if x := s.session; x != nil && !x.AnswerText.IsEmpty() {
		s.errors = append(s.errors, reportedError{x.Key.Safe(), x.Key, backend.Clean(x.AnswerText.String(), 200),
			alerts.NamesIn(x.AnswerText.String()), s.from(&x.Meta), nil, false})
	}
}

// readAlerts takes the causes of alerts about failures for errors where no registry gives one now: it failed and works again.
func (s *subjectView) readAlerts() {
	if len(s.errors) > 0 {
		return
	}
	for _, a := range s.led {
		failures := []string{"intermittent-failure", "failed-too-long", "hammered-and-failing", "reset-loop", "error-burst", "capability-mismatch"}
		cause := alerts.NamesIn(a.Cause.String())
		if slices.Contains(failures, a.Rule) && !runsLong(a) && (a.State == alerts.StateFiring || cause != 0) {
			s.errors = append(s.errors, reportedError{who: backend.Text("the alert"), text: a.Cause, cause: cause, from: origin{a.Source, a.Confirmed}})
		}
	}
}
