package rules

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

const noRootLine = "ExecTransportError, folder /workspace, directory missing"

// TestFailedCommandsInALogAloneArePending: they are the agent's word, with how often, the newest and the finer kind; what a probe finds
// makes the same alert fire, also after a restart.
func TestFailedCommandsInALogAloneArePending(t *testing.T) {
	for text, c := range map[string]struct {
		lines int
		cause string
	}{
		"ExecTimeoutError":             {3, "reported DEPLOYED RUNNING, but commands of its agent fail: they do not end in time, its agent's log says"},
		"ExecTransportError":           {3, "reported DEPLOYED RUNNING, but commands of its agent fail, its agent's log says"},
		"ExecTransportError, HTTP 503": {3, "reported DEPLOYED RUNNING, but commands of its agent fail: they are answered with server errors, its agent's log says"},
		noRootLine:                     {1, "reported DEPLOYED RUNNING, but commands of its agent fail: its root is missing, its agent's log says"},
		"ExecTransportError, folder /workspace/a, directory missing": {3, "reported DEPLOYED RUNNING, but commands of its agent fail, its agent's log says"},
		"ExecTransportError, HTTP 404, no such sandbox":              {1, "reported DEPLOYED RUNNING, but commands of its agent fail: its platform answers that there is no such sandbox, its agent's log says"},
	} {
		s := beginFull(t)
		for i := range c.lines {
			if i > 0 {
				s.look().quiet(contradictionRule)
			}
			s.pass(10 * time.Second)
			s.lines(backend.MetricSDKExec, cloudSession, 1, text)
			if i == 0 && c.lines > 1 {
				s.look().quiet(contradictionRule)
				s.restart() // another process reads the next line
			}
		}
		newest := s.wall
		a := s.look().want(contradictionRule, alerts.StatePending)
		detail := a.Subjects[0].Detail.String()
		if a.Cause.String() != c.cause || !strings.HasPrefix(a.Why.String(), "its agent's word: fires when a probe shows it: sandglass probe") ||
			!strings.Contains(detail, "by its agent, "+backend.Counted(c.lines, "time", "times")+", newest "+newest.Format("15:04:05Z")+": "+text) || a.Bounds.Latest.IsZero() {
			t.Errorf("%s: %s (%s), %s, %+v", text, a.Cause, a.Why, detail, a.Bounds)
		}
		s.restart()
		if b := s.look().want(contradictionRule, alerts.StatePending); b.ID != a.ID || b.Subjects[0].Detail.String() != detail {
			t.Errorf("%s: after a restart %s, was %s", text, b.Subjects[0].Detail, detail)
		}
		s.sees(cloudBox, backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: backend.FailWorkDirMissing, At: s.wall, What: backend.Text("its root is missing")})
		if b := s.look().want(contradictionRule, alerts.StateFiring); b.ID != a.ID {
			t.Errorf("%s: another alert fires", text)
		}
	}
}

// TestNewerFailuresOvertakeAProbe: a probe that ran a command before them tells nothing of now, and one after them ends the word. It also
// ends an hour after the newest line, and with another sandbox of the name.
func TestNewerFailuresOvertakeAProbe(t *testing.T) {
	ran := func(s *story) {
		s.sees(cloudBox, backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, At: s.wall})
		s.look().quiet(contradictionRule)
		s.pass(20 * time.Minute)
	}
	begin := func() *story {
		s := beginFull(t)
		ran(s)
		s.lines(backend.MetricSDKExec, cloudSession, 2, noRootLine)
		if a := s.look().want(contradictionRule, alerts.StatePending); a.Bounds.Earliest.IsZero() || !a.Bounds.Earliest.Before(a.Bounds.Latest) {
			t.Errorf("it ran before at %s, failed from %s", a.Bounds.Earliest, a.Bounds.Latest)
		}
		return s
	}
	s := begin()
	s.pass(time.Minute)
	ran(s)
	s.restart()
	s.look().quiet(contradictionRule)
	s.lines(backend.MetricSDKExec, cloudSession, 1, "ExecTransportError") // older ones count no more
	s.look().quiet(contradictionRule)

	s = begin()
	s.every(5*time.Minute, 50*time.Minute, nil).want(contradictionRule, alerts.StatePending)
	s.every(5*time.Minute, 15*time.Minute, nil).quiet(contradictionRule)

	s = begin()
	s.pass(time.Minute)
	s.cloudBox(cloudBox, func(b *backend.Sandbox) { b.CreatedAt = backend.Known(s.wall) })
	s.look().quiet(contradictionRule)
}

// TestFailedCommandsThatTellNothing of a sandbox: of the caller's own fault, of a key that was refused, and of another session.
func TestFailedCommandsThatTellNothing(t *testing.T) {
	for _, text := range []string{"ExecTimeoutError, timeout 0 s", "ExecTimeoutError, timeout 0.0 s", "ExecTimeoutError, timeout 0.001 s", "ExecTransportError, HTTP 401, key not accepted"} {
		s := beginFull(t)
		s.lines(backend.MetricSDKExec, cloudSession, 9, text)
		s.lines(backend.MetricSDKExec, "another", 9, "ExecTransportError")
		s.look().quiet(contradictionRule)
		b := s.lastState().Sandbox(backend.Key{Kind: backend.KindSandbox, Source: "cloud", ID: backend.MustID(cloudBox)})
		if x := s.lastState().AgentFailuresOn(b, time.Time{}); x != (fleet.AgentFailures{}) {
			t.Errorf("%s: %+v", text, x)
		}
	}
}

// TestANewerSuccessInTheLogEndsFailedCommands: what failed before a command that the same log says was answered is history, however often.
// What fails after it counts from then, and another session's success ends nothing.
func TestANewerSuccessInTheLogEndsFailedCommands(t *testing.T) {
	fails := func(s *story, n float64) {
		s.pass(10 * time.Second)
		s.lines(backend.MetricSDKExec, cloudSession, n, "ExecTransportError, HTTP 503")
	}
	ran := func(s *story, session string) {
		s.pass(10 * time.Second)
		s.lines(backend.MetricExecDone, session, 1, "")
	}
	s := beginFull(t)
	fails(s, 3)
	s.look().want(contradictionRule, alerts.StatePending)
	ran(s, "another")
	s.look().want(contradictionRule, alerts.StatePending)
	ran(s, cloudSession)
	s.restart()
	s.look().quiet(contradictionRule)
	fails(s, 2)
	s.look().quiet(contradictionRule)
	before := s.wall
	fails(s, 1)
	if a := s.look().want(contradictionRule, alerts.StatePending); !a.Bounds.Earliest.Before(before) || !a.Bounds.Latest.After(a.Bounds.Earliest) || a.Bounds.Earliest.IsZero() {
		t.Errorf("it began between %s and %s", a.Bounds.Earliest, a.Bounds.Latest)
	}

	s = beginFull(t)
	for range 3 {
		ran(s, cloudSession)
		fails(s, 1)
	}
	ran(s, cloudSession)
	s.look().quiet(contradictionRule)
	b := s.lastState().Sandbox(backend.Key{Kind: backend.KindSandbox, Source: "cloud", ID: backend.MustID(cloudBox)})
	if x := s.lastState().AgentFailuresOn(b, time.Time{}); x != (fleet.AgentFailures{}) {
		t.Errorf("%+v", x)
	}
	if all := s.lastState().SDKErrorsOn(b); len(all) != 1 || !strings.Contains(all[0].Means.String(), "; a later command was answered, at ") {
		t.Errorf("%+v", all)
	}
}
