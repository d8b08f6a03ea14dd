package subjects

import (
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
)

// TestASandboxOfABridge: its id has the room to be read whole, and its age is that of its start, for it is made anew at each one.
func TestASandboxOfABridge(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	b := &backend.Sandbox{CreatedAt: backend.NotApplicable[time.Time](), StartedAt: backend.Known(start)}
	b.BridgeID = backend.MustID("k5q2wnhr4xzj7ltmvd3ey6cbga")
	b.Key = backend.Key{Kind: backend.KindSandbox, Source: "cloudflare", ID: b.BridgeID}
	if at, known := bornAt(b).Get(); !known || !at.Equal(start) {
		t.Errorf("born at %v, %v", at, known)
	}
	made := *b
	made.CreatedAt = backend.Unknown[time.Time]()
	if bornAt(&made).IsKnown() {
		t.Error("a creation that is not known was taken from the start")
	}
	with := func(all ...*backend.Sandbox) int {
		return bridgeWidth(&views.Snapshot{State: &fleet.State{Sandboxes: fleet.NewTable(all...)}})
	}
	if n, none := with(b), with(); n != 26 || none != 0 {
		t.Errorf("%d cells, and %d without a bridge", n, none)
	}
}

// TestBothWordsOfAStatusHaveRoom: whether a sandbox runs or sleeps is told at every width.
func TestBothWordsOfAStatusHaveRoom(t *testing.T) {
	t.Parallel()
	b := &backend.Sandbox{Reported: backend.Text("DEPLOYED STANDBY"), Class: backend.SandboxAsleep}
	b.Key = backend.Key{Kind: backend.KindSandbox, Source: "bl", ID: backend.MustID("a")}
	width := func() int {
		return reportedWidth(&views.Snapshot{State: &fleet.State{Sandboxes: fleet.NewTable(b)}})
	}
	if n := width(); n != 0 {
		t.Errorf("one word wants %d cells", n)
	}
	b.Power = backend.Text("STANDBY")
	if n := width(); n != 18 {
		t.Errorf("it wants %d cells", n)
	}
	if c := reportedCell(b); c.Fitting(18) != "DEPLOYED STANDBY" || c.Fitting(10) != "STANDBY" {
		t.Errorf("%q, where it is narrow %q", c.Fitting(18), c.Fitting(10))
	}
}

// TestWhatAnAgentsLogSaysIsObserved: a sandbox that nothing was tried in is not like one of which nothing is said.
func TestWhatAnAgentsLogSaysIsObserved(t *testing.T) {
	t.Parallel()
	b := &backend.Sandbox{}
	b.Key = backend.Key{Kind: backend.KindSandbox, Source: "cf", ID: backend.MustID("a")}
	for cause, want := range map[backend.Literal]string{
		"reported running, but no command begins in it, its agent's log says": "log: no command begins",
		"no session needs it": "not tried",
	} {
		a := &alerts.Alert{Cause: backend.Text(cause), Subjects: []alerts.Subject{{Key: b.Key}}}
		if got := observedCell(b, views.NewSnapshot(time.Now(), nil, &alerts.Board{Alerts: []*alerts.Alert{a}})).Text.String(); got != want {
			t.Errorf("%s: %q, want %q", cause, got, want)
		}
	}
}

// TestALostControlServerFailsPlainCommands, which is all that a probe that found it shows of a sandbox that no platform lists.
func TestALostControlServerFailsPlainCommands(t *testing.T) {
	t.Parallel()
	if effect := brokenBy("not reported, but the working directory of its control server is missing", "1 sandbox"); effect != "plain commands in 1 sandbox fail" {
		t.Error(effect)
	}
}

// TestWhoseWordAStateIs: a list that names a sandbox without a state is not one that does not name it.
func TestWhoseWordAStateIs(t *testing.T) {
	t.Parallel()
	b := &backend.Sandbox{Class: backend.SandboxUnknown}
	b.BridgeID = backend.MustID("aaaa")
	if said := reportedBy(b); said != "its list gives no state of it" {
		t.Error(said)
	}
	b.Unlisted = true
	if said := reportedBy(b); said != "the platform does not list it: its id is known, and no more" {
		t.Error(said)
	}
	b.Reported = backend.Text("running")
	if said := reportedBy(b); said != "what the platform says" {
		t.Error(said)
	}
}

// TestWhatFollowsAnErrorStandsApart where the error itself is not repeated.
func TestWhatFollowsAnErrorStandsApart(t *testing.T) {
	t.Parallel()
	w := &writer{}
	w.errors = append(w.errors, "Internal error")
	if said := w.once("Internal error(code 1000); 2 failed polls"); said != "the error above (code 1000); 2 failed polls" {
		t.Error(said)
	}
}
