package plan

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// hostile are names as an attacker would choose them.
func hostile() map[string]string {
	return map[string]string{"escapes": "web\x1b[2J\x1b]0;pwned\x07\x1b[1;1Hsafe", "c1": "web\u009b31m", "bidi": "web\u202eevil\u2066x", "long": strings.Repeat("very-long-name-", 40),
		"wide": strings.Repeat("汉字", 60), "lines": "web\nyes\r\nok\ttab", "frame": "╮ plan ╭─ type yes │", "combining": "a" + strings.Repeat("\u0301", 300)}
}

func hostilePlan(raw string, n int, g actions.Gesture) *actions.Plan {
	label := backend.Clean(raw, backend.MaxTextRunes)
	p := &actions.Plan{Verb: actions.Destroy, Title: "destroy", Of: backend.KindSandbox, Environment: raw, Production: true, Effect: "kills what runs in it " + raw,
		Digest: "0123456789abcdef", Made: time.Unix(1000, 0), Gesture: g, Source: raw, Short: "web-12345678", Undo: raw,
		Warnings: []backend.Safe{label}, Advice: []backend.Safe{label}, Overrides: []string{raw}}
	for range n {
		p.Targets = append(p.Targets, actions.Target{Label: label, Owner: label, Loses: []backend.Safe{label}, Notes: []backend.Safe{label}})
	}
	p.Excluded = []actions.Exclusion{{Label: label, Why: label}, {Label: label, Why: backend.Text("marked, but hidden by the filter"), Hidden: true}}
	p.Who.User, p.Who.Host = label, label
	return p
}

// drawn checks what every frame must be: inside its window, and of nothing but text.
func drawn(t *testing.T, b kit.Block, w, h int) []string {
	t.Helper()
	if b.Width > w || b.Height() > h {
		t.Errorf("%d×%d cells in a window of %d×%d", b.Width, b.Height(), w, h)
	}
	var out []string
	styles := regexp.MustCompile("\x1b\\[[0-9;]*m") // what names hold of the kind is made visible before
	for _, l := range b.Lines {
		l = styles.ReplaceAllString(l, "")
		if got := ansi.StringWidth(l); got > w {
			t.Errorf("a line of %d cells in %d: %q", got, w, l)
		}
		for _, r := range l {
			if r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
				t.Fatalf("%U in %q", r, l)
			}
		}
		out = append(out, l)
	}
	return out
}

// What is typed to confirm is explained, and advice against the plan stands right above it.
func TestWhatIsTypedIsExplained(t *testing.T) {
	p := &actions.Plan{Verb: actions.Reset, Title: "reset", Of: backend.KindWorkspace, Gesture: actions.GestureCount, Digest: "0123456789ab976e", Made: time.Unix(1000, 0),
		Advice: []backend.Safe{backend.Text("not now: the file system is still full")}, Targets: make([]actions.Target, 3)}
	d := &Dialog{Plan: p, Ready: true, Now: time.Unix(1004, 0), Pager: &kit.Pager{}}
	b, _, _ := d.Draw(78, 24, theme.New(theme.NoColours, theme.ASCII))
	text := ansi.Strip(strings.Join(b.Lines, "\n"))
	for _, want := range []string{"expires in ", "3 = workspaces, 976e = this plan"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Count(text, "not now: the file system is still full") != 1 {
		t.Error(text)
	}
}

func sizes() [][2]int {
	return [][2]int{{118, 38}, {78, 22}, {58, 18}, {38, 10}, {38, 6}, {22, 5}}
}

// The line that says what to type is in sight in every window, with the end of what was typed, whatever things are called.
func TestTheGestureStaysInSight(t *testing.T) {
	th := theme.New(theme.NoColours, theme.ASCII)
	for name, raw := range hostile() {
		for _, g := range []actions.Gesture{actions.GestureTwice, actions.GestureYes, actions.GestureName, actions.GestureCount} {
			for _, n := range []int{1, 3} {
				for _, size := range sizes() {
					t.Run(fmt.Sprintf("%s-%d-%d-%dx%d", name, g, n, size[0], size[1]), func(t *testing.T) {
						p := hostilePlan(raw, n, g)
						d := Dialog{Plan: p, Ready: true, Typed: "zzzzTAIL", Key: "p", Now: time.Unix(1010, 0), Pager: &kit.Pager{}, Diff: []backend.Safe{backend.Clean(raw, 200)}}
						block, x, y := d.Draw(size[0], size[1], th)
						lines := drawn(t, block, size[0], size[1])
						want := p.Wants()
						if g == actions.GestureTwice {
							want = "press p twice"
						}
						last := lines[len(lines)-2]
						if !strings.Contains(last, want) || g != actions.GestureTwice && size[0] >= 38 && !strings.Contains(last, "TAIL") {
							t.Errorf("the last line is %q; it must hold %q and the end of what was typed", last, want)
						}
						if y != len(lines)-2 || x < 1 || x >= size[0] {
							t.Errorf("the cursor stands at %d,%d of %d×%d", x, y, size[0], len(lines))
						}
					})
				}
			}
		}
	}
}

func TestRunsOfHostileNamesStayInTheirWindow(t *testing.T) {
	th := theme.New(theme.NoColours, theme.ASCII)
	for name, raw := range hostile() {
		for _, size := range sizes() {
			for _, phase := range []actions.Phase{actions.PhaseWaiting, actions.PhaseStopped, actions.PhaseActing} {
				t.Run(fmt.Sprintf("%s-%s-%dx%d", name, phase, size[0], size[1]), func(t *testing.T) {
					p := hostilePlan(raw, 5, actions.GestureCount)
					label := backend.Clean(raw, backend.MaxTextRunes)
					v := Progress{Progress: actions.Progress{Plan: p, Phase: phase, Why: label, Problem: label, CanContinue: phase == actions.PhaseWaiting, Own: true, Waves: 3, Wave: 1},
						Now: time.Unix(1010, 0), Pager: &kit.Pager{}, Note: label.String()}
					for _, x := range p.Targets {
						v.Lines = append(v.Lines, actions.Line{Target: x, Text: label, Result: actions.ResultFailed, Done: actions.Done{Notes: []backend.Safe{label}}})
					}
					lines := drawn(t, v.Draw(size[0], size[1], th), size[0], size[1])
					if text := strings.Join(lines, "\n"); phase == actions.PhaseWaiting && !strings.Contains(text, "c starts") || !strings.Contains(text, "esc") {
						t.Errorf("it does not say which keys there are:\n%s", text)
					}
				})
			}
		}
	}
}

// Two names that differ only at their ends can be told apart.
func TestNamesAreNeverCutOff(t *testing.T) {
	th := theme.New(theme.NoColours, theme.ASCII)
	end := "the-end-that-matters"
	p := hostilePlan(strings.Repeat("a-long-name-", 9)+end, 1, actions.GestureName)
	d := Dialog{Plan: p, Ready: true, Now: time.Unix(1010, 0), Pager: &kit.Pager{}}
	for _, w := range []int{118, 78, 58} {
		all := ""
		for _, l := range d.targets(w-4, th) {
			all += strings.TrimSpace(l)
		}
		if !strings.Contains(all, end) {
			t.Errorf("at %d columns the end of the name is not there:\n%s", w, all)
		}
	}
}
