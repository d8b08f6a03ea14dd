package subjects

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/theme"
)

// TestAPageBeginsWithItsAlertsAndFirstSteps, before the facts behind them, so that they are on the first screen.
func TestAPageBeginsWithItsAlertsAndFirstSteps(t *testing.T) {
	t.Parallel()
	of := func(k backend.Kind) backend.Meta {
		return backend.Meta{Key: backend.Key{Kind: k, Source: "src", ID: backend.MustID("x")}, ReadAt: noon}
	}
	box := (&backend.Sandbox{Meta: of(backend.KindSandbox), Class: backend.SandboxRunning, IsSandbox: true, Image: backend.Text("img")}).
		WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, At: noon, What: backend.Text("no command begins"), Evidence: []backend.Safe{backend.Text("exit 128")}}})
	for _, c := range []struct {
		e    backend.Entity
		st   *fleet.State
		fact string
	}{
		{box, &fleet.State{Sandboxes: fleet.NewTable(box)}, "exit 128"},
		{&backend.Session{Meta: of(backend.KindSession), SessionFacts: backend.SessionFacts{Tenant: backend.Text("acme")}}, nil, "acme"},
		{&backend.Tmpdir{Meta: of(backend.KindTmpdir), Owner: backend.Text("agent")}, nil, "agent"},
		{&backend.Ref{Meta: of(backend.KindRef), Origin: backend.Text("file.json")}, nil, "file.json"},
	} {
		key := c.e.EntityMeta().Key
		if c.st == nil {
			c.st = &fleet.State{}
			switch e := c.e.(type) {
			case *backend.Session:
				c.st.Sessions = fleet.NewTable(e)
			case *backend.Tmpdir:
				c.st.Tmpdirs = fleet.NewTable(e)
			case *backend.Ref:
				c.st.Refs = fleet.NewTable(e)
			}
		}
		c.st.Wall = noon
		board := &alerts.Board{Alerts: []*alerts.Alert{{ID: "a1", Rule: "some-rule", Source: "src", Runbook: "4", Severity: alerts.SeverityCritical, State: alerts.StateFiring, Since: noon.Add(-time.Hour), SubjectCount: 1,
			Subjects: []alerts.Subject{{Key: key, State: alerts.StateFiring, Since: noon}}}}}
		f := &views.Frame{Theme: theme.New(theme.NoColours, theme.Unicode), Snapshot: views.NewSnapshot(noon, c.st, board)}
		page, _ := PageOf(key, f)
		f.Diagnoses = map[views.Question]*runbook.Diagnosis{page.Question: {Conclusion: backend.Text("so it is"), Do: []backend.Safe{backend.Text("do this")}}}
		doc, _ := Doc(key, f)
		text, at := strings.Join(doc.Layout(f.Theme, 78), "\n"), 0
		for _, want := range []string{headAlerts, "some-rule", headDo, "do this", headWhy, "so it is", headRead, c.fact} {
			i := strings.Index(text[at:], want)
			if i < 0 {
				t.Errorf("%s: %q is not where it belongs:\n%s", key.Kind.Spec().Name, want, text)
				break
			}
			at += i
		}
		if n := strings.Count(text[:strings.Index(text, headDo)], "\n"); n > 14 {
			t.Errorf("%s: the first steps begin at line %d of a screen of 20", key.Kind.Spec().Name, n)
		}
	}
}

// TestASessionsPageHasTheAlertsOfItsWorkspaces with the first step of the worst, and names at most a few of one alert.
func TestASessionsPageHasTheAlertsOfItsWorkspaces(t *testing.T) {
	t.Parallel()
	s := &backend.Session{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSession, Source: "src", ID: backend.MustID("s1")}, ReadAt: noon}}
	var boxes []*backend.Workspace
	a := &alerts.Alert{ID: "a1", Rule: "some-rule", Source: "src", Runbook: "1", Severity: alerts.SeverityCritical, State: alerts.StateFiring, Since: noon}
	for _, id := range []string{"w1", "w2", "w3", "w4", "w5"} {
		x := &backend.Workspace{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindWorkspace, Source: "src", Parent: s.Key.ID, ID: backend.MustID(id)}, ReadAt: noon}}
		boxes = append(boxes, x)
		a.Subjects = append(a.Subjects, alerts.Subject{Key: x.Key, State: alerts.StateFiring, Since: noon})
	}
	a.SubjectCount = len(boxes)
	st := &fleet.State{Wall: noon, Sessions: fleet.NewTable(s), Workspaces: fleet.NewTable(boxes...)}
	f := &views.Frame{Theme: theme.New(theme.NoColours, theme.Unicode), Snapshot: views.NewSnapshot(noon, st, &alerts.Board{Alerts: []*alerts.Alert{a}})}
	q, ok := AskedBy(s.Key, f)
	if !ok || q.Subject != boxes[0].Key {
		t.Errorf("it asks %v, %t", q, ok)
	}
	f.Diagnoses = map[views.Question]*runbook.Diagnosis{q: {Conclusion: backend.Text("so it is"), Do: []backend.Safe{backend.Text("do this")}}}
	doc, _ := Doc(s.Key, f)
	text := strings.Join(doc.Layout(f.Theme, 78), "\n")
	for _, want := range []string{"about its workspace w1", "about its workspace w3", "and about 2 more that belong to it", "do this", "so it is"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
	if strings.Contains(text, "w4") && strings.Index(text, "w4") < strings.Index(text, headDo) {
		t.Errorf("it lists more than %d of one alert:\n%s", mostParts, text)
	}
}
