package rules

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts/runbook"
	"sandglass/backend"
)

// TestASessionThatLeftBetweenTwoRunsIsOffered: one process read it, the next one finds its workspace's name opened afresh.
func TestASessionThatLeftBetweenTwoRunsIsOffered(t *testing.T) {
	s := begin(t)
	s.source("helix", backend.InputRegistry, backend.InputSessions)
	s.order = s.order[1:] // once
	open := reading{state: "open", attempt: time.Second, success: time.Second, provider: "local-bash"}
	s.session("s1", nil)
	s.reads("s1/box", open)
	s.look()
	s.off(time.Minute)
	delete(s.workspaces, wsKey("s1/box"))
	delete(s.sessions, sessionKey("s1"))
	s.session("s2", func(x *backend.Session) { x.StartedAt = backend.Known(s.wall.Add(-10 * time.Second)) })
	s.reads("s2/box", open)
	s.look()
	d := runbook.Diagnose("2", s.last, s.board, wsKey("s2/box"))
	if !strings.Contains(d.Conclusion.String(), "closed between sessions: session s1") {
		t.Errorf("%s", d.Conclusion)
	}
}
