package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sandglass/alerts"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/term"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/ui"
	"sandglass/views/theme"
)

// ConsoleOptions are how a console begins.
type ConsoleOptions struct {
	Focus string // id to begin with, as `check` and `get` print it; empty: none
	Armed bool   // it may act from the beginning: the demo
	// HideNames shows hashes instead of the names of subjects, for a screen that others see. Such a console only looks.
	HideNames bool
	// Instead is what gives output without a screen; empty: the commands that read.
	Instead string
}

// NoScreenError says that the terminal cannot show the console, which did not begin.
type NoScreenError struct {
	Why     string
	Instead string // what gives output without a screen
}

func (e *NoScreenError) Error() string {
	return "this terminal cannot show the console (" + e.Why + "). Without a screen: " + e.Instead +
		". Where the terminal can do more, set TERM first: export TERM=xterm-256color"
}

// What gives output without a screen: of the configured sources, and of the demo.
const (
	withoutScreen = "sandglass check, or sandglass get KIND"
	demoHeadless  = "sandglass demo --headless --write-config FILE, and other commands with --config FILE"
)

// Console shows a Station until its operator leaves it or ctx ends. It does not close the Station.
func (a *App) Console(ctx context.Context, s *Station, o ConsoleOptions) error {
	if !term.IsTerminal(os.Stdin.Fd()) || !term.IsTerminal(os.Stdout.Fd()) {
		return errors.New("there is no terminal to draw on. Without a screen: " + cmp.Or(o.Instead, withoutScreen))
	}
	if t := a.Getenv("TERM"); runtime.GOOS != "windows" && (t == "" || t == "dumb") {
		is := "TERM is not set"
		if t != "" {
			is = "TERM=" + t
		}
		return &NoScreenError{Why: is, Instead: cmp.Or(o.Instead, withoutScreen)}
	}
	s.onState = boundedGarbage(a.Getenv)
	var problems problemList
	if s.Forgets != nil {
		problems.add(forgets(s.Forgets))
	}
	s.problem = problems.add
	may := actions.Everything()
	if s.ReadOnly {
		may = actions.ReadOnly()
	}
	if o.HideNames {
		may = namesHidden()
	}
	operator := s.Operator(may)
	s.frugal = &ownProcessors{set: setProcessors}
	on := ui.Terminal{In: keyboard{os.Stdin, s.frugal}, Out: os.Stdout}
	if lent := lentBy(s.LocalTerminal(ctx)); lent != nil {
		operator.UseTerminal(lent)
		on.Lend = func(l ui.Lender) { lent.lend = l }
	}
	if o.Armed && !o.HideNames {
		if _, err := operator.Arm(ctx, actions.LongestArming, backend.Text("demo"), backend.Text("the demo is there to be tried")); err != nil {
			problems.add(err)
		}
	}
	viewer := a.viewer(o)
	var err error
	viewer.Unfinished, err = s.unfinished(ctx)
	problems.add(err)
	stop := s.Start(ctx, true)
	err = s.show(ctx, operator, viewer, on)
	crash := (*CrashError)(nil)
	if errors.As(err, &crash) {
		lastWords(crash.Acting, s.flags(), crash.Panic.Reason, crash.File)
	}
	hangUp(s.Control)
	interrupted := ctx.Err() != nil
	stop()
	problems.print(s.flags())
	if crash != nil {
		os.Exit(ExitCrash)
	}
	if interrupted && errors.Is(err, context.Canceled) {
		return nil // asked to end by a signal, and ended
	}
	return err
}

// longestGoodbye is how long the end of the program waits for the target that is being acted on.
const longestGoodbye = 130 * time.Second

// hangUp ends what can act: nothing begins any more, a plan that is being carried out stops before its next target, and
// the end of the last one is in the journal before this returns.
func hangUp(control *actions.Control) {
	why, told := backend.Text("the console ended"), carriesOut(control)
	if told {
		control.Current().Leave(why) // so that it holds when it is said
		fmt.Fprintln(os.Stderr, "sandglass: the plan stops before its next target; what is under way finishes first")
	}
	ctx, cancel := context.WithTimeout(context.Background(), longestGoodbye)
	defer cancel()
	control.Hangup(ctx, why)
	if told {
		p := control.Current().Progress()
		fmt.Fprintf(os.Stderr, "sandglass: %s: %s\n", p.Plan.Verb, p.Summary())
	}
}

// carriesOut reports whether a plan is being carried out.
func carriesOut(control *actions.Control) bool {
	r := control.Current()
	return r != nil && !r.Over()
}

// viewer is the person at this process's terminal.
func (a *App) viewer(o ConsoleOptions) ui.Viewer {
	v := ui.Viewer{
		Name: cmp.Or(a.User, "operator"), Origin: cmp.Or(a.Host, "local"), Environ: os.Environ(), Glyphs: theme.GlyphsOf(os.Getenv),
		Focus: o.Focus, Now: a.Now, CanSuspend: canSuspend(), ColorProfile: colorprofile.Detect(os.Stdout, os.Environ()),
	}
	v.Zone = localZone(a.Getenv("TZ"), a.Now())
	if o.HideNames {
		v.HideNames = newSalt()
	}
	if w, h, err := term.GetSize(os.Stdout.Fd()); err == nil {
		v.Size = ui.Size{Width: w, Height: h}
	}
	return v
}

// namesHidden are the permissions of a console that shows no names: its operator could not check what a plan is about.
func namesHidden() actions.Permissions {
	return actions.Permissions{Why: backend.Text("a plan names what it changes, and names are hidden: start the console without --hide-names to act")}
}

// newSalt is what this console's hashes of names are made with, so that no one can try names out.
func newSalt() []byte {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it never fails
	return b
}

// forgets says what it costs that the state directory cannot be used; skipped lines of the timeline cost nothing else.
func forgets(err error) error {
	if skipped := (*alerts.UnreadLinesError)(nil); errors.As(err, &skipped) {
		return err
	}
	return fmt.Errorf("alerts are not remembered between runs: %w", err)
}
