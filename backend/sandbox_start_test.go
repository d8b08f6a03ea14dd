package backend_test

import (
	"testing"
	"time"

	"sandglass/backend"
)

// The clock of a platform may be a few seconds ahead of ours: a start that it dates so is not after a probe of that container.
func TestAStartIsNotLaterThanAProbeByThePlatformsClock(t *testing.T) {
	at := time.Date(2026, 11, 28, 15, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		provider      backend.Safe
		started, read time.Duration // after the probe
		later         time.Duration // of another start, read afterwards; 0: none
		past          bool
	}{
		"started before":                             {backend.Text("cloudflare"), -time.Minute, -time.Second, 0, false},
		"4 s ahead, read after":                      {backend.Text("cloudflare"), 4 * time.Second, time.Second, 0, false},
		"12 s ahead, read before":                    {backend.Text("cloudflare"), 12 * time.Second, -time.Second, 0, false},
		"started again after":                        {backend.Text("cloudflare"), 12 * time.Second, 13 * time.Second, 0, true},
		"12 s ahead, read before, and started again": {backend.Text("cloudflare"), 12 * time.Second, -time.Second, time.Minute, true},
		"a container engine":                         {backend.Text("docker"), 4 * time.Second, 5 * time.Second, 0, true},
	} {
		b := &backend.Sandbox{Provider: c.provider, StartedAt: backend.Known(at.Add(c.started))}
		b.ReadAt = at.Add(c.read)
		vs := b.Dated([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: backend.FailWorkDirMissing, At: at}})
		if c.later != 0 {
			b.StartedAt = backend.Known(at.Add(c.later))
		}
		vs = backend.MergeVerdicts(vs, []backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: backend.FailWorkDirMissing, At: at}})
		b = b.WithObserved(vs)
		o, _ := b.Observed.Get()
		if o.Past() != c.past || b.StartedSince(at) != c.past {
			t.Errorf("%s: of a former container %t, started since %t, want %t", name, o.Past(), b.StartedSince(at), c.past)
		}
	}
}
