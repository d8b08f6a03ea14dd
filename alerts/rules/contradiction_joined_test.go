package rules

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// TestNoOnsetBeforeItsContainer: what ran in the container before tells nothing of when the trouble of this one began.
func TestNoOnsetBeforeItsContainer(t *testing.T) {
	t.Parallel()
	s := beginWorkers(t)
	started := s.wall.Add(-8 * time.Second)
	s.workersBox(func(b *backend.Sandbox) { b.StartedAt = backend.Known(started) })
	r := notStarted("sandbox-demo", "ls")
	r.GoodAt = s.wall.Add(-time.Minute)
	s.agentSays(r)
	a := s.look().want(contradictionRule, alerts.StatePending)
	if said := told(a); !a.Bounds.Earliest.Equal(started) || strings.Contains(said, "ran in it before") {
		t.Errorf("it began after %s, want %s: %s", a.Bounds.Earliest, started, said)
	}
}

// TestAnOlderLineDropsNoSuccess: an older line that another run reads is before the newest command that ran: it is of another failure.
func TestAnOlderLineDropsNoSuccess(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 28, 15, 0, 0, 0, time.UTC)
	good := at.Add(-10 * time.Second)
	a := agentOnset{First: at, Good: good}
	a.join(&backend.Report{At: at.Add(-20 * time.Second), GoodAt: at.Add(-40 * time.Second)}, time.Time{})
	if !a.Good.Equal(good) || !a.First.Equal(at) {
		t.Errorf("began at %s, good until %s, want %s and %s", a.First, a.Good, at, good)
	}
	if a.join(&backend.Report{At: at.Add(-5 * time.Second)}, time.Time{}); !a.Good.Equal(good) || !a.First.Equal(at.Add(-5*time.Second)) {
		t.Errorf("one after the command that ran: began at %s, good until %s", a.First, a.Good)
	}
}

// TestNoOnsetBeforeACommandThatRan: what failed before a command of its session that ran is of another failure, whether a line of that command or that of
// the next failure tells of it; a later run knows it too where it reads that command's line no more.
func TestNoOnsetBeforeACommandThatRan(t *testing.T) {
	t.Parallel()
	for _, told := range []bool{true, false} {
		s := beginWorkers(t)
		first := s.wall.Add(-3 * time.Minute)
		good, failed := first.Add(time.Minute), first.Add(2*time.Minute)
		line := func(kind backend.ReportKind, at, good time.Time) backend.Report {
			x := notStarted("sandbox-demo", "ls")
			x.Kind, x.At, x.GoodAt, x.Source, x.Sandbox = kind, at, good, "agent-log", backend.MustID("demo")
			return x
		}
		read := []backend.Report{line(backend.ReportNotStarted, first, time.Time{}), line(backend.ReportNotStarted, failed, good)}
		if told {
			read = []backend.Report{read[0], line(backend.ReportCommandRan, good, time.Time{}), line(backend.ReportNotStarted, failed, time.Time{})}
		}
		for run := range 2 {
			s.health("agent-log", func(h *fleet.SourceHealth) { h.Reports = read })
			s.every(10*time.Second, time.Minute, func() { s.workersBox(nil) })
			all := s.look().alerts(contradictionRule)
			if len(all) != 1 || !all[0].Bounds.Latest.Equal(failed) || !told && !all[0].Bounds.Earliest.Equal(good) || !strings.Contains(toldBy(all), "could not begin since "+failed.Format("15:04:05")) || !strings.Contains(toldBy(all), "log: 1 command in") {
				t.Errorf("told %v, run %d: want it between %s and %s: %+v%s", told, run, good, failed, all, toldBy(all))
			}
			s.restart()
			if !told {
				read = []backend.Report{read[0], line(backend.ReportNotStarted, failed, time.Time{})}
			}
		}
	}
}

func toldBy(all []*alerts.Alert) (out string) {
	for _, a := range all {
		out += told(a)
	}
	return out
}

// TestALineWithoutASessionIsOfItsSandbox and ends with a later command without one.
func TestALineWithoutASessionIsOfItsSandbox(t *testing.T) {
	t.Parallel()
	s := beginWorkers(t)
	r := backend.Report{Kind: backend.ReportNotStarted, Source: "agent-log", At: s.wall, Sandbox: backend.MustID("demo"), Command: backend.Text("npm test")}
	s.health("agent-log", func(h *fleet.SourceHealth) { h.Reports = []backend.Report{r} })
	s.workersBox(nil)
	a := s.look().want(contradictionRule, alerts.StatePending)
	if said := told(a); !strings.Contains(said, "log: 1 command without a session could not begin since 12:00:00Z, none started: one cause, the newest: npm test") {
		t.Errorf("%s", said)
	}
	s.pass(10 * time.Second)
	ran := r
	ran.Kind, ran.At = backend.ReportCommandRan, s.wall
	s.health("agent-log", func(h *fleet.SourceHealth) { h.Reports = []backend.Report{r, ran} })
	s.workersBox(nil)
	s.look().quiet(contradictionRule)
}
