package backend_test

import (
	"testing"
	"time"

	"sandglass/backend"
)

// TestADestroyEndsWhatWasObserved: what was found before a verified destroy is gone with its times, a later look counts, and the end of the
// container that it destroyed is no fault; that of a later container is.
func TestADestroyEndsWhatWasObserved(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	failed := backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: backend.FailServerDir, At: at.Add(-time.Minute)}
	list := backend.Verdict{Plane: backend.PlaneList, Outcome: backend.OutcomeFailed, At: at.Add(-time.Minute)}
	vs := backend.MergeVerdicts([]backend.Verdict{failed, list}, []backend.Verdict{backend.DestroyedVerdict(at)}, []backend.Verdict{failed})
	if o := (backend.Observation{Verdicts: vs}); o.Tried() || len(o.Failed()) > 0 || !o.Destroyed().Equal(at) || !vs[0].LastFailed.IsZero() {
		t.Errorf("%+v", vs)
	}
	vs = backend.MergeVerdicts(vs, []backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, At: at.Add(time.Minute)}})
	if o := (backend.Observation{Verdicts: vs}); !o.Works() || !o.Destroyed().Equal(at) {
		t.Errorf("%+v", vs)
	}
	b := &backend.Sandbox{Provider: backend.Text("cloudflare"), Class: backend.SandboxExited, ExitCode: backend.Known(137), StartedAt: backend.Known(at.Add(-time.Hour)), FinishedAt: backend.Known(at.Add(time.Second))}
	if !b.FailedEnd() || b.WithObserved(vs).FailedEnd() {
		t.Errorf("a kill is a fault but for our own: %v, %v", b.FailedEnd(), b.WithObserved(vs).FailedEnd())
	}
	if b.StartedAt = backend.Known(at.Add(time.Minute)); !b.WithObserved(vs).FailedEnd() {
		t.Error("a later container was killed, which nobody here did")
	}
}
