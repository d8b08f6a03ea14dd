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
	vs := backend.MergeVerdicts([]backend.Verdict{failed, list}, []backend.Verdict{backend.DestroyedVerdict(at, backend.Text("destroyed by eve"))}, []backend.Verdict{failed})
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

// TestADestroyIsToldWithItsFiles: a container that Sandglass ended lost its files, and so it is told until another end of it; no guess of
// memory stands beside it, and the next container begins on a new disk.
func TestADestroyIsToldWithItsFiles(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	b := &backend.Sandbox{Provider: backend.Text("cloudflare"), Class: backend.SandboxExited, StartedAt: backend.Known(at.Add(-time.Hour))}
	if lost := b.LostHere(); !lost.IsEmpty() || !b.EmptySince().IsZero() {
		t.Errorf("nothing was done: %q, %v", lost, b.EmptySince())
	}
	b = b.WithObserved([]backend.Verdict{backend.DestroyedVerdict(at, backend.Text("destroyed by eve"))})
	if lost := b.LostHere().String(); lost != "destroyed by eve through Sandglass at 2026-11-28T12:00:00Z; its files are gone" || !b.EmptySince().IsZero() {
		t.Errorf("%q, %v", lost, b.EmptySince())
	}
	for after, ours := range map[time.Duration]bool{-time.Minute: false, time.Second: true, time.Hour: false} {
		e := backend.Event{Name: backend.EventExit, At: at.Add(after), Text: backend.Textf("box: its container ended with exit code %s", backend.ExitText(137))}
		e.ToldOf(b)
		want := "box: its container ended with exit code 137 (killed, perhaps for memory)"
		if ours {
			want = "box: its container ended with exit code 137: destroyed by eve through Sandglass at 12:00:00Z"
		}
		if e.Text.String() != want {
			t.Errorf("an end %v after it: %q", after, e.Text)
		}
	}
	b.StartedAt, b.Class = backend.Known(at.Add(time.Minute)), backend.SandboxRunning
	if lost := b.LostHere(); lost.IsEmpty() || !b.EmptySince().Equal(at.Add(time.Minute)) {
		t.Errorf("its next container: %q, %v", lost, b.EmptySince())
	}
	b.StartedAt, b.FreshAt, b.FreshAfter = backend.Known(at.Add(2*time.Hour)), at.Add(2*time.Hour), at.Add(time.Hour)
	if lost := b.LostHere(); !lost.IsEmpty() || !b.EmptySince().Equal(at.Add(2*time.Hour)) {
		t.Errorf("one that started again by itself: %q, %v", lost, b.EmptySince())
	}
}

// TestTheNewestEndIsTheOneThatIsTold, in whatever order they come.
func TestTheNewestEndIsTheOneThatIsTold(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	first, second := backend.DestroyedVerdict(at, backend.Text("destroyed by eve")), backend.DestroyedVerdict(at.Add(time.Hour), backend.Text("stopped by ann"))
	for _, all := range [][]backend.Verdict{{first, second}, {second, first}} {
		o := backend.Observation{Verdicts: backend.MergeVerdicts(all[:1], all[1:])}
		if o.DestroyedHow().String() != "stopped by ann" || !o.Destroyed().Equal(at.Add(time.Hour)) {
			t.Errorf("%v at %v", o.DestroyedHow(), o.Destroyed())
		}
	}
}
