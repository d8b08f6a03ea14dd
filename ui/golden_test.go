package ui

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/exp/golden"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views/theme"
)

func shot(t *testing.T, feed func() Feed, l look, press ...string) {
	t.Helper()
	var got []byte
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(14*time.Hour + 3*time.Minute) // a time of day that reads well
		s := open(t, feed(), l)
		s.press(press...)
		got = s.golden()
		s.close()
	})
	golden.RequireEqual(t, got)
}

func incidentFeed() Feed { return newFeed(incident(time.Now())) }

// Every screen at every width.
func TestScreens(t *testing.T) {
	for _, size := range []Size{{60, 24}, {80, 24}, {120, 40}, {200, 60}} {
		for _, n := range []string{"1", "2", "3", "7", "9"} {
			t.Run(fmt.Sprintf("%s-%dx%d", n, size.Width, size.Height), func(t *testing.T) {
				shot(t, incidentFeed, look{w: size.Width, h: size.Height}, n)
			})
		}
	}
}

// The home screen and the richest tables in every tier of colours and glyphs.
func TestTiers(t *testing.T) {
	for name, p := range map[string]colorprofile.Profile{"none": colorprofile.ASCII, "16": colorprofile.ANSI, "256": colorprofile.ANSI256, "true": colorprofile.TrueColor} {
		for glyphs, g := range map[string]theme.Glyphs{"unicode": theme.Unicode, "ascii": theme.ASCII} {
			for _, n := range []string{"1", "2", "3", "7", "9"} {
				if n != "1" && name == "true" {
					continue
				}
				t.Run(n+"-"+name+"-"+glyphs, func(t *testing.T) {
					shot(t, incidentFeed, look{w: 80, h: 24, profile: p, glyphs: g}, n, "j")
				})
			}
		}
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
		{"filter", Size{80, 24}, []string{"2", "/", "works:failing"}},
		{"filter-kept", Size{80, 24}, []string{"2", "/", "evicted", keyEnter}},
		{"filter-nothing", Size{80, 24}, []string{"2", "/", "nosuchthing", keyEnter}},
		{"sorted", Size{80, 24}, []string{"7", "s", "S"}},
		{"marked", Size{80, 24}, []string{"3", " ", "j", " "}},
		{"flat", Size{80, 12}, nil},
		{"phone", Size{60, 15}, nil},
		{"flat-tail", Size{80, 12}, []string{"G"}},
		{"tiny", Size{18, 3}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			shot(t, incidentFeed, look{w: c.size.Width, h: c.size.Height}, c.press...)
		})
	}
}

// The runbook's page about the storm, with its diagnosis, at every size and in every tier.
func TestRunbook(t *testing.T) {
	for _, size := range []Size{{60, 24}, {80, 24}, {120, 40}, {200, 60}, {80, 12}, {60, 15}} {
		t.Run(fmt.Sprintf("%dx%d", size.Width, size.Height), func(t *testing.T) {
			shot(t, incidentFeed, look{w: size.Width, h: size.Height}, "R")
		})
	}
	for name, p := range map[string]colorprofile.Profile{"none": colorprofile.ASCII, "16": colorprofile.ANSI, "256": colorprofile.ANSI256, "true": colorprofile.TrueColor} {
		for glyphs, g := range map[string]theme.Glyphs{"unicode": theme.Unicode, "ascii": theme.ASCII} {
			t.Run(name+"-"+glyphs, func(t *testing.T) {
				shot(t, incidentFeed, look{w: 80, h: 24, profile: p, glyphs: g}, "R", " ", " ")
			})
		}
	}
	for name, press := range map[string][]string{
		"turned": {"R", "]"}, "of-a-workspace": {"2", "R"}, "of-a-sandbox": {"3", "R"}, "end": {"R", "G"}, "from-details": {"2", "G", keyEnter, "R"},
		"none": {"j", "j", "j", "j", "R"},
	} {
		t.Run(name, func(t *testing.T) { shot(t, incidentFeed, look{w: 80, h: 24}, press...) })
	}
}

// An alert in full with its diagnosis, at every size and in every tier.
func TestAlertDetail(t *testing.T) {
	for _, size := range []Size{{60, 24}, {80, 24}, {120, 40}, {200, 60}, {80, 12}, {60, 15}} {
		t.Run(fmt.Sprintf("%dx%d", size.Width, size.Height), func(t *testing.T) {
			shot(t, incidentFeed, look{w: size.Width, h: size.Height}, "1", keyEnter)
		})
	}
	for name, p := range map[string]colorprofile.Profile{"none": colorprofile.ASCII, "16": colorprofile.ANSI, "256": colorprofile.ANSI256, "true": colorprofile.TrueColor} {
		for glyphs, g := range map[string]theme.Glyphs{"unicode": theme.Unicode, "ascii": theme.ASCII} {
			t.Run(name+"-"+glyphs, func(t *testing.T) {
				shot(t, incidentFeed, look{w: 80, h: 24, profile: p, glyphs: g}, "1", keyEnter, " ")
			})
		}
	}
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
}

// The timeline at every width, and one event in full.
func TestTimeline(t *testing.T) {
	for _, size := range []Size{{60, 24}, {80, 24}, {120, 40}, {200, 60}} {
		t.Run(fmt.Sprintf("%dx%d", size.Width, size.Height), func(t *testing.T) {
			shot(t, pastFeed, look{w: size.Width, h: size.Height}, "8", "j")
		})
	}
	t.Run("one", func(t *testing.T) { shot(t, pastFeed, look{w: 80, h: 24}, "8", "j", keyEnter) })
	t.Run("none", func(t *testing.T) { shot(t, incidentFeed, look{w: 80, h: 24}, "8") })
}

// pastFeed is the incident with what led to it.
func pastFeed() Feed {
	now := time.Now()
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
