package fleet

import (
	"testing"
	"time"

	"sandglass/backend"
)

// TestAPassiveSuccessRefutesOnlyWhatItSaw: a directory that is there is not missing. That a command may not list it stays
// known until an action finds otherwise, or the sandbox is started again.
func TestAPassiveSuccessRefutesOnlyWhatItSaw(t *testing.T) {
	at := time.Date(2026, 11, 23, 6, 0, 0, 0, time.UTC)
	key := backend.Key{Kind: backend.KindSandbox, Source: "docker", ID: backend.MustID("b1")}
	for kind, stays := range map[backend.FailureKind]bool{backend.FailUnauthorised: true, "": true, backend.FailWorkDirMissing: false, backend.FailMountUnlinked: false} {
		for _, again := range []bool{false, true} {
			f := NewFolder(time.Minute)
			read := func(after time.Duration, started time.Time) backend.Outcome {
				now := at.Add(after)
				b := &backend.Sandbox{Meta: backend.Meta{Key: key, ReadAt: now}, Class: backend.SandboxRunning, StartedAt: backend.Known(started),
					Observed: backend.Known(backend.Observation{Verdicts: []backend.Verdict{{Plane: backend.PlaneList, Outcome: backend.OutcomeOK, At: now, Passive: true}}})}
				r := &backend.Reading{Source: "docker", At: now, Scopes: []backend.Scope{{Kind: backend.KindSandbox, Complete: true}}, Sandboxes: []*backend.Sandbox{b}}
				a := backend.Answer{Source: "docker", Ended: backend.Instant{Wall: now}, Reading: r}
				if after == 0 {
					a.Config = &backend.SourceConfig{Kind: "docker"}
				}
				v, _ := f.Fold([]backend.Answer{a}, backend.Instant{Wall: now}).Sandbox(key).Observed.Or(backend.Observation{}).Of(backend.PlaneList)
				return v.Outcome
			}
			read(0, at)
			failed := backend.Verdict{Plane: backend.PlaneList, Outcome: backend.OutcomeFailed, Kind: kind, At: at.Add(time.Second)}
			f.Fold([]backend.Answer{{Source: "docker", Proved: &backend.Proof{Sandbox: key, Verdicts: []backend.Verdict{failed}}}}, backend.Instant{Wall: at.Add(time.Second)})
			started, want := at, backend.OutcomeOK
			if again {
				started = at.Add(10 * time.Second)
			}
			if stays && !again {
				want = backend.OutcomeFailed
			}
			if got := read(30*time.Second, started); got != want {
				t.Errorf("kind %q, started again %t: %s, want %s", kind, again, got, want)
			}
		}
	}
}
