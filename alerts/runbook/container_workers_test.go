package runbook

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestAContainerThatWeDestroyed: its page names the destroy, and neither memory, a fault nor a session that nothing names.
func TestAContainerThatWeDestroyed(t *testing.T) {
	t.Parallel()
	for _, destroyed := range []bool{true, false} {
		w := world{sandboxes: []*backend.Sandbox{box("b", "", func(b *backend.Sandbox) {
			b.Provider, b.Session, b.Class, b.Reported = backend.Text("cloudflare"), backend.ID{}, backend.SandboxExited, backend.Text("stopped")
			b.ExitCode, b.StartedAt, b.FinishedAt = backend.Known(137), backend.Known(now.Add(-time.Hour)), backend.Known(now.Add(-time.Minute))
			if destroyed {
				*b = *b.WithObserved([]backend.Verdict{backend.DestroyedVerdict(now.Add(-time.Minute), backend.Text("destroyed by eve"))})
			}
		})}}
		d := w.diagnose("contradiction", sbKey("b"))
		all := d.Conclusion.String()
		for _, x := range append(d.Do, d.Dont...) {
			all += "\n" + x.String()
		}
		for _, c := range d.Checks {
			all += "\n" + c.Question.String() + " " + c.Fact.String()
		}
		if strings.Contains(all, "destroyed by eve through Sandglass at") != destroyed || strings.Contains(all, "It was destroyed by eve through Sandglass at") != destroyed || strings.Contains(all, "memory") == destroyed || strings.Contains(all, "while its session runs") {
			t.Errorf("destroyed %v:\n%s", destroyed, all)
		}
	}
}

// TestAContainerThatSleepsIsDown: it has lost its files, so that its page does not rule out that it is down while its session runs.
func TestAContainerThatSleepsIsDown(t *testing.T) {
	t.Parallel()
	w := world{sessions: []*backend.Session{session("s", true)}, sandboxes: []*backend.Sandbox{box("b", "s", func(b *backend.Sandbox) {
		b.Provider, b.Class, b.Reported, b.ExitCode = backend.Text("cloudflare"), backend.SandboxExited, backend.Text("stopped"), backend.Known(0)
	})}}
	for _, c := range w.diagnose("contradiction", sbKey("b")).Checks {
		if c.Name == "down" && (c.Mark != Confirmed || !strings.Contains(c.Question.String(), "while its session runs")) {
			t.Errorf("%s %s %s", c.Mark, c.Question, c.Fact)
		}
	}
}

// TestAFreshContainerIsNotConfirmedByItsAlert: what was found before its restart or its end is not known since. The alert that says so
// confirms nothing, and the first step is the probe that ends it.
func TestAFreshContainerIsNotConfirmedByItsAlert(t *testing.T) {
	t.Parallel()
	for _, kind := range []backend.FailureKind{backend.FailWorkDirMissing, backend.FailServerDir} {
		for _, over := range []bool{false, true} {
			b := box("b", "", func(b *backend.Sandbox) {
				b.Provider, b.StartedAt, b.CreatedAt = backend.Text("cloudflare"), backend.Known(now.Add(-time.Minute)), backend.NotApplicable[time.Time]()
				if over {
					b.Class, b.Reported, b.ExitCode, b.FinishedAt = backend.SandboxExited, backend.Text("stopped"), backend.Known(0), backend.Known(now.Add(-time.Second))
				}
				*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: kind, What: backend.Text("as it was found"), At: now.Add(-2 * time.Minute)}})
			})
			cause := backend.Literal("it was started again, and not verified since that its working directory is missing")
			if over {
				cause = "it ended, and was not verified since that its working directory is missing"
			}
			w := world{sandboxes: []*backend.Sandbox{b}, board: saidOf(b, alerts.StateFiring, cause)}
			d := w.diagnose("contradiction", b.Key)
			for _, c := range d.Checks {
				if c.Mark == Confirmed && c.Name != AlertCheck && c.Name != "down" || c.Name == "missing" && !strings.Contains(c.Fact.String(), "as it was found") {
					t.Errorf("%s, over %v: %s: %s %s", kind, over, c.Mark, c.Question, c.Fact)
				}
			}
			if !over && (len(d.Do) == 0 || d.Do[0].String() != "Probe it: sandglass probe b" || !strings.Contains(d.Conclusion.String(), "since its restart at ")) {
				t.Errorf("%s: %s %v", kind, d.Conclusion, d.Do)
			}
		}
	}
}

// TestARepairThatDidNotHelpIsNotAdvisedAgain: the page tells of it, until commands run again.
func TestARepairThatDidNotHelpIsNotAdvisedAgain(t *testing.T) {
	t.Parallel()
	for _, kind := range []backend.FailureKind{backend.FailWorkDirMissing, backend.FailWorkDirDangling} {
		for tried, want := range map[time.Time]bool{{}: false, now.Add(-time.Minute): true, now.Add(-time.Hour): false} {
			w := world{sandboxes: []*backend.Sandbox{box("b", "", func(b *backend.Sandbox) {
				b.Provider = backend.Text("cloudflare")
				*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: kind, At: now, LastOK: now.Add(-30 * time.Minute), Unrepaired: tried}})
			})}}
			d := w.diagnose("contradiction", sbKey("b"))
			if advised := anyHas(d.Do, "sandglass repair b"); advised == want || strings.Contains(d.Conclusion.String(), "did not help") != want {
				t.Errorf("%s, tried at %s: %s %v", kind, tried, d.Conclusion, d.Do)
			}
		}
	}
}

// TestAProbeBeforeARestartIsTold: the page about files does not say that no probe was made.
func TestAProbeBeforeARestartIsTold(t *testing.T) {
	t.Parallel()
	w := world{sandboxes: []*backend.Sandbox{box("b", "s", func(b *backend.Sandbox) {
		b.Provider, b.StartedAt = backend.Text("cloudflare"), backend.Known(now.Add(-time.Minute))
		*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: backend.FailWorkDirMissing, What: backend.Text("/workspace is missing"), At: now.Add(-2 * time.Minute)}})
	})}}
	for _, c := range w.diagnose("2", sbKey("b")).Checks {
		if c.Name == "emptied" && !strings.Contains(c.Fact.String(), "before its newest start, a probe of b found: /workspace is missing") {
			t.Errorf("%s: %s", c.Mark, c.Fact)
		}
	}
}

// TestACloudflareSandboxThatIsKeptAlive: once its session is over, the page says that only a destroy ends it; that is no purpose.
func TestACloudflareSandboxThatIsKeptAlive(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{"true": true, "false": false} {
		over := session("s1", false)
		over.Status, over.ListedRunning = backend.Text("completed"), backend.Known(false)
		w := healthy("s1", "box")
		w.Provider, w.Extra = backend.Text("cloudflare-sandbox"), []backend.Field{{Name: backend.Text("keepAlive"), Value: backend.Clean(value, 10)}}
		d := world{sessions: []*backend.Session{over}, workspaces: []*backend.Workspace{w}, sandboxes: []*backend.Sandbox{box("b", "s1", func(b *backend.Sandbox) {
			b.Provider = backend.Text("cloudflare")
		})}}.diagnose("4", sbKey("b"))
		if got := strings.Contains(d.Conclusion.String(), "only a destroy ends it"); got != want || d.is("kept") || (d.Mark("awaiting-sleep") == RuledOut) != want {
			t.Errorf("keepAlive %s: %s, kept %s, waits %s", value, d.Conclusion, d.Mark("kept"), d.Mark("awaiting-sleep"))
		}
	}
}
