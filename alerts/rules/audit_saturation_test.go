package rules

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

const auditRule = "audit-saturation"

// rejects counts rejected commands of a session as rebuilt from its rollups. Where it rejects nothing other sessions write on.
func (s *story) rejects(session string, n, rollups, bytes float64) {
	of := func(c *backend.Count) {
		c.Series.Session = backend.MustID(session)
		c.Sample = backend.Text(`workspace tool: shell metacharacter rejected: "ls;" [rate-limited]`)
	}
	s.counted("app", backend.MetricRejections, n, of)
	s.counted("app", backend.MetricRollups, rollups, of)
	s.counted("app", backend.MetricLogBytes, bytes, of)
	if n == 0 {
		s.counted("app", backend.MetricLogLines, 1, func(c *backend.Count) { c.Series.Session = backend.MustID("other") })
	}
}

func beginLogs(t testing.TB) *story {
	s := begin(t, auditRule)
	s.source("app", backend.InputRejections)
	s.session("c4f1", nil)
	return s
}

// beginFlood fires the rule: twenty rejected commands a second for a minute.
func beginFlood(t testing.TB) *story {
	t.Helper()
	s := beginLogs(t)
	s.rejects("c4f1", 0, 0, 0)
	s.look()
	s.every(5*time.Second, time.Minute, func() { s.rejects("c4f1", 100, 1, 200) })
	s.want(auditRule, alerts.StateFiring)
	return s
}

func TestAuditAFloodBehindRollupsIsSeen(t *testing.T) {
	s := beginLogs(t)
	s.rejects("c4f1", 0, 0, 0)
	s.look()
	s.every(5*time.Second, 5*time.Second, func() { s.rejects("c4f1", 30, 1, 200) })
	s.want(auditRule, alerts.StatePending) // 6/s for 5 seconds
	s.every(5*time.Second, time.Minute, func() { s.rejects("c4f1", 30, 1, 200) })
	a := s.want(auditRule, alerts.StateFiring)
	if a.Source != "helix" || a.Runbook != "9" || a.Severity != alerts.SeverityWarning || a.Cause.String() != "shell metacharacter rejected" {
		t.Errorf("alert %+v", a)
	}
	if a.Subjects[0].Key != sessionKey("c4f1") || a.Sessions != 1 {
		t.Errorf("subjects %v", a.Subjects)
	}
	wantEvidence(t, a, "c4f1: 6 rejected commands/s over 1m (alert from 5)", "rebuilt from 12 rollup lines", `"ls;"`)
	s.every(5*time.Second, time.Minute, func() { s.rejects("c4f1", 0, 0, 0) })
	s.quiet(auditRule)
	s.wantTransitions("pending firing resolved")
}

func TestAuditDoesNotFireBelowTheThreshold(t *testing.T) {
	s := beginLogs(t)
	s.rejects("c4f1", 0, 0, 0)
	s.look()
	s.every(5*time.Second, 5*time.Minute, func() { s.rejects("c4f1", 24, 1, 499_000) })
	s.quiet(auditRule)
	s.wantTransitions("")
}

func TestAuditByVolume(t *testing.T) {
	s := beginLogs(t)
	s.rejects("c4f1", 0, 0, 0)
	s.look()
	s.every(5*time.Second, time.Minute, func() { s.rejects("c4f1", 0, 0, 600_000) })
	a := s.want(auditRule, alerts.StateFiring)
	wantEvidence(t, a, "120 kB/s of log over 1m (alert from 100 kB/s)")
	if a.Cause.String() != "log volume" {
		t.Errorf("cause %q", a.Cause)
	}
}

func TestAuditColdStartReadsTheLastMinutes(t *testing.T) {
	s := beginLogs(t)
	for i := range 12 {
		s.pass(5 * time.Second)
		s.rejects("c4f1", 9500, 1, 200)
		_ = i
	}
	s.look().want(auditRule, alerts.StateFiring)
}

func TestAuditGapAndRestart(t *testing.T) {
	s := beginFlood(t)
	s.down("app", "permission denied")
	if a := s.after(5*time.Second).want(auditRule, alerts.StateHeld); a.Why.String() != "app is down: permission denied" {
		t.Errorf("why %q", a.Why)
	}
	s.up("app")
	s.every(5*time.Second, time.Minute, func() { s.rejects("c4f1", 100, 1, 200) })
	s.want(auditRule, alerts.StateFiring)
	s.restart()
	s.counts = nil
	s.health("app", func(h *fleet.SourceHealth) { h.Status = fleet.StatusStarting })
	s.after(time.Second).want(auditRule, alerts.StateFiring)
	s.up("app")
	s.every(5*time.Second, 10*time.Second, func() { s.rejects("c4f1", 100, 1, 200) })
	s.want(auditRule, alerts.StateFiring)
	s.every(5*time.Second, 3*time.Minute, func() { s.rejects("c4f1", 0, 0, 0) })
	s.quiet(auditRule)
}

func TestAuditEndsWithTheSessionAndStaysEnded(t *testing.T) {
	s := beginFlood(t)
	s.sessionEnds("c4f1")
	s.after(time.Second).want(auditRule, alerts.StateEnded)
	s.every(5*time.Second, time.Minute, func() { s.rejects("c4f1", 1, 0, 0) })
	s.want(auditRule, alerts.StateEnded)
	s.after(15 * time.Minute).quiet(auditRule)
}

func TestAuditLinesWithoutASessionAreJudgedTogether(t *testing.T) {
	s := beginLogs(t)
	s.counted("app", backend.MetricRejections, 0, nil)
	s.look()
	s.every(5*time.Second, time.Minute, func() {
		s.counted("app", backend.MetricRejections, 100, func(c *backend.Count) { c.Sample = backend.Text("command not in allowlist: curl"); c.LowerBound = true })
	})
	a := s.want(auditRule, alerts.StateFiring)
	if a.Subjects[0].Key.Kind != backend.KindSource || a.Source != "app" || a.Cause.String() != "command not in allowlist" {
		t.Errorf("alert %+v", a)
	}
	wantEvidence(t, a, "at least 20 rejected commands/s")
}

func TestAuditIsBlindWithoutLogs(t *testing.T) {
	s := begin(t)
	s.look()
	var why string
	for _, b := range s.board.Blind {
		if b.Rule == auditRule && b.Source == "helix" {
			why = b.Why.String()
		}
	}
	if why != "no log source speaks about helix; Helix writes no log lines unless a Logger is configured" {
		t.Errorf("blind because %q", why)
	}
	if strings.Contains(strings.Join(s.board.BlindOn("helix"), " "), failedRule) {
		t.Error("failed-too-long is not blind")
	}
	s.source("app", backend.InputRejections).About = []string{"somewhere-else"}
	if s.after(time.Second); len(s.board.BlindOn("helix")) == 0 {
		t.Error("a log source that speaks about another one cures nothing")
	}
	s.health("app", func(h *fleet.SourceHealth) {
		h.About = nil
		h.Inputs = nil
		h.Missing = []backend.MissingInput{{Input: backend.InputRejections, Why: backend.Text("no file matches")}}
	})
	because := func(want string) {
		t.Helper()
		s.after(time.Second)
		for _, b := range s.board.Blind {
			if b.Rule == auditRule && b.Why.String() == want {
				return
			}
		}
		t.Errorf("not blind because %s: %v", want, s.board.Blind)
	}
	because("app: no file matches")
	s.health("app", func(h *fleet.SourceHealth) { h.Inputs = []backend.Input{backend.InputRejections} })
	if s.after(time.Second); strings.Contains(strings.Join(s.board.BlindOn("helix"), " "), auditRule) {
		t.Error("still blind")
	}
	s.down("app", "gone")
	because("app is down")
}

// TestAuditKeepsTheFirstFullRejection: the first full line is evidence for as long as the flood is shown, also in the next
// process, and when its log source has forgotten it.
func TestAuditKeepsTheFirstFullRejection(t *testing.T) {
	s := beginLogs(t)
	s.rejects("c4f1", 0, 0, 0)
	line := `{"msg":"workspace tool: shell metacharacter rejected","command":"git log | head"}`
	first := `first: workspace tool: shell metacharacter rejected command="git log | head"` // never JSON
	s.health("app", func(h *fleet.SourceHealth) {
		for i, session := range []string{"other", "c4f1", "c4f1"} {
			x := &backend.Rejection{Session: backend.MustID(session), FirstAt: s.wall.Add(time.Duration(i) * time.Second), First: backend.Text("a later line")}
			if i == 1 {
				x.First = backend.Clean(line, 300)
			}
			h.Rejections = append(h.Rejections, x)
		}
	})
	s.look()
	s.every(5*time.Second, time.Minute, func() { s.rejects("c4f1", 100, 1, 200) })
	wantEvidence(t, s.want(auditRule, alerts.StateFiring), first)
	s.health("app", func(h *fleet.SourceHealth) { h.Rejections = nil })
	s.every(5*time.Second, time.Minute, func() { s.rejects("c4f1", 100, 1, 200) })
	s.restart()
	s.every(5*time.Second, time.Minute, func() { s.rejects("c4f1", 100, 1, 200) })
	wantEvidence(t, s.want(auditRule, alerts.StateFiring), first)
	s.down("app", "permission denied")
	wantEvidence(t, s.after(5*time.Second).want(auditRule, alerts.StateHeld), first)
}

func TestAFloodIsHeldWhileItsLogDoesNotGrow(t *testing.T) {
	still := func(s *story) {
		for _, m := range []backend.Metric{backend.MetricRejections, backend.MetricRollups, backend.MetricLogBytes} {
			s.counted("app", m, 0, func(c *backend.Count) { c.Series.Session = backend.MustID("c4f1") })
		}
	}
	stopped := func() *story {
		s := beginFlood(t)
		s.every(30*time.Second, 2*time.Hour, func() { still(s) })
		if a := s.want(auditRule, alerts.StateHeld); !strings.Contains(a.Why.String(), "the log app has not grown since 12:01:00Z, in the middle of the flood, and c4f1 still runs") {
			t.Errorf("why %q", a.Why)
		}
		return s
	}
	s := stopped()
	s.every(5*time.Second, 10*time.Second, func() { s.rejects("c4f1", 0, 0, 0) }) // a line of another session
	s.quiet(auditRule)
	s = stopped()
	s.pass(5 * time.Second)
	still(s)
	s.sessionEnds("c4f1")
	s.look().want(auditRule, alerts.StateEnded)
	s = stopped()
	s.session("c4f1", func(x *backend.Session) { x.Running, x.ListedRunning = backend.Known(false), backend.Known(false) })
	s.every(5*time.Second, 10*time.Second, func() { still(s) })
	s.quiet(auditRule)
}
