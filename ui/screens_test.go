package ui

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/browse"
	"sandglass/views/keys"
	"sandglass/views/kit"
	"sandglass/views/subjects"
	"sandglass/views/theme"
)

// A screen that is in the table has its tab, its number key, its command and its line in help and docs/keys.md.
func TestANewScreenIsOneLine(t *testing.T) {
	extra := browse.New(browse.Config[views.Event]{Number: 5, Name: "Extra", Set: subjects.Events(), Nothing: func(*views.Frame) *kit.Doc {
		d := &kit.Doc{}
		d.Line(kit.Span{Text: "the extra screen"})
		return d
	}})
	table := append(slices.DeleteFunc(screens(), func(s views.Screen) bool { return s.Number() == 5 }), extra) // all ten numbers have a screen
	if doc := keysMarkdown(keys.Bindings(screenNames(table))); !strings.Contains(doc, "- `5` screen Extra\n") {
		t.Errorf("docs/keys.md would not name it:\n%s", doc)
	}
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		m := newModel(Viewer{Name: "mara", Size: Size{120, 100}, Now: time.Now}, newFeed(incident(now)), table)
		defer m.Close()
		see := func(where, want string, press ...tea.KeyPressMsg) {
			t.Helper()
			for _, k := range press {
				m.Update(k)
			}
			if v := m.View().Content; !strings.Contains(v, want) {
				t.Errorf("%s does not show %q:\n%s", where, want, v)
			}
		}
		typed := func(r rune) tea.KeyPressMsg { return tea.KeyPressMsg{Code: r, Text: string(r)} }
		see("the tabs", "5 Extra")
		see("help", "screen Extra", typed('?'))
		see("the palette", "extra", typed(':'), typed('e'), typed('x'), typed('t'), typed('r'))
		see("the palette's command", "the extra screen", tea.KeyPressMsg{Code: tea.KeyEnter})
		see("another screen", "eviction-storm", typed('1'))
		see("its number key", "the extra screen", typed('5'))
	})
}

// What a new screen changes besides its own goldens: those with the tabs, the help or the palette.
func TestANewScreenChangesFewGoldens(t *testing.T) {
	var tabs []string
	for _, s := range screenNames(screens())[:2] {
		tabs = append(tabs, s.Name)
	}
	n := 0
	err := filepath.WalkDir("testdata", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".golden" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, mark := range []string{"1 " + tabs[0] + "  2 ", "1 " + tabs[0] + " 2 ", "screen " + tabs[1], "┌ commands"} {
			if strings.Contains(string(text), mark) {
				n++
				break
			}
		}
		return err
	})
	if err != nil || n < 5 || n > 14 { // and docs/keys.md
		t.Errorf("%d goldens show the tabs, the help or the palette (%v)", n, err)
	}
}

// TestATabThatCannotShowAnythingIsNotOffered: on a laptop without an agent framework there are no workspaces to look for.
func TestATabThatCannotShowAnythingIsNotOffered(t *testing.T) {
	f := &views.Frame{Snapshot: &views.Snapshot{}, Theme: theme.New(theme.NoColours, theme.Unicode), Summary: &views.Summary{Sandboxes: 3}}
	all := screens()
	if line, _, _ := tabs(80, f, all, all[0]); strings.Contains(line, "Workspaces") || strings.Contains(line, "Tmpdirs") || !strings.Contains(line, "Sandboxes") {
		t.Errorf("tabs %q", line)
	}
	if line, _, _ := tabs(80, f, all, all[1]); !strings.Contains(line, "Workspaces") {
		t.Errorf("the screen that is shown has its tab: %q", line)
	}
	of := &fleet.SourceHealth{LastOK: time.Now(), Inputs: []backend.Input{backend.InputRejections}}
	f.Snapshot.State = &fleet.State{Sources: []*fleet.SourceHealth{of}}
	f.Summary.Framework = true
	for _, x := range []struct {
		change              func()
		workspaces, tmpdirs bool
	}{
		{func() {}, false, false},
		{func() { of.Inputs = append(of.Inputs, backend.InputRegistry) }, true, false},
		{func() { of.Missing = []backend.MissingInput{{Input: backend.InputTmpdirs}} }, true, true},
		{func() { *of = fleet.SourceHealth{} }, true, true}, // it never answered: what it has is not known
	} {
		x.change()
		if line, _, _ := tabs(80, f, all, all[0]); strings.Contains(line, "Workspaces") != x.workspaces || strings.Contains(line, "Tmpdirs") != x.tmpdirs {
			t.Errorf("tabs %q", line)
		}
	}
}
