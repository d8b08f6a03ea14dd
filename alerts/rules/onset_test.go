package rules

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// past counts n of something at each step from an age down to another one, the younger one left out.
func (s *story) past(source string, m backend.Metric, session string, n float64, step, from, to time.Duration) {
	for age := from; age > to; age -= step {
		s.counted(source, m, n, func(c *backend.Count) {
			c.At = s.wall.Add(-age)
			if session != "" {
				c.Series.Session = backend.MustID(session)
			}
			if n > 0 {
				c.Sample = backend.Text("a line")
			}
		})
	}
}

// began asserts how long ago an alert says that it began; least is the later bound, most the earlier one, 0: not known.
func (s *story) began(a *alerts.Alert, most, least time.Duration) {
	s.t.Helper()
	e := time.Time{}
	if most != 0 {
		e = s.wall.Add(-most)
	}
	if !a.Bounds.Earliest.Equal(e) || !a.Bounds.Latest.Equal(s.wall.Add(-least)) {
		early := "unknown"
		if !a.Bounds.Earliest.IsZero() {
			early = s.wall.Sub(a.Bounds.Earliest).String()
		}
		s.t.Errorf("%s began between %s and %s ago, want between %s and %s ago", a.Rule, early, s.wall.Sub(a.Bounds.Latest), most, least)
	}
}

// What counts of the past prove is the onset, whatever the console has seen itself.
func TestOnsetOfAStormIsTakenFromThePastThatAServerTells(t *testing.T) {
	s := beginMetrics(t)
	s.past("prom", backend.MetricEvictions, "", 0, time.Minute, time.Hour, 40*time.Minute)
	s.past("prom", backend.MetricEvictions, "", 24, time.Minute, 40*time.Minute, 0) // 0.4/s
	s.counted("prom", backend.MetricEvictions, 24, nil)
	a := s.look().want(stormRule, alerts.StateFiring)
	s.began(a, 39*time.Minute, 38*time.Minute) // 72 within 5m are more than 0.2/s of it, 48 are not
	s.every(time.Minute, 5*time.Minute, func() { s.counted("prom", backend.MetricEvictions, 24, nil) })
	s.began(s.want(stormRule, alerts.StateFiring), 44*time.Minute, 43*time.Minute)
	s.restart()
	s.counts = nil // the windows begin anew with the process
	s.counted("prom", backend.MetricEvictions, 0, nil)
	s.pass(time.Second)
	s.counted("prom", backend.MetricEvictions, 100, nil)
	s.began(s.look().want(stormRule, alerts.StateFiring), 44*time.Minute+time.Second, 43*time.Minute+time.Second)

	whole := beginMetrics(t) // it raged already where the server's answer begins
	whole.past("prom", backend.MetricEvictions, "", 24, time.Minute, time.Hour, 0)
	whole.counted("prom", backend.MetricEvictions, 24, nil)
	whole.began(whole.look().want(stormRule, alerts.StateFiring), 0, 58*time.Minute)

	recovered := beginMetrics(t) // until 20 minutes ago retries recovered what was evicted
	recovered.past("prom", backend.MetricEvictions, "", 24, time.Minute, time.Hour, 0)
	recovered.past("prom", backend.MetricEvictionRetries, "", 24, time.Minute, time.Hour, 20*time.Minute)
	recovered.past("prom", backend.MetricEvictionRetries, "", 0, time.Minute, 20*time.Minute, 0)
	recovered.counted("prom", backend.MetricEvictions, 24, nil)
	recovered.counted("prom", backend.MetricEvictionRetries, 0, nil)
	recovered.began(recovered.look().want(stormRule, alerts.StateFiring), 19*time.Minute, 18*time.Minute)
}

// The past that comes a poll later than the present counts as well.
func TestOnsetOfAStormMovesBackWhenThePastIsReadLater(t *testing.T) {
	s := beginMetrics(t)
	s.counted("prom", backend.MetricEvictions, 0, nil)
	s.look()
	s.pass(5 * time.Second)
	s.counted("prom", backend.MetricEvictions, 100, nil)
	s.began(s.look().want(stormRule, alerts.StateFiring), 0, 0)
	s.pass(10 * time.Second)
	s.past("prom", backend.MetricEvictions, "", 24, time.Minute, 40*time.Minute, 0)
	s.counted("prom", backend.MetricEvictions, 1, nil)
	s.began(s.look().want(stormRule, alerts.StateFiring), 0, 38*time.Minute)
}

// Without counters enough workspaces must be evicted together: not before the last success of the first so many, and by
// the failed attempt of as many.
func TestOnsetOfASuspectedStormIsBoundedByItsWorkspaces(t *testing.T) {
	s := beginStorm(t)
	for i := range 8 {
		s.reads(fmt.Sprintf("s%d/box", i), reading{state: "evicted", err: "WorkspaceEvictedError: gone", attempt: time.Duration(i+1) * time.Minute, success: time.Duration(40+i) * time.Minute})
	}
	a := s.look().want(stormRule, alerts.StatePending)
	s.began(a, 43*time.Minute, 4*time.Minute) // the fifth of eight
}

func TestOnsetOfAFloodIsTakenFromTheLog(t *testing.T) {
	s := beginLogs(t)
	s.past("app", backend.MetricRejections, "c4f1", 0, 5*time.Second, 50*time.Minute, 40*time.Minute)
	s.past("app", backend.MetricRejections, "c4f1", 100, 5*time.Second, 40*time.Minute, 0)
	s.counted("app", backend.MetricRejections, 100, func(c *backend.Count) { c.Series.Session = backend.MustID("c4f1") })
	// Of an hour the older counts are joined by the minute, so that its onset is known as finely.
	a := s.look().want(auditRule, alerts.StateFiring)
	if early, late := s.wall.Sub(a.Bounds.Earliest), s.wall.Sub(a.Bounds.Latest); late < 38*time.Minute || early > 42*time.Minute || early-late > 2*time.Minute {
		t.Errorf("began between %s and %s ago", early, late)
	}
}

// A line that is written now is not an old one, however long it was looked for before.
func TestOnsetOfALineIsTheLineAndNotTheLook(t *testing.T) {
	s := beginLines(t, "persist-failed", backend.MetricPersistFailed)
	quiet := func() {
		s.lines(backend.MetricPersistFailed, "", 0, "")
		s.lines(backend.MetricPersistFailed, "a", 0, "")
	}
	quiet()
	s.look()
	s.every(time.Minute, 29*time.Minute, quiet)
	s.pass(time.Minute)
	s.lines(backend.MetricPersistFailed, "a", 1, "EACCES: permission denied")
	s.began(s.look().want("persist-failed", alerts.StateFiring), time.Minute, 0)

	old := beginLines(t, "persist-failed", backend.MetricPersistFailed) // lines that follow each other within the window are one trouble
	old.past("app", backend.MetricPersistFailed, "a", 1, 20*time.Minute, 55*time.Minute, 0)
	old.lines(backend.MetricPersistFailed, "a", 0, "")
	old.began(old.look().want("persist-failed", alerts.StateFiring), 0, 55*time.Minute)
}

func TestOnsetOfALackOfMemoryIsTheFirstLine(t *testing.T) {
	s := beginAgent(t)
	s.look()
	s.every(time.Minute, 14*time.Minute, func() { s.lines(backend.MetricAgentOOM, "", 0, "") })
	s.pass(time.Minute)
	s.lines(backend.MetricAgentOOM, "", 1, resetLine)
	s.began(s.look().want(agentRule, alerts.StateFiring), time.Minute, 0)

	old := beginAgent(t)
	old.past("app", backend.MetricAgentOOM, "", 1, 9*time.Minute, 40*time.Minute, 0)
	old.began(old.look().want(agentRule, alerts.StateFiring), 0, 40*time.Minute)
}

// What a server tells of process starts an hour ago is no sign of now.
func TestStartsOfThePastAreNotTakenForStartsOfNow(t *testing.T) {
	for _, c := range []struct {
		from time.Duration
		want string
	}{{45 * time.Minute, ""}, {14 * time.Minute, "14m"}} {
		s := beginAgent(t)
		for i := range 4 {
			s.happened = append(s.happened, backend.Event{Kind: backend.EventChange, Name: "process-restarted", Source: "prom", At: s.wall.Add(-c.from + time.Duration(i)*time.Minute), Text: backend.Text("process restarted")})
		}
		s.look()
		if c.want == "" {
			s.quiet(agentRule)
			continue
		}
		s.began(s.want(agentRule, alerts.StatePending), 0, c.from)
	}
}

// hammers gives a registry that is hammered: its newest attempt is young, and says nothing of those before.
func (s *story) hammers(path, state string, success time.Duration) {
	s.reads(path, reading{state: state, err: quota, attempt: time.Second, success: success})
}

// A log names the failed attempts that a registry forgets: what it proves fires at once.
func TestLogLinesAreTheFirstKnownFailedAttempts(t *testing.T) {
	begun := func(rule string) *story {
		s := begin(t, rule)
		s.source("app", backend.InputEvictionLogs)
		return s
	}
	s := begun(failedRule)
	s.hammers("a/box", "failed", 45*time.Minute)
	s.past("app", backend.MetricWorkspaceFailed, "a", 1, 2*time.Minute, 50*time.Minute, 0) // those before the success are of another trouble
	a := s.look().want(failedRule, alerts.StateFiring)
	s.began(a, 45*time.Minute, 44*time.Minute)
	wantEvidence(t, a, "log lines name its failures since then: 22, the first at 11:16:00Z")

	s = begun("hammered-and-failing")
	s.hammers("a/box", "open", 45*time.Minute)
	s.past("app", backend.MetricWorkspaceEvicted, "a", 1, 2*time.Minute, 40*time.Minute, 0)
	s.began(s.look().want("hammered-and-failing", alerts.StateFiring), 45*time.Minute, 40*time.Minute)

	s = begun("misclassified-transient")
	s.reads("a/box", reading{state: "open", err: "WorkspaceFailedError: ref schemaVersion 4 is outside the supported range 1-3", attempt: time.Second, success: 45 * time.Minute})
	s.past("app", backend.MetricWorkspaceFailed, "a", 1, 2*time.Minute, 40*time.Minute, 0)
	s.began(s.look().want("misclassified-transient", alerts.StateFiring), 45*time.Minute, 40*time.Minute)

	s = begun(failedRule) // the log is read a poll later than the registry
	s.hammers("a/box", "failed", 45*time.Minute)
	s.look().want(failedRule, alerts.StatePending)
	s.pass(5 * time.Second)
	s.past("app", backend.MetricWorkspaceFailed, "a", 1, 2*time.Minute, 40*time.Minute, 0)
	s.look().want(failedRule, alerts.StateFiring)
}

func TestLogLinesThatMayBeOfAnotherWorkspaceProveNothing(t *testing.T) {
	s := begin(t, failedRule)
	s.source("app", backend.InputEvictionLogs)
	s.hammers("a/box", "failed", 45*time.Minute)
	s.reads("a/other", reading{state: "open", attempt: time.Second, success: time.Second})
	s.hammers("b/box", "failed", 0) // never worked, as far as is known
	s.edit("b/box", func(w *backend.Workspace) { w.LastSuccessAt = backend.Unknown[time.Time]() })
	s.past("app", backend.MetricWorkspaceFailed, "a", 1, 2*time.Minute, 40*time.Minute, 0)
	s.past("app", backend.MetricWorkspaceFailed, "b", 1, 2*time.Minute, 40*time.Minute, 0)
	if a := s.look().want(failedRule, alerts.StatePending); a.SubjectCount != 2 {
		t.Errorf("%d suspected", a.SubjectCount)
	}
	s.past("app", backend.MetricWorkspaceFailed, "a", 1, 2*time.Minute, 40*time.Minute, 0)
	for i := range s.counts { // the same, naming the workspace
		if c := &s.counts[i]; c.Series.Session == backend.MustID("a") {
			c.Series.Workspace = backend.MustID("box")
		}
	}
	s.after(5 * time.Second)
	if as := s.alerts(failedRule); len(as) != 1 || as[0].State != alerts.StateFiring || as[0].Subjects[0].State != alerts.StateFiring || as[0].Subjects[1].State != alerts.StatePending {
		t.Errorf("want a/box firing and b/box suspected:\n%s", summary(s.board))
	}
}

// A storm that dips and comes back while its alert is kept firing is one storm, with the onset that it began with; one that
// was over is another.
func TestAStormThatDipsKeepsItsOnset(t *testing.T) {
	s := beginMetrics(t)
	s.evicts(0, 0)
	s.look()
	s.every(5*time.Second, 3*time.Minute, func() { s.evicts(10, 0) })
	first := s.want(stormRule, alerts.StateFiring).Bounds
	if age := s.wall.Sub(first.Latest); first.Latest.IsZero() || age < 2*time.Minute {
		t.Fatalf("began %s ago", age)
	}
	dip := func(quiet time.Duration) alerts.Bounds {
		s.pass(5 * time.Second)
		s.evicts(0, 5000) // retries recover all of it
		if a := s.look().want(stormRule, alerts.StateFiring); !strings.Contains(a.Why.String(), "no longer true") {
			t.Fatalf("it does not dip: %s", a.Why)
		}
		s.every(5*time.Second, quiet, func() { s.evicts(0, 0) })
		s.evicts(50_000, 0)
		b := s.look().want(stormRule, alerts.StateFiring).Bounds
		s.every(5*time.Second, 2*time.Minute, func() { s.evicts(10, 0) })
		if later := s.want(stormRule, alerts.StateFiring).Bounds; later != b {
			t.Errorf("the onset moves from %v to %v", b, later)
		}
		return b
	}
	if b := dip(40 * time.Second); b != first {
		t.Errorf("after a dip it began at %v, before at %v", b, first)
	}
	s.every(5*time.Second, 7*time.Minute, func() { s.evicts(0, 0) })
	s.quiet(stormRule)
	s.evicts(1000, 0)
	if b := s.after(5*time.Second).want(stormRule, alerts.StateFiring).Bounds; !b.Latest.After(first.Latest.Add(5 * time.Minute)) {
		t.Errorf("another storm has the onset of the one before: %v", b)
	}
}
