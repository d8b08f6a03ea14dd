package rules

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/backend"
)

// TestContradictionsOfOneCauseAreOneIncident: containers that went down for different causes, or at different times, stay
// alerts of their own.
func TestContradictionsOfOneCauseAreOneIncident(t *testing.T) {
	type end func(s *story, i int) func(*backend.Sandbox)
	exits := func(code int, apart time.Duration) end {
		return func(s *story, i int) func(*backend.Sandbox) {
			return crashed(s, code, time.Hour-time.Duration(i)*apart)
		}
	}
	for name, c := range map[string]struct {
		ends  end
		cause string // of the incident; empty: none
		of    int
	}{
		"different causes": {ends: func(s *story, i int) func(*backend.Sandbox) {
			return func(b *backend.Sandbox) {
				crashed(s, i+1, time.Hour)(b)
				b.OOMKilled = backend.Known(i == 0)
			}
		}},
		"one cause at once":      {exits(5, time.Minute), "its container ended with exit code 5", 6},
		"one cause over an hour": {ends: exits(5, 11*time.Minute)},
		"two codes, one often":   {func(s *story, i int) func(*backend.Sandbox) { return crashed(s, 5+i/5, time.Hour) }, "exit code 5", 5},
		"one before the others": {func(s *story, i int) func(*backend.Sandbox) {
			return crashed(s, 5, map[bool]time.Duration{true: 2 * time.Hour, false: time.Hour}[i == 0])
		}, "exit code 5", 5},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, contradictionRule)
			s.source("docker", backend.InputContainers)
			for i := range 6 {
				id := fmt.Sprintf("s%d", i)
				s.session(id, func(x *backend.Session) { x.Running, x.Status = backend.Known(true), backend.Text("running") })
				s.box("c"+id, id, c.ends(s, i))
			}
			s.look()
			s.pass(time.Minute)
			s.look()
			incidents, hidden, first := 0, 0, alerts.Bounds{}
			for _, a := range s.alerts(contradictionRule) {
				switch {
				case len(a.Subjects) > 1:
					incidents++
					first = a.Bounds
					if a.SubjectCount != c.of || !strings.Contains(a.Cause.String(), c.cause) {
						t.Errorf("%d subjects: %s", a.SubjectCount, a.Cause)
					}
					if at := noon.Add(-time.Hour); !a.Bounds.Latest.Equal(at) || !a.Bounds.Earliest.Equal(at) {
						t.Errorf("it began %v, the first of its members at %s", a.Bounds, at)
					}
				case a.Hidden():
					hidden++
				}
			}
			if incidents != min(c.of, 1) || hidden != c.of {
				t.Fatalf("%d incidents, %d hidden behind them, want %d", incidents, hidden, c.of)
			}
			for range 3 {
				s.pass(30 * time.Second)
				s.look()
				for _, a := range s.alerts(contradictionRule) {
					if len(a.Subjects) > 1 && a.Bounds != first {
						t.Errorf("its onset moved from %v to %v", first, a.Bounds)
					}
				}
			}
		})
	}
}

// TestAGroupIsAsOldAsItsFirst: the alert about many sandboxes holds since the first of theirs, lists each since its own alert holds, and its page answers
// what the line of one of them tells.
func TestAGroupIsAsOldAsItsFirst(t *testing.T) {
	t.Parallel()
	s := beginWorkers(t)
	model := *s.sandboxes[backend.Key{Kind: backend.KindSandbox, Source: "workers", ID: backend.MustID("demo")}]
	for _, id := range []string{"a", "b", "c", "d", "e", "f"} {
		b := model
		b.Key.ID = backend.MustID(id)
		b.Name, b.BridgeID = b.Key.Safe(), b.Key.ID
		s.sandboxes[b.Key] = &b
		s.delta.Changed = append(s.delta.Changed, b.Key)
		r := notStarted("sandbox-"+id, "ls")
		r.Changed, r.ChangedAt = backend.Text("rm -rf /workspace"), s.wall.Add(-10*time.Second)
		s.agentSays(r)
		s.look()
		s.pass(7 * time.Second)
	}
	s.look()
	own := map[backend.Key]time.Time{}
	var group *alerts.Alert
	for _, a := range s.alerts(contradictionRule) {
		if a.SubjectCount > 1 {
			group = a
		} else {
			own[a.Subjects[0].Key] = a.Since
		}
	}
	if group == nil || len(own) != 6 {
		t.Fatalf("%v beside %d alerts", group, len(own))
	}
	first := group.Subjects[0].Since
	for _, x := range group.Subjects {
		if !x.Since.Equal(own[x.Key]) {
			t.Errorf("%s since %s, its own alert since %s", x.Key.Safe(), x.Since, own[x.Key])
		}
		if x.Since.Before(first) {
			first = x.Since
		}
	}
	if last := own[group.Subjects[5].Key]; !group.Since.Equal(first) || !last.After(first) {
		t.Errorf("it holds since %s, its first since %s, its last since %s", group.Since, first, last)
	}
	d := runbook.Case{State: s.last, Board: s.board, Subject: group.Subjects[0].Key, Alert: group.ID}.Diagnose("contradiction")
	if i := slices.IndexFunc(d.Checks, func(c runbook.Check) bool { return c.Name == "commands" }); i < 0 || d.Checks[i].Mark != runbook.Confirmed || !strings.Contains(d.Checks[i].Fact.String(), "in session sandbox-a could not begin since") {
		t.Errorf("whether commands fail: %+v", d.Checks)
	}
}
