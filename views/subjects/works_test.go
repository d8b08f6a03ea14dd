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
