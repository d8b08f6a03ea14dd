package rules

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestADestroyOfOursEndsTheAlert: a fault that a probe found is gone with its container once Sandglass destroyed that and verified it,
// whether its platform lists its end (killed, 137) or no container any more. What fails later is a fault of its own.
func TestADestroyOfOursEndsTheAlert(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]func(*backend.Sandbox){
		"killed": func(b *backend.Sandbox) {
			b.Class, b.Reported, b.ExitCode, b.FinishedAt = backend.SandboxExited, backend.Text("stopped"), backend.Known(137), backend.Known(b.ReadAt)
		},
		"gone": func(b *backend.Sandbox) {
			b.Class, b.Reported, b.Unlisted, b.StartedAt = backend.SandboxUnknown, backend.Text("unknown"), true, backend.Unknown[time.Time]()
		},
	} {
		s := beginWorkers(t)
		observe := func(vs []backend.Verdict, edit func(*backend.Sandbox)) int {
			s.pass(10 * time.Second)
			s.workersBox(func(b *backend.Sandbox) {
				o, _ := b.Observed.Get()
				for i := range vs {
					vs[i].At = s.wall
				}
				if edit != nil {
					edit(b)
				}
				*b = *b.WithObserved(backend.MergeVerdicts(o.Verdicts, vs))
			})
			s.every(10*time.Second, time.Minute, func() { s.workersBox(nil) })
			n := 0
			for _, a := range s.look().alerts(contradictionRule) {
				if a.State == alerts.StateFiring || a.State == alerts.StatePending {
					n++
				}
			}
			return n
		}
		failed := func() []backend.Verdict {
			return []backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: backend.FailServerDir}}
		}
		s.agentSays(notStarted("sandbox-demo", "ls"))
		if n := observe(failed(), nil); n != 1 {
			t.Fatalf("%s: %d alerts of the fault", name, n)
		}
		if n := observe([]backend.Verdict{backend.DestroyedVerdict(s.wall.Add(10*time.Second), backend.Text("destroyed by eve"))}, after); n != 0 {
			t.Errorf("%s: %d alerts after the destroy", name, n)
		}
		again := func(b *backend.Sandbox) {
			b.Class, b.Reported, b.Unlisted = backend.SandboxRunning, backend.Text("running"), false
		}
		if n := observe(failed(), again); n != 1 {
			t.Errorf("%s: %d alerts of the next fault", name, n)
		}
	}
}

// TestARepairInVainIsEvidence: the alert tells of it beside what fails.
func TestARepairInVainIsEvidence(t *testing.T) {
	t.Parallel()
	s := beginWorkers(t)
	s.pass(10 * time.Second)
	s.workersBox(func(b *backend.Sandbox) {
		*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: backend.FailWorkDirMissing, At: s.wall, Unrepaired: s.wall}})
	})
	if all := s.look().alerts(contradictionRule); len(all) != 1 || !strings.Contains(told(all[0]), "its working directory is missing; a repair at ") {
		t.Errorf("%d alerts: %s", len(all), told(all[0]))
	}
}

// TestAContainerThatEndedTakesWhatFailedInItAlong: whoever stopped it, behind a Worker its next start is on a new disk; one that Docker
// stopped keeps its files, and what fails in them.
func TestAContainerThatEndedTakesWhatFailedInItAlong(t *testing.T) {
	t.Parallel()
	for provider, want := range map[string]int{"cloudflare": 0, "docker": 1} {
		s := beginWorkers(t)
		var verdicts []backend.Verdict
		look := func(edit func(*backend.Sandbox)) int {
			s.pass(10 * time.Second)
			s.workersBox(func(b *backend.Sandbox) {
				b.Provider = backend.Clean(provider, 40)
				if edit != nil {
					edit(b)
				}
				*b = *b.WithObserved(verdicts)
			})
			n := 0
			for _, a := range s.look().alerts(contradictionRule) {
				if a.State == alerts.StateFiring || a.State == alerts.StatePending {
					n++
				}
			}
			return n
		}
		look(nil)
		verdicts = []backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: backend.FailWorkDirMissing, At: s.wall}}
		if n := look(nil); n != 1 {
			t.Fatalf("%s: %d alerts of the fault", provider, n)
		}
		if n := look(func(b *backend.Sandbox) {
			b.Class, b.Reported, b.ExitCode, b.FinishedAt = backend.SandboxExited, backend.Text("stopped"), backend.Known(0), backend.Known(s.wall)
		}); n != want {
			t.Errorf("%s: %d alerts after its end, want %d", provider, n, want)
		}
	}
}
