package subjects

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/kit"
)

const whyError = "WorkspaceFailedError: capability snapshot is declared but backupR2Binding is not bound (request 58808d11)"

// failedWorld is a workspace that fails, the alert about it, and its diagnosis.
func failedWorld() (f *views.Frame, workspace, alert backend.Key) {
	f = frameWith()
	workspace = backend.Key{Kind: backend.KindWorkspace, Source: "helix", Parent: backend.MustID("s1"), ID: backend.MustID("box")}
	w := &backend.Workspace{Meta: backend.Meta{Key: workspace, ReadAt: noon, Raw: backend.Text(`{"name":"box","state":"failed"}`)}, Named: true,
		Reported: backend.Text("failed"), Class: backend.ClassFailed, LastError: backend.Text(whyError), LastAttemptAt: backend.Known(noon)}
	f.State.Workspaces = fleet.NewTable(w)
	a := &alerts.Alert{ID: "0011223344", Rule: "failed-too-long", Source: "helix", Runbook: "1", State: alerts.StateFiring, Severity: alerts.SeverityCritical,
		Cause: backend.Text("WorkspaceFailedError: capability snapshot is declared but backupR2Binding is not bound"), SubjectCount: 1, Since: noon,
		Evidence: []alerts.Evidence{{Text: backend.Text("lastError: " + whyError), Source: "helix"}, {Text: backend.Text("s1/box last succeeded at 11:00:00Z"), Source: "helix"}},
		Subjects: []alerts.Subject{{Key: workspace, State: alerts.StateFiring, Since: noon, Detail: backend.Text("failed: " + whyError)}}}
	f.Board.Alerts = []*alerts.Alert{a}
	f.Snapshot = views.NewSnapshot(noon, f.State, f.Board)
	f.Diagnoses = map[views.Question]*runbook.Diagnosis{}
	f.Printed = true
	return f, workspace, views.AlertKey(a)
}

func printed(key backend.Key, f *views.Frame) string {
	page, ok := PageOf(key, f)
	about := &page
	if ok = ok && page.Trouble; ok {
		d := runbook.Case{State: f.State, Board: f.Board, Subject: page.Subject, Alert: page.Alert}.Diagnose(page.Incident)
		f.Diagnoses[page.Question] = &d
	} else {
		about = nil
	}
	return ansi.Strip(strings.Join(Why(key, f, about).Print(f.Theme, 400), "\n"))
}

// TestWhySaysNothingTwice: no sentence of it, and the error once; of an alert and of what the alert names.
func TestWhySaysNothingTwice(t *testing.T) {
	f, workspace, alert := failedWorld()
	for _, key := range []backend.Key{workspace, alert} {
		text := printed(key, f)
		if n := strings.Count(text, "backupR2Binding is not bound"); n != 1 {
			t.Errorf("%s: the error is there %d times:\n%s", key.Kind, n, text)
		}
		seen := map[string]bool{}
		for _, line := range strings.Split(text, "\n") {
			line = strings.TrimLeft(strings.TrimSpace(line), "- ")
			if len(line) > 30 && !strings.HasSuffix(line, "not declared") && seen[line] {
				t.Errorf("%s: %q is there twice", key.Kind, line)
			}
			seen[line] = true
		}
		for _, want := range []string{"first ", "don't ", "no reset ", "diagnosis ", "confirmed ", "ruled out ", "transientRetryAttempts"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q:\n%s", key.Kind, want, text)
			}
		}
		if strings.Contains(text, "…") || strings.Contains(text, `{"name"`) {
			t.Errorf("%s: a cut text or a raw reading is printed:\n%s", key.Kind, text)
		}
	}
}

// TestWhyOfAHealthySubjectHasNoRunbook: no page, no heading without lines below it.
func TestWhyOfAHealthySubjectHasNoRunbook(t *testing.T) {
	f, workspace, _ := failedWorld()
	w := f.State.Workspace(workspace)
	w.Class, w.Reported, w.LastError, w.LastSuccessAt = backend.ClassHealthy, backend.Text("open"), backend.Safe{}, w.LastAttemptAt
	f.Board.Alerts = nil
	f.Snapshot = views.NewSnapshot(noon, f.State, f.Board)
	text := printed(workspace, f)
	for _, not := range []string{"runbook", "diagnosis", headDo, "Settings"} {
		if strings.Contains(text, not) {
			t.Errorf("a healthy workspace has %q:\n%s", not, text)
		}
	}
}

// TestQuestionsThatShareAReasonAreFolded: what cannot be told for one reason is one entry that begins with it, and what each needs is kept.
func TestQuestionsThatShareAReasonAreFolded(t *testing.T) {
	ask := func(q, fact, would backend.Literal) runbook.Check {
		return runbook.Check{Name: string(q), Question: backend.Text(q), Mark: runbook.CannotTell, Fact: backend.Text(fact), WouldTell: backend.Text(would)}
	}
	f := frameWith()
	w := &writer{Doc: &kit.Doc{}, f: f}
	w.answers([]runbook.Check{ask("Is it full?", "no alert tells it", "a probe"), ask("Is it old?", "its list is not read", "a list"), ask("Is it open?", "no alert tells it", "a token"), ask("Is it lost?", "no alert tells it", "a probe")}, runbook.CannotTell)
	lines := strings.Split(styles.ReplaceAllString(strings.Join(w.Doc.Layout(f.Theme, 120), "\n"), ""), "\n")
	for i := range lines {
		lines[i] = strings.Join(strings.Fields(lines[i]), " ")
	}
	want := []string{"cannot tell no alert tells it: Is it full? Is it open? Is it lost?", "- would tell: a probe; a token", "Is it old?", "- its list is not read", "- would tell: a list"}
	if !slices.Equal(lines, want) {
		t.Errorf("%q, want %q", lines, want)
	}
}
