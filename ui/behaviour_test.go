package ui

import (
	"errors"
	"github.com/charmbracelet/x/ansi"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/theme"
)

// Nothing is written while nothing changes; a minute's end rewrites the clock and the ages, and no more.
func TestQuietWhenNothingChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Hour)
		now := time.Now()
		state, _ := incident(now)
		for _, h := range state.Sources { // ages under a minute tick by design; here there are none
			h.Interval, h.NextPoll, h.Failures = time.Hour, now.Add(time.Hour), 0
		}
		feed := newFeed(state, &alerts.Board{})
		s := open(t, feed, look{w: 120, h: 40})
		s.press("3")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		before := s.bytes.Load()
		time.Sleep(40 * time.Second)
		synctest.Wait()
		if n := s.bytes.Load() - before; n != 0 {
			t.Errorf("%d bytes in 40 quiet seconds", n)
		}
		feed.set(state, &alerts.Board{}) // a notice that brings nothing new
		s.settle()
		if n := s.bytes.Load() - before; n != 0 {
			t.Errorf("%d bytes for a State that changed nothing", n)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := s.bytes.Load() - before; n == 0 || n > 900 {
			t.Errorf("%d bytes at the minute's end, want the clock and a few ages", n)
		}
		s.close()
	})
}

// The bytes a slow link has to carry, per refresh in which every second row changed, and per key.
func TestByteBudget(t *testing.T) {
	for _, c := range []struct {
		size                    Size
		refresh, down, pageDown int64
	}{{Size{120, 40}, 400, 600, 6000}, {Size{200, 60}, 600, 800, 11000}} {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(time.Hour)
			feed := newFeed(big(time.Now(), 10_000), &alerts.Board{})
			s := open(t, feed, look{w: c.size.Width, h: c.size.Height})
			s.press("2")
			cost := func(do func()) int64 {
				before := s.bytes.Load()
				do()
				return s.bytes.Load() - before
			}
			const rounds = 10
			refresh := cost(func() {
				for i := range rounds {
					state, _ := feed.Latest()
					feed.set(touch(state, time.Now(), 2, i), &alerts.Board{})
					time.Sleep(150 * time.Millisecond)
					synctest.Wait()
				}
			}) / rounds
			down := cost(func() { s.press(keyDown, keyDown, keyDown, keyDown) }) / 4
			page := cost(func() { s.press("\x1b[6~", "\x1b[6~") }) / 2
			t.Logf("%dx%d: refresh %d, cursor down %d, page down %d bytes", c.size.Width, c.size.Height, refresh, down, page)
			if refresh > c.refresh || down > c.down || page > c.pageDown {
				t.Errorf("%dx%d: refresh %d of %d, cursor down %d of %d, page down %d of %d bytes", c.size.Width, c.size.Height,
					refresh, c.refresh, down, c.down, page, c.pageDown)
			}
			if refresh == 0 || down == 0 {
				t.Error("nothing was drawn: the measurement is void")
			}
			s.close()
		})
	}
}

// Two programs of different size, colours and permissions on one feed show the same fleet, each in its own way, and
// one that goes away leaves the other alone.
func TestTwoViewersOneFeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		feed := newFeed(incident(now))
		a := open(t, feed, look{w: 80, h: 24, profile: colorprofile.ASCII, glyphs: theme.ASCII})
		b := open(t, feed, look{w: 200, h: 60, control: newHands().control(t, false)})
		a.press("2", "j")
		b.press("3")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if !strings.Contains(a.text(), "LAST ERROR") || !strings.Contains(b.text(), "OBSERVED") {
			t.Error("the programs share their screen")
		}
		if !strings.Contains(a.lines()[0], "read") || !strings.Contains(b.lines()[0], "actions disabled") {
			t.Errorf("permissions: %q, %q", a.lines()[0], b.lines()[0])
		}
		for _, r := range a.text() {
			if r > 0x7e {
				t.Fatalf("%q on an ASCII terminal", r)
			}
		}
		if a.em.CellAt(1, 3).Style.Fg != nil {
			t.Error("colour on a terminal without colours")
		}
		feed.mu.Lock()
		na, nb := len(feed.visible["mara@80"]), len(feed.visible["mara@200"])
		feed.mu.Unlock()
		if na == 0 || nb == 0 || na == nb {
			t.Errorf("visible rows: %d and %d", na, nb)
		}
		a.close()
		state, board := feed.Latest()
		next := *state
		next.Number++
		next.Sandboxes = fleet.NewTable[backend.Sandbox]()
		for m := range state.Sandboxes.All() {
			next.Delta.Gone = append(next.Delta.Gone, fleet.Departure{Key: m.Key, Last: m})
		}
		feed.set(&next, board)
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
		if !strings.Contains(b.text(), "No sandboxes") {
			t.Errorf("the other program did not follow:\n%s", b.text())
		}
		feed.mu.Lock()
		left := len(feed.visible["mara@80"])
		feed.mu.Unlock()
		if left != 0 {
			t.Error("a viewer that went away still asks for rows")
		}
		b.close()
	})
}

// Whatever a backend sends as a name or text, no screen and no details show a control character, and nothing acts.
func TestHostileText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		feed := &orderFeed{fixedFeed: newFeed(hostile(now)), fail: errors.New(evil)}
		bad := mute(now, "5e1", "rule=x", "", "", time.Hour, 1)
		bad.Owner, bad.Reason = safe(evil), safe(evil)
		bad.Matchers[0].Value = evil
		feed.muted = append(feed.muted, bad)
		s := open(t, feed, look{w: 120, h: 40})
		check := func(where string) {
			t.Helper()
			for y, line := range s.lines() {
				for _, r := range line {
					if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r >= 0x200b && r <= 0x200f {
						t.Fatalf("%s: %U on line %d: %q", where, r, y, line)
					}
				}
			}
			if !strings.HasPrefix(s.lines()[0], " sandglass") {
				t.Fatalf("%s: the header was overwritten: %q", where, s.lines()[0])
			}
		}
		for _, n := range []string{"1", "2", "3", "7", "9"} {
			s.press(n)
			check("screen " + n)
			if n != "9" && !strings.Contains(s.text(), "␛") {
				t.Errorf("screen %s does not show what it was sent:\n%s", n, s.text())
			}
			s.press(keyEnter)
			check("details on " + n)
			s.press("R")
			check("runbook from " + n)
			s.press("G")
			check("end of the runbook from " + n)
			for range 2 {
				s.press(keyEsc)
				time.Sleep(time.Second)
				s.settle()
			}
		}
		s.press("M")
		check("silences")
		s.press("1", "a", "\x1b[200~"+evil+"\x1b[201~")
		check("dialog")
		s.press(keyEnter, keyEnter)
		check("refused")
		s.press("\x03", "m")
		check("silence")
		s.press("\x03")
		s.press("2", "/")
		s.press("\x1b[200~" + "a\u202e\u009b\tb" + "\x1b[201~")
		check("filter line")
		s.close()
	})
}

// A row that goes away leaves the cursor on nothing: enter opens nothing, and the next row is reached by a key.
func TestVanishedRowOnScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		state, board := incident(now)
		feed := newFeed(state, board)
		s := open(t, feed, look{w: 80, h: 24})
		s.press("3", "j")
		gone := s.model.screen().Visible()[1]
		next := *state
		next.Number++
		var left []*backend.Sandbox
		for b := range state.Sandboxes.All() {
			if b.Key != gone {
				left = append(left, b)
			}
		}
		next.Sandboxes = fleet.NewTable(left...)
		next.Delta = fleet.Delta{Gone: []fleet.Departure{{Key: gone}}}
		feed.set(&next, board)
		time.Sleep(150 * time.Millisecond)
		s.settle()
		if strings.Contains(s.text(), "›") {
			t.Fatalf("the cursor went to another row:\n%s", s.text())
		}
		s.press(keyEnter)
		if len(s.model.stack) != 0 || !strings.Contains(s.text(), "on no row") {
			t.Errorf("enter on nothing:\n%s", s.text())
		}
		s.press("j")
		if !strings.Contains(s.text(), "›") {
			t.Error("the cursor did not come back")
		}
		s.close()
	})
}

// The bytes of an arrow key that come one by one, late, do nothing but what esc does.
func TestSplitEscapeSequence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, incidentFeed(), look{w: 80, h: 24})
		s.press("2", "/", "evicted", keyEnter)
		before := s.text()
		for _, b := range []string{"\x1b", "[", "6", "~"} {
			s.press(b)
			time.Sleep(100 * time.Millisecond)
		}
		if after := s.text(); strings.Contains(after, "/evicted") || after == before || !strings.Contains(after, "LAST ERROR") {
			t.Errorf("esc must clear the filter and the rest must be dropped, screen 6 must not be asked for:\n%s", after)
		}
		s.press("3")
		if !strings.Contains(s.text(), "OBSERVED") {
			t.Error("keys after the sequence are lost")
		}
		s.close()
	})
}

// Details lead on to what a thing is joined to, and esc goes back the same way.
func TestDetailsLeadOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, incidentFeed(), look{w: 120, h: 40})
		titles := func(want string) {
			t.Helper()
			if line := s.lines()[3]; strings.TrimSpace(line) != want {
				t.Errorf("title %q, want %q\n%s", line, want, s.text())
			}
		}
		s.press("3", keyEnter)
		titles("sandbox web-eval-12")
		s.press("\t", keyEnter)
		titles("session c4f1")
		s.press("\t", "\t", keyEnter)
		titles("workspace c4f1/later")
		s.press("y")
		for _, want := range []string{"session c4f1", "sandbox web-eval-12"} {
			s.press(keyEsc)
			time.Sleep(time.Second)
			s.settle()
			titles(want)
		}
		s.press(keyEsc)
		time.Sleep(time.Second)
		s.settle()
		if len(s.model.stack) != 0 {
			t.Error("esc did not come back to the table")
		}
		s.close()
	})
}

func TestPasteGoesToTextOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, incidentFeed(), look{w: 80, h: 24})
		before := s.text()
		s.press("\x1b[200~q2q\x1b[201~")
		if s.text() != before {
			t.Fatalf("pasted text acted as keys:\n%s", s.text())
		}
		s.press("2", "/", "\x1b[200~evic\nted\x1b[201~")
		if !strings.Contains(s.text(), "/evic") {
			t.Errorf("paste into the filter:\n%s", s.text())
		}
		s.close()
	})
}

func TestFocusOpensTheThing(t *testing.T) {
	for focus, want := range map[string]string{
		"codesess_9100/box": "workspace codesess_9100/box", "ess_9100/bo": "workspace codesess_9100/box",
		"no-such-subject": "no-such-subject is on no screen", "codesess_": "codesess_ is on no screen",
	} {
		synctest.Test(t, func(t *testing.T) {
			feed := newFeed(nil, nil)
			s := open(t, feed, look{w: 100, h: 24, focus: focus})
			feed.set(incident(time.Now()))
			time.Sleep(150 * time.Millisecond)
			s.settle()
			if !strings.Contains(s.text(), want) {
				t.Errorf("%s:\n%s", focus, s.text())
			}
			s.close()
		})
	}
}

// Any keys in any order: no panic, lines of the right width, and the cursor never changes its row by itself.
func TestRandomKeys(t *testing.T) {
	pool := []tea.KeyPressMsg{}
	for _, r := range "12379jkgGsS/:?q yxbfe8aAmMR[]" {
		code, text := r, string(r)
		pool = append(pool, tea.KeyPressMsg{Code: code, Text: text})
	}
	for _, c := range []rune{tea.KeyEnter, tea.KeyEscape, tea.KeyUp, tea.KeyDown, tea.KeyPgUp, tea.KeyPgDown, tea.KeyHome, tea.KeyEnd, tea.KeyBackspace, tea.KeyTab, tea.KeyTab, tea.KeyRight} {
		pool = append(pool, tea.KeyPressMsg{Code: c})
	}
	pool = append(pool, tea.KeyPressMsg{Code: 'l', Mod: tea.ModCtrl}, tea.KeyPressMsg{Code: 'z', Mod: tea.ModCtrl})
	now := time.Date(2026, 11, 21, 14, 3, 0, 0, time.UTC)
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 7))
		state, board := incident(now)
		feed := &orderFeed{fixedFeed: newFeed(state, board), muted: []alerts.Silencing{mute(now, "5e1", "rule=x", "ann", "moved", time.Hour, 0)}}
		m := New(Viewer{Name: "fuzz", Environment: "x", Size: Size{80, 24}, ColorProfile: colorprofile.ANSI256, Now: func() time.Time { return now }}, feed)
		for step := range 400 {
			switch rng.IntN(12) {
			case 0:
				m.Update(tea.WindowSizeMsg{Width: rng.IntN(230), Height: rng.IntN(70)})
			case 1:
				feed.set(shuffle(state, rng), board)
				m.Update(changedMsg{})
			case 2:
				now = now.Add(time.Duration(rng.IntN(90)) * time.Second)
				m.Update(tickMsg{})
			default:
				m.Update(pool[rng.IntN(len(pool))])
			}
			block, _ := m.draw()
			if len(block.Lines) != m.height {
				t.Fatalf("seed %d step %d: %d lines on a screen of %d", seed, step, len(block.Lines), m.height)
			}
			for _, l := range block.Lines {
				if n := ansi.StringWidth(l); n != m.width {
					t.Fatalf("seed %d step %d: line of %d cells on %d: %q", seed, step, n, m.width, l)
				}
			}
		}
		m.Close()
	}
}

// A filter over very many rows answers its first key at once and goes on between messages until all rows are judged.
func TestLongFilterEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		feed := newFeed(big(time.Now(), 30_000), &alerts.Board{})
		s := open(t, feed, look{w: 120, h: 40})
		s.press("2")
		s.model.Update(tea.KeyPressMsg{Code: '/', Text: "/"})
		s.model.Update(tea.KeyPressMsg{Code: 'z', Text: "z"})
		if !s.model.screen().Busy() {
			t.Error("30,000 rows were judged before the key was answered")
		}
		s.press("\x7f", "evicted", keyEnter)
		time.Sleep(300 * time.Millisecond)
		s.settle()
		if s.model.screen().Busy() || !strings.Contains(s.text(), "of 30,000 match") || strings.Contains(s.text(), "so far") {
			t.Errorf("the filter did not end:\n%s", s.text())
		}
		s.close()
	})
}

// The cursor stays on the first line, which is the worst there is, until the viewer moves it or uses the row under it.
func TestCursorAtAStart(t *testing.T) {
	for name, press := range map[string][]string{"untouched": nil, "moved": {"j", "k"}, "used": {"x", keyEsc}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				state, board := incident(time.Now())
				early, few := *state, *board
				slow := *state.Sources[0]
				slow.Status = fleet.StatusStarting
				early.Number, early.Sources = 39, append([]*fleet.SourceHealth{&slow}, state.Sources[1:]...)
				few.Alerts = board.Alerts[1:3]
				feed := newFeed(&early, &few)
				s := open(t, feed, look{w: 120, h: 30})
				s.press(press...)
				feed.set(state, board)
				s.settle()
				on, first := s.model.screen().Cursor(&s.model.frame), views.AlertKey(board.Alerts[0])
				if (on == first) != (press == nil) {
					t.Errorf("the cursor is on %v, the first alert is %v", on, first)
				}
				next := *state
				next.Number++
				worse := *board
				worse.Alerts = append([]*alerts.Alert{{ID: "worse", Rule: "source-down", State: alerts.StateFiring, Severity: alerts.SeverityCritical}}, board.Alerts...)
				feed.set(&next, &worse)
				s.settle()
				want := on
				if press == nil {
					want = views.AlertKey(worse.Alerts[0])
				}
				if now := s.model.screen().Cursor(&s.model.frame); now != want {
					t.Errorf("the cursor went from %v to %v, not to %v", on, now, want)
				}
				s.close()
			})
		})
	}
}
