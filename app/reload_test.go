package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sandglass/alerts"
	"sandglass/config"
	"sandglass/ui"
)

// edited is a configuration file with what the program made of it.
type edited struct {
	t       *testing.T
	path    string
	reload  ui.Reload
	engines int // how often rules were put in force
}

func edits(t *testing.T, text string) *edited {
	e := &edited{t: t, path: filepath.Join(t.TempDir(), "config.toml")}
	e.write(text)
	known := new(App).Known()
	c, err := config.Load(e.path, known)
	if err != nil {
		t.Fatal(err)
	}
	s := &Station{app: new(App), Config: c}
	r := newReloads(s)
	r.evaluate = func(*config.Config, []alerts.Rule) { e.engines++ }
	_, e.reload = r.viewer()
	return e
}

// write replaces the file as editors do.
func (e *edited) write(text string) {
	e.t.Helper()
	if err := os.WriteFile(e.path+".new", []byte(text), 0o600); err != nil {
		e.t.Fatal(err)
	}
	if err := os.Rename(e.path+".new", e.path); err != nil {
		e.t.Fatal(err)
	}
}

// looks is what as many looks tell, the last of what they told.
func (e *edited) looks(n int) (told *ui.Reloaded) {
	for range n {
		if x := e.reload(false); x != nil {
			told = x
		}
	}
	return told
}

const calm = "environment = \"x\"\n"

// A file that differs is read at the second look, what can take effect does, and the rest is named.
func TestReload(t *testing.T) {
	e := edits(t, calm)
	if e.looks(5) != nil {
		t.Error("told something of a file that is as it was")
	}
	e.write(calm + "time = \"local\"\n[ui]\ntheme = \"none\"\n[keys.everywhere]\nhelp = [\"?\"]\n[[view]]\nname = \"v\"\nscreen = \"sandboxes\"\n")
	if e.looks(1) != nil {
		t.Error("read while it may still be written")
	}
	got := e.looks(3)
	if got == nil || !slices.Equal(got.Applied, []string{"time", "[ui]", "[keys]", "[[view]]"}) || got.Restart != nil || got.Problem != nil {
		t.Fatalf("%+v", got)
	}
	if got.Theme != "none" || !got.LocalTime || len(got.Views) != 1 || got.Keys["everywhere"]["help"][0] != "?" || e.engines != 0 {
		t.Errorf("%+v, %d engines", got, e.engines)
	}
	e.write(calm + "production = true\n[rules.sandbox-oom]\nenabled = false\n")
	got = e.looks(3)
	if got == nil || !slices.Contains(got.Applied, "[rules.sandbox-oom]") || !slices.Equal(got.Restart, []string{"production"}) || e.engines != 1 || got.Theme != "default" {
		t.Fatalf("%+v, %d engines", got, e.engines)
	}
	if again := e.reload(true); again == nil || again.Applied != nil || !slices.Equal(again.Restart, []string{"production"}) {
		t.Errorf("asked again: %+v", again)
	}
}

// A wrong file changes nothing and says its mistakes with their places; the right one takes effect.
func TestReloadRefuses(t *testing.T) {
	e := edits(t, calm)
	e.write(calm + "[ui]\ntheme = \"pink\"\n[rules.sandbox-oom]\nnosuch = 1\n")
	got := e.looks(3)
	if got == nil || len(got.Problem) != 2 || !strings.Contains(got.Problem[0].String(), ":3:9: ") || got.Applied != nil || e.engines != 0 {
		t.Fatalf("%+v", got)
	}
	if e.looks(5) != nil {
		t.Error("said again though nothing changed")
	}
	e.write(calm)
	if got = e.looks(3); got == nil || got.Problem != nil || got.Applied != nil {
		t.Errorf("the mistake is mended: %+v", got)
	}
}

// A file that is away for a moment is waited for; one that stays away is said once, and read when it comes back.
func TestReloadOfAnAbsentFile(t *testing.T) {
	e := edits(t, calm)
	remove := func() {
		if err := os.Remove(e.path); err != nil {
			t.Fatal(err)
		}
	}
	remove()
	if e.looks(2) != nil {
		t.Error("told of a moment's absence")
	}
	e.write(calm + "bell = \"off\"\n")
	if got := e.looks(3); got == nil || !slices.Equal(got.Applied, []string{"bell"}) || got.Bell != "" {
		t.Fatalf("%+v", got)
	}
	remove()
	if got := e.looks(goneAfter); got == nil || len(got.Problem) != 1 || !strings.Contains(got.Problem[0].String(), "cannot be opened") {
		t.Errorf("%+v", got)
	}
	if e.looks(10) != nil {
		t.Error("told again")
	}
	e.write(calm + "bell = \"off\"\n")
	if got := e.looks(3); got == nil || got.Problem != nil {
		t.Errorf("it is back: %+v", got)
	}
}

// Each viewer learns of each change once, and one that comes later begins with what is in force.
func TestReloadForTwoViewers(t *testing.T) {
	e := edits(t, calm)
	s := &Station{app: new(App), Config: &config.Config{Path: e.path, File: e.path, Bell: "off"}}
	r := newReloads(s)
	r.evaluate = func(*config.Config, []alerts.Rule) {}
	_, one := r.viewer()
	_, two := r.viewer()
	e.write(calm + "[ui]\ntheme = \"none\"\n")
	if one(false) != nil || two(false) == nil || one(false) == nil || two(false) != nil {
		t.Error("not each once")
	}
	if late, more := r.viewer(); late.Theme != "none" || more(false) != nil {
		t.Errorf("the later one begins with %+v", late)
	}
	if _, none := newReloads(&Station{app: new(App), Config: config.Local()}).viewer(); none != nil {
		t.Error("without a file there is something to read again")
	}
}

// A command without a console learns what concerns it: rules, what waits for a restart, and mistakes until they are mended.
func TestRereadWithoutAConsole(t *testing.T) {
	e := edits(t, calm)
	c, err := config.Load(e.path, new(App).Known())
	if err != nil {
		t.Fatal(err)
	}
	s := &Station{app: new(App), Config: c}
	s.reloads = newReloads(s)
	s.reloads.evaluate = func(*config.Config, []alerts.Rule) { e.engines++ }
	reread := s.Rereads()
	looks := func(n int) (told *Reread) {
		for range n {
			if got := reread(); got != nil {
				told = got
			}
		}
		return told
	}
	e.write(calm + "bell = \"off\"\n[ui]\ntheme = \"none\"\n")
	if got := looks(3); got != nil {
		t.Errorf("told what only a console has: %+v", got)
	}
	e.write(calm + "bell = \"off\"\nproduction = true\n[rules.sandbox-oom]\nenabled = false\n")
	if got := looks(3); got == nil || got.Said != "reloaded: [rules.sandbox-oom]; restart to apply: production" || e.engines != 1 {
		t.Fatalf("%+v, %d engines", got, e.engines)
	}
	e.write(calm + "nosuch = 1\nwrong = 2\n")
	if got := looks(3); got == nil || !strings.HasPrefix(got.Said, "not reloaded, the configuration read before stays in force: ") ||
		!strings.HasSuffix(got.Said, " (and 1 more mistake: sandglass config check)") || e.engines != 1 {
		t.Fatalf("%+v", got)
	}
	e.write(calm + "bell = \"off\"\nproduction = true\n[rules.sandbox-oom]\nenabled = false\n")
	if got := looks(3); got == nil || got.Refused || e.engines != 1 {
		t.Errorf("the mistakes are mended: %+v", got)
	}
	s.Config, s.reloads.read = &config.Config{}, nil
	if s.Rereads() != nil {
		t.Error("without a file there is nothing to read again")
	}
}
