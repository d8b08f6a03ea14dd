package rules

import (
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// unread makes the registry one that was configured and has not answered yet: what it delivers is not known.
func (s *story) unread(kind string) {
	s.health("helix", func(h *fleet.SourceHealth) {
		h.Kind, h.Status, h.Inputs, h.LastOK = kind, fleet.StatusStarting, nil, time.Time{}
	})
}

func (s *story) answers() {
	s.health("helix", func(h *fleet.SourceHealth) {
		h.Status, h.Inputs = fleet.StatusOK, []backend.Input{backend.InputRegistry}
	})
}

// beginUnread has log lines and metrics that prove an alert of each rule, and a registry that was not read yet.
func beginUnread(t *testing.T, kind string, about ...string) (s *story, count func()) {
	s = begin(t, auditRule, stormRule, "agent-oom", "persist-failed")
	s.unread(kind)
	s.source("app", backend.InputRejections, backend.InputEvictionLogs).About = about
	s.source("prom", backend.InputEvictions).About = about
	return s, func() {
		s.rejects("c4f1", 100, 1, 200)
		s.counted("app", backend.MetricAgentOOM, 1, func(c *backend.Count) { c.Sample = backend.Text("exceededMemory") })
		s.counted("app", backend.MetricPersistFailed, 5, func(c *backend.Count) { c.Series.Session = backend.MustID("c4f1") })
		s.evicts(20, 1)
	}
}

func wantHome(t *testing.T, s *story, home string) {
	t.Helper()
	for _, rule := range []string{auditRule, stormRule, "agent-oom", "persist-failed"} {
		if a := s.want(rule, alerts.StateFiring); a.Source != home && !(home == "app" && rule == stormRule && a.Source == "prom") {
			t.Errorf("%s is about %s, want %s", rule, a.Source, home)
		}
	}
}

func TestNothingMovesWhenLogsAnswerBeforeTheRegistry(t *testing.T) {
	for name, c := range map[string]struct {
		kind  string
		about []string
	}{
		"a source of the registries' kind": {kind: "helix"},
		"a source that the log names":      {kind: "test", about: []string{"helix"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, count := beginUnread(t, c.kind, c.about...)
			s.every(5*time.Second, 2*time.Minute, count)
			if s.wantTransitions(""); len(s.board.Alerts) != 0 {
				t.Fatalf("whose sessions they are is not known yet:\n%s", summary(s.board))
			}
			s.answers()
			s.session("c4f1", nil)
			s.after(time.Second) // what was counted before is looked at though nothing new is
			wantHome(t, s, "helix")
			s.every(5*time.Second, time.Minute, count)
			wantHome(t, s, "helix")
			s.wantTransitions("firing firing firing firing")

			s.restart()
			s.unread(c.kind)
			s.every(5*time.Second, time.Minute, count)
			wantHome(t, s, "helix")
			s.answers()
			s.every(5*time.Second, time.Minute, count)
			wantHome(t, s, "helix")
			s.wantTransitions("firing firing firing firing")
		})
	}
}

func TestARegistryThatDoesNotAnswerHoldsNothingUp(t *testing.T) {
	for name, status := range map[string]fleet.SourceStatus{"down": fleet.StatusDown, "absent": fleet.StatusAbsent} {
		t.Run(name, func(t *testing.T) {
			s, count := beginUnread(t, "helix")
			s.every(5*time.Second, 2*time.Minute, count)
			s.health("helix", func(h *fleet.SourceHealth) { h.Status = status })
			s.after(time.Second)
			wantHome(t, s, "app")
		})
	}
}

func TestLogsAloneAreJudgedAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		kind  string
		about []string
	}{
		"no registry":                             {},
		"a source that lists nothing":             {kind: "docker"},
		"a registry that they do not speak about": {kind: "helix", about: []string{"elsewhere"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, count := beginUnread(t, c.kind, c.about...)
			if c.kind == "" {
				s.order = s.order[1:]
			}
			for range 26 { // a storm has to last a minute
				s.pass(5 * time.Second)
				count()
			}
			s.look()
			wantHome(t, s, "app")
		})
	}
}

func TestNotPublishedIsKeptWhileAnotherRegistryWasNotRead(t *testing.T) {
	s := begin(t, "registry-not-published")
	s.source("docker", backend.InputContainers)
	s.sandbox("x1", "c4f1", backend.SandboxRunning)
	s.health("helix", func(h *fleet.SourceHealth) { h.Registry, h.RegistrySince = backend.RegistryNoRoute, noon })
	other := s.source("other")
	other.Kind, other.Status = "helix", fleet.StatusDown
	s.look()
	s.every(10*time.Second, 10*time.Minute, nil).want("registry-not-published", alerts.StateFiring)
	s.restart()
	s.health("other", func(h *fleet.SourceHealth) { h.Status = fleet.StatusStarting })
	s.after(time.Second)
	s.health("other", func(h *fleet.SourceHealth) { h.Status = fleet.StatusDown })
	s.after(time.Second).want("registry-not-published", alerts.StateFiring)
	for _, e := range s.events {
		if e.Name == "resolved" {
			t.Error("nobody said that it is over")
		}
	}
}
