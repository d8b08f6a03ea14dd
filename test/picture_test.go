package test

import (
	"context"
	"fmt"
	"html"
	"image/color"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"

	"sandglass/actions"
	"sandglass/actions/audit"
	"sandglass/alerts"
	"sandglass/app"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/demo"
	"sandglass/ui"
)

const (
	pictureCols = 120
	pictureRows = 36
)

// TestPicturesInTheReadme draws the demo, 90 seconds after its start, from the grid of a terminal emulator: the home screen
// with its diagnosis, and a plan that waits for its confirmation. It compares them with the pictures that the README shows.
func TestPicturesInTheReadme(t *testing.T) {
	s := demoScreen(t)
	s.until(" diagnosis ")
	s.compare("docs/console.svg")
	for _, r := range "2/state:failed error:answer" {
		s.press(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	s.press(tea.KeyPressMsg{Code: tea.KeyEnter})
	s.press(tea.KeyPressMsg{Code: 'r', Text: "r"})
	s.until("WHAT IS LOST")
	s.wait(time.Second) // a dialog that just opened ignores keys
	s.until("enter to go ahead")
	s.press(tea.KeyPressMsg{Code: 'y', Text: "y"})
	s.compare("docs/plan.svg")
}

// pictured is the console of the demo.
type pictured struct {
	t     *testing.T
	model tea.Model
	msgs  chan tea.Msg
	spawn backend.Spawner
	clock *atomic.Int64 // nanoseconds since the start of the demo
	due   bool          // the clock moved, and the console did not look at it yet
}

// demoScreen reads the demo's servers with the real adapters and opens the console on them.
// All clocks stop, so that the screen is the same however slow the machine is.
func demoScreen(t *testing.T) *pictured {
	t.Helper()
	start := time.Date(2026, 3, 14, 3, 0, 0, 0, time.UTC)
	const at = 90 * time.Second
	clock := &atomic.Int64{}
	clock.Store(int64(at))
	now := func() time.Time { return start.Add(time.Duration(clock.Load())) }
	d, err := demo.Start(t.Context(), demo.Options{Seed: 1, Start: start, Clock: func() time.Duration { return at }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	p := testProgram(now)
	// Request budgets live by the clock: where it stands still all requests have to be in the first second's.
	text := strings.ReplaceAll(d.Config(), "requests_per_second = 40", "requests_per_second = 1000")
	sources, rules := buildConfig(t, p, text)
	// The scratch directories are real, and with them the disk and memory of whoever runs this test.
	sources = slices.DeleteFunc(sources, func(s app.Source) bool { return s.Config.Kind == "tmpdir" })
	able, err := p.Abilities(parseConfig(t, p, text), sources, "", false)
	if err != nil {
		t.Fatal(err)
	}
	desk := alerts.NewService(alerts.NewEngine(rules, "demo"), alerts.ServiceOptions{})
	f := fleet.New(fleet.Options{Now: now, Mono: func() time.Duration { return at }, Spawn: p.Spawn,
		LongestOperation: 5 * time.Minute, OnState: desk.Observe})
	app.AddTo(f, sources)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	f.PollOnce(ctx)
	t.Cleanup(f.Close)
	control := actions.NewControl(actions.Options{Environment: "demo", StateDir: t.TempDir(), Abilities: able,
		Feed: app.NewActionFeed(f, desk), Journal: fixedFeed{},
		Now: now, Spawn: p.Spawn}).As(actions.Person{Who: audit.Who{User: backend.Text("mara"), Host: backend.Text("bastion-2")}}, actions.Everything())
	if _, err := control.Arm(t.Context(), time.Hour, backend.Safe{}, backend.Text("INC-4711")); err != nil {
		t.Fatal(err)
	}
	m := ui.New(ui.Viewer{Name: "mara", Origin: "bastion-2", Environ: []string{"TERM=xterm-256color"}, Control: control, Permissions: actions.Everything(),
		Size: ui.Size{Width: pictureCols, Height: pictureRows}, ColorProfile: colorprofile.ANSI256, Environment: "demo", Now: now}, desk)
	t.Cleanup(m.Close)
	s := &pictured{t: t, model: m, msgs: make(chan tea.Msg, 1000), spawn: p.Spawn, clock: clock}
	s.run(m.Init())
	s.press(tea.WindowSizeMsg{Width: pictureCols, Height: pictureRows})
	s.press(tea.ColorProfileMsg{Profile: colorprofile.ANSI256})
	return s
}

// run carries a command out beside the test; its message comes back through a channel.
func (s *pictured) run(cmd tea.Cmd) {
	if cmd != nil {
		s.spawn.Go("command of the console", func() {
			select {
			case s.msgs <- cmd():
			default: // full: the test has ended
			}
		})
	}
}

// wait moves the console's clock on.
func (s *pictured) wait(d time.Duration) { s.clock.Add(int64(d)); s.due = true }

func (s *pictured) press(msg tea.Msg) {
	if fmt.Sprintf("%T", msg) == "ui.tickMsg" { // the message with which the console looks at its clock
		s.due = false
	}
	var cmd tea.Cmd
	s.model, cmd = s.model.Update(msg)
	s.run(cmd)
}

// content is what is on the screen, and whether nothing on it is still being worked out.
func (s *pictured) content() (text string, ready bool) {
	text = s.model.(interface{ View() tea.View }).View().Content
	return text, !s.due && !strings.Contains(text, "not ready yet")
}

// until handles the console's own messages until the screen is ready and shows a text.
func (s *pictured) until(text string) {
	s.t.Helper()
	late := time.After(time.Minute)
	for {
		content, ready := s.content()
		if ready && strings.Contains(ansi.Strip(content), text) {
			return
		}
		select {
		case msg := <-s.msgs:
			if batch, ok := msg.(tea.BatchMsg); ok {
				for _, cmd := range batch {
					s.run(cmd)
				}
			} else if msg != nil {
				s.press(msg)
			}
		case <-late:
			s.t.Fatalf("the screen never shows %q:\n%s", text, ansi.Strip(content))
		}
	}
}

// planDigest is a hash over the addresses of the demo too, which differ with each start.
var planDigest = regexp.MustCompile(`plan [0-9a-f]{8},`)

// compare draws the screen and compares it with a picture; with -update it writes the picture.
func (s *pictured) compare(file string) {
	s.t.Helper()
	content, _ := s.content()
	content = planDigest.ReplaceAllString(content, "plan 4c7f09be,")
	em := vt.NewEmulator(pictureCols, pictureRows)
	if _, err := em.Write([]byte(strings.ReplaceAll(content, "\n", "\r\n"))); err != nil {
		s.t.Fatal(err)
	}
	got := drawSVG(em)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	if got != string(want) {
		s.t.Errorf("%s does not show what the console shows; run: go test ./test -run Picture -update", file)
	}
}

// drawSVG draws the grid: one rectangle per run of background, one text per run of one style.
func drawSVG(em *vt.Emulator) string {
	const w, h, pad = 8.4, 18.0, 10.0
	var b strings.Builder
	width, height := pictureCols*w+2*pad, pictureRows*h+2*pad
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="6" fill="#1e1e1e"/>`+"\n")
	for y := range pictureRows {
		for x := 0; x < pictureCols; {
			first := em.CellAt(x, y)
			text := ""
			from := x
			for ; x < pictureCols; x++ {
				c := em.CellAt(x, y)
				if !c.Style.Equal(&first.Style) {
					break
				}
				if c.Content == "" {
					text += " "
				} else {
					text += c.Content
				}
			}
			fg, bg := hex(first.Style.Fg, "#d4d4d4"), hex(first.Style.Bg, "")
			left, top := pad+float64(from)*w, pad+float64(y)*h
			if bg != "" {
				fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", left, top, float64(x-from)*w, h, bg)
			}
			if strings.TrimSpace(text) == "" {
				continue
			}
			weight := ""
			if first.Style.Attrs&1 != 0 {
				weight = ` font-weight="bold"`
			}
			fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" textLength="%.1f" fill="%s"%s xml:space="preserve">%s</text>`+"\n",
				left, top+13.5, float64(x-from)*w, fg, weight, html.EscapeString(text))
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func hex(c color.Color, none string) string {
	if c == nil {
		return none
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
