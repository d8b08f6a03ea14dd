package app

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"sandglass/backend"
)

// ExitCrash is EX_SOFTWARE of sysexits.h.
const ExitCrash = 70

// Crash ends the process after a panic on a goroutine: the terminal first, then a file, then the exit code.
type Crash struct {
	Version string

	mu      sync.Mutex
	restore func()      // brings the terminal back, nil while no screen is up
	dir     string      // where a crash file goes
	acting  func() bool // whether a plan is being carried out; nil: nothing can act
}

// screenUp says how to bring the terminal back, and where the crash file goes; empty keeps the place.
func (c *Crash) screenUp(restore func(), dir string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.restore = restore
	if dir != "" {
		c.dir = dir
	}
}

// acts says how to find out whether a plan is being carried out.
func (c *Crash) acts(acting func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.acting = acting
}

// screenDown says that the terminal is restored. It does not return while the process crashes: Handle sets the exit code.
func (c *Crash) screenDown() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.restore = nil
}

// Handle ends the process. A second panic waits until the first has ended it.
func (c *Crash) Handle(name string, reason any, stack []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.restore != nil {
		c.restore()
	}
	now := time.Now().UTC()
	text := fmt.Sprintf("sandglass %s\n%s\ngoroutine %q: %v\n\n%s", c.Version, now.Format(time.RFC3339), name, reason, stack)
	dir := c.dir
	if dir == "" {
		dir = os.TempDir()
	}
	file := filepath.Join(dir, "crash-"+now.Format("20060102T150405Z")+".txt")
	where := file
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		where = "no file (" + err.Error() + ")"
	}
	changed := "nothing outside it was being changed"
	if c.acting != nil && c.acting() {
		changed = "while a plan was being carried out; sandglass audit show says how far it came"
	}
	fmt.Fprintf(os.Stderr, "sandglass: it crashed, %s: %s\nnext: please report what is in %s\n", changed, backend.Textf("%v", reason), where)
	os.Exit(ExitCrash)
}
