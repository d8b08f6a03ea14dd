package rules

import (
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestEachKindOfAFailedAddressIsTold: with its count, its newest line and its time, of each session of the alert.
func TestEachKindOfAFailedAddressIsTold(t *testing.T) {
	s := beginLines(t, "preview-failed", backend.MetricPreviewFailed)
	s.session("a", nil)
	fail := func(session, detail string) {
		s.lines(backend.MetricPreviewFailed, session, 1, "port 3000: detail: "+detail)
		s.lines(backend.PreviewFailedBy(detail), session, 1, "port 3000: detail: "+detail)
		s.pass(5 * time.Second)
	}
	first := s.wall
	fail("a", "preview_token_creation_failed")
	s.look()
	fail("a", "url_parse_failed")
	fail("a", "url_parse_failed")
	s.lines(backend.MetricPreviewFailed, "a", 1, "port 3001")
	s.look()
	fail("b", "preview_token_creation_failed")
	s.look()
	fail("b", "invalid_preview_url")
	a := s.look().want("preview-failed", alerts.StateFiring)
	wantEvidence(t, a, "session a: 4 such lines in 30m", "session a: 1 line, as no token was made: look at the rights of the agent's key: port 3000",
		"session a: 2 lines, as the address that the platform gave cannot be read", "session a: 1 line of no kind that is known",
		"session b: 1 line, as the platform's answer had no address of use",
		"session b: 1 line, as no token was made")
	if got := a.Cause.String(); got != "preview_token_creation_failed: port 3000" { // whatever is cut, the kind is not
		t.Errorf("the cause is %s", got)
	}
	if len(a.Evidence) != 6 || !a.Evidence[1].At.Equal(first) && !a.Evidence[2].At.Equal(first) {
		t.Errorf("%+v", a.Evidence)
	}
}

// TestUnknownTerminalsAreToldOfEachSession: also where the alert covers several, and theirs is not the oldest.
func TestUnknownTerminalsAreToldOfEachSession(t *testing.T) {
	s := begin(t, ptyRule)
	s.source("app", backend.InputRejections, backend.InputEvictionLogs)
	for _, id := range []string{"a", "b"} {
		s.session(id, nil)
		s.lines(backend.MetricPTYCount, id, 1, "64 active")
		s.pass(5 * time.Second)
		s.look()
	}
	s.lines(backend.MetricPTYUnknown, "b", 1, "unknown PTY session 4242")
	a := s.look().want(ptyRule, alerts.StateFiring)
	if a.SubjectCount != 2 {
		t.Fatalf("%+v", a)
	}
	wantEvidence(t, a, "session a: 64 terminals open", "session b: unknown PTY session, 1 line since: it may be one that was closed for another")
}
