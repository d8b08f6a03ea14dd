package ui

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/views/theme"
)

// screen is a program on an emulated terminal, under virtual time.
type screen struct {
	t     *testing.T
	em    *vt.SafeEmulator
	keys  *io.PipeWriter
	model *Model
	prog  *tea.Program
	bytes atomic.Int64
	w, h  int
	done  chan struct{}
}

// tty does to line ends what a terminal does, and counts bytes.
type tty struct {
	s *screen
}

func (o tty) Write(p []byte) (int, error) {
	o.s.bytes.Add(int64(len(p)))
	_, err := o.s.em.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n")))
	return len(p), err
}

type look struct {
	w, h    int
	profile colorprofile.Profile
	glyphs  theme.Glyphs
	control Control
	examine Examine
	may     *actions.Permissions // nil: everything
	broken  []backend.Safe       // plans of a former run
	focus   string
	keys    map[string]map[string][]string
	logs    Logs
}

// open starts a program; it must run inside synctest.Test.
func open(t *testing.T, feed Feed, l look) *screen {
	return openViewer(t, feed, l, func(*Viewer) {})
}

// openViewer is open for a viewer that is changed before.
func openViewer(t *testing.T, feed Feed, l look, change func(*Viewer)) *screen {
	s := &screen{t: t, em: vt.NewSafeEmulator(l.w, l.h), w: l.w, h: l.h, done: make(chan struct{})}
	if l.profile == colorprofile.Unknown {
		l.profile = colorprofile.ANSI256
	}
	may := actions.Everything()
	if l.may != nil {
		may = *l.may
	}
	v := Viewer{Permissions: may, Name: "mara", Origin: fmt.Sprint(l.w), Environment: "prod-eu", Environ: []string{"TERM=xterm-256color"}, Size: Size{l.w, l.h},
		ColorProfile: l.profile, Glyphs: l.glyphs, Focus: l.focus, Now: time.Now, Control: l.control, Examine: l.examine, Unfinished: l.broken, Settings: Settings{Keys: l.keys}, Logs: l.logs}
	change(&v)
	s.model = New(v, feed)
	go func() { _, _ = io.Copy(io.Discard, s.em) }() // what the terminal replies
	pr, pw := io.Pipe()
	s.keys = pw
	opts := append(Options(v, Terminal{In: pr, Out: tty{s}}),
		tea.WithEnvironment([]string{"TERM=xterm-256color", "SSH_TTY=1"})) // SSH_TTY: Bubble Tea asks the terminal nothing
	s.prog = tea.NewProgram(s.model, opts...)
	go func() {
		defer close(s.done)
		if _, err := s.prog.Run(); err != nil {
			t.Errorf("program ended with %v", err)
		}
	}()
	s.settle()
	return s
}

// settle lets pending frames be drawn.
func (s *screen) settle() {
	time.Sleep(60 * time.Millisecond)
	synctest.Wait()
}

func (s *screen) press(keys ...string) {
	for _, k := range keys {
		if _, err := s.keys.Write([]byte(k)); err != nil {
			s.t.Fatal(err)
		}
		s.settle()
	}
}

const (
	keyEsc   = "\x1b"
	keyEnter = "\r"
	keyDown  = "\x1b[B"
)

func (s *screen) close() {
	s.prog.Quit()
	<-s.done
	s.model.Close()
	_ = s.keys.Close()
	endReplies(s.em)
	time.Sleep(2 * time.Second) // pending ticks end
}

// area is a part of the screen.
type area struct{ x, y, w, h int }

func (s *screen) whole() area { return area{0, 0, s.w, s.h} }

// body is what a golden is about: the topmost box, else what is between header and footer.
func (s *screen) body() area {
	if _, boxes := s.model.stack.body(); len(boxes) > 0 {
		top := boxes[len(boxes)-1]
		if _, typed := top.(prompter); !typed {
			box, _ := top.Render(s.w, s.h, &s.model.frame)
			return area{max(0, (s.w-box.Width)/2), max(0, (s.h-box.Height())/3), box.Width, box.Height()}
		}
	}
	top, foot := surroundings(s.model, s.w, s.h)
	return area{0, len(top), s.w, s.h - len(top) - len(foot)}
}

// rows is what is in an area, without trailing spaces.
func (s *screen) rows(a area) []string {
	out := make([]string, a.h)
	for y := range out {
		var b strings.Builder
		for x := a.x; x < a.x+a.w; x++ {
			c := s.em.CellAt(x, a.y+y)
			if c == nil || c.Content == "" {
				if c == nil || c.Width == 0 && x > 0 && s.em.CellAt(x-1, a.y+y) != nil && s.em.CellAt(x-1, a.y+y).Width == 2 {
					continue
				}
				b.WriteByte(' ')
				continue
			}
			b.WriteString(c.Content)
		}
		out[y] = strings.TrimRight(b.String(), " ")
	}
	return out
}

// lines is what is on the screen.
func (s *screen) lines() []string { return s.rows(s.whole()) }

func (s *screen) text() string { return strings.Join(s.lines(), "\n") }

// golden is the text of an area, then a map of its styles.
func (s *screen) golden(a area) []byte {
	return []byte(strings.Join(s.rows(a), "\n") + "\n=== styles\n" + s.styles(a))
}

// styles is one letter a cell, and what the letters mean.
func (s *screen) styles(a area) string {
	var b strings.Builder
	names := map[string]byte{}
	var legend []string
	for y := a.y; y < a.y+a.h; y++ {
		var row strings.Builder
		for x := a.x; x < a.x+a.w; x++ {
			c := s.em.CellAt(x, y)
			if c == nil {
				row.WriteByte('.')
				continue
			}
			d := describe(c.Style.Fg, c.Style.Bg, uint8(c.Style.Attrs))
			if d == "" {
				row.WriteByte('.')
				continue
			}
			n, ok := names[d]
			if !ok {
				n = byte('a' + len(names))
				names[d] = n
				legend = append(legend, string(n)+" "+d)
			}
			row.WriteByte(n)
		}
		b.WriteString(strings.TrimRight(row.String(), ".") + "\n")
	}
	b.WriteString("=== legend\n" + strings.Join(legend, "\n") + "\n")
	return b.String()
}

func describe(fg, bg color.Color, attrs uint8) string {
	var parts []string
	if fg != nil {
		parts = append(parts, "fg "+name(fg))
	}
	if bg != nil {
		parts = append(parts, "bg "+name(bg))
	}
	if attrs != 0 {
		parts = append(parts, fmt.Sprintf("attr %d", attrs))
	}
	return strings.Join(parts, ", ")
}

func name(c color.Color) string {
	switch c := c.(type) {
	case ansi.BasicColor:
		return fmt.Sprint(int(c))
	case ansi.IndexedColor:
		return fmt.Sprint(int(c))
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

// over is the overlay that has the keys, when it is a T.
func over[T overlay](m *Model) (T, bool) {
	o, ok := m.stack.top().(T)
	return o, ok
}

// dialog is the plan's dialog, nil when it has not the keys.
func (s *screen) dialog() *planDialog {
	d, _ := over[*planDialog](s.model)
	return d
}
