package ui

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/backend"
	"sandglass/backend/logstream"
)

// fakeLogs are logs of which the test writes the lines.
type fakeLogs struct {
	to    logstream.Sink
	open  bool
	asked backend.Key
	saved string
}

func (l *fakeLogs) logs(t *testing.T) Logs {
	t.Helper()
	dir := t.TempDir()
	return Logs{Cleaner: backend.NewCleaner("our-own-secret"),
		Of: func(k backend.Key) backend.LogSet {
			l.asked = k
			return backend.LogSet{Logs: []backend.Log{{Name: backend.Text("container web")}}, Lacking: []backend.Safe{backend.Text("blaxel: not without waking it")}}
		},
		Follow: func(ctx context.Context, _ []backend.Log, to logstream.Sink) {
			l.to, l.open = to, true
			context.AfterFunc(ctx, func() { l.open = false })
		},
		Save: func(name string, write func(io.Writer) error) (string, error) {
			var out strings.Builder
			err := write(&out)
			l.saved = out.String()
			return filepath.Join(dir, name), err
		}}
}

func (l *fakeLogs) write(lines ...string) {
	for _, line := range lines {
		l.to.Line(0, backend.LogLine{At: time.Unix(1795800000, 0), Text: []byte(line)})
	}
}

// l follows the logs of the row under the cursor. Lines are drawn when they come, the filter hides others, and reading ends with
// the view, however it is closed.
func TestLogView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &fakeLogs{}
		s := open(t, incidentFeed(), look{w: 100, h: 30, logs: l.logs(t)})
		defer s.close()
		text := func() string { return strings.Join(s.rows(s.whole()), "\n") }
		s.press("3", "g", "l")
		if l.asked.Kind != backend.KindSandbox || !l.open || !strings.Contains(text(), "not without waking it") {
			t.Fatalf("asked for %v, open %t:\n%s", l.asked, l.open, text())
		}
		l.write("first with our-own-secret", "ERROR second", "third \x1b]0;x\a")
		time.Sleep(200 * time.Millisecond)
		s.settle()
		if got := text(); !strings.Contains(got, "first with ‹masked›") || !strings.Contains(got, "✗") || !strings.Contains(got, "third ␛]0;x␇") {
			t.Errorf("drawn:\n%s", got)
		}
		drawn := s.bytes.Load()
		time.Sleep(900 * time.Millisecond)
		if n := s.bytes.Load() - drawn; n > 200 {
			t.Errorf("%d bytes are drawn though nothing came", n)
		}
		for _, key := range []string{keyEnter, keyEnter, "E", "h", "h", "/"} { // what was said of one key goes with the next
			s.press("G", "e")
			if got := text(); !strings.Contains(got, "no line with an error after") {
				t.Errorf("e at the end:\n%s", got)
			}
			if s.press(key); strings.Contains(text(), "no line with an error after") {
				t.Errorf("still said after %s:\n%s", key, text())
			}
		}
		s.press("s", "e", "c", "o", keyEnter)
		time.Sleep(200 * time.Millisecond)
		if got := text(); strings.Contains(got, "third") || !strings.Contains(got, "/seco 1 of 3 lines") {
			t.Errorf("filtered:\n%s", got)
		}
		s.press("s")
		if !strings.HasSuffix(l.saved, "ERROR second\n") || strings.Contains(l.saved, "first") || !strings.Contains(text(), "only you can read it") {
			t.Errorf("saved %q:\n%s", l.saved, text())
		}
		s.press("o")
		if !strings.Contains(text(), "no pager here") {
			t.Errorf("a pager for a viewer without one:\n%s", text())
		}
		s.press(":")
		for _, c := range "wrap" {
			s.press(string(c))
		}
		s.press(keyEnter)
		if !l.open || !strings.Contains(text(), "logs of") {
			t.Errorf("a command of the palette closes the view:\n%s", text())
		}
		s.press(keyEsc)
		time.Sleep(time.Second)
		s.settle()
		if got := text(); !strings.Contains(got, "third") || !l.open {
			t.Errorf("esc ends the filter first:\n%s", got)
		}
		s.press("2") // another screen closes what lies over this one
		time.Sleep(time.Second)
		if l.open {
			t.Error("the logs of a closed view are still read")
		}
	})
}

// A console that reads no logs says so.
func TestNoLogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, incidentFeed(), look{w: 100, h: 30})
		defer s.close()
		s.press("3", "g", "l")
		if got := strings.Join(s.rows(s.whole()), "\n"); !strings.Contains(got, "this console reads no logs") {
			t.Errorf("%s", got)
		}
	})
}
