package subjects

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/theme"
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

// TestARefusedPlaceLeadsToItsAlert: the page of a sandbox whose start was refused for want of an instance lists the alert about them; one that runs was
// not refused one, and what is short elsewhere is not its trouble.
func TestARefusedPlaceLeadsToItsAlert(t *testing.T) {
	t.Parallel()
	pools := []backend.Pool{{ID: backend.MustID("app-1"), Name: backend.Text("agents")}, {ID: backend.MustID("app-2"), Name: backend.Text("others")}}
	for name, x := range map[string]struct {
		class backend.SandboxClass
		app   backend.Literal
		about backend.Key
		kind  backend.FailureKind
		want  bool
	}{
		"refused, no application is full":  {backend.SandboxUnknown, "", backend.PlacesKey("cf", nil), backend.FailThrottled, true},
		"refused, an application is full":  {backend.SandboxExited, "agents", backend.PlacesKey("cf", &pools[0]), backend.FailThrottled, true},
		"refused, of which is not known":   {backend.SandboxUnknown, "", backend.PlacesKey("cf", &pools[1]), backend.FailThrottled, true},
		"refused, another one is full":     {backend.SandboxExited, "agents", backend.PlacesKey("cf", &pools[1]), backend.FailThrottled, false},
		"it runs":                          {backend.SandboxRunning, "agents", backend.PlacesKey("cf", &pools[0]), backend.FailThrottled, false},
		"refused for its key":              {backend.SandboxUnknown, "", backend.PlacesKey("cf", nil), backend.FailUnauthorised, false},
		"refused, another source is short": {backend.SandboxUnknown, "", backend.PlacesKey("cf2", nil), backend.FailThrottled, false},
	} {
		b := &backend.Sandbox{Provider: backend.Text("cloudflare"), Class: x.class, IsSandbox: true, Name: backend.Text("demo")}
		b.Application = backend.Text(x.app)
		b.Key = backend.Key{Kind: backend.KindSandbox, Source: "cf", ID: backend.MustID("demo")}
		b.BridgeID = b.Key.ID
		b = b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeUnknown, Kind: x.kind, At: noon, What: backend.Text("the bridge answered 503")}})
		a := &alerts.Alert{ID: "a1", Rule: "capacity", Runbook: "7", Source: x.about.Source, State: alerts.StateFiring, Cause: backend.Text("no instance left"), Since: noon, SubjectCount: 1,
			Subjects: []alerts.Subject{{Key: x.about, State: alerts.StateFiring, Since: noon}}}
		f := &views.Frame{Theme: theme.New(theme.NoColours, theme.Unicode), Snapshot: views.NewSnapshot(noon, &fleet.State{Number: 1, Wall: noon, Sandboxes: fleet.NewTable(b),
			Sources: []*fleet.SourceHealth{{Key: backend.Key{Kind: backend.KindSource, Source: "cf", ID: backend.MustID("cf")}, Status: fleet.StatusOK, LastOK: noon, Pools: pools}}}, &alerts.Board{Alerts: []*alerts.Alert{a}})}
		doc, links := Doc(b.Key, f)
		text := strings.Join(doc.Layout(f.Theme, 120), "\n")
		if is := slices.Contains(links, views.AlertKey(a)) && strings.Contains(text, "about the instances of cf, of which it was refused one"); is != x.want {
			t.Errorf("%s: listed %v\n%s", name, is, text)
		}
		if p, _ := PageOf(b.Key, f); (p.Incident == "7") != x.want {
			t.Errorf("%s: its page is %q: %s", name, p.Incident, p.Why)
		}
	}
}
