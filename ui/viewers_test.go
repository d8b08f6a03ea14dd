package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/vt"

	"sandglass/actions"
	"sandglass/actions/audit"
	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views/theme"
)

// remote is a viewer on a pair of streams and an emulated terminal, as the far end of a connection is.
type remote struct {
	*screen
	operator *actions.Operator
	resize   chan Size
	cancel   context.CancelCauseFunc
	ended    chan error
}

// connect runs a program for an operator of the hands; it must run inside synctest.Test.
func (h *hands) connect(t *testing.T, feed Feed, o *actions.Operator, l look) *remote {
	t.Helper()
	in, keys := io.Pipe()
	r := &remote{screen: &screen{t: t, em: vt.NewSafeEmulator(l.w, l.h), w: l.w, h: l.h, keys: keys}, operator: o, resize: make(chan Size), ended: make(chan error, 1)}
	go func() { _, _ = io.Copy(io.Discard, r.em) }() // what the terminal replies
	ctx, cancel := context.WithCancelCause(t.Context())
	r.cancel = cancel
	who := o.Who(backend.Safe{})
	v := Viewer{ID: o.ID(), Name: who.User.String(), Origin: who.Host.String(), Permissions: o.Permissions(), Control: o, Environment: "prod-eu",
		Environ: []string{"TERM=xterm-256color", "SSH_TTY=1"}, Size: Size{l.w, l.h}, ColorProfile: l.profile, Glyphs: l.glyphs, Now: time.Now,
		Bundle: func(context.Context, backend.Key) (string, error) { panic("a bug in a command") }}
	go func() {
		r.ended <- Run(ctx, v, feed, Terminal{In: in, Out: tty{r.screen}, Resize: r.resize, Spawn: backend.NewSpawner(nil)})
	}()
	r.settle()
	return r
}

// leave ends what is left of a viewer.
func (r *remote) leave() {
	r.cancel(errors.New("the test is over"))
	_ = r.keys.Close()
	endReplies(r.em)
	time.Sleep(time.Minute) // pending ticks end
}

// resets plans a reset of the failed workspaces, types what the plan asks for, and waits.
func (r *remote) resets(wait time.Duration) {
	r.t.Helper()
	r.press("2", "/", "state:failed", keyEnter, " ", "j", " ", "j", " ", "r")
	r.ready()
	asked := regexp.MustCompile(`type {2}(\d [0-9a-f]{4})`).FindStringSubmatch(r.text())
	if asked == nil {
		r.t.Fatal(r.text())
	}
	r.typed(asked[1])
	r.press(keyEnter)
	time.Sleep(wait)
	r.settle()
}

// sees fails unless the text is on the screen.
func (r *remote) sees(want ...string) {
	r.t.Helper()
	for _, w := range want {
		if !strings.Contains(r.text(), w) {
			r.t.Errorf("%q is not on the screen:\n%s", w, r.text())
		}
	}
}

func (r *remote) mode(want string) {
	r.t.Helper()
	if !strings.Contains(r.lines()[0], want) {
		r.t.Errorf("%q is not in the header: %s", want, r.lines()[0])
	}
}

// twoViewers connects mara, who may do everything and is armed, and jo, who may only pause: at another size, in other
// colours, on a feed of jo's own.
func twoViewers(t *testing.T, h *hands, feed Feed) (mara, jo *remote) {
	t.Helper()
	one := h.control(t, false)
	h.arm(t, one)
	two := h.common.As(actions.Person{Who: audit.Who{User: backend.Text("jo"), Host: backend.Text("laptop-9")}},
		actions.Permissions{Access: actions.Act, Grants: []actions.Grant{{Verb: actions.Pause, Source: "docker-local"}}})
	mara = h.connect(t, h.feed, one, look{w: 120, h: 40, profile: colorprofile.ANSI256})
	jo = h.connect(t, feed, two, look{w: 80, h: 24, profile: colorprofile.ASCII, glyphs: theme.ASCII})
	return mara, jo
}

func TestOneActsWhileTheOtherLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHands()
		h.pending = true
		mara, jo := twoViewers(t, h, h.feed)
		mara.mode("actions enabled ")
		jo.mode("actions disabled")

		mara.resets(40 * time.Second)
		mara.sees("waiting: accepted, not verified yet", "c starts the next batch")
		jo.mode("reset 1/")
		jo.press("v")
		jo.sees("waiting: accepted, not verified yet", "mara carries it out")
		jo.press("c")
		time.Sleep(time.Second)
		jo.sees("mara confirmed this plan, and only their viewer steers it")
		jo.press(keyEsc) // leaves the view, and stops nothing
		jo.ready()
		if p, _ := mara.operator.Progress(); p.Phase != actions.PhaseWaiting || len(h.acted()) != 1 {
			t.Errorf("%s; acted on %v", p.Phase, h.acted())
		}

		jo.press("2", "/", "state:failed", keyEnter, "r")
		jo.sees("jo may not reset on helix-eu; ask")
		jo.press(keyEsc)
		jo.ready()
		jo.press(":")
		jo.typed("arm 20m looking")
		jo.press(keyEnter)
		if _, armed := jo.operator.Armed(); !armed {
			t.Error(jo.text())
		}
		jo.press(":")
		jo.typed("disarm")
		jo.press(keyEnter)
		if _, armed := mara.operator.Armed(); !armed {
			t.Error("jo's disarming disarmed mara")
		}

		mara.press("c")
		time.Sleep(time.Second)
		mara.settle()
		if len(h.acted()) != 2 {
			t.Errorf("mara's c started nothing: %v", h.acted())
		}
		jo.em.Resize(60, 20)
		jo.w, jo.h = 60, 20
		jo.resize <- Size{60, 20}
		jo.settle()
		if last := jo.lines()[19]; !strings.Contains(last, "help") {
			t.Errorf("the footer is not in the last line of the new size: %q\n%s", last, jo.text())
		}

		mara.cancel(errors.New("connection reset"))
		if err := <-mara.ended; err == nil || err.Error() != "connection reset" {
			t.Errorf("mara's end: %v", err)
		}
		if err := mara.operator.Hangup(t.Context(), backend.Text("the viewer left")); err != nil {
			t.Error(err)
		}
		jo.settle()
		jo.sees("reset by mara: 2 of 3 done")
		if got := jo.em.CellAt(0, 0).Style.Fg; got != nil {
			t.Errorf("jo's terminal without colours shows %v", got)
		}
		mara.leave()
		jo.leave()
	})
}

// brokenFeed panics in the program of one viewer once it is told to.
type brokenFeed struct {
	*fixedFeed
	broken atomic.Bool
}

func (f *brokenFeed) Latest() (*fleet.State, *alerts.Board) {
	if f.broken.Load() {
		panic("a bug in an update")
	}
	return f.fixedFeed.Latest()
}

// A viewer that is killed in the middle of a dialog, one whose far end goes, and one whose program panics end alone: the
// other one does not flinch, and goes on acting.
func TestAViewerEndsAlone(t *testing.T) {
	killed := errors.New("killed")
	for name, x := range map[string]struct {
		end  func(jo *remote, feed *brokenFeed)
		want string // of the error
	}{
		"killed in a dialog": {func(jo *remote, _ *brokenFeed) {
			jo.press(":")
			jo.typed("arm 20m looking")
			jo.press(keyEnter, "3", "p")
			jo.ready()
			jo.cancel(killed)
		}, "killed"},
		"its input ends":   {func(jo *remote, _ *brokenFeed) { _ = jo.keys.Close() }, ErrLost.Error()},
		"it quits":         {func(jo *remote, _ *brokenFeed) { jo.press("q") }, "<nil>"},
		"an update panics": {func(jo *remote, f *brokenFeed) { f.broken.Store(true); f.set(f.fixedFeed.Latest()) }, "panic: a bug in an update"},
		"a command panics": {func(jo *remote, _ *brokenFeed) { jo.press("2", "E") }, "panic: a bug in a command"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHands()
				h.pending = true
				feed := &brokenFeed{fixedFeed: h.feed}
				mara, jo := twoViewers(t, h, feed)
				mara.resets(40 * time.Second)
				before := mara.text()
				x.end(jo, feed)
				began := time.Now()
				err := <-jo.ended
				if took := time.Since(began); fmt.Sprint(err) != x.want || took > 10*time.Second {
					t.Errorf("jo ended after %s with %v", took, err)
				}
				if broken := (*PanicError)(nil); strings.HasPrefix(x.want, "panic") && (!errors.As(err, &broken) || !strings.Contains(string(broken.Stack), "ui.")) {
					t.Errorf("no stack in %v", err)
				}
				if err := jo.operator.Hangup(t.Context(), backend.Text("the viewer left")); err != nil {
					t.Error(err)
				}
				mara.settle()
				if ages := regexp.MustCompile(`\d+[smh]\b`); ages.ReplaceAllString(mara.text(), "") != ages.ReplaceAllString(before, "") {
					t.Errorf("mara's screen changed from\n%s\nto\n%s", before, mara.text())
				}
				mara.press("c")
				time.Sleep(time.Second)
				mara.settle()
				if _, armed := mara.operator.Armed(); !armed || len(h.acted()) != 2 {
					t.Errorf("armed %t, acted on %v\n%s", armed, h.acted(), mara.text())
				}
				mara.press("?")
				mara.sees("While a plan is carried out")
				h.feed.mu.Lock()
				if got := h.feed.visible[jo.operator.ID()]; len(got) != 0 || len(h.feed.visible[mara.operator.ID()]) == 0 {
					t.Errorf("jo still looks at %v, mara at %v", got, h.feed.visible[mara.operator.ID()])
				}
				h.feed.mu.Unlock()
				_ = mara.operator.Hangup(t.Context(), backend.Text("the test is over"))
				jo.leave()
				mara.leave()
			})
		})
	}
}

// farEnd is an emulated terminal that takes nothing more once it is told so.
type farEnd struct {
	*screen
	wrote   chan struct{} // one slot
	stalls  atomic.Bool
	stuck   chan struct{} // closed when a write does not return
	release chan struct{}
	once    sync.Once
	cells   sync.Mutex // a cell of the emulator is read while the program goes on writing
}

func (f *farEnd) Write(p []byte) (int, error) {
	if f.stalls.Load() {
		f.once.Do(func() { close(f.stuck) })
		<-f.release
	}
	f.cells.Lock()
	n, err := tty{f.screen}.Write(p)
	f.cells.Unlock()
	select {
	case f.wrote <- struct{}{}:
	default:
	}
	return n, err
}

// await returns when a text is on the screen.
func (f *farEnd) await(want string) {
	f.t.Helper()
	limit := time.After(time.Minute)
	for !strings.Contains(f.shown(), want) {
		select {
		case <-f.wrote:
		case <-limit:
			f.t.Fatalf("never saw %q on\n%s", want, f.shown())
		}
	}
}

func (f *farEnd) shown() string {
	f.cells.Lock()
	defer f.cells.Unlock()
	return f.text()
}

// A terminal that takes no output holds its own viewer only, and not for ever: that one ends when it must.
func TestAStalledTerminalHoldsNoOtherViewer(t *testing.T) {
	h := newHands()
	type end struct {
		keys   *io.PipeWriter
		out    *farEnd
		cancel context.CancelCauseFunc
		ended  chan error
	}
	connect := func(name string) end {
		in, keys := io.Pipe()
		ctx, cancel := context.WithCancelCause(t.Context())
		em := vt.NewSafeEmulator(80, 24)
		t.Cleanup(func() { endReplies(em) })
		go func() { _, _ = io.Copy(io.Discard, em) }() // what the terminal replies
		out := &farEnd{screen: &screen{t: t, em: em, w: 80, h: 24}, wrote: make(chan struct{}, 1), stuck: make(chan struct{}), release: make(chan struct{})}
		e := end{keys, out, cancel, make(chan error, 1)}
		v := Viewer{ID: name, Name: name, Permissions: actions.Everything(), Environment: "prod-eu", Environ: []string{"TERM=xterm-256color", "SSH_TTY=1"},
			Size: Size{80, 24}, ColorProfile: colorprofile.ASCII, Now: time.Now}
		go func() { e.ended <- Run(ctx, v, h.feed, Terminal{In: in, Out: e.out, Spawn: backend.NewSpawner(nil)}) }()
		out.await("eviction-storm")
		return e
	}
	mara, jo := connect("mara"), connect("jo")
	defer close(jo.out.release)
	jo.out.stalls.Store(true)
	if _, err := jo.keys.Write([]byte("2")); err != nil {
		t.Fatal(err)
	}
	<-jo.out.stuck
	for _, x := range []struct{ key, want string }{{"2", "WORKSPACE"}, {"3", "SANDBOX"}, {"?", "In a table"}} {
		if _, err := mara.keys.Write([]byte(x.key)); err != nil {
			t.Fatal(err)
		}
		mara.out.await(x.want)
	}
	gone := errors.New("connection reset")
	for _, e := range []end{jo, mara} { // jo's last write never returns
		e.cancel(gone)
		if err := <-e.ended; !errors.Is(err, gone) {
			t.Errorf("ended with %v", err)
		}
		_ = e.keys.Close()
	}
}

// endReplies ends the reader of what an emulator replies. Closing the emulator itself would race with that reader.
func endReplies(em *vt.SafeEmulator) {
	if replies, ok := em.InputPipe().(io.Closer); ok {
		_ = replies.Close()
	}
}
