package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"sandglass/app"
	"sandglass/backend"
	"sandglass/config"
	"sandglass/views/theme"
)

// Program is everything that the commands need. No field is optional unless it says so.
type Program struct {
	*app.App
	// Console shows a Station until the operator leaves it or ctx ends.
	Console func(context.Context, *app.Station, app.ConsoleOptions) error
	// Demo runs the embedded fleet, with the screen or headless.
	Demo func(context.Context, app.DemoOptions) error
	// Scenarios are the names that `demo --scenario` takes; the first is the default.
	Scenarios []string

	Stdin          io.Reader // nil: the process's own
	Stdout, Stderr io.Writer
	// Output says what Stdout is.
	Output Output

	given *shared // the flags of the command line that runs
}

// New makes the commands of this process.
func New(a *app.App) *Program {
	return &Program{App: a, Console: a.Console, Demo: a.Demo, Scenarios: app.Scenarios(), Stdout: os.Stdout, Stderr: os.Stderr,
		Output: outputOf(os.Stdout, os.Environ(), a.Getenv)}
}

// Output is what is known about the terminal behind the standard output.
type Output struct {
	Terminal bool
	Width    int // cells; 0: unknown
	Height   int // lines; 0: unknown
	Colours  theme.Colours
	Glyphs   theme.Glyphs
	// Size is the size as it is now, where the terminal tells; nil: it stays.
	Size func() (width, height int)
}

// now is the output with the size that its terminal has now.
func (o Output) now() Output {
	if o.Size != nil {
		o.Width, o.Height = o.Size()
	}
	return o
}

func outputOf(f *os.File, environ []string, getenv func(string) string) Output {
	o := Output{Terminal: term.IsTerminal(f.Fd()), Glyphs: theme.GlyphsOf(getenv)}
	if o.Terminal {
		o.Size = func() (int, int) {
			w, h, _ := term.GetSize(f.Fd()) // 0 says unknown
			return w, h
		}
		o = o.now()
		o.Colours = theme.ColoursOf(colorprofile.Detect(f, environ))
	}
	return o
}

// The exit codes besides those of `check`, after sysexits.h.
const (
	ExitFailed = 1  // the console or the demo failed
	ExitUsage  = 64 // a flag or argument is wrong
	ExitConfig = 78 // the configuration is wrong
)

// failure is an error that knows its exit code and the next step.
type failure struct {
	code  int
	what  string // effect and cause
	lines []string
	next  string
	// unknown says that an id is of nothing that was read.
	unknown bool
}

func (f *failure) Error() string { return f.what }

func usage(format string, args ...any) error {
	return &failure{code: ExitUsage, what: fmt.Sprintf(format, args...)}
}

// exit is a wish for an exit code without any message: the output said it all.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// Run executes one command line, without the program's name, and returns the exit code.
func (p *Program) Run(ctx context.Context, args []string) int {
	root := p.root()
	root.SetArgs(args)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if word := mistyped(c, args); word != "" { // its flags are of a command that is not found
			return noArgs(c, []string{word})
		}
		return flagError(c, err)
	})
	cmd, err := root.ExecuteContextC(ctx)
	var code exit
	var f *failure
	var wrong config.Errors
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &f):
	case errors.As(err, &wrong):
		f = configFailure(wrong)
	default: // whatever cobra itself refuses is about flags and arguments
		f = &failure{code: ExitUsage, what: err.Error(), next: cmd.CommandPath() + " --help"}
	}
	p.complain(f)
	return f.code
}

// pasted gives the commands of our own text the flags of this command line.
func (p *Program) pasted(text string) string {
	if p.given == nil || strings.HasSuffix(text, "--help") {
		return text
	}
	return backend.CommandsWith(text, p.given.reach())
}

func configFailure(wrong config.Errors) *failure {
	f := &failure{code: ExitConfig, what: "the configuration cannot be used, so nothing was started and nothing was read:"}
	for _, e := range wrong {
		f.lines = append(f.lines, e.Error())
	}
	f.next = "correct the file, then run sandglass config check"
	return f
}

// complain prints effect, cause and next step. Foreign text in it is cleaned line by line.
func (p *Program) complain(f *failure) {
	var b strings.Builder
	b.WriteString("sandglass: " + p.clean(p.pasted(f.what)) + "\n")
	for _, l := range f.lines {
		for part := range strings.SplitSeq(l, "\n") {
			b.WriteString(p.clean(p.pasted(part)) + "\n")
		}
	}
	if f.next != "" {
		b.WriteString("next: " + p.clean(p.pasted(f.next)) + "\n")
	}
	_, _ = io.WriteString(p.Stderr, b.String()) // there is nobody left to tell
}

func (p *Program) clean(s string) string { return p.Cleaner.Clean(s, backend.MaxTextRunes).String() }
