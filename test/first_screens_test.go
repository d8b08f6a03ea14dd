package test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/demo"
	demoBridge "sandglass/demo/cloudflare"
	"sandglass/ui"
	"sandglass/views/theme"
)

// firstScreens are the worlds whose first screens are kept: the incidents of the runbook, a source that is down, and a
// container that was killed on a laptop without any configuration.
func firstScreens() []incident {
	return append(nineIncidents(),
		incident{number: "source", name: "a source is down", rule: "source-down", make: func(s *incidentSite) {
			s.out = true
			s.poll = func(n int) {
				if n == 1 {
					s.server.Close()
				}
			}
		}},
		incident{number: "container", name: "a container was killed on a laptop", rule: "sandbox-oom", make: func(s *incidentSite) {
			s.containers = []incidentContainer{{id: strings.Repeat("ab", 32), session: "shop", workspace: "worker", killed: true}, {id: strings.Repeat("cd", 32), session: "shop", workspace: "db"}}
		}})
}

// TestFirstScreens opens a console of 80x24 on each incident and compares what it shows first with a golden. It reads there
// that the pane says the cause, how much is affected, since when, what that means for the users, the first step, what not to
// do and the diagnosis, in this order, and that no sentence of ours is cut. Regenerate: go test ./test -run FirstScreens -update
func TestFirstScreens(t *testing.T) {
	for _, i := range firstScreens() {
		t.Run(i.number+" "+i.name, func(t *testing.T) {
			s := fixedSite(t)
			i.make(s)
			s.write()
			s.age()
			config, polls := s.everything(), 2
			switch {
			case s.out:
				config, polls = fmt.Sprintf("environment = \"incidents\"\n[[source]]\nid = \"helix\"\nkind = \"helix\"\naggregate_url = %q\n", s.server.URL+"/operator/workspaces"), 12
			case i.number == "container":
				config = s.laptop()
			}
			v := s.watch(config, polls)
			n := slices.IndexFunc(v.board.Alerts, func(a *alerts.Alert) bool { return a.Rule == i.rule && a.State == alerts.StateFiring })
			if n < 0 {
				t.Fatalf("no %s fires:\n%s", i.rule, lines(v.board))
			}
			text := s.firstScreen(v)
			firstScreen(t, text)
			compareText(t, filepath.Join("test/testdata/first-screens", strings.ReplaceAll(i.number+" "+i.name, " ", "-")+".txt"), text)
		})
	}
}

// fixedSite is a site on a recorded host, at the next time of day 14:03, so that a screen is the same whenever it is made.
func fixedSite(t *testing.T) *incidentSite {
	t.Helper()
	s := newIncidentSite(t)
	soon := time.Now().Add(time.Hour)
	s.clock = time.Date(soon.Year(), soon.Month(), soon.Day()+1, 14, 3, 0, 0, time.UTC)
	s.sessions = nil
	for i := range 6 {
		s.session(fmt.Sprintf("calm-%d", i), incidentWorkspace{Name: "box", State: "open", Provider: "docker", Attempt: s.ms(time.Minute), Success: s.ms(time.Minute)})
	}
	s.tree = shortDir(t)
	s.scratch = filepath.Join(s.tree, "tmp")
	boot := s.now().Add(-48 * time.Hour).Unix()
	for name, text := range map[string]string{
		"proc/meminfo":                        "MemTotal: 65806472 kB\nMemFree: 9341064 kB\nMemAvailable: 41230156 kB\n",
		"proc/vmstat":                         "oom_kill 0\n",
		"proc/stat":                           fmt.Sprintf("cpu  1 0 1 1 0 0 0 0 0 0\nbtime %d\n", boot),
		"proc/locks":                          "",
		"proc/swaps":                          "Filename\tType\tSize\tUsed\tPriority\n",
		"proc/sys/kernel/hostname":            "agents-1\n",
		"proc/sys/kernel/random/boot_id":      "5f0c2c52-8a1d-4e0b-9f4e-3a1d7c6b2e90\n",
		"sys/fs/cgroup/a.slice/memory.events": "oom 0\noom_kill 0\n",
		"filesystem":                          "bytes 214748364800\nbytes_free 133143986176\ninodes 13107200\ninodes_free 12189732\n",
		"tmp/.keep":                           "",
	} {
		at := filepath.Join(s.tree, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"proc/self/mountinfo": "/proc/self/mountinfo", "proc/self/ns/mnt": "mnt:[4026531841]", "proc/self/ns/pid": "pid:[4026531836]"} {
		at := filepath.Join(s.tree, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.Symlink(to, at)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// shortDir is a directory whose path has the same length for each test that runs at a time.
func shortDir(t *testing.T) string {
	t.Helper()
	for c := 'a'; c <= 'z'; c++ {
		dir := "/tmp/helix-" + string(c)
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > time.Hour {
			_ = os.RemoveAll(dir) // of a test that was killed
		}
		if err := os.Mkdir(dir, 0o700); err == nil {
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			return dir
		}
	}
	t.Fatal("too many tests run at a time")
	return ""
}

// age makes the scratch directories and the files as old as the incident.
func (s *incidentSite) age() {
	s.t.Helper()
	at := s.now().Add(-incidentAge)
	if err := errors.Join(os.Chtimes(s.logFile, s.now(), s.now()), os.Chtimes(s.refsFile, at, at)); err != nil {
		s.t.Fatal(err)
	}
	if err := filepath.WalkDir(s.scratch, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chtimes(path, at, at))
	}); err != nil {
		s.t.Fatal(err)
	}
}

// laptop is what is read where there is no configuration.
func (s *incidentSite) laptop() string {
	return fmt.Sprintf("environment = \"local\"\n[[source]]\nid = \"docker\"\nkind = \"docker\"\nhost = \"tcp://%s\"\nclient = \"docker\"\nall_containers = true\n", strings.TrimPrefix(s.server.URL, "http://"))
}

// oneMoment is a ui.Feed of one State and Board.
type oneMoment struct{ v incidentView }

func (o oneMoment) Latest() (*fleet.State, *alerts.Board)   { return o.v.state, o.v.board }
func (oneMoment) Subscribe() (<-chan struct{}, func())      { return make(chan struct{}), func() {} }
func (oneMoment) SetVisible(viewer string, _ []backend.Key) {}

var demoDir = regexp.MustCompile(`(?:/[-a-z0-9]+)+/sandglass-demo-\d+`)

var ports = regexp.MustCompile(`(127\.0\.0\.1:|port )\d{5}`)

// TestFirstScreensOfContradictions opens a console of 80x24 on the demo's scenarios about sandboxes that are not what is reported of
// them, and the page of the first alert.
func TestFirstScreensOfContradictions(t *testing.T) {
	for _, scenario := range []string{"workspace-gone", "orphan-containers"} {
		t.Run(scenario, func(t *testing.T) {
			s := fixedSite(t)
			began := s.now()
			d, err := demo.Start(t.Context(), demo.Options{Workspaces: 300, Seed: 1, Scenario: scenario, Start: began, Clock: func() time.Duration { return s.now().Sub(began) }})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = d.Close() })
			// The third directory is removed after 60 s. It was seen whole 25 s before at most, and is found 25 s later at most: 205 s after
			// the start each of these moments is two minutes ago, whatever the sweep's chance.
			v := s.watch(d.Config(), 42)
			if !slices.ContainsFunc(v.board.Alerts, func(a *alerts.Alert) bool {
				return a.Rule == "contradiction" && a.State == alerts.StateFiring && a.Severity == alerts.SeverityCritical
			}) {
				t.Fatalf("no contradiction fires:\n%s", lines(v.board))
			}
			text := s.firstScreen(v)
			firstScreen(t, text)
			compareText(t, filepath.Join("test/testdata/first-screens", scenario+".txt"), text)
			compareText(t, filepath.Join("test/testdata/first-screens", scenario+"-page.txt"), s.firstScreen(v, "R"))
		})
	}
}

// TestFirstScreensOfAgentuity opens a console of 80x24 on the demo's scenarios about a cloud platform, of which none may have a
// word of another platform; a refusal that passes shows no alert.
func TestFirstScreensOfAgentuity(t *testing.T) {
	for scenario, rule := range map[string]string{"zombie": "contradiction", "stuck-queue": "contradiction", "region-incident": "contradiction", "no-checkpoint": "no-checkpoint", "resume-race": ""} {
		t.Run(scenario, func(t *testing.T) {
			s := fixedSite(t)
			began := s.now()
			d, err := demo.Start(t.Context(), demo.Options{Workspaces: 60, Seed: 1, Scenario: scenario, Start: began, Clock: func() time.Duration { return s.now().Sub(began) }})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = d.Close() })
			s.poll = func(int) { step(t, d) }
			v := s.watch(d.Config(), 40)
			n := slices.IndexFunc(v.board.Alerts, func(a *alerts.Alert) bool { return !a.Hidden() })
			if rule == "" {
				if n >= 0 {
					t.Fatalf("a refusal that passes raises an alert:\n%s", lines(v.board))
				}
				return
			}
			if n < 0 || v.board.Alerts[n].Rule != rule {
				t.Fatalf("%s is not what is shown first:\n%s", rule, lines(v.board))
			}
			text := s.firstScreen(v)
			firstScreen(t, text)
			compareText(t, filepath.Join("test/testdata/first-screens", scenario+".txt"), text)
			for _, word := range []string{"docker", "container", "WORKDIR", "registry", "Helix"} {
				for _, key := range []string{"R"} {
					if page := s.firstScreen(v, key); strings.Contains(page, word) {
						t.Errorf("%q is a word of another platform:\n%s", word, page)
					}
				}
			}
		})
	}
}

// TestFirstScreensOfCloudflare opens a console of 80x24 on the demo's scenarios about Cloudflare's sandboxes and its quota. A
// sandbox is named there by its sandbox id, an application by its name.
func TestFirstScreensOfCloudflare(t *testing.T) {
	for scenario, x := range map[string]struct {
		rule, name string
	}{"workspace-missing": {"contradiction", demoBridge.BridgeIDs()[1]}, "quota": {"capacity", "source cloudflare/agents"}} {
		t.Run(scenario, func(t *testing.T) {
			s := fixedSite(t)
			began := s.now()
			d, err := demo.Start(t.Context(), demo.Options{Workspaces: 60, Seed: 1, Scenario: scenario, Start: began, Clock: func() time.Duration { return s.now().Sub(began) }})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = d.Close() })
			s.poll = func(int) { step(t, d) }
			v := s.watch(d.Config(), 40)
			if n := slices.IndexFunc(v.board.Alerts, func(a *alerts.Alert) bool { return !a.Hidden() }); n < 0 || v.board.Alerts[n].Rule != x.rule {
				t.Fatalf("%s is not what is shown first:\n%s", x.rule, lines(v.board))
			}
			text := s.firstScreen(v)
			firstScreen(t, text)
			if !strings.Contains(text, x.name) {
				t.Errorf("%s is not named:\n%s", x.name, text)
			}
			compareText(t, filepath.Join("test/testdata/first-screens", scenario+".txt"), text)
			if page := s.firstScreen(v, "R"); strings.Contains(page, "docker") {
				t.Errorf("a command of another platform:\n%s", page)
			}
		})
	}
}

// step lets a demo whose clock the test moves do what is due: by itself it does so at some real time later, when a poll
// may be over.
func step(t *testing.T, d *demo.Demo) {
	t.Helper()
	if err := d.Step(); err != nil {
		t.Fatal(err)
	}
}

// firstScreen is what a console of 80x24 shows first, with its diagnosis, or after some keys.
func (s *incidentSite) firstScreen(v incidentView, press ...string) string {
	s.t.Helper()
	p := testProgram(s.now)
	m := ui.New(ui.Viewer{Name: "mara", Origin: "bastion-2", Environ: []string{"TERM=xterm-256color"}, Size: ui.Size{Width: 80, Height: 24},
		ColorProfile: colorprofile.ASCII, Glyphs: theme.Unicode, Environment: "prod-eu", Now: s.now}, oneMoment{v})
	s.t.Cleanup(m.Close)
	on := &pictured{t: s.t, model: m, msgs: make(chan tea.Msg, 1000), spawn: p.Spawn}
	on.run(m.Init())
	on.press(tea.WindowSizeMsg{Width: 80, Height: 24})
	on.until(" first ")
	for _, key := range press {
		on.press(tea.KeyPressMsg{Code: []rune(key)[0], Text: key})
	}
	content, _ := on.content()
	var out []string
	for _, l := range strings.Split(ansi.Strip(content), "\n") {
		out = append(out, strings.TrimRight(l, " "))
	}
	text := demoDir.ReplaceAllString(strings.ReplaceAll(strings.Join(out, "\n"), s.tree, "/tmp/helix-a"), "/tmp/sandglass-demo-1")
	return ports.ReplaceAllString(text, "${1}40000") + "\n"
}

// compareText compares a text with a golden; with -update it writes the golden.
func compareText(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(got), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if want := fileText(t, file); got != want {
		t.Errorf("%s differs; look at the new one, then run: go test ./test -run FirstScreens -update\n%s", file, got)
	}
}

func firstScreen(t *testing.T, text string) {
	t.Helper()
	_, pane, ok := strings.Cut(text, "\n cause ")
	if !ok {
		t.Fatalf("no pane:\n%s", text)
	}
	pane = " cause " + pane
	var labels []string
	label := ""
	for _, l := range strings.Split(pane, "\n") {
		if f := strings.Fields(l); len(f) > 0 && len(l) > 1 && l[0] == ' ' && l[1] != ' ' {
			label = f[0]
			labels = append(labels, label)
		}
		if foreign := label == "cause" || label == "evidence" || label == "confirmed"; strings.HasSuffix(strings.TrimSpace(l), "…") || !foreign && strings.Contains(l, "…") {
			t.Errorf("a sentence is cut: %q\n%s", l, text)
		}
	}
	at := 0
	for _, l := range []string{"cause", "scope", "since", "impact", "first", "don't", "diagnosis"} {
		i := slices.Index(labels[at:], l)
		if i < 0 {
			t.Fatalf("%q is not there, or not in its place:\n%s", l, text)
		}
		at += i
	}
	if i := slices.Index(labels, "then"); i >= 0 && i < at {
		t.Errorf("a further step stands above the diagnosis:\n%s", text)
	}
}
