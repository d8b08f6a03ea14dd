package subjects

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/theme"
)

func entry(session, name string, edit func(*backend.Workspace)) *backend.Workspace {
	k := backend.Key{Kind: backend.KindWorkspace, Source: "h", Parent: backend.MustID(session), ID: backend.MustID(name)}
	w := &backend.Workspace{Meta: backend.Meta{Key: k, ReadAt: noon}, Reported: backend.Text("open"), LastAttemptAt: backend.Known(noon.Add(-7 * time.Minute)), LastSuccessAt: backend.Known(noon.Add(-time.Hour))}
	edit(w)
	return w
}

// TestALongAttemptIsNoFailure: its table, its page and the header say that it runs, until an error or a state says that it failed.
func TestALongAttemptIsNoFailure(t *testing.T) {
	for word, edit := range map[string]func(*backend.Workspace){
		"attempting": func(*backend.Workspace) {},
		"busy":       func(w *backend.Workspace) { w.LastAttemptAt = backend.Known(noon.Add(-time.Minute)) },
		"working":    func(w *backend.Workspace) { w.LastSuccessAt = w.LastAttemptAt },
		"failing":    func(w *backend.Workspace) { w.LastError = backend.Text("socket hang up") },
	} {
		w := entry("s", "box", edit)
		st := &fleet.State{Wall: noon, LongestOperation: 5 * time.Minute, Workspaces: fleet.NewTable(w)}
		f := &views.Frame{Snapshot: views.NewSnapshot(noon, st, &alerts.Board{}), Theme: theme.New(theme.NoColours, theme.ASCII)}
		if cell := WorksCell(w, f.Snapshot); cell.Text.String() != word {
			t.Errorf("its cell says %q, want %q", cell.Text, word)
		}
		doc, _ := Doc(w.Key, f)
		if page := strings.Join(doc.Layout(f.Theme, 200), "\n"); !strings.Contains(page, word) || word != "failing" && strings.Contains(page, "failing") {
			t.Errorf("%s: its page is\n%s", word, page)
		}
		if n := views.Summarise(f.Snapshot).Failing; (n == 1) != (word == "failing") {
			t.Errorf("%s: the header counts %d failing", word, n)
		}
		if p, _ := PageOf(w.Key, f); word == "attempting" && !strings.Contains(p.Why, "runs longer than longest_operation") {
			t.Errorf("the page is chosen because %s", p.Why)
		}
	}
}

// TestTheSessionOfAFailureThatIsRemembered: its diagnosis is that of its workspace, also when only memory knows it.
func TestTheSessionOfAFailureThatIsRemembered(t *testing.T) {
	session := &backend.Session{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSession, Source: "h", ID: backend.MustID("s")}, ReadAt: noon}}
	failed := func(w *backend.Workspace) { w.Class, w.LastError = backend.ClassFailed, backend.Text("socket hang up") }
	works := func(w *backend.Workspace) { w.LastSuccessAt = w.LastAttemptAt }
	for want, ws := range map[string][]*backend.Workspace{
		"1 Its workspace box failed when it was read last.":      {entry("s", "box", failed), entry("s", "other", works), entry("t", "box", failed)},
		"1 2 of its workspaces failed when they were read last.": {entry("s", "box", failed), entry("s", "other", failed)},
		"2 Missing files show in no state.":                      {entry("s", "box", works), entry("t", "box", failed)},
	} {
		h := &fleet.SourceHealth{Key: backend.Key{Kind: backend.KindSource, Source: "h", ID: backend.MustID("h")}, Status: fleet.StatusOK, LastOK: noon, LastTry: noon, Interval: 5 * time.Second}
		engine := alerts.NewEngine(nil, "test")
		board, _ := engine.Next(nil, &fleet.State{Number: 1, Wall: noon, Mono: time.Minute, Sources: []*fleet.SourceHealth{h}, Workspaces: fleet.NewTable(ws...), Sessions: fleet.NewTable(session)})
		later := &fleet.State{Number: 2, Wall: noon.Add(time.Minute), Mono: 2 * time.Minute, Sources: []*fleet.SourceHealth{h}}
		later.Delta.Gone = append(later.Delta.Gone, fleet.Departure{Key: session.Key, Last: session, Why: backend.Text("it ended"), At: later.Wall})
		for _, w := range ws {
			later.Delta.Gone = append(later.Delta.Gone, fleet.Departure{Key: w.Key, Last: w, Why: backend.Text("its session ended"), At: later.Wall})
		}
		board, _ = engine.Next(board, later)
		f := &views.Frame{Snapshot: views.NewSnapshot(later.Wall, later, board), Theme: theme.New(theme.NoColours, theme.ASCII)}
		p, _ := PageOf(session.Key, f)
		if got := p.Incident + " " + strings.TrimPrefix(p.Why, "No alert names it. "); !strings.HasPrefix(got, want) {
			t.Errorf("page %s %q, want %s", p.Incident, p.Why, want)
		}
		nowhere := session.Key // when nothing remembers the session itself
		nowhere.Source = ""
		if q, _ := PageOf(nowhere, f); q.Incident != p.Incident || q.Why != p.Why {
			t.Errorf("without its source: page %s %q", q.Incident, q.Why)
		}
	}
}

// A session shows how many workspaces it has, what of it waits or runs, and the worst alert of all that belongs to it; rows of each
// screen can be grouped by the labels of their sandbox.
func TestASessionShowsWhatBelongsToIt(t *testing.T) {
	id := backend.MustID
	session := &backend.Session{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSession, Source: "eu", ID: id("s-1")}}, Status: backend.Text("running"),
		Running: backend.Known(true), ListedRunning: backend.Known(true)}
	ws := func(name string) *backend.Workspace {
		return &backend.Workspace{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindWorkspace, Source: "eu", Parent: id("s-1"), ID: id(name)}}}
	}
	web, repo := ws("web"), ws("repo")
	repo.Extra = []backend.Field{{Name: backend.Text("tier"), Value: backend.Text("own")}}
	box := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "dk", ID: id("b-1")}}, IsSandbox: true, Session: id("s-1"), Workspace: id("repo"),
		Labels: []backend.Field{{Name: backend.Text("team"), Value: backend.Text("blue")}, {Name: backend.Text("tier"), Value: backend.Text("box")}}}
	run := func(name string, class backend.WorkClass) *backend.Execution {
		x := &backend.Execution{}
		x.Within = backend.KindSandbox
		x.Key, x.Class, x.Session, x.Sandbox = backend.Key{Kind: backend.KindExecution, Source: "dk", Parent: id("b-1"), ID: id(name)}, class, id("s-1"), id("b-1")
		return x
	}
	f := frameWith()
	f.State.Workspaces = fleet.NewTable(web, repo)
	f.State.Sessions = fleet.NewTable(session)
	f.State.Executions = fleet.NewTable(run("x-1", backend.WorkRunning), run("x-2", backend.WorkSucceeded), run("x-3", backend.WorkQueued))
	f.State = f.State.WithSandboxes(fleet.NewTable(box))
	cell := func(name string) string {
		set := Sessions()
		c := set.Columns[set.Column(name)].Cell(session, f.Snapshot)
		return c.Text.String()
	}
	if a, b, c := cell("workspaces"), cell("work"), cell("alert"); a != "2" || b != "2" || c != "" {
		t.Errorf("workspaces %q, work %q, alert %q", a, b, c)
	}
	warn := &alerts.Alert{Rule: "tmpdir-close-failed", Source: "eu", Severity: alerts.SeverityWarning, Subjects: []alerts.Subject{{Key: session.Key}}}
	f.Snapshot = f.Next(f.Now, f.State, &alerts.Board{Alerts: []*alerts.Alert{warn}})
	if got := cell("alert"); got != warn.Rule {
		t.Errorf("its own alert: %q", got)
	}
	worse := &alerts.Alert{Rule: "failed-too-long", Source: "eu", Severity: alerts.SeverityCritical, Subjects: []alerts.Subject{{Key: web.Key}}}
	f.Snapshot = f.Next(f.Now, f.State, &alerts.Board{Alerts: []*alerts.Alert{worse, warn}})
	if got := cell("alert"); got != worse.Rule {
		t.Errorf("that of its workspace is worse: %q", got)
	}
	named := func(all []backend.Field) (s string) {
		for _, l := range all {
			s += l.Name.String() + "=" + l.Value.String() + " "
		}
		return s
	}
	for what, got := range map[string]string{
		"web":       named(Workspaces().Labels(web, f.Snapshot)),
		"repo":      named(Workspaces().Labels(repo, f.Snapshot)),
		"session":   named(Sessions().Labels(session, f.Snapshot)),
		"execution": named(Work().Labels(f.State.Executions.At(0), f.Snapshot)),
	} {
		want := map[string]string{"repo": "tier=own team=blue tier=box ", "session": "team=blue tier=box ", "execution": "team=blue tier=box "}
		if got != want[what] {
			t.Errorf("%s: labels %q, want %q", what, got, want[what])
		}
	}
}
