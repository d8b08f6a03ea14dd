package test

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/views"
	"sandglass/views/subjects"
	"sandglass/views/theme"
)

// TestFirstScreens reads the pane of each incident's alert as it is on a terminal of 80x24: it says the cause, how much is
// affected, since when, what that means for the users, the first step and what not to do, in this order, and cuts no
// sentence of its own.
func TestFirstScreens(t *testing.T) {
	const width, height = 80, 12
	for _, i := range nineIncidents() {
		t.Run(i.number+" "+i.name, func(t *testing.T) {
			s := newIncidentSite(t)
			i.make(s)
			s.write()
			v := s.watch(s.everything(), 2)
			n := slices.IndexFunc(v.board.Alerts, func(a *alerts.Alert) bool { return a.Rule == i.rule && a.State == alerts.StateFiring })
			if n < 0 {
				t.Fatalf("no %s fires", i.rule)
			}
			a := v.board.Alerts[n]
			f := &views.Frame{Snapshot: views.NewSnapshot(s.now(), v.state, v.board), Theme: theme.New(theme.NoColours, theme.Unicode),
				Diagnoses: map[views.Question]*runbook.Diagnosis{}}
			q, _ := subjects.Asked(a)
			d := runbook.Case{State: v.state, Board: v.board, Subject: q.Subject, Events: v.events}.Diagnose(q.Incident)
			f.Diagnoses[q] = &d
			lines, _ := subjects.AlertPane(a, f, 0).Fit(f.Theme, width, height)
			text := ansi.Strip(strings.Join(lines, "\n"))
			firstScreen(t, text, len(d.Dont) > 0)
		})
	}
}

func firstScreen(t *testing.T, text string, warns bool) {
	t.Helper()
	var labels []string
	for _, l := range strings.Split(text, "\n") {
		if label := strings.TrimSpace(l[:min(len(l), 10)]); label != "" && strings.HasPrefix(l, " ") && l[1] != ' ' {
			labels = append(labels, strings.Fields(label)[0])
		}
	}
	want := []string{"cause", "scope", "since", "impact", "first", "don't"}
	if !warns {
		want = want[:len(want)-1]
	}
	at := 0
	for _, l := range want {
		i := slices.Index(labels[at:], l)
		if i < 0 {
			t.Fatalf("%q is not there, or not in its place:\n%s", l, text)
		}
		at += i
	}
	label := ""
	for _, l := range strings.Split(text[strings.Index(text, "\n scope"):], "\n") {
		if f := strings.Fields(l); len(f) > 0 && len(l) > 1 && l[1] != ' ' {
			label = f[0]
		}
		if foreign := label == "evidence" || label == "confirmed"; strings.HasSuffix(strings.TrimSpace(l), "…") || !foreign && strings.Contains(l, "…") {
			t.Errorf("a sentence is cut: %q\n%s", l, text)
		}
	}
}
