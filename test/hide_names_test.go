package test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"sandglass/backend"
	"sandglass/demo"
	"sandglass/ui"
	"sandglass/views/theme"
)

// A console that hides names shows none of the demo's: on no screen, in no details, no runbook page and no dialog of search, at three
// sizes; its title has none, and what is copied says that names are hidden. The same name has the same hash on two screens.
func TestHiddenNames(t *testing.T) {
	s := fixedSite(t)
	began := s.now()
	d, err := demo.Start(t.Context(), demo.Options{Workspaces: 120, Seed: 3, Start: began, Clock: func() time.Duration { return s.now().Sub(began) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	s.poll = func(int) { step(t, d) }
	v := s.watch(d.Config(), 12)
	secret := namesOf(v)
	if len(secret) < 200 {
		t.Fatalf("the demo has %d names", len(secret))
	}
	for _, size := range []ui.Size{{Width: 80, Height: 24}, {Width: 120, Height: 40}, {Width: 200, Height: 60}} {
		m := ui.New(ui.Viewer{Name: "mara", Origin: "bastion-2", Environ: []string{"TERM=xterm-256color"}, Size: size, HideNames: []byte("0123456789abcdef"),
			ColorProfile: colorprofile.ASCII, Glyphs: theme.Unicode, Environment: "prod-eu", Now: s.now}, oneMoment{v})
		t.Cleanup(m.Close)
		on := &pictured{t: t, model: m, msgs: make(chan tea.Msg, 1000), spawn: testProgram(s.now).Spawn}
		on.run(m.Init())
		on.press(tea.WindowSizeMsg{Width: size.Width, Height: size.Height})
		seen := map[string]string{}
		look := func(where string) {
			view := on.model.(interface{ View() tea.View }).View()
			text := ansi.Strip(view.Content) + "\n" + view.WindowTitle
			for _, w := range words.FindAllString(text, -1) {
				if secret[strings.Trim(w, "-._/:")] {
					t.Errorf("%dx%d, %s: %q is shown:\n%s", size.Width, size.Height, where, w, text)
					return
				}
			}
			for name := range secret {
				if len(name) > 24 && strings.Contains(strings.ReplaceAll(text, "\n", ""), name) {
					t.Errorf("%dx%d, %s: %q is shown", size.Width, size.Height, where, name)
				}
			}
			seen[where] = text
		}
		key := func(k string) {
			code := []rune(k)[0]
			switch k {
			case "enter":
				on.press(tea.KeyPressMsg{Code: tea.KeyEnter})
			case "esc":
				on.press(tea.KeyPressMsg{Code: tea.KeyEscape})
			default:
				on.press(tea.KeyPressMsg{Code: code, Text: k})
			}
		}
		for _, n := range []string{"1", "2", "3", "4", "7", "8", "9", "0"} {
			key(n)
			key("g")
			look("screen " + n)
			for range 4 {
				key("enter")
				look("details on " + n)
				for range 12 {
					key(" ")
					look("details on " + n + " below")
				}
				key("esc")
				key("R")
				look("runbook on " + n)
				key("esc")
				key("j")
				look("screen " + n + " with the next row")
			}
			key("y")
			look("copied on " + n)
			if n == "2" && !strings.Contains(seen["copied on "+n], "names hidden") {
				t.Errorf("the remark does not say that names are hidden:\n%s", seen["copied on "+n])
			}
		}
		key("f")
		look("go to")
		key("esc")
		if len(seen) < 40 {
			t.Fatalf("%d screens were looked at", len(seen))
		}
		hashes := regexp.MustCompile(`#[a-z2-7]{7}`)
		on2, on4 := hashes.FindAllString(seen["screen 2"], -1), hashes.FindAllString(seen["details on 2"], -1)
		if len(on2) == 0 || !slices.ContainsFunc(on4, func(h string) bool { return slices.Contains(on2, h) }) {
			t.Errorf("no hash of the list is in the details: %v, %v", on2, on4)
		}
	}
}

// words are what a name can be a part of.
var words = regexp.MustCompile(`[A-Za-z0-9_./:-]+`)

// namesOf are the ids and names of a moment's subjects that no sentence of ours can hold: words of small letters and counts are left out.
func namesOf(v incidentView) map[string]bool {
	all := map[string]bool{}
	add := func(names ...string) {
		for _, n := range names {
			if len(n) > 3 && strings.ContainsAny(n, "0123456789_-/") && strings.Trim(n, "0123456789.") != "" {
				all[n] = true
			}
		}
	}
	add("prod-eu")
	for _, h := range v.state.Sources {
		add(h.Key.Source)
	}
	for w := range v.state.Workspaces.All() {
		add(w.Key.Parent.Raw(), w.Key.ID.Raw(), w.ProviderID.Raw(), w.Namespace.Raw())
	}
	for x := range v.state.Sessions.All() {
		add(x.Key.ID.Raw())
		if t := x.Tenant.String(); t != "" {
			all[t] = true
		}
	}
	for b := range v.state.Sandboxes.All() {
		add(b.Name.String(), b.Key.ID.Raw(), b.Key.ID.Raw()[:min(12, len(b.Key.ID.Raw()))])
	}
	for x := range v.state.Tmpdirs.All() {
		add(x.Path.String(), x.Path.String()[strings.LastIndexByte(x.Path.String(), '/')+1:])
	}
	for x := range v.state.Hosts.All() {
		add(x.Name.String())
	}
	delete(all, backend.KindWorkspace.Spec().Name)
	return all
}
