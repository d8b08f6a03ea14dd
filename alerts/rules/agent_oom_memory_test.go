package rules

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// uses reads the memory of a process, in MB; an empty session names none.
func (s *story) uses(source, labels, session string, mb int64) {
	p := backend.Process{Source: source, Name: "process_resident_memory_bytes", Labels: backend.Clean(labels, 80)}
	if session != "" {
		p.Session = backend.MustID(session)
	}
	s.memory = append(s.memory, backend.Memory{Of: p, At: s.wall, Bytes: mb * 1e6, Limit: backend.Known[int64](2e9)})
}

// trendOf is the evidence about memory, which comes once at most.
func trendOf(t *testing.T, a *alerts.Alert) alerts.Evidence {
	t.Helper()
	var found []alerts.Evidence
	for _, e := range a.Evidence {
		if strings.HasPrefix(e.Text.String(), "memory before") {
			found = append(found, e)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d trends of memory in\n%s", len(found), evidence(a))
	}
	return found[0]
}

func TestAgentOOMShowsTheMemoryBefore(t *testing.T) {
	s := beginAgent(t)
	s.session("a", nil)
	mb := int64(1700)
	s.every(time.Minute, 20*time.Minute, func() {
		s.lines(backend.MetricAgentOOM, "", 0, "")
		mb += 10
		s.uses("prom", `pod="a"`, "", mb)
		s.uses("prom", `pod="b"`, "", 900)
	})
	s.quiet(agentRule)
	s.pass(10 * time.Second)
	s.lines(backend.MetricAgentOOM, "a", 1, resetLine)
	a := s.look().want(agentRule, alerts.StateFiring)
	e := trendOf(t, a)
	want := `memory before: grew 200 MB in 20m, to 1.9 of 2.0 GB (of 2 processes the one that fits best: process_resident_memory_bytes pod="a")`
	if e.Text.String() != strings.Replace(want, "200 MB in 20m", "190 MB in 19m", 1) && e.Text.String() != want {
		t.Errorf("trend %q", e.Text)
	}
	if e.Source != "prom" || len(e.Trend) < 15 || e.Trend[0] >= e.Trend[len(e.Trend)-1] || e.TrendSpan < 19*time.Minute || e.Value.Or(0) != 1.9e9 {
		t.Errorf("evidence %+v", e)
	}
	if len(a.Trend) > 0 || a.Cause.String() != "the agent ran out of memory" {
		t.Errorf("cause %q, trend of the alert %v", a.Cause, a.Trend)
	}
	// What was kept does not change when the new process begins small, nor by a restart of the console.
	s.every(time.Minute, 3*time.Minute, func() {
		s.lines(backend.MetricAgentOOM, "", 0, "")
		s.uses("prom", `pod="a"`, "", 200)
	})
	if after := trendOf(t, s.want(agentRule, alerts.StateFiring)); after.Text != e.Text || after.At != e.At {
		t.Errorf("the trend became %q", after.Text)
	}
	s.restart()
	s.lines(backend.MetricAgentOOM, "", 0, "")
	if after := trendOf(t, s.after(time.Second).want(agentRule, alerts.StateFiring)); after.Text != e.Text || len(after.Trend) != len(e.Trend) {
		t.Errorf("after a restart the trend is %q, %v", after.Text, after.Trend)
	}
}

func TestAgentOOMByMemoryThatJumped(t *testing.T) {
	s := beginAgent(t)
	s.session("a", nil)
	s.every(time.Minute, 10*time.Minute, func() {
		s.lines(backend.MetricAgentOOM, "", 0, "")
		s.uses("app", "", "a", 300)  // the log names the session
		s.uses("prom", "", "", 1900) // of another process
	})
	s.pass(30 * time.Second)
	s.uses("app", "", "a", 1800)
	s.look().quiet(agentRule)
	s.pass(time.Second)
	s.lines(backend.MetricAgentOOM, "a", 1, resetLine)
	a := s.look().want(agentRule, alerts.StateFiring)
	if a.Cause.String() != "the agent ran out of memory; the facts support: one large write or search" {
		t.Errorf("cause %q", a.Cause)
	}
	if text := trendOf(t, a).Text.String(); !strings.HasPrefix(text, "memory before: grew 1.5 GB in ") || !strings.HasSuffix(text, "most of it in the last 30s, to 1.8 of 2.0 GB") {
		t.Errorf("trend %q", text)
	}
}

// A server that knows the past may answer a poll later than the log.
func TestAgentOOMTakesUpMemoryThatIsReadLater(t *testing.T) {
	s := beginAgent(t)
	s.counted("app", backend.MetricAgentOOM, 1, func(c *backend.Count) { c.At, c.Sample = s.wall.Add(-10*time.Minute), backend.Text(resetLine) })
	a := s.look().want(agentRule, alerts.StateFiring)
	if strings.Contains(evidence(a), "memory before") {
		t.Fatalf("nothing was read yet:\n%s", evidence(a))
	}
	s.pass(5 * time.Second)
	now := s.wall
	for i := range 40 {
		s.wall = now.Add(time.Duration(i-40) * time.Minute)
		s.uses("prom", "", "", []int64{int64(1000 + 30*i), 150}[i/31]) // it began anew ten minutes ago
	}
	s.wall = now
	s.lines(backend.MetricAgentOOM, "", 0, "")
	b := s.look().want(agentRule, alerts.StateFiring)
	if text := trendOf(t, b).Text.String(); !strings.Contains(text, "to 1.9 of 2.0 GB") || b.ID != a.ID || b.Cause != a.Cause {
		t.Errorf("trend %q, cause %q", text, b.Cause)
	}
}

func TestAgentOOMWithoutMemoryOfItsOwn(t *testing.T) {
	s := beginAgent(t)
	h := s.source("prom-us", backend.InputEvictions)
	h.About = []string{"another"}
	s.uses("prom-us", "", "", 1900)
	s.lines(backend.MetricAgentOOM, "", 1, resetLine)
	if a := s.look().want(agentRule, alerts.StateFiring); strings.Contains(evidence(a), "memory before") {
		t.Errorf("memory of a source that speaks about another:\n%s", evidence(a))
	}
}

func TestAgentOOMByAStartAfterFullMemory(t *testing.T) {
	for name, c := range map[string]struct {
		from, step, swing int64
		text              string // empty: it does not fire
	}{
		"94 % and rising":           {1000, 44, 0, "grew 836 MB in 19m, to 1.9 of 2.0 GB"},
		"from 92 to 97 %":           {1840, 5, 0, "grew 95 MB in 19m, to 1.9 of 2.0 GB"},
		"89 %, past 90 a minute on": {700, 54, 0, "grew 1.0 GB in 19m, to 1.8 of 2.0 GB"},
		"94 % all the time":         {1880, 0, 0, ""},
		"swings near the limit":     {1880, 0, 60, ""},
		"rising, and half full":     {500, 25, 0, ""},
	} {
		s := beginAgent(t)
		mb := c.from
		s.every(time.Minute, 20*time.Minute, func() {
			s.lines(backend.MetricAgentOOM, "", 0, "")
			mb, c.swing = mb+c.step+c.swing, -c.swing
			s.uses("prom", "", "", mb)
		})
		s.quiet(agentRule)
		s.pass(time.Minute)
		s.lines(backend.MetricAgentOOM, "", 0, "")
		s.uses("prom", "", "", 150)
		s.happened = append(s.happened, backend.Event{Kind: backend.EventChange, At: s.wall, Source: "prom", Name: "process-restarted", Text: backend.Text("process restarted")})
		s.look()
		if c.text == "" {
			s.quiet(agentRule)
			continue
		}
		a := s.want(agentRule, alerts.StateFiring)
		if a.Severity != alerts.SeverityWarning || a.Cause.String() != "the agent restarted with its memory nearly full and growing" {
			t.Errorf("%s: %s, %s", name, a.Severity, a.Cause)
		}
		if text := trendOf(t, a).Text.String(); !strings.HasSuffix(text, c.text) {
			t.Errorf("%s: trend %q", name, text)
		}
	}
}
