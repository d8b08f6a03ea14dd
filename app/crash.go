package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
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
	dir     string               // where a crash file goes; empty: the temporary directory
	control *actions.Control     // nil: nothing can act
}

// screen is a terminal that a viewer's program draws on.
type screen struct{ restore func() }

// screenUp says how to restore one more terminal, where a crash file goes, and what acts.
func (c *Crash) screenUp(s *screen, dir string, control *actions.Control) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.screens == nil {
		c.screens = map[*screen]struct{}{}
	}
	c.screens[s] = struct{}{}
	c.dir, c.control = dir, control
}

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
	var restored sync.WaitGroup
	for s := range c.screens { // at the same time: a stalled one takes seconds
		restored.Add(1)
		backend.NewSpawner(nil).Go("restore a terminal", func() {
			defer restored.Done()
			s.restore()
		})
	}
	restored.Wait()
	acting := c.control != nil && carriesOut(c.control)
	lastWords(acting, reason, c.write(c.dir, name, reason, stack))
	os.Exit(ExitCrash)
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

// lastWords tell of a panic on a terminal that is restored.
func lastWords(acting bool, reason any, where string) {
	changed := "nothing outside it was being changed"
	if acting {
		changed = "while a plan was being carried out; sandglass audit show says how far it came"
	}
	fmt.Fprintf(os.Stderr, "sandglass: it crashed, %s: %s\nnext: please report what is in %s\n", changed, backend.Textf("%v", reason), where)
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
