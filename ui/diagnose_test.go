package ui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/subjects"
)

// watched is a model on a huge fleet with alerts, and a feed that counts how often its history is read.
func watched(now *time.Time, n int) (*Model, *historyFeed) {
	_, board := incident(*now)
	feed := &historyFeed{fixedFeed: newFeed(big(*now, n), board)}
	m := New(Viewer{Name: "mara", Environment: "x", Size: Size{120, 40}, ColorProfile: colorprofile.ANSI256, Now: func() time.Time { return *now }}, feed)
	return m, feed
}

type historyFeed struct {
	*fixedFeed
	reads  int
	events []backend.Event // newest first
}

func (f *historyFeed) Timeline(int) []backend.Event {
	f.reads++
	return f.events
}

// drain carries out what a command leads to, as Bubble Tea does, and returns the answers that came.
func drain(m *Model, cmd tea.Cmd) (answers int) {
	if cmd == nil {
		return 0
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			answers += drain(m, c)
		}
	case diagnosedMsg:
		msg.took = 0 // however busy the machine is
		_, next := m.Update(msg)
		answers += 1 + drain(m, next)
	}
	return answers
}

// No key waits for a diagnosis: it is worked out by a command, and until then the pane says that it is not there yet.
func TestNoKeyWaitsForADiagnosis(t *testing.T) {
	now := time.Date(2026, 11, 21, 14, 3, 0, 0, time.UTC)
	m, feed := watched(&now, 100_000)
	defer m.Close()
	_, cmd := m.Update(tea.KeyPressMsg{Code: tea.KeyDown})
	if view := m.View(); feed.reads != 0 || len(m.frame.Diagnoses) != 0 || !strings.Contains(view.Content, "diagnosis") {
		t.Fatalf("the key worked the diagnosis out (%d): %s", feed.reads, view.Content)
	}
	if n := drain(m, cmd); n != 1 || len(m.frame.Diagnoses) != 1 {
		t.Fatalf("%d answers, %d kept", n, len(m.frame.Diagnoses))
	}
	if view := m.View(); !strings.Contains(view.Content, "questions open") {
		t.Errorf("the answer is not drawn:\n%s", view.Content)
	}
}

// One question is asked again for a newer State only, at most every two seconds; only one is under way at a time.
func TestDiagnosesAreNotAskedTwice(t *testing.T) {
	now := time.Date(2026, 11, 21, 14, 3, 0, 0, time.UTC)
	m, feed := watched(&now, 300)
	defer m.Close()
	ask := func(want int, why string) {
		t.Helper()
		if n := drain(m, m.diagnose()); n != want {
			t.Errorf("%s: %d answers, want %d", why, n, want)
		}
	}
	next := func() {
		state, board := feed.Latest()
		s := *state
		s.Number++
		feed.set(&s, board)
		m.refresh()
	}
	ask(1, "the first time")
	ask(0, "nothing changed")
	next()
	ask(0, "a newer State at once")
	now = now.Add(diagnoseEvery)
	next()
	ask(1, "a newer State after two seconds")
	now = now.Add(time.Hour)
	m.onTick()
	ask(0, "no newer State")
	first, _ := m.question()
	m.do(m.keymap.Of(m.context())[0].Intent) // opens the details of the same alert
	ask(0, "the same question from another place")
	m.stack.top().(*details).key = backend.Key{Kind: backend.KindHost, Source: "tmp-build", ID: backend.MustID("build-3")}
	ask(0, "a thing without a question")
	m.do(keys.Intent{Action: keys.Runbook})
	under := m.diagnose()
	if under == nil || m.diagnose() != nil {
		t.Error("a second one must wait until the first is there")
	}
	m.stack = nil
	now = now.Add(diagnoseEvery)
	next()
	if n := drain(m, under); n != 2 || m.frame.Diagnoses[first] == nil {
		t.Errorf("%d answers: after the one that was under way comes what is looked at by now", n)
	}
	for i := range 3 * maxDiagnoses {
		m.diagnoser.asked[views.Question{Incident: "1", Subject: wsKey("x", "s", string(rune('a'+i)))}] = asked{}
	}
	now = now.Add(diagnoseEvery)
	next()
	ask(1, "after very many")
	if n := len(m.diagnoser.asked); n > maxDiagnoses {
		t.Errorf("%d questions are kept", n)
	}
}

// What the site adds for a rule stands on its page, and makes a page where the runbook has none.
func TestSiteText(t *testing.T) {
	now := time.Date(2026, 11, 21, 14, 3, 0, 0, time.UTC)
	m := New(Viewer{Name: "mara", Environment: "x", Size: Size{100, 200}, ColorProfile: colorprofile.ASCII, Now: func() time.Time { return now },
		Settings: Settings{Runbook: map[string]runbook.Local{
			"source-down":    {Text: "Call the network team.", Links: []runbook.Link{{URL: "https://wiki.example/net"}}},
			"eviction-storm": {Text: "The quota is raised by ops."},
		}}}, newFeed(incident(now)))
	defer m.Close()
	page := func(rule string) string {
		m.stack = nil
		m.do(keys.Intent{Action: keys.Top})
		for range 20 {
			if a := views.FindAlert(m.frame.Board, m.screen().Cursor(&m.frame)); a != nil && a.Rule == rule {
				break
			}
			m.do(keys.Intent{Action: keys.Down})
		}
		m.do(keys.Intent{Action: keys.Runbook})
		m.dirty = true
		return m.View().Content
	}
	if s := page("eviction-storm"); !strings.Contains(s, "The quota is raised by ops.") || !strings.Contains(s, "What to check") {
		t.Errorf("the storm's page:\n%s", s)
	}
	if s := page("source-down"); !strings.Contains(s, "Call the network team.") || !strings.Contains(s, "https://wiki.example/net") || strings.Contains(s, "What to check") {
		t.Errorf("the page that only the site has:\n%s", s)
	}
	if s := page("hammered-and-failing"); strings.Contains(s, "At this site") || !strings.Contains(s, "What to check") {
		t.Errorf("a page without anything of the site's:\n%s", s)
	}
}

// An alert about entries that fail for one cause is asked about one of them: others of its source may fail for others.
func TestAlertsAreAskedAboutWhatTheyAreAbout(t *testing.T) {
	_, board := incident(time.Date(2026, 11, 21, 14, 3, 0, 0, time.UTC))
	for id, want := range map[string]views.Question{
		"a1": {Incident: "7", Alert: "a1", Subject: backend.Key{Kind: backend.KindSource, Source: "helix-eu", ID: backend.MustID("helix-eu")}},
		"a3": {Incident: "1", Alert: "a3", Subject: backend.Key{Kind: backend.KindSource, Source: "helix-eu", ID: backend.MustID("helix-eu")}},
		"a4": {Incident: "9", Alert: "a4", Subject: backend.Key{Kind: backend.KindSession, Source: "app-logs", ID: backend.MustID("a4-0")}},
	} {
		for _, a := range board.Alerts {
			if q, ok := subjects.Asked(a); a.ID == id && (!ok || q != want) {
				t.Errorf("%s: %v, want %v", id, q, want)
			}
		}
	}
	for _, a := range board.Alerts {
		if _, ok := subjects.Asked(a); ok && (a.State == alerts.StateEnded || a.Runbook == "") {
			t.Errorf("%s is asked about", a.ID)
		}
	}
}

// Where a diagnosis takes long, a cursor that is on its way starts none: the row on which it rests is diagnosed.
func TestASlowDiagnosisWaitsForTheCursorToRest(t *testing.T) {
	now := time.Date(2026, 11, 21, 14, 3, 0, 0, time.UTC)
	m, feed := watched(&now, 300)
	defer m.Close()
	first, _ := m.question()
	m.Update(diagnosedMsg{first, &runbook.Diagnosis{}, slowDiagnosis + 1})
	m.Update(tea.KeyPressMsg{Code: tea.KeyDown})
	passed, _ := m.question()
	m.Update(tea.KeyPressMsg{Code: tea.KeyDown})
	last, _ := m.question()
	if passed == last || passed == first {
		t.Fatal("the cursor does not move")
	}
	_, none := m.Update(restedMsg(passed))
	if feed.reads += drain(m, none); feed.reads != 0 {
		t.Fatal("a row that the cursor left is diagnosed")
	}
	if m.diagnose() != nil {
		t.Error("two timers run for one row")
	}
	_, cmd := m.Update(restedMsg(last))
	if n := drain(m, cmd); n != 1 || m.frame.Diagnoses[last] == nil || m.frame.Diagnoses[passed] != nil {
		t.Errorf("%d answers after the cursor rests", n)
	}
}
