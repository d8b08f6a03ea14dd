package rules

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

const (
	ptyRule       = "pty-pressure"
	ptyFailedRule = "pty-failed"
)

func beginPTY(t testing.TB) *story {
	s := begin(t, ptyRule, ptyFailedRule)
	s.source("app", backend.InputRejections, backend.InputEvictionLogs)
	s.session("a", nil)
	s.lines(backend.MetricPTYCount, "a", 0, "")
	s.look()
	s.pass(5 * time.Second)
	return s
}

// opensPTY logs how many terminals a session has open.
func (s *story) opensPTY(count int) *story {
	s.lines(backend.MetricPTYCount, "a", 1, fmt.Sprintf("%d active", count))
	return s.look()
}

var ptyLimits = []limit{
	{ptyRule, func(t *testing.T, at bool) *story { return beginPTY(t).opensPTY(int(below(60, at))) }},
	{ptyFailedRule, func(t *testing.T, at bool) *story {
		s := beginPTY(t)
		s.lines(backend.MetricPTYFailed, "a", below(3, at), "a terminal of an agent could not be used: it did not start: TimeoutError")
		return s.look()
	}},
}

// TestPTYPressureFires: a note from 60 on, a warning from 64 on; a lower number makes it less, and silence nothing.
func TestPTYPressureFires(t *testing.T) {
	s := beginPTY(t).opensPTY(60)
	a := s.want(ptyRule, alerts.StateFiring)
	if a.Severity != alerts.SeverityInfo || a.Sessions != 1 {
		t.Errorf("60: %s, %d sessions", a.Severity, a.Sessions)
	}
	var first string
	for count := 63; count < 66; count++ {
		s.pass(5 * time.Second)
		a := s.opensPTY(count).want(ptyRule, alerts.StateFiring)
		if want := map[bool]alerts.Severity{true: alerts.SeverityWarning, false: alerts.SeverityInfo}[count >= 64]; a.Severity != want {
			t.Errorf("%d: %s", count, a.Severity)
		}
		first = a.ID
		wantEvidence(t, a, fmt.Sprintf("session a: %d terminals open", count))
	}
	s.pass(5 * time.Second)
	s.opensPTY(64)
	s.every(time.Minute, 3*time.Hour, func() { s.lines(backend.MetricPTYCount, "", 0, "") }) // other lines
	if a := s.want(ptyRule, alerts.StateFiring); a.Severity != alerts.SeverityWarning || a.ID != first {
		t.Errorf("after three silent hours: %s, the same alert %t", a.Severity, a.ID == first)
	}
	s.pass(5 * time.Second)
	if a := s.opensPTY(61).want(ptyRule, alerts.StateFiring); a.Severity != alerts.SeverityInfo {
		t.Errorf("61 after 64: %s", a.Severity)
	}
	s.pass(5 * time.Second)
	s.opensPTY(12).quiet(ptyRule)
}

// TestPTYPressureIsLinkedToAnUnknownSession: lines after it are, lines before it are not.
func TestPTYPressureIsLinkedToAnUnknownSession(t *testing.T) {
	s := beginPTY(t)
	s.lines(backend.MetricPTYUnknown, "a", 1, "unknown PTY session 1000")
	s.look().quiet(ptyRule)
	s.pass(5 * time.Second)
	a := s.opensPTY(62).want(ptyRule, alerts.StateFiring)
	if a.Severity != alerts.SeverityInfo || strings.Contains(a.Subjects[0].Detail.String(), "not known") {
		t.Errorf("%s %s", a.Severity, a.Subjects[0].Detail)
	}
	for range 2 {
		s.pass(5 * time.Second)
		s.lines(backend.MetricPTYUnknown, "a", 1, "unknown PTY session 4242")
		a = s.look().want(ptyRule, alerts.StateFiring)
	}
	wantEvidence(t, a, "unknown PTY session, 2 lines since: it may be one that was closed for another")
	if a.Severity != alerts.SeverityWarning {
		t.Errorf("severity %s", a.Severity)
	}
}

// TestPTYPressureBeganWithItsFirstLine: also where several were read at once, and not with one before a lower number. Lines of unknown
// terminals between the first and the newest are linked.
func TestPTYPressureBeganWithItsFirstLine(t *testing.T) {
	s := begin(t, ptyRule)
	s.source("app", backend.InputRejections, backend.InputEvictionLogs)
	s.session("a", nil)
	first := s.wall
	for range 4 {
		s.lines(backend.MetricPTYCount, "a", 1, "61 active")
		s.pass(30 * time.Second)
	}
	s.lines(backend.MetricPTYUnknown, "a", 1, "unknown PTY session 4242")
	s.lines(backend.MetricPTYUnknown, "", 1, "unknown PTY session 4243")
	s.pass(30 * time.Second)
	s.lines(backend.MetricPTYCount, "a", 1, "62 active")
	s.pass(5 * time.Second)
	s.lines(backend.MetricPTYCount, "a", 0, "") // nothing was read since
	a := s.look().want(ptyRule, alerts.StateFiring)
	if at := a.Evidence[0].At; !at.Equal(s.wall.Add(-5 * time.Second)) {
		t.Errorf("the newest line is of %v", at)
	}
	if !a.Bounds.Latest.Equal(first) || a.Severity != alerts.SeverityWarning {
		t.Errorf("since %v, want %v: %s", a.Bounds.Latest, first, a.Severity)
	}
	wantEvidence(t, a, "unknown PTY session, 1 line since: it may be one that was closed for another")
	wantEvidence(t, a, "unknown PTY session, 1 line since that name no session: they may be of this one")
	s.pass(5 * time.Second)
	s.opensPTY(12).quiet(ptyRule)
	s.pass(5 * time.Second)
	again := s.wall
	if a := s.opensPTY(63).want(ptyRule, alerts.StateFiring); !a.Bounds.Latest.Equal(again) {
		t.Errorf("since %v, want %v", a.Bounds.Latest, again)
	}
}

// TestPTYPressureEndsWithItsSession: by the list of sessions, or by its sandbox, as a saved state names it.
func TestPTYPressureEndsWithItsSession(t *testing.T) {
	s := beginPTY(t).opensPTY(64)
	s.want(ptyRule, alerts.StateFiring)
	s.session("a", func(x *backend.Session) { x.Running, x.Status = backend.Known(false), backend.Text("completed") })
	s.after(time.Minute).quiet(ptyRule)

	s = beginCloud(t, ptyRule)
	s.source("app", backend.InputEvictionLogs)
	s.health("app", func(h *fleet.SourceHealth) { h.About = []string{"cloud"} })
	s.stateOn(cloudBox, s.wall, nil)
	s.refs[0].Session = backend.MustID("lonely")
	s.lines(backend.MetricPTYCount, "lonely", 1, "64 active")
	s.look().want(ptyRule, alerts.StateFiring)
	s.cloudBox(cloudBox, func(b *backend.Sandbox) { b.Class = backend.SandboxRemoving })
	s.after(time.Minute).quiet(ptyRule)
}

func TestPTYDoesNotFire(t *testing.T) {
	s := beginPTY(t)
	s.lines(backend.MetricPTYCount, "a", 1, "many active")
	s.lines(backend.MetricPTYFailed.Said(), "a", 9, "TimeoutError in pty_exec_start")
	s.look().quiet(ptyRule)
	for _, a := range s.alerts(ptyFailedRule) {
		if a.State == alerts.StateFiring {
			t.Error("an agent's words fire")
		}
	}
}

func TestPTYGapRestartCold(t *testing.T) {
	fail := func(s *story) {
		s.lines(backend.MetricPTYFailed, "a", 3, "a terminal of an agent could not be used: it took no input: TimeoutError")
	}
	s := beginPTY(t).opensPTY(64)
	fail(s)
	s.look()
	first := s.want(ptyRule, alerts.StateFiring).ID
	if a := s.want(ptyFailedRule, alerts.StateFiring); !strings.Contains(a.Cause.String(), "it took no input: TimeoutError") {
		t.Errorf("cause %s", a.Cause)
	} else {
		wantEvidence(t, a, "limit: sending its input may take fast_op_s (30 s, the default, as no saved state is known)")
	}
	s.wantHeldThenBack(ptyRule, "app", func() { s.lines(backend.MetricPTYCount, "a", 0, ""); fail(s) })
	s.restart()
	s.lines(backend.MetricPTYCount, "a", 0, "")
	if a := s.look().want(ptyRule, alerts.StateFiring); a.ID != first {
		t.Error("another alert after a restart")
	}
	b := begin(t, ptyRule)
	b.look()
	if why := b.blindWhy(ptyRule, "helix"); !strings.Contains(why, "no log source speaks about helix") {
		t.Errorf("blind because %q", why)
	}
	cold := begin(t, ptyRule)
	cold.source("app", backend.InputEvictionLogs)
	cold.counted("app", backend.MetricPTYCount, 1, func(x *backend.Count) {
		x.At, x.Sample = cold.wall.Add(-10*time.Minute), backend.Text("64 active")
	})
	if a := cold.look().want(ptyRule, alerts.StateFiring); cold.wall.Sub(a.Bounds.Latest) != 10*time.Minute {
		t.Errorf("began %s", a.Bounds.Latest)
	}
}

// TestTerminalsOfASessionThatEndedAreNoPressure: also where the console starts after its end, and what the list says is read first.
func TestTerminalsOfASessionThatEndedAreNoPressure(t *testing.T) {
	s := begin(t, ptyRule)
	s.source("app", backend.InputEvictionLogs)
	s.session("a", func(x *backend.Session) {
		x.ListedRunning, x.Status, x.Answer = backend.Known(false), backend.Text("completed"), backend.AnswerIdle
	})
	s.lines(backend.MetricPTYCount, "a", 1, "64 active")
	s.look().quiet(ptyRule)
}

// TestPTYPressureThatEndedIsJudgedAgain: when its session is listed again and no line is left.
func TestPTYPressureThatEndedIsJudgedAgain(t *testing.T) {
	s := beginPTY(t).opensPTY(64)
	s.want(ptyRule, alerts.StateFiring)
	s.session("a", func(x *backend.Session) { x.Running, x.Status = backend.Known(false), backend.Text("completed") })
	s.after(time.Minute).quiet(ptyRule)
	s.every(time.Minute, 2*time.Hour, nil).quiet(ptyRule)
	s.session("a", nil)
	s.look().quiet(ptyRule)
	s.restart()
	s.session("a", func(x *backend.Session) { x.Status = backend.Text("active") })
	s.look().quiet(ptyRule)
	r := &ptyPressure{warn: 60, full: 64}
	if v := r.JudgeSeries(nil, backend.Key{}, nil, alerts.NoteOf(&ptyNote{})); v.Outcome != alerts.False {
		t.Errorf("without a series: %v", v.Outcome)
	}
}
