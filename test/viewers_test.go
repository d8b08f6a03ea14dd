package test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/vt"

	"sandglass/actions"
	"sandglass/actions/audit"
	"sandglass/app"
	"sandglass/backend"
	"sandglass/ui"
	"sandglass/views/theme"
)

// stationViewer is a viewer of a Station on a pair of streams and an emulated terminal.
type stationViewer struct {
	t        *testing.T
	name     string
	operator *actions.Operator
	keys     *io.PipeWriter
	cancel   context.CancelCauseFunc
	ended    chan error

	mu     sync.Mutex
	em     *vt.Emulator
	wrote  chan struct{} // one slot
	broken atomic.Bool   // the viewer's clock panics, in its program

	stalled, jammed atomic.Bool // the terminal takes nothing more, or its Write panics
	stuck           chan struct{}
	release         chan struct{}
}

// Write is what the terminal does with output.
func (v *stationViewer) Write(p []byte) (int, error) {
	switch {
	case v.jammed.Load():
		panic("a bug in a terminal")
	case v.stalled.Load():
		close(v.stuck)
		<-v.release
		return 0, os.ErrClosed
	}
	v.mu.Lock()
	_, err := v.em.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n")))
	v.mu.Unlock()
	select {
	case v.wrote <- struct{}{}:
	default:
	}
	return len(p), err
}

func (v *stationViewer) text() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.em.String()
}

func (v *stationViewer) now() time.Time {
	if v.broken.Load() {
		panic("a bug in a program")
	}
	return time.Now()
}

// await returns the screen when the text is on it.
func (v *stationViewer) await(want string) string {
	v.t.Helper()
	limit := time.After(patience)
	for {
		if shown := v.text(); strings.Contains(shown, want) {
			return shown
		}
		select {
		case <-v.wrote:
		case err := <-v.ended:
			v.t.Fatalf("%s ended with %v before %q was on\n%s", v.name, err, want, v.text())
		case <-limit:
			v.t.Fatalf("%s never saw %q on\n%s", v.name, want, v.text())
		}
	}
}

func (v *stationViewer) press(keys string) {
	v.t.Helper()
	if _, err := io.WriteString(v.keys, keys); err != nil {
		v.t.Fatal(err)
	}
}

// does presses keys and returns the screen when the text is on it.
func (v *stationViewer) does(keys, want string) string {
	v.t.Helper()
	v.press(keys)
	return v.await(want)
}

// end waits for the end of the viewer's View.
func (v *stationViewer) end() error {
	v.t.Helper()
	select {
	case err := <-v.ended:
		return err
	case <-time.After(patience):
		v.t.Fatalf("%s did not end; the screen is\n%s", v.name, v.text())
		return nil
	}
}

// shared is a Station of several viewers.
type shared struct {
	t        *testing.T
	station  *app.Station
	registry *slowRegistry
	dir      string
}

// shareStation opens and starts a Station about a registry, on which two verbs are allowed.
func shareStation(t *testing.T) *shared {
	t.Helper()
	r := newSlowRegistry(t)
	text, err := os.ReadFile(r.config())
	if err != nil {
		t.Fatal(err)
	}
	x := &shared{t: t, registry: r, dir: filepath.Join(t.TempDir(), "state")}
	p := testProgram(time.Now)
	if x.station, err = p.Open(app.StationOptions{Config: parseConfig(t, p, withHold(string(text))), StateDir: x.dir,
		Problem: func(err error) {
			if err != nil {
				t.Error(err)
			}
		}}); err != nil {
		t.Fatal(err)
	}
	stop := x.station.Start(context.WithoutCancel(t.Context()), true)
	t.Cleanup(func() { stop(); x.station.Close() })
	return x
}

// connect shows the Station to one more viewer.
func (x *shared) connect(name string, w, h int, profile colorprofile.Profile, may actions.Permissions) *stationViewer {
	x.t.Helper()
	in, keys := io.Pipe()
	v := &stationViewer{t: x.t, name: name, keys: keys, ended: make(chan error, 1), em: vt.NewEmulator(w, h), wrote: make(chan struct{}, 1),
		stuck: make(chan struct{}), release: make(chan struct{})}
	v.operator = x.station.Control.As(actions.Person{Who: audit.Who{User: backend.Clean(name, 20), Host: backend.Text("laptop-9")}}, may)
	go func() { _, _ = io.Copy(io.Discard, v.em) }() // what the terminal replies
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(x.t.Context()))
	v.cancel = cancel
	viewer := ui.Viewer{Name: name, Origin: "laptop-9", Environ: []string{"TERM=xterm-256color", "SSH_TTY=1"}, Size: ui.Size{Width: w, Height: h},
		ColorProfile: profile, Now: v.now}
	if profile == colorprofile.ASCII {
		viewer.Glyphs = theme.ASCII
	}
	left := make(chan struct{})
	go func() {
		defer close(left)
		v.ended <- x.station.View(ctx, v.operator, viewer, ui.Terminal{In: in, Out: v})
	}()
	x.t.Cleanup(func() {
		cancel(errors.New("the test is over"))
		<-left
		_ = keys.Close()
		if replies, ok := v.em.InputPipe().(io.Closer); ok {
			_ = replies.Close()
		}
	})
	v.await("Workspaces")
	return v
}

// readsOn fails unless the Station makes another State.
func (x *shared) readsOn() {
	x.t.Helper()
	changed, stop := x.station.Alerts.Subscribe()
	defer stop()
	before, _ := x.station.Alerts.Latest()
	limit := time.After(patience)
	for {
		if now, _ := x.station.Alerts.Latest(); now.Number > before.Number {
			return
		}
		select {
		case <-changed:
		case <-limit:
			x.t.Fatal("the Station makes no State any more")
		}
	}
}

// crashes are the crash files of the Station.
func (x *shared) crashes() []string {
	x.t.Helper()
	files, err := filepath.Glob(filepath.Join(x.dir, "crash-*.txt"))
	if err != nil {
		x.t.Fatal(err)
	}
	return files
}

// mayHold are the permissions of who may do one of the two verbs.
var mayHold = actions.Permissions{Access: actions.Act, Grants: []actions.Grant{{Verb: "hold", Source: "helix"}}}

// resets arms a viewer and lets it begin a reset of three workspaces, which is under way when it returns.
func (x *shared) resets(v *stationViewer) {
	x.t.Helper()
	v.does(":arm 10m quota\r", "actions enabled for 9m")
	v.does("2", "box-4")
	asked := regexp.MustCompile(`type  (3 [0-9a-f]{4})`).FindStringSubmatch(v.does(" j j r", "and enter to go ahead"))
	if asked == nil {
		x.t.Fatal(v.text())
	}
	v.press(asked[1] + "\r")
	select {
	case <-x.registry.began:
	case <-time.After(patience):
		x.t.Fatalf("no reset arrived:\n%s", v.text())
	}
}

// Two viewers of other sizes, colours and permissions share one Station. One acts; the other sees it, cannot steer it, and arms
// itself alone.
func TestTwoViewersOnOneStation(t *testing.T) {
	t.Parallel()
	x := shareStation(t)
	mara := x.connect("mara", 120, 40, colorprofile.ANSI256, actions.Everything())
	jo := x.connect("jo", 80, 24, colorprofile.ASCII, mayHold)
	x.resets(mara)
	jo.await("reset 1/3")
	jo.does("v", "slow/box-0  issued")
	jo.does("c", "mara confirmed this plan, and only their viewer steers it")
	jo.does("v2", "box-4") // leaves the view, and stops nothing
	jo.does("r", "jo may not reset on helix; ask the operator")
	jo.does("\x1b", "5 rows")

	jo.does(":arm 20m looking\r", "actions enabled for 19m")
	if _, armed := jo.operator.Armed(); !armed {
		t.Error("jo is not armed")
	}
	jo.does(":disarm\r", "actions disabled")
	if _, armed := mara.operator.Armed(); !armed {
		t.Error("jo's disarming did not disarm jo alone")
	}

	jo.does("1", "failed-too-long")
	jo.does("a", "reason")
	jo.does("on it\r\r", "is yours for 30m")
	mara.does("v", "box-4")
	mara.does("E", "evidence written: ")
	close(x.registry.letGo)
	mara.await("3 of 3 done")
	jo.await("reset by mara: 3 of 3 done")
	by := map[audit.Phase]string{}
	for _, r := range records(t, x.dir) {
		by[r.Phase] = r.Who.User.String() + " " + r.Who.Viewer.String()
	}
	if by[audit.PhaseAck] != "jo "+jo.operator.ID() || by[audit.PhaseBundle] != "mara "+mara.operator.ID() || by[audit.PhaseDone] != by[audit.PhaseBundle] {
		t.Errorf("the journal names %v; mara is viewer %s, jo %s", by, mara.operator.ID(), jo.operator.ID())
	}
}

// A viewer whose program or terminal panics, whose terminal takes nothing more, and who is killed in a dialog end alone: the one
// who acts goes on, and so does the Station.
func TestAViewerOfAStationEndsAlone(t *testing.T) {
	t.Parallel()
	x := shareStation(t)
	mara := x.connect("mara", 120, 40, colorprofile.ANSI256, actions.Everything())
	x.resets(mara)
	mara.does("v", "box-4")
	killed := errors.New("connection reset")
	for _, end := range []struct {
		name string
		how  func(v *stationViewer)
		want string // the crash; empty: there is none, and the error is killed
	}{
		{"kim", func(v *stationViewer) { v.cancel(killed) }, ""},
		{"lee", func(v *stationViewer) { v.broken.Store(true); v.press("x") }, "a bug in a program"},
		{"max", func(v *stationViewer) { v.jammed.Store(true); v.press("x") }, "a bug in a terminal"},
		{"noa", func(v *stationViewer) { v.stalled.Store(true); v.press("x"); <-v.stuck; x.readsOn(); v.cancel(killed) }, ""},
	} {
		v := x.connect(end.name, 80, 24, colorprofile.ASCII, mayHold)
		v.does(":arm 20m looking\r", "actions enabled for 19m")
		v.does(":disarm now", "disarm now")
		before := x.crashes()
		end.how(v)
		err := v.end()
		if v.stalled.Load() {
			close(v.release)
		}
		crash := (*app.CrashError)(nil)
		switch broken := errors.As(err, &crash); {
		case end.want == "" && (broken || !errors.Is(err, killed)):
			t.Errorf("%s ended with %v", end.name, err)
		case end.want != "" && !broken:
			t.Errorf("%s ended with %v, and no crash", end.name, err)
		case broken:
			text, err := os.ReadFile(crash.File)
			if name := fmt.Sprintf("screen of viewer %s (%s)", v.operator.ID(), v.name); err != nil || !crash.Acting ||
				!strings.Contains(string(text), fmt.Sprintf("goroutine %q: %s", name, end.want)) || !strings.Contains(string(text), "viewers_test.go") {
				t.Errorf("%v, %+v, and its file is\n%s", err, crash, text)
			}
			before = append(before, crash.File)
		}
		if got := x.crashes(); len(got) != len(before) {
			t.Errorf("after %s: crash files %v, want %v", end.name, got, before)
		}
		if _, armed := v.operator.Armed(); armed {
			t.Errorf("%s is armed after the end", end.name)
		}
		x.readsOn()
		mara.does("1", "failed-too-long")
		mara.does("2", "box-4")
	}
	if _, armed := mara.operator.Armed(); !armed {
		t.Error("mara is not armed any more")
	}
	close(x.registry.letGo)
	mara.await("3 of 3 done")
	for _, r := range records(t, x.dir) {
		if r.Phase == audit.PhaseStopped || r.Who.User.String() == "mara" && r.Verb == "disarm" {
			t.Errorf("what another viewer's end did to mara: %+v", r)
		}
	}
}

// Two viewers whose programs panic at the same time leave a crash file each, which names the viewer. The third goes on.
func TestEachCrashedViewerHasItsFile(t *testing.T) {
	x := shareStation(t)
	jo := x.connect("jo", 80, 24, colorprofile.ASCII, mayHold)
	crashed := []*stationViewer{x.connect("lee", 80, 24, colorprofile.ASCII, mayHold), x.connect("max", 120, 40, colorprofile.ANSI256, mayHold)}
	for _, v := range crashed {
		v.broken.Store(true)
	}
	for _, v := range crashed {
		v.press("x")
	}
	files := map[string]bool{}
	for _, v := range crashed {
		crash := (*app.CrashError)(nil)
		if err := v.end(); !errors.As(err, &crash) {
			t.Fatalf("%s ended with %v, and no crash", v.name, err)
		}
		files[crash.File] = true
		name := fmt.Sprintf("screen of viewer %s (%s)", v.operator.ID(), v.name)
		if text, err := os.ReadFile(crash.File); err != nil || !strings.Contains(string(text), fmt.Sprintf("goroutine %q", name)) {
			t.Errorf("%s: %v, and its file is\n%s", v.name, err, text)
		}
	}
	if got := x.crashes(); len(files) != 2 || len(got) != 2 {
		t.Errorf("crash files %v, named %v", got, files)
	}
	jo.does("2", "box-4")
}
