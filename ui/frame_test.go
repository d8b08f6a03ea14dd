package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/exp/golden"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/views/theme"
)

// The whole screen: the frame around a body. All other goldens show bodies only; keep these few.
func TestWholeScreens(t *testing.T) {
	for _, c := range []struct {
		name  string
		look  look
		press []string
	}{
		{"alerts-60x24", look{w: 60, h: 24}, nil},
		{"workspaces-80x24", look{w: 80, h: 24, profile: colorprofile.ANSI}, []string{"2"}},
		{"sandboxes-120x40", look{w: 120, h: 40}, []string{"3"}},
		{"alerts-200x60", look{w: 200, h: 60}, nil},
		{"ascii-without-colours", look{w: 80, h: 24, profile: colorprofile.ASCII, glyphs: theme.ASCII}, []string{"7"}},
		{"flat", look{w: 80, h: 12}, nil},
		{"phone", look{w: 60, h: 15}, []string{"2"}},
		{"tiny", look{w: 18, h: 3}, nil},
		{"filter", look{w: 80, h: 24}, []string{"9", "/", "status:down"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			golden.RequireEqual(t, take(t, incidentFeed, c.look, c.press, func(s *screen) []byte { return s.golden(s.whole()) }))
		})
	}
	t.Run("armed-dialog", func(t *testing.T) {
		var got []byte
		acts(t, Size{120, 40}, allowed(t), func(s *screen, _ *hands, _ *actions.Operator) {
			s.press("3", "D")
			s.ready()
			got = s.golden(s.whole())
		})
		golden.RequireEqual(t, got)
	})
	t.Run("broken-off", func(t *testing.T) {
		plans := []backend.Safe{backend.Text("destroy: 7 of 40 done; the result of web-1 is unknown (plan 3f2a9c1d, begun 11-20 14:03Z by mara)")}
		golden.RequireEqual(t, take(t, incidentFeed, look{w: 80, h: 24, broken: plans}, nil, func(s *screen) []byte { return s.golden(s.whole()) }))
	})
}

// The line below each body at each width, all in one golden.
func TestFooters(t *testing.T) {
	var b strings.Builder
	last := func(s *screen) string { return s.lines()[s.h-1] }
	for _, c := range []struct {
		name  string
		press []string
	}{
		{"alerts", []string{"1"}}, {"alerts, nothing written", []string{"1", "j", "j", "j", "j"}}, {"workspaces", []string{"2"}}, {"sandboxes", []string{"3"}},
		{"tmpdirs", []string{"7"}}, {"timeline", []string{"8"}}, {"sources", []string{"9"}}, {"marked", []string{"3", " ", "j", " "}},
		{"sorted", []string{"7", "s", "I"}}, {"filter", []string{"2", "/", "works:failing"}}, {"filter with a problem", []string{"2", "/", "nofield:x"}},
		{"filter kept", []string{"2", "/", "evicted", keyEnter}}, {"details of an alert", []string{"1", keyEnter}}, {"details of a workspace", []string{"2", keyEnter}},
		{"details of a source", []string{"9", keyEnter}}, {"runbook", []string{"R"}}, {"runbook without a page", []string{"j", "j", "j", "j", "R"}},
		{"help", []string{"?"}}, {"palette", []string{":"}}, {"silences", []string{"M"}}, {"acknowledge", []string{"a"}}, {"looks only", []string{"3", "D"}},
		{"copied", []string{"3", "y"}},
	} {
		fmt.Fprintf(&b, "%s\n", c.name)
		for _, w := range []int{60, 80, 120, 200} {
			fmt.Fprintf(&b, "%4d|%s\n", w, take(t, orderlyFeed, look{w: w, h: 24}, c.press, last))
		}
	}
	for _, c := range []struct {
		name  string
		press func(s *screen)
	}{
		{"may act", func(s *screen) { s.press("3") }},
		{"details, may act", func(s *screen) { s.press("3", keyEnter) }},
		{"reading the targets", func(s *screen) { s.press("3", "D") }},
		{"verbs", func(s *screen) { s.press("3", "x") }},
		{"plan", func(s *screen) { s.press("3", "D"); s.ready() }},
		{"plan, pressed twice", func(s *screen) { s.press("3", "p"); s.ready() }},
		{"run", func(s *screen) { s.press("3", "p"); s.ready(); s.press("p"); s.ready() }},
		{"run that waits", func(s *screen) { manyResets(s, 40*time.Second) }},
		{"run that is over", func(s *screen) { s.press("3", "p"); s.ready(); s.press("p"); time.Sleep(30 * time.Second); s.settle() }},
	} {
		fmt.Fprintf(&b, "%s\n", c.name)
		for _, w := range []int{60, 80, 120, 200} {
			acts(t, Size{w, 24}, func(h *hands) *actions.Operator {
				h.slow, h.pending = 3*time.Second, c.name == "run that waits"
				if c.name == "reading the targets" {
					h.looking = func() { time.Sleep(time.Second) }
				}
				control := h.control(t, false)
				h.arm(t, control)
				return control
			}, func(s *screen, _ *hands, _ *actions.Operator) {
				c.press(s)
				fmt.Fprintf(&b, "%4d|%s\n", w, last(s))
			})
		}
	}
	golden.RequireEqual(t, []byte(b.String()))
}

// The first line at each width, all in one golden.
func TestHeaders(t *testing.T) {
	var b strings.Builder
	widths := []int{40, 60, 80, 100, 120, 200}
	first := func(s *screen) string { return s.lines()[0] }
	for _, c := range []struct {
		name string
		feed func() Feed
	}{{"incident", incidentFeed}, {"before the first answer", func() Feed { return newFeed(nil, nil) }}} {
		fmt.Fprintf(&b, "%s\n", c.name)
		for _, w := range widths {
			fmt.Fprintf(&b, "%4d|%s\n", w, take(t, c.feed, look{w: w, h: 24}, nil, first))
		}
	}
	for _, c := range []struct {
		name  string
		arm   bool
		press func(s *screen)
	}{
		{"not armed", false, func(*screen) {}},
		{"armed", true, func(*screen) {}},
		{"carries out a plan", true, func(s *screen) { s.press("3", "p"); s.ready(); s.press("p"); s.ready() }},
	} {
		fmt.Fprintf(&b, "%s\n", c.name)
		for _, w := range widths {
			acts(t, Size{w, 24}, func(h *hands) *actions.Operator {
				h.slow = 3 * time.Second
				control := h.control(t, false)
				if c.arm {
					h.arm(t, control)
				}
				return control
			}, func(s *screen, _ *hands, _ *actions.Operator) {
				c.press(s)
				fmt.Fprintf(&b, "%4d|%s\n", w, first(s))
			})
		}
	}
	golden.RequireEqual(t, []byte(b.String()))
}
