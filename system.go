package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// exitCrash is EX_SOFTWARE of sysexits.h.
const exitCrash = 70

// system is what the program has of the machine it runs on: clocks, connections, goroutines.
type system struct {
	clock  func() time.Time // the wall clock
	start  alerts.ClockReading
	began  time.Time
	spawn  backend.Spawner
	dialer net.Dialer

	mu       sync.Mutex
	restore  func()      // brings the terminal back, nil while no screen is up
	crashDir string      // where a crash file goes
	acting   func() bool // whether a plan is being carried out; nil: nothing can act
}

func newSystem() *system {
	s := &system{clock: time.Now, start: alerts.ReadSystemClock(), began: time.Now(), crashDir: os.TempDir(),
		dialer: net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}}
	s.spawn = backend.NewSpawner(s.crash)
	return s
}

func (s *system) now() time.Time { return s.clock() }

func (s *system) moment() alerts.ClockReading { return alerts.ReadSystemClock() }

// mono is the time since the program started. It counts suspended time where the system can tell it.
func (s *system) mono() time.Duration {
	if now := alerts.ReadSystemClock(); now.Boot != "" && now.Boot == s.start.Boot {
		return now.SinceBoot - s.start.SinceBoot
	}
	return time.Since(s.began)
}

// dial opens every connection of the program.
func (s *system) dial(ctx context.Context, network, address string) (net.Conn, error) {
	return s.dialer.DialContext(ctx, network, address)
}

// screenUp says how to bring the terminal back if something breaks, and where to leave word of it.
func (s *system) screenUp(restore func(), crashDir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.restore = restore
	if crashDir != "" {
		s.crashDir = crashDir
	}
}

// acts says how to find out whether a plan is being carried out, for the last words of a crash.
func (s *system) acts(acting func() bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acting = acting
}

// screenDown says that the terminal is back. While the program crashes it does not return: the crash has the last word
// and sets the exit code.
func (s *system) screenDown() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.restore = nil
}

// crash ends the program after a panic on any goroutine: the terminal first, then a file, then the exit code.
func (s *system) crash(name string, reason any, stack []byte) {
	s.mu.Lock()
	defer s.mu.Unlock() // a second panic waits here until the first has ended the program
	if s.restore != nil {
		s.restore()
	}
	text := fmt.Sprintf("sandglass %s\n%s\ngoroutine %q: %v\n\n%s", version(), time.Now().UTC().Format(time.RFC3339), name, reason, stack)
	file := filepath.Join(s.crashDir, "crash-"+time.Now().UTC().Format("20060102T150405Z")+".txt")
	where := file
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		where = "no file (" + err.Error() + ")"
	}
	changed := "nothing outside it was being changed"
	if s.acting != nil && s.acting() {
		changed = "while a plan was being carried out; sandglass audit show says how far it came"
	}
	fmt.Fprintf(os.Stderr, "sandglass: it crashed, %s: %s\nnext: please report what is in %s\n", changed, backend.Textf("%v", reason), where)
	os.Exit(exitCrash)
}
