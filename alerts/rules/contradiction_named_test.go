package rules

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// TestANameThatIsForgottenIsNoEnd: a sandbox that a reference alone named leaves when nothing names it any more, and a list of other ids lacks
// every sandbox that a registry names. Neither says that a container is gone.
func TestANameThatIsForgottenIsNoEnd(t *testing.T) {
	for name, c := range map[string]struct {
		unlisted, other bool
		want            alerts.AlertState
	}{"it was listed": {want: alerts.StateFiring}, "it was named": {unlisted: true, other: true}, "a list of other ids": {other: true}} {
		open := func(s *story) {
			for box, id := range map[string]string{"box": "c1", "other": "c2"} {
				s.reads("a/"+box, reading{state: "open", attempt: time.Hour, success: time.Hour, edit: func(w *backend.Workspace) {
					w.Provider, w.ProviderID = backend.Text("docker"), backend.MustID(id)
				}})
			}
			s.session("a", func(x *backend.Session) { x.Running = backend.Known(true) })
		}
		s := beginContradiction(t)
		s.health("docker", func(h *fleet.SourceHealth) { h.OtherIDs = c.other })
		s.boxOf("c2", func(b *backend.Sandbox) { b.Workspace = backend.MustID("other") })
		s.boxOf("c1", func(b *backend.Sandbox) {
			if c.unlisted {
				b.Class, b.Unlisted, b.NamedBy = backend.SandboxUnknown, true, backend.NamedByRef
			}
			if c.other && !c.unlisted { // no list ever had it under this id
				b.Session, b.IsSandbox = backend.ID{}, false
			}
		})
		if c.other && !c.unlisted {
			delete(s.sandboxes, boxKey("c1"))
		}
		open(s)
		s.look().quiet(contradictionRule)
		s.pass(5 * time.Second)
		if !c.other || c.unlisted {
			s.boxGone("c1")
			s.look()
		}
		s.every(5*time.Second, time.Minute, func() { open(s) })
		var got alerts.AlertState
		for _, a := range s.alerts(contradictionRule) {
			got = a.State
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestWhatOperatorRoutesDoNotListIsSaidOfThem, and not of the bridge, which lists nothing anyway.
func TestWhatOperatorRoutesDoNotListIsSaidOfThem(t *testing.T) {
	t.Parallel()
	for says, other := range map[string]bool{"The bridge of ": true, "The operator routes of ": false} {
		s := beginWorkers(t)
		s.pass(10 * time.Second)
		s.workersBox(func(b *backend.Sandbox) {
			s.health(b.Key.Source, func(h *fleet.SourceHealth) { h.OtherIDs = other })
			b.Class, b.Reported, b.Unlisted, b.NamedBy, b.StartedAt = backend.SandboxUnknown, backend.Safe{}, true, backend.NamedByRef, backend.Unknown[time.Time]()
			*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: backend.FailWorkDirMissing, At: s.wall}})
		})
		all := s.look().alerts(contradictionRule)
		if len(all) != 1 || !strings.Contains(told(all[0]), "reported: nothing. "+says) {
			t.Errorf("%d alerts, want %q in: %s", len(all), says, told(all[0]))
		}
	}
}
