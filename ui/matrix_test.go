package ui

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/exp/golden"
	"github.com/charmbracelet/x/vt"

	"sandglass/views/kit"
	"sandglass/views/subjects"
	"sandglass/views/theme"
)

// noonUTC is the time of every screen of the matrix.
var noonUTC = time.Date(2026, 11, 21, 14, 3, 0, 0, time.UTC)

// matrixFeed is what a screen of the matrix shows.
func matrixFeed(screen string) Feed {
	switch screen {
	case "Sessions", "Executions":
		return hubFeedAt(noonUTC)
	case "Timeline":
		return pastFeedAt(noonUTC)
	case "Evictions":
		return evictionFeedAt(noonUTC)
	case "Rejections":
		return rejectionFeedAt(noonUTC)
	}
	return newFeed(incident(noonUTC))
}

// still is a console of which every answer has arrived, drawn on an emulated terminal; nothing runs.
func still(t *testing.T, feed Feed, l look, number int) *screen {
	t.Helper()
	v := Viewer{Name: "mara", Origin: "bastion-2", Environment: "prod-eu", Environ: []string{"TERM=xterm-256color"}, Size: Size{l.w, l.h},
		ColorProfile: l.profile, Glyphs: l.glyphs, Now: func() time.Time { return noonUTC }}
	s := &screen{t: t, em: vt.NewSafeEmulator(l.w, l.h), w: l.w, h: l.h, model: New(v, feed)}
	t.Cleanup(s.model.Close)
	s.model.open(number)
	for range 3 { // an answer may lead to another question
		drain(s.model, s.model.diagnose())
	}
	s.draw()
	return s
}

// draw puts the console's picture on the emulated terminal.
func (s *screen) draw() {
	s.t.Helper()
	s.model.dirty = true
	lines := strings.Split(s.model.View().Content, "\n")
	if len(lines) > s.h {
		s.t.Errorf("%d lines on a screen of %d", len(lines), s.h)
	}
	for _, line := range lines {
		if n := kit.Width(line); n > s.w {
			s.t.Errorf("a line has %d cells on a screen of %d: %q", n, s.w, line)
		}
	}
	if _, err := s.em.Write([]byte("\x1b[H" + strings.Join(lines, "\r\n"))); err != nil {
		s.t.Fatal(err)
	}
}

// Every screen at each width and in two small windows, in every tier of colours and of glyphs. A golden holds each text once, and a
// short hash of the styles of each tier and of the text in ASCII. Beside it stands what must hold for all: no line is wider than the
// screen, no mandatory column is missing or cut, colours change no text, and an ASCII terminal gets ASCII.
func TestMatrix(t *testing.T) {
	for _, named := range screenNames(screens()) {
		t.Run(named.Name, func(t *testing.T) {
			var b strings.Builder
			colours := tiers()[:3]
			if named.Name == "Alerts" {
				colours = tiers()
			}
			for _, size := range andSmall() {
				for _, glyphs := range []theme.Glyphs{theme.Unicode, theme.ASCII} {
					text := matrixText(t, func(l look) *screen { return still(t, matrixFeed(named.Name), l, named.N) }, size, glyphs, colours, &b)
					if glyphs == theme.Unicode {
						mandatory(t, named.Name, size, text)
					}
				}
			}
			golden.RequireEqual(t, []byte(b.String()))
		})
	}
}

func matrixText(t *testing.T, draw func(look) *screen, size Size, glyphs theme.Glyphs, colours []tier, b *strings.Builder) string {
	t.Helper()
	text, styles := "", ""
	for _, c := range colours {
		s := draw(look{w: size.Width, h: size.Height, profile: c.profile, glyphs: glyphs})
		got := strings.Join(s.rows(s.body()), "\n")
		if text == "" {
			text = got
		}
		if got != text {
			t.Errorf("%dx%d: with %s colours the text is another:\n%s", size.Width, size.Height, c.name, got)
		}
		styles += fmt.Sprintf(" %s %x", c.name, sha256.Sum256([]byte(s.styles(s.body()))))[:len(c.name)+10]
		if whole := s.text(); glyphs == theme.ASCII && strings.ContainsFunc(whole, func(r rune) bool { return r > '~' }) {
			t.Errorf("%dx%d: not only ASCII:\n%s", size.Width, size.Height, whole)
		}
	}
	if glyphs == theme.ASCII {
		fmt.Fprintf(b, "=== in ASCII: text %.8x, styles%s\n", sha256.Sum256([]byte(text)), styles)
	} else {
		fmt.Fprintf(b, "=== %dx%d, styles%s\n%s\n", size.Width, size.Height, styles, text)
	}
	return text
}

// mandatory checks that the head of a table names whole every column that is never dropped.
func mandatory(t *testing.T, name string, size Size, text string) {
	t.Helper()
	heads := headsOf(name)
	if len(heads) == 0 {
		t.Fatalf("no listing is called %s", name)
	}
	snapshot := still(t, matrixFeed(name), look{w: 80, h: 24}, 1).model.frame.Snapshot
	for _, h := range heads {
		if h.Priority > 0 || h.Where != subjects.Everywhere || h.Needed != nil && !h.Needed(snapshot) {
			continue
		}
		titles := []string{h.Title, h.Brief}
		if !slices.ContainsFunc(strings.Split(text, "\n"), func(line string) bool {
			return slices.ContainsFunc(strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" ↑↓", r) }), func(word string) bool {
				return slices.ContainsFunc(titles, func(title string) bool {
					return title != "" && word == strings.Fields(title)[len(strings.Fields(title))-1]
				})
			})
		}) {
			t.Errorf("%dx%d: the column %s is not there, or cut:\n%s", size.Width, size.Height, h.Title, text)
		}
	}
}

// headsOf are the columns of a screen.
func headsOf(screen string) []subjects.Head {
	if screen == "Executions" {
		return subjects.Work().Heads()
	}
	for _, l := range subjects.Listings() {
		if strings.EqualFold(l.Kind, screen) || screen == "Timeline" && l.Kind == "events" {
			return l.Heads
		}
	}
	return nil
}

// A row of which nothing is known says so on every screen, with the sign of the unknown or its word.
func TestUnknownOnEveryScreen(t *testing.T) {
	state, board := unknownFleet()
	feed := newFeed(state, board)
	for _, screen := range screenNames(screens()) {
		if screen.Name == "Timeline" {
			continue // an event is what was read: what it does not name does not apply
		}
		for _, glyphs := range []theme.Glyphs{theme.Unicode, theme.ASCII} {
			for _, w := range []int{60, 80, 120, 200} {
				s := still(t, feed, look{w: w, h: 40, profile: colorprofile.ASCII, glyphs: glyphs}, screen.N)
				rows := s.rows(s.body())
				if len(s.model.screen().Visible()) == 0 {
					t.Fatalf("%s has no row", screen.Name)
				}
				row := strings.Join(rows[1:min(len(rows), 3)], " ")
				if screen.Name == "Alerts" { // that it is held is known; the pane says what is not
					row = strings.Join(rows, " ")
				}
				if !strings.Contains(row, "?") && !strings.Contains(row, "unknown") && !strings.Contains(row, "not known") {
					t.Errorf("%s, %d cells: nothing says that nothing is known:\n%s", screen.Name, w, strings.Join(rows, "\n"))
				}
			}
		}
	}
}

// A row that leaves while the cursor is on it leaves the cursor on nothing on every screen: what would act on a row says so, and the
// next key goes to a row again.
func TestVanishedRowOnEveryScreen(t *testing.T) {
	for _, screen := range screenNames(screens()) {
		t.Run(screen.Name, func(t *testing.T) {
			feed := matrixFeed(screen.Name)
			s := still(t, feed, look{w: 120, h: 40}, screen.N)
			m := s.model
			m.press(tea.KeyPressMsg{Code: 'j', Text: "j"})
			before := len(m.screen().Visible())
			gone := m.screen().Cursor(&m.frame)
			if gone.Kind == "" || before < 2 {
				t.Fatalf("the cursor is on %v of %d rows", gone, before)
			}
			without(feed, gone)
			m.Update(changedMsg{})
			s.draw()
			if at := m.screen().Cursor(&m.frame); at.Kind != "" {
				t.Errorf("the cursor went to %s", at.Safe())
			}
			if slices.Contains(m.screen().Visible(), gone) {
				t.Error("the row is still there")
			}
			if strings.Contains(s.text(), "› ") && slices.ContainsFunc(s.rows(s.body()), func(l string) bool { return strings.HasPrefix(l, " › ") }) {
				t.Errorf("a row looks like the one under the cursor:\n%s", s.text())
			}
			for _, key := range []tea.KeyPressMsg{{Code: tea.KeyEnter}, {Code: 'R', Text: "R"}, {Code: 'y', Text: "y"}} {
				m.press(key)
				if len(m.stack) > 0 || !strings.Contains(m.say, "no row") {
					t.Errorf("%s: %q, %d overlays", key, m.say, len(m.stack))
					m.stack = nil
				}
			}
			m.press(tea.KeyPressMsg{Code: 'j', Text: "j"})
			if at := m.screen().Cursor(&m.frame); at.Kind == "" {
				t.Error("the next key does not go to a row")
			}
		})
	}
}
