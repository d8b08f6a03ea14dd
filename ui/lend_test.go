package ui

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"

	"sandglass/backend"
)

// lends runs the console on a terminal and returns what lends that.
func (x *terminal) lends(ctx context.Context) (lend Lender, done <-chan error) {
	ended, got := make(chan error, 1), make(chan Lender, 1)
	v := Viewer{Name: "mara", Environment: "prod-eu", Environ: []string{"TERM=xterm-256color"}, Size: Size{80, 24}, ColorProfile: colorprofile.ANSI256, Now: time.Now}
	go func() {
		ended <- Run(ctx, v, incidentFeed(), Terminal{In: x.tty, Out: x.tty, Spawn: backend.NewSpawner(nil), Lend: func(l Lender) { got <- l }})
	}()
	lend = <-got
	x.await("eviction-storm")
	return lend, ended
}

func TestALentTerminalIsAsItWasBefore(t *testing.T) {
	x := newTerminal(t)
	lend, done := x.lends(t.Context())
	failed := errors.New("it ended badly")
	if err := lend(t.Context(), func(context.Context) error { x.down(); return failed }); !errors.Is(err, failed) {
		t.Errorf("%v, want %v", err, failed)
	}
	x.awaits(func(s string) bool { return strings.Count(s, "\x1b[?1049h") == 2 }) // the screen is drawn again
	if _, err := x.master.WriteString("q"); err != nil {                          // keys are the console's again
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	x.down()
	if err := lend(t.Context(), func(context.Context) error { t.Error("used after the end"); return nil }); !errors.Is(err, errNotLent) {
		t.Error(err)
	}
}

// awaits returns when what the terminal has got is as asked.
func (x *terminal) awaits(so func(text string) bool) {
	x.t.Helper()
	deadline := time.After(time.Minute)
	for !so(x.text()) {
		select {
		case <-x.wrote:
		case <-deadline:
			x.t.Fatalf("in vain: %q", x.text())
		}
	}
}

// down returns when the screen was taken down.
func (x *terminal) down() {
	x.t.Helper()
	x.awaits(func(s string) bool {
		return strings.LastIndex(s, "\x1b[?1049l") > strings.LastIndex(s, "\x1b[?1049h") && strings.LastIndex(s, "\x1b[?25h") > strings.LastIndex(s, "\x1b[?25l")
	})
	x.clean()
}

// Whoever has the terminal is told when the program must end.
func TestTheEndTakesALentTerminalBack(t *testing.T) {
	x := newTerminal(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	lend, done := x.lends(ctx)
	why := errors.New("SIGTERM")
	err := lend(t.Context(), func(using context.Context) error {
		cancel(why)
		<-using.Done()
		return using.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := <-done; !errors.Is(err, why) {
		t.Errorf("it ended with %v", err)
	}
	x.down()
}

func TestAPanicWithALentTerminalEndsTheConsole(t *testing.T) {
	x := newTerminal(t)
	lend, done := x.lends(t.Context())
	_ = lend(t.Context(), func(context.Context) error { panic("a bug of ours") })
	if failure := (*PanicError)(nil); !errors.As(<-done, &failure) || failure.Reason != "a bug of ours" {
		t.Errorf("it ended with %v", failure)
	}
	x.down()
}
