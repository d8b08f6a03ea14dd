package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/ui"
)

// ExitCrash is EX_SOFTWARE of sysexits.h.
const ExitCrash = 70

// Crash ends the process after a panic on a goroutine: the terminals first, then a file, then the exit code.
type Crash struct {
	Version string

	mu      sync.Mutex
	screens map[*screen]struct{} // those that are up
	watched bool                 // signals that end the process are waited for
	dir     string               // where a crash file goes; empty: the temporary directory
	control *actions.Control     // nil: nothing can act
	flags   string               // of this run, for the commands that are named
}

// screen is a terminal that a viewer's program draws on.
type screen struct{ restore func() }

// screenUp says how to restore one more terminal of a Station.
func (c *Crash) screenUp(s *screen, of *Station) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.screens == nil {
		c.screens = map[*screen]struct{}{}
	}
	c.screens[s] = struct{}{}
	c.dir, c.control, c.flags = of.StateDir, of.Control, of.flags()
	if !c.watched {
		c.watched = true
		ended := make(chan os.Signal, 1)
		signal.Notify(ended, syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL)
		backend.NewSpawner(nil).Go("signals that end the process", func() { c.signalled(<-ended) })
	}
}

// signalled ends the process on a signal whose default is a dump of every goroutine, which a screen would garble: that goes
// into a crash file. The exit code is a shell's, 128 and the number of the signal.
func (c *Crash) signalled(s os.Signal) {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	c.mu.Lock()
	defer c.mu.Unlock()
	c.restore()
	fmt.Fprintf(os.Stderr, "sandglass: ended by the signal %q, %s\nnext: start it again. What it was doing is in %s\n",
		s, changed(c.acts(), c.flags), c.write(c.dir, "signal", s, stacks))
	code := ExitCrash
	if n, ok := s.(syscall.Signal); ok {
		code = 128 + int(n)
	}
	os.Exit(code)
}

// acts reports whether a plan is being carried out.
func (c *Crash) acts() bool { return c.control != nil && carriesOut(c.control) }

// screenDown says that the terminal is restored. It does not return while the process crashes: Handle sets the exit code.
func (c *Crash) screenDown(s *screen) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.screens, s)
}

// Handle ends the process. A second panic waits until the first has ended it.
func (c *Crash) Handle(name string, reason any, stack []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.restore()
	lastWords(c.acts(), c.flags, reason, c.write(c.dir, name, reason, stack))
	os.Exit(ExitCrash)
}

// restore restores every terminal.
func (c *Crash) restore() {
	var restored sync.WaitGroup
	for s := range c.screens { // at the same time: a stalled one takes seconds
		restored.Add(1)
		backend.NewSpawner(nil).Go("restore a terminal", func() {
			defer restored.Done()
			s.restore()
		})
	}
	restored.Wait()
}

// mostCrashes is how many crash files of one second are kept.
const mostCrashes = 100

// write leaves a crash file in dir, or in the temporary directory when dir is empty. It returns the path, or why there is none.
func (c *Crash) write(dir, name string, reason any, stack []byte) (where string) {
	now := time.Now().UTC()
	text := fmt.Sprintf("sandglass %s\n%s\ngoroutine %q: %v\n\n%s", c.Version, now.Format(time.RFC3339), name, reason, stack)
	if dir == "" {
		dir = os.TempDir()
	}
	base := filepath.Join(dir, "crash-"+now.Format("20060102T150405Z"))
	path := base + ".txt"
	err := writeNew(path, text)
	for n := 2; errors.Is(err, fs.ErrExist) && n <= mostCrashes; n++ {
		path = fmt.Sprintf("%s-%d.txt", base, n)
		err = writeNew(path, text)
	}
	if err != nil {
		return "no file (" + err.Error() + ")"
	}
	return path
}

// writeNew writes a file that does not exist yet.
func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// changed says whether something outside may be half changed.
func changed(acting bool, flags string) string {
	if acting {
		return backend.CommandsWith("while a plan was being carried out; sandglass audit show says how far it came", backend.Reach{Flags: flags})
	}
	return "nothing outside it was being changed"
}

// lastWords tell of a panic on a terminal that is restored.
func lastWords(acting bool, flags string, reason any, where string) {
	fmt.Fprintf(os.Stderr, "sandglass: it crashed, %s: %s\nnext: please report what is in %s\n", changed(acting, flags), backend.Textf("%v", reason), where)
}

// CrashError says that the program of one viewer panicked, after its terminal was restored.
type CrashError struct {
	Panic *ui.PanicError
	File  string // the crash file, or why there is none
	// Acting says that a plan was being carried out, by this viewer or another one.
	Acting bool
}

// Error names the crash file.
func (e *CrashError) Error() string {
	return fmt.Sprintf("the screen crashed: %s; please report what is in %s", backend.Textf("%v", e.Panic.Reason), e.File)
}

// Unwrap is the panic.
func (e *CrashError) Unwrap() error { return e.Panic }
