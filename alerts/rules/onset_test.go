package rules

import (
	"fmt"
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
	s := begin(t, stormRule)
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
