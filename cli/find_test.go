package cli

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/subjects"
)

func keyOf(kind backend.Kind, source, parent, id string) backend.Key {
	k := backend.Key{Kind: kind, Source: source, ID: backend.MustID(id)}
	if parent != "" {
		k.Parent = backend.MustID(parent)
	}
	return k
}

// idWorld has a session on two sources, executions of the same id, a reference beside its workspace, and long hashes.
func idWorld() *reading {
	meta := func(kind backend.Kind, source, parent, id string) backend.Meta {
		return backend.Meta{Key: keyOf(kind, source, parent, id)}
	}
	hash := strings.Repeat("0123456789abcdef", 4)
	st := &fleet.State{
		Sessions: fleet.NewTable(&backend.Session{Meta: meta(backend.KindSession, "eu", "", "s-17")}, &backend.Session{Meta: meta(backend.KindSession, "us", "", "s-17")},
			&backend.Session{Meta: meta(backend.KindSession, "us", "", "s-1904")}),
		Workspaces: fleet.NewTable(&backend.Workspace{Meta: meta(backend.KindWorkspace, "us", "s-1904", "repo")}),
		Refs:       fleet.NewTable(&backend.Ref{Meta: meta(backend.KindRef, "us", "s-1904", "repo")}),
		Executions: fleet.NewTable(&backend.Execution{Meta: meta(backend.KindExecution, "us", "b1", "e1")}, &backend.Execution{Meta: meta(backend.KindExecution, "us", "b2", "e1")},
			&backend.Execution{Meta: meta(backend.KindExecution, "us", "b2", "e2")}),
		Jobs: fleet.NewTable(&backend.Job{Meta: meta(backend.KindJob, "us", "s-1904", "job_1"), Work: backend.Work{Within: backend.KindSession}}),
		Sandboxes: fleet.NewTable(&backend.Sandbox{Meta: meta(backend.KindSandbox, "docker", "", hash), Name: backend.Text("web-eval-12")},
			&backend.Sandbox{Meta: meta(backend.KindSandbox, "docker", "", hash[:20]+strings.Repeat("f", 44)), Name: backend.Text("web-eval-13")}),
		Sources: []*fleet.SourceHealth{{Key: keyOf(backend.KindSource, "eu", "", "eu"), Kind: "helix", Status: fleet.StatusOK},
			{Key: keyOf(backend.KindSource, "us", "", "us"), Kind: "helix", Status: fleet.StatusOK},
			{Key: keyOf(backend.KindSource, "docker", "", "docker"), Kind: "docker", Status: fleet.StatusOK},
			{Key: keyOf(backend.KindSource, "metrics", "", "metrics"), Kind: "prometheus", Status: fleet.StatusDown}},
	}
	board := &alerts.Board{Alerts: []*alerts.Alert{{ID: "71b505eaf6", Rule: "failed-too-long", Source: "us"}, {ID: "71c0000000", Rule: "source-down", Source: "eu"}}}
	gone := backend.Event{Kind: backend.EventPlatform, At: time.Unix(0, 0), Name: "die", Source: "docker", Subject: keyOf(backend.KindSandbox, "docker", "", "dead-box"), Text: backend.Text("it died")}
	over := backend.Event{Kind: backend.EventTransition, At: time.Unix(0, 0), Name: "resolved", Source: "us", Alert: "99aa00bb11", Text: backend.Text("failed-too-long resolved")}
	return &reading{state: st, board: board, events: []backend.Event{gone, over}}
}

// TestFind: whole ids first, then names, then any part that only one subject has; what is gone comes last.
func TestFind(t *testing.T) {
	r := idWorld()
	repo, web := keyOf(backend.KindWorkspace, "us", "s-1904", "repo"), r.state.Sandboxes.Entity(0).EntityMeta().Key
	for text, want := range map[string]backend.Key{
		"s-1904": keyOf(backend.KindSession, "us", "", "s-1904"), "190": keyOf(backend.KindSession, "us", "", "s-1904"),
		"s-1904/repo": repo, "repo": repo, "04/rep": repo, "web-eval-12": web, "/web-eval-12": web, "val-12": web, web.ID.Raw(): web, web.ID.Raw()[:21]: web,
		"b1/e1": keyOf(backend.KindExecution, "us", "b1", "e1"), "e2": keyOf(backend.KindExecution, "us", "b2", "e2"),
		"job_1": keyOf(backend.KindJob, "us", "s-1904", "job_1"), "s-1904/job_1": keyOf(backend.KindJob, "us", "s-1904", "job_1"), "docker": keyOf(backend.KindSource, "docker", "", "docker"), "71b": keyOf(views.KindAlert, "us", "", "71b505eaf6"),
		"dead-box": keyOf(backend.KindSandbox, "docker", "", "dead-box"), "99aa": keyOf(views.KindAlert, "us", "", "99aa00bb11"),
	} {
		if got, err := r.find(text, finding{}); err != nil || got != want {
			t.Errorf("%s is %v, want %v, %v", text, got, want, err)
		}
	}
	if got, err := r.find("s-17", finding{source: "us"}); err != nil || got.Source != "us" {
		t.Errorf("s-17 of us is %v, %v", got, err)
	}
}

// TestFindTakesWhatCheckPrints: an application of a platform, which an alert is about, by its id and by the name that it is shown under.
func TestFindTakesWhatCheckPrints(t *testing.T) {
	r := idWorld()
	r.state.Sources[2].Pools = []backend.Pool{{ID: backend.MustID("6f1d"), Name: backend.Text("agents")}}
	application := keyOf(backend.KindSource, "docker", "", "docker/6f1d")
	for _, text := range []string{"docker/agents", "docker/6f1d"} {
		if got, err := r.find(text, finding{}); err == nil {
			t.Errorf("%s is %v, and no alert names it", text, got)
		}
	}
	r.board.Alerts = append(r.board.Alerts, &alerts.Alert{ID: "aa00", Rule: "capacity", Source: "docker", Subjects: []alerts.Subject{{Key: application}}})
	for _, text := range []string{"docker/agents", "docker/6f1d"} {
		if got, err := r.find(text, finding{}); err != nil || got != application {
			t.Errorf("%s is %v, want %v, %v", text, got, application, err)
		}
	}
}

// TestFindRefuses: what has no or several meanings is an error of the command line, what nobody can know now is not.
func TestFindRefuses(t *testing.T) {
	r := idWorld()
	for _, x := range []struct {
		id   string
		f    finding
		want []string
	}{
		{"s-17", finding{}, []string{`"s-17" means 2 subjects:`, "  session s-17 on eu", "  session s-17 on us"}},
		{"e1", finding{}, []string{"2 subjects", "  execution b1/e1 on us", "  execution b2/e1 on us"}},
		{"0123456789", finding{}, []string{"2 subjects", "  sandbox 0123456789abcdef01234 web-eval-12 on docker", "  sandbox 0123456789abcdef0123f web-eval-13 on docker"}},
		{"71", finding{kind: "alert"}, []string{"2 subjects", "71b505eaf6", "71c0000000"}},
		{"s-1905", finding{}, []string{`no id matches "s-1905"; the nearest:`, "  s-1904"}},
		{"s-17", finding{source: "um"}, []string{`there is no source "um"; did you mean "us"? Known are eu, us, docker, metrics`}},
		{"s-17", finding{kind: "sesion"}, []string{`--kind "sesion" is not known; did you mean "session"?`}},
	} {
		_, err := r.find(x.id, x.f)
		var f *failure
		if !errors.As(err, &f) || f.code != ExitUsage {
			t.Errorf("%s: %v", x.id, err)
			continue
		}
		said := f.what + "\n" + strings.Join(f.lines, "\n")
		for _, w := range x.want {
			if !strings.Contains(said, w) {
				t.Errorf("%s: no %q in\n%s", x.id, w, said)
			}
		}
	}
	r.state.Sources[0].Status, r.state.Sources[0].Error = fleet.StatusDown, backend.Text("connection refused")
	_, err := r.find("s-1905", finding{})
	var f *failure
	if !errors.As(err, &f) || f.code != alerts.ExitUnknown || !strings.Contains(strings.Join(f.lines, "\n"), "source eu is down: connection refused") {
		t.Errorf("with a source that is down: %v", err)
	}
	if _, err := r.find("s-1905", finding{source: "us"}); !errors.As(err, &f) || f.code != ExitUsage {
		t.Errorf("of a source that was read: %v", err)
	}
}

// TestNearestOfLongIDs: ids of 66 characters that differ in 4 are near.
func TestNearestOfLongIDs(t *testing.T) {
	const long = "tenant-production-eu-west-1-agent-worker-session-2026-11-23-%04d-a"
	known := []string{fmt.Sprintf(long, 0), fmt.Sprintf(long, 5), "tenant-other"}
	if near := backend.NearestOf(fmt.Sprintf(long, 9999), known, 3); len(near) != 2 {
		t.Errorf("the nearest: %v", near)
	}
}

// TestFindWhatHasGoneByName: a container that left is found by its name, whose rows commands print as it was read last.
func TestFindWhatHasGoneByName(t *testing.T) {
	box := &backend.Sandbox{Meta: backend.Meta{Key: keyOf(backend.KindSandbox, "docker", "", strings.Repeat("ab", 32)), ReadAt: time.Unix(0, 0)}, Name: backend.Text("web-9")}
	e := alerts.NewEngine(nil, "test")
	src := []*fleet.SourceHealth{{Key: keyOf(backend.KindSource, "docker", "", "docker"), Kind: "docker", Status: fleet.StatusOK}}
	b, _ := e.Next(nil, &fleet.State{Number: 1, Wall: time.Unix(0, 0), Sandboxes: fleet.NewTable(box), Sources: src})
	st := &fleet.State{Number: 2, Wall: time.Unix(60, 0), Sources: src,
		Delta: fleet.Delta{Gone: []fleet.Departure{{Key: box.Key, Last: box, Why: backend.Text("it was removed"), At: time.Unix(30, 0)}}}}
	b, _ = e.Next(b, st)
	r := &reading{state: st, board: b, now: time.Unix(90, 0)}
	for _, given := range []string{"web-9", "/web-9", "eb-9", box.Key.ID.Raw()[:12]} {
		if k, err := r.find(given, finding{}); err != nil || k != box.Key {
			t.Errorf("%s is %v, %v", given, k, err)
		}
	}
	ctx := views.NewSnapshot(r.now, st, b)
	if name, since := subjects.NameOf(box.Key, ctx), subjects.GoneSince(box.Key, ctx); name.String() != "web-9" || since != "Gone since 00:00:30Z (1m ago): it was removed" {
		t.Errorf("%s: %s", name, since)
	}
	if x := st.Including(box); x.Sandbox(box.Key) != box || st.Sandbox(box.Key) != nil {
		t.Error("one State shows it, the other does not")
	}
}

// TestFindASessionThatOnlyASandboxNames: where no source lists the session, as where only a log line joins it, its sandbox does.
func TestFindASessionThatOnlyASandboxNames(t *testing.T) {
	r := idWorld()
	box := *r.state.Sandboxes.Get(r.state.Sandboxes.Entity(0).EntityMeta().Key)
	box.Session, box.JoinedBy = backend.MustID("codesess_4cf3"), backend.Text("a log line of hub-log")
	other := box
	other.Meta = backend.Meta{Key: keyOf(backend.KindSandbox, "docker", "", "b-2")}
	other.Session = backend.MustID("s-1904")
	r.state.Sandboxes = fleet.NewTable(&box, &other)
	for text, want := range map[string]backend.Key{
		"codesess_4cf3": keyOf(backend.KindSession, "docker", "", "codesess_4cf3"), "s-1904": keyOf(backend.KindSession, "us", "", "s-1904"),
	} {
		if got, err := r.find(text, finding{}); err != nil || got != want {
			t.Errorf("%s is %v, %v; want %v", text, got, err, want)
		}
	}
}
