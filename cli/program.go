package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"time"

	"sandglass/actions"
	"sandglass/actions/audit"
	"sandglass/alerts"
	"sandglass/alerts/rules"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/config"
	"sandglass/views/theme"
)

// Program is everything that the commands need from the wiring. No field is optional unless it says so.
type Program struct {
	Version string
	Kinds   []backend.SourceKind
	// Acts and Operator are what a configuration may say about actions; Control makes what carries them out, nil: this
	// program only looks.
	Acts     []config.ActionKind
	Operator config.OperatorKind
	Control  func(Acting) (*actions.Control, error)
	// Cleaning is nil where scratch directories cannot be cleaned.
	Cleaning *Cleaning
	// Console runs the screen until the operator leaves it or ctx ends.
	Console func(context.Context, Console) error
	// Demo runs the embedded fleet, with the screen or headless.
	Demo func(context.Context, Demo) error
	// Scenarios are the names that `demo --scenario` takes; the first is the default.
	Scenarios []string

	Now    func() time.Time
	Mono   func() time.Duration       // since the process started; never jumps
	Moment func() alerts.ClockReading // the clocks that outlive a process
	// Journal keeps orders about alerts in the state directory before they take effect, and names the digest of the
	// configuration; nil: nobody does.
	Journal func(stateDir, digest string) (alerts.OrderJournal, error)
	// Audit is the audit journal of a state directory, and who writes to it; nil: there is none.
	Audit   func(stateDir, digest string) (*audit.Journal, audit.Who, error)
	Spawn   backend.Spawner
	Cleaner *backend.Cleaner
	Dial    func(ctx context.Context, network, address string) (net.Conn, error)
	Command func(ctx context.Context, argv []string) *exec.Cmd

	User           string    // whom the system says the program runs as; empty: it does not say
	Stdin          io.Reader // nil: the process's own
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	// Output says what Stdout is.
	Output Output
}

// Output is what is known about the terminal behind the standard output.
type Output struct {
	Terminal bool
	Width    int // cells; 0: unknown
	Colours  theme.Colours
	Glyphs   theme.Glyphs
}

// Console is what the screen is started with.
type Console struct {
	Config   *config.Config
	Sources  []Source
	Rules    []alerts.Rule
	StateDir string // empty: there is no place to keep state
	Focus    string // id to begin with, as `check` and `get` print it; empty: none
	ReadOnly bool
	Armed    bool // it may act from the beginning: the demo
}

// Demo is what the embedded fleet is started with.
type Demo struct {
	Workspaces  int // 1 to MaxDemoWorkspaces
	Seed        uint64
	Scenario    string
	Headless    bool
	WriteConfig string // file to write the configuration of the demo to; empty: none
	StateDir    string // as given by --state-dir; empty: the demo's own
	Focus       string
	ReadOnly    bool
}

// MaxDemoWorkspaces bounds `demo --workspaces`.
const MaxDemoWorkspaces = 100_000

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
	b.WriteString("sandglass: " + p.clean(f.what) + "\n")
	for _, l := range f.lines {
		for part := range strings.SplitSeq(l, "\n") {
			b.WriteString(p.clean(part) + "\n")
		}
	}
	if f.next != "" {
		b.WriteString("next: " + p.clean(f.next) + "\n")
	}
	_, _ = io.WriteString(p.Stderr, b.String()) // there is nobody left to tell
}

func (p *Program) clean(s string) string { return p.Cleaner.Clean(s, backend.MaxTextRunes).String() }

// Source is a source that was built from the configuration.
type Source struct {
	backend.Source
	Config config.Source
}

// AddTo adds sources to a fleet.
func AddTo(f *fleet.Fleet, sources []Source) {
	for _, s := range sources {
		f.Add(s.Source, backend.SourceConfig{Kind: s.Config.Kind, Interval: s.Config.Interval,
			Deadline: s.Config.Deadline, About: s.Config.About})
	}
}

// Known is what a configuration file may name.
func (p *Program) Known() config.Known {
	return config.Known{Kinds: p.Kinds, Rules: RuleKinds(), Actions: p.Acts, Operator: p.Operator}
}

// RuleKinds are the rules as a configuration file knows them.
func RuleKinds() []config.RuleKind {
	var kinds []config.RuleKind
	for _, k := range rules.Kinds() {
		kinds = append(kinds, config.RuleKind{Name: k.Name, Summary: k.Summary, Defaults: func() any { return k.Defaults() }})
	}
	return kinds
}

// makeRules builds the rules with the thresholds of a configuration.
func makeRules(c *config.Config) ([]alerts.Rule, config.Errors) {
	var all []alerts.Rule
	var wrong config.Errors
	for _, k := range rules.Kinds() {
		into, options := k.Defaults(), c.Rule(k.Name)
		err := options.Decode(into)
		if err == nil {
			var r alerts.Rule
			if r, err = k.New(into); r != nil {
				all = append(all, r)
			}
		}
		var key *rules.KeyError
		if errors.As(err, &key) {
			err = options.Refuse(key.Key, "%s", key.Why)
		}
		if err != nil {
			wrong = append(wrong, refusals(c, "[rules."+k.Name+"]", err)...)
		}
	}
	return all, wrong
}

// Build makes the sources and rules of a configuration. It opens no connection. Everything that the adapters refuse
// is returned at once.
func (p *Program) Build(c *config.Config) ([]Source, []alerts.Rule, error) {
	var sources []Source
	var wrong config.Errors
	for _, s := range c.Sources {
		for _, k := range p.Kinds {
			if k.Name != s.Kind {
				continue
			}
			src, err := k.New(s.Options, backend.Deps{ID: s.ID, Interval: s.Interval, Deadline: s.Deadline, Now: p.Now,
				Spawn: p.Spawn, Cleaner: p.Cleaner, Dial: p.Dial, Command: p.Command, Getenv: p.Getenv,
				Declare: c.DeclarationsFor(s.ID)})
			if err != nil {
				wrong = append(wrong, refusals(c, s.ID, err)...)
				continue
			}
			sources = append(sources, Source{Source: src, Config: s})
		}
	}
	conditions, refused := makeRules(c)
	if wrong = append(wrong, refused...); len(wrong) > 0 {
		closeAll(sources)
		return nil, nil, wrong
	}
	return sources, conditions, nil
}

// refusals are the single errors in err; one without a place in the file gets the name of what was to be built.
func refusals(c *config.Config, what string, err error) config.Errors {
	var wrong config.Errors
	if errors.As(err, &wrong) {
		return wrong
	}
	file := c.File
	if file == "" {
		file = "without a configuration file"
	}
	return config.Errors{{File: file, What: what + ": " + err.Error()}}
}

func closeAll(sources []Source) {
	for _, s := range sources {
		if c, ok := s.Source.(backend.Closer); ok {
			_ = c.Close() // nothing was read from it yet
		}
	}
}
