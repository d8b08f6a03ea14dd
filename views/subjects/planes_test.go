package subjects

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// TestASleeperIsNotCalledHealthy: what a sandbox was while awake is told as past once it sleeps; that it failed stays as it is.
func TestASleeperIsNotCalledHealthy(t *testing.T) {
	look := func(class backend.SandboxClass, outcome backend.Outcome) Cell {
		o := backend.Observation{Verdicts: []backend.Verdict{{Plane: backend.PlaneExec, Outcome: outcome, At: noon.Add(-time.Minute), What: backend.Text("commands are refused")}}}
		b := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "a", ID: backend.MustID("s")}, ReadAt: noon}, Class: class, Observed: backend.Known(o)}
		return observedCell(b, views.NewSnapshot(noon, &fleet.State{Wall: noon}, &alerts.Board{}))
	}
	if c := look(backend.SandboxRunning, backend.OutcomeOK); !strings.HasPrefix(c.Text.String(), "healthy") {
		t.Errorf("awake: %q", c.Text)
	}
	if c := look(backend.SandboxAsleep, backend.OutcomeOK); !strings.HasPrefix(c.Text.String(), "60s ago, awake: healthy") && !strings.HasPrefix(c.Text.String(), "1m ago, awake: healthy") || c.Short.String() != "before it slept" {
		t.Errorf("asleep: %q, short %q", c.Text, c.Short)
	}
	if c := look(backend.SandboxAsleep, backend.OutcomeFailed); c.Text.String() != "commands are refused" {
		t.Errorf("asleep and broken: %q", c.Text)
	}
}

// TestAProbeBesideAnAgentsLog: what is said of a probe that ran a command since the log says that none begins, before that, or none.
func TestAProbeBesideAnAgentsLog(t *testing.T) {
	for want, planes := range map[string][]backend.Verdict{
		"a probe's commands run; its agent's log says that none begins":                   {{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, At: noon}},
		"its agent's log says that no command begins; a probe's commands ran before that": {{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, At: noon.Add(-time.Minute)}},
		"its agent's log says that no command begins; no probe ran one":                   {{Plane: backend.PlaneControl, Outcome: backend.OutcomeOK, At: noon}},
	} {
		b := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "cf", ID: backend.MustID("aaaa")}}}
		b = b.WithObserved(planes)
		a := &alerts.Alert{ID: "a", Rule: "contradiction", State: alerts.StatePending, Cause: backend.Text("not reported, but no command begins in it, its agent's log says"),
			Bounds: alerts.Bounds{Latest: noon.Add(-time.Second)}, Subjects: []alerts.Subject{{Key: b.Key, State: alerts.StatePending}}, SubjectCount: 1}
		s := views.NewSnapshot(noon, &fleet.State{Sandboxes: fleet.NewTable(b)}, &alerts.Board{Alerts: []*alerts.Alert{a}})
		if got := observedCell(b, s).Text.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestWhatWorkedBeforeCommandsFailedIsMarked: the page of a Worker's sandbox does not show it as if it held now, and asks for no file in it.
func TestWhatWorkedBeforeCommandsFailedIsMarked(t *testing.T) {
	for _, failed := range []bool{true, false} {
		b := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "cf", ID: backend.MustID("aaaa")}, ReadAt: noon}, Provider: backend.Text("cloudflare")}
		exec := backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, At: noon.Add(-time.Minute)}
		if failed {
			exec = backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: backend.FailServerDir, At: noon}
		}
		b = b.WithObserved([]backend.Verdict{exec, {Plane: backend.PlaneControl, Outcome: backend.OutcomeOK, Passive: true, At: noon.Add(-time.Minute)},
			{Plane: backend.PlaneList, Outcome: backend.OutcomeOK, At: noon.Add(-time.Minute)}, {Plane: backend.PlaneRead, Outcome: backend.OutcomeUnknown, At: noon.Add(-time.Minute), What: backend.Text(backend.EmptyRead)}})
		w := &writer{Doc: &kit.Doc{}, f: &views.Frame{Snapshot: views.NewSnapshot(noon, &fleet.State{Wall: noon, Sandboxes: fleet.NewTable(b)}, nil), Theme: theme.New(theme.NoColours, theme.Unicode)}}
		w.planes(b)
		lines, _ := w.Doc.Fit(w.f.Theme, 200, 40)
		page := strings.Join(lines, "\n")
		if n := strings.Count(page, "before commands of a probe failed: it tells nothing of now"); n != map[bool]int{true: 2}[failed] {
			t.Errorf("%v: marked %d times:\n%s", failed, n, page)
		}
		if strings.Contains(page, "? was ok") != failed || strings.Contains(page, string(backend.EmptyReadNext)) == failed {
			t.Errorf("%v:\n%s", failed, page)
		}
	}
}

// TestAContainerThatAProbeStartedIsNotShownAsHealthy: the commands that ran tell nothing of the container before.
func TestAContainerThatAProbeStartedIsNotShownAsHealthy(t *testing.T) {
	for _, age := range []time.Duration{time.Second, time.Hour} {
		b := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "cf", ID: backend.MustID("aaaa")}, ReadAt: noon}, Provider: backend.Text("cloudflare")}
		b = b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, At: noon.Add(-age), What: backend.Textf("true ran in /workspace; %s", backend.Text(backend.BegunByProbe))}})
		c := observedCell(b, views.NewSnapshot(noon, &fleet.State{Sandboxes: fleet.NewTable(b)}, nil))
		if said := c.Text.String(); c.Mark == theme.MarkGood || strings.Contains(said+c.Short.String()+c.Brief.String(), "healthy") || !strings.Contains(said, "no container ran before the probe") {
			t.Errorf("%s ago: %q %q %q", age, c.Text, c.Short, c.Brief)
		}
	}
}

// TestAListOfProcessesThatHangsIsShownBesideCommandsThatRun: in the cell, and below the plane of commands with what was not answered.
func TestAListOfProcessesThatHangsIsShownBesideCommandsThatRun(t *testing.T) {
	for _, hangs := range []bool{true, false} {
		exec := backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, At: noon, What: backend.Text("true ran in /workspace")}
		if hangs {
			exec.What = backend.Textf("%s; %s within 10s before", exec.What, backend.Text(backend.ListHangs))
			exec.Evidence = []backend.Safe{backend.Text("GET /process: nothing within 10s")}
		}
		b := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "bl", ID: backend.MustID("aaaa")}, ReadAt: noon}, Provider: backend.Text("blaxel")}
		b = b.WithObserved([]backend.Verdict{exec})
		w := &writer{Doc: &kit.Doc{}, f: &views.Frame{Snapshot: views.NewSnapshot(noon, &fleet.State{Wall: noon, Sandboxes: fleet.NewTable(b)}, nil), Theme: theme.New(theme.NoColours, theme.Unicode)}}
		w.planes(b)
		lines, _ := w.Doc.Fit(w.f.Theme, 200, 40)
		page := strings.Join(lines, "\n")
		for _, said := range []string{backend.ListHangs + " within 10s", "GET /process: nothing within 10s"} {
			if strings.Contains(page, said) != hangs {
				t.Errorf("%v: %s:\n%s", hangs, said, page)
			}
		}
		if got := strings.HasSuffix(observedCell(b, w.f.Snapshot).Text.String(), "; "+backend.ListHangs); got != hangs {
			t.Errorf("%v: %s", hangs, observedCell(b, w.f.Snapshot).Text)
		}
	}
}
