package test

import (
	"context"
	"fmt"
	"html"
	"image/color"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/vt"

	"sandglass/alerts"
	"sandglass/app"
	"sandglass/backend/fleet"
	"sandglass/demo"
	"sandglass/ui"
)

const (
	pictureFile = "docs/console.svg"
	pictureCols = 120
	pictureRows = 36
)

// TestPictureInTheReadme draws the home screen of the demo, 90 seconds after its start, from the grid of a terminal
// emulator, and compares it with the picture that the README shows.
func TestPictureInTheReadme(t *testing.T) {
	got := drawSVG(demoScreen(t))
	if *update {
		if err := os.WriteFile(pictureFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(pictureFile)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s does not show what the console shows; run: go test ./test -run Picture -update", pictureFile)
	}
}

// demoScreen reads the demo's servers with the real adapters and draws the home screen into an emulated terminal.
// All clocks stand still, so that the screen is the same however slow the machine is.
func demoScreen(t *testing.T) *vt.Emulator {
	t.Helper()
	start := time.Date(2026, 3, 14, 3, 0, 0, 0, time.UTC)
	const at = 90 * time.Second
	now := func() time.Time { return start.Add(at) }
	d, err := demo.Start(t.Context(), demo.Options{Seed: 1, Start: start, Clock: func() time.Duration { return at }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	p := testProgram(now)
	// Request budgets live by the clock: where it stands still all requests have to be in the first second's.
	sources, rules := buildConfig(t, p, strings.ReplaceAll(d.Config(), "requests_per_second = 40", "requests_per_second = 1000"))
	desk := alerts.NewService(alerts.NewEngine(rules, "demo"), alerts.ServiceOptions{})
	f := fleet.New(fleet.Options{Now: now, Mono: func() time.Duration { return at }, Spawn: p.Spawn,
		LongestOperation: 5 * time.Minute, OnState: desk.Observe})
	// The scratch directories are real, and with them the disk and memory of whoever runs this test.
	app.AddTo(f, slices.DeleteFunc(sources, func(s app.Source) bool { return s.Config.Kind == "tmpdir" }))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	f.PollOnce(ctx)
	f.Close()
	m := ui.New(ui.Viewer{Name: "mara", Origin: "bastion-2", Environ: []string{"TERM=xterm-256color"},
		Size: ui.Size{Width: pictureCols, Height: pictureRows}, ColorProfile: colorprofile.ANSI256, Environment: "demo", Now: now}, desk)
	defer m.Close()
	var model tea.Model = m
	model, _ = model.Update(tea.WindowSizeMsg{Width: pictureCols, Height: pictureRows})
	model, _ = model.Update(tea.ColorProfileMsg{Profile: colorprofile.ANSI256})
	em := vt.NewEmulator(pictureCols, pictureRows)
	if _, err := em.Write([]byte(strings.ReplaceAll(model.(interface{ View() tea.View }).View().Content, "\n", "\r\n"))); err != nil {
		t.Fatal(err)
	}
	return em
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
