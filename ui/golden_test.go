package ui

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/exp/golden"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views/theme"
)

// shot compares the body of a screen, or the box over it, with its golden: header, tabs and footer are in a few whole
// screens and in TestFooters, so that a new screen or key changes few files.
func shot(t *testing.T, feed func() Feed, l look, press ...string) {
	t.Helper()
	golden.RequireEqual(t, take(t, feed, l, press, func(s *screen) []byte { return s.golden(s.body()) }))
}

// take opens a console, presses keys and returns what see saw.
func take[T any](t *testing.T, feed func() Feed, l look, press []string, see func(s *screen) T) (got T) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(14*time.Hour + 3*time.Minute) // a time of day that reads well
		s := open(t, feed(), l)
		s.press(press...)
		got = see(s)
		s.close()
	})
	return got
}

func incidentFeed() Feed { return newFeed(incident(time.Now())) }

// tier is how many colours a terminal has.
type tier struct {
	name    string
	profile colorprofile.Profile
}

func tiers() []tier {
	return []tier{{"none", colorprofile.ASCII}, {"16", colorprofile.ANSI}, {"256", colorprofile.ANSI256}, {"true", colorprofile.TrueColor}}
}

// tieredShots compares a body in every tier. One golden holds the text of each glyph tier, and the styles of each tier of
// colours.
func tieredShots(t *testing.T, name string, feed func() Feed, tiers []tier, press ...string) {
	t.Run(name, func(t *testing.T) {
		var b strings.Builder
		for _, glyphs := range []theme.Glyphs{theme.Unicode, theme.ASCII} {
			text := ""
			for _, c := range tiers {
				got := take(t, feed, look{w: 80, h: 24, profile: c.profile, glyphs: glyphs}, press, func(s *screen) [2]string {
					return [2]string{strings.Join(s.rows(s.body()), "\n"), s.styles(s.body())}
				})
				if text == "" {
					text = got[0]
					b.WriteString(text + "\n")
				}
				if got[0] != text {
					t.Errorf("with %s colours the text is another:\n%s", c.name, got[0])
				}
				b.WriteString("=== styles, colours: " + c.name + "\n" + got[1])
			}
		}
		golden.RequireEqual(t, []byte(b.String()))
	})
}

// sizedShots compares a body at several sizes, all in one golden.
func sizedShots(t *testing.T, name string, feed func() Feed, sizes []Size, press ...string) {
	t.Run(name, func(t *testing.T) {
		var b strings.Builder
		for _, size := range sizes {
			fmt.Fprintf(&b, "=== %dx%d\n", size.Width, size.Height)
			b.Write(take(t, feed, look{w: size.Width, h: size.Height}, press, func(s *screen) []byte { return s.golden(s.body()) }))
		}
		golden.RequireEqual(t, []byte(b.String()))
	})
}

func widths() []Size { return []Size{{60, 24}, {80, 24}, {120, 40}, {200, 60}} }

// andSmall are the widths and two small windows.
func andSmall() []Size { return append(widths(), Size{80, 12}, Size{60, 15}) }

// Every screen at every width.
func TestScreens(t *testing.T) {
	for _, n := range []string{"1", "2", "3", "7", "9"} {
		sizedShots(t, n, incidentFeed, widths(), n)
	}
}

// The home screen and the richest tables in every tier of colours and glyphs.
func TestTiers(t *testing.T) {
	tieredShots(t, "1", incidentFeed, tiers(), "1", "j")
	for _, n := range []string{"2", "3", "7", "9"} {
		tieredShots(t, n, incidentFeed, tiers()[:3], n, "j")
	}
}

func TestOverlays(t *testing.T) {
	for _, c := range []struct {
		name  string
		size  Size
		press []string
	}{
		{"alert", Size{120, 40}, []string{"1", keyEnter}},
		{"alert-held-under", Size{80, 24}, []string{"1", "j", "j", "j", "j", keyEnter}},
		{"alert-suspected", Size{80, 24}, []string{"1", "j", "j", "j", "j", "j"}},
		{"alert-link", Size{80, 24}, []string{"1", "j", keyEnter, "\t", "\t"}},
		{"alert-link-opened", Size{80, 24}, []string{"1", "j", keyEnter, "\t", "\t", keyEnter}},
		{"workspace", Size{120, 40}, []string{"2", "j", "j", "j", keyEnter}},
		{"workspace-narrow", Size{60, 24}, []string{"2", "j", "j", "j", keyEnter}},
		{"sandbox", Size{120, 40}, []string{"3", keyEnter}},
		{"tmpdir", Size{80, 24}, []string{"7", "j", keyEnter}},
		{"source", Size{120, 40}, []string{"9", "j", keyEnter}},
		{"help", Size{80, 24}, []string{"?"}},
		{"help-wide", Size{120, 60}, []string{"?"}},
		{"palette", Size{80, 24}, []string{":", "s"}},
		{"filter-kept", Size{80, 24}, []string{"2", "/", "evicted", keyEnter}},
		{"filter-nothing", Size{80, 24}, []string{"2", "/", "nosuchthing", keyEnter}},
		{"sorted", Size{80, 24}, []string{"7", "s", "I"}},
		{"marked", Size{80, 24}, []string{"3", " ", "j", " "}},
		{"flat-tail", Size{80, 12}, []string{"G"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			shot(t, incidentFeed, look{w: c.size.Width, h: c.size.Height}, c.press...)
		})
	}
}

// The runbook's page about the storm, with its diagnosis, at every size and in every tier.
func TestRunbook(t *testing.T) {
	sizedShots(t, "sizes", incidentFeed, andSmall(), "R")
	tieredShots(t, "tiers", incidentFeed, tiers(), "R", " ", " ")
	for name, press := range map[string][]string{
		"turned": {"R", "]"}, "of-a-workspace": {"2", "R"}, "of-a-sandbox": {"3", "R"}, "end": {"R", "G"}, "from-details": {"2", "G", keyEnter, "R"},
		"none": {"j", "j", "j", "j", "R"},
	} {
		t.Run(name, func(t *testing.T) { shot(t, incidentFeed, look{w: 80, h: 24}, press...) })
	}
}

// An alert in full with its diagnosis, at every size and in every tier.
func TestAlertDetail(t *testing.T) {
	sizedShots(t, "sizes", incidentFeed, andSmall(), "1", keyEnter)
	tieredShots(t, "tiers", incidentFeed, tiers(), "1", keyEnter, " ")
}

// Without rows a screen says what it waits for, or what the absence is worth.
func TestEmpty(t *testing.T) {
	feeds := map[string]func() Feed{
		"before": func() Feed { return newFeed(nil, nil) },
		"connecting": func() Feed {
			now := time.Now()
			a, b := source(now, "helix-eu", "helix", fleet.StatusStarting), source(now, "helix-us", "helix", fleet.StatusDown)
			a.LastOK, b.LastOK = time.Time{}, time.Time{}
			return newFeed(&fleet.State{Number: 1, Wall: now, Sources: []*fleet.SourceHealth{a, b}}, nil)
		},
		"calm": func() Feed {
			now := time.Now()
			s, _ := incident(now)
			return newFeed(&fleet.State{Number: 2, Wall: now, Sources: s.Sources[:1]}, nil)
		},
	}
	for name, feed := range feeds {
		for _, n := range []string{"1", "2", "7", "9"} {
			t.Run(name+"-"+n, func(t *testing.T) { shot(t, feed, look{w: 80, h: 24}, n) })
		}
	}
	t.Run("blind-1", func(t *testing.T) {
		shot(t, func() Feed {
			now := time.Now()
			s, _ := incident(now)
			return newFeed(&fleet.State{Number: 2, Wall: now, Sources: s.Sources[:1]}, &alerts.Board{Number: 2, At: now, Blind: []alerts.Blindness{
				{Rule: "runaway-process", Source: "helix-eu", Why: safe("no probe has read the processes: a probe of one does")},
			}})
		}, look{w: 80, h: 24}, "1")
	})
}

// The timeline at every width, and one event in full.
func TestTimeline(t *testing.T) {
	sizedShots(t, "sizes", pastFeed, widths(), "8", "j")
	t.Run("one", func(t *testing.T) { shot(t, pastFeed, look{w: 80, h: 24}, "8", "j", keyEnter) })
	t.Run("none", func(t *testing.T) { shot(t, incidentFeed, look{w: 80, h: 24}, "8") })
}

// pastFeed is the incident with what led to it.
func pastFeed() Feed { return pastFeedAt(time.Now()) }

func pastFeedAt(now time.Time) Feed {
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	box := backend.Key{Kind: backend.KindSandbox, Source: "docker-local", ID: backend.MustID("id-web-eval-19")}
	return &historyFeed{fixedFeed: newFeed(incident(now)), events: []backend.Event{
		{Kind: backend.EventAction, At: ago(20 * time.Second), Source: "helix-eu", Name: "reset", Subject: wsKey("helix-eu", "codesess_77c0", "scratch"),
			Text: safe("reset, plan b2346036: 1 of 1 done: 1 verified")},
		{Kind: backend.EventNote, At: ago(2 * time.Minute), Name: "note", Text: safe("mara: quota raised to 80, watching")},
		{Kind: backend.EventPlatform, At: ago(4 * time.Minute), SourceAt: ago(4*time.Minute + 2*time.Second), Source: "docker-local", Name: "oom", Subject: box,
			Text: safe("the kernel killed a process of web-eval-19: out of memory")},
		{Kind: backend.EventTransition, At: ago(6 * time.Minute), Source: "helix-eu", Name: "firing", Text: safe("eviction-storm is firing: cloudflare-sandbox: max_instances reached")},
		{Kind: backend.EventChange, At: ago(7 * time.Minute), Source: "helix-eu", Name: "rollout", Text: safe("agent-eu restarted (14 of 14)")},
		{Kind: backend.EventTransition, At: ago(26 * time.Hour), Source: "helix-eu", Name: "resolved", Text: safe("failed-too-long resolved after 41m")},
	}}
}
