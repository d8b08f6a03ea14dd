package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/app"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views/subjects"
	"sandglass/views/text"
	"sandglass/views/theme"
)

// reading is what the one-shot commands conclude from.
type reading struct {
	*app.Station
	state  *fleet.State
	board  *alerts.Board
	events []backend.Event // of former runs and of this one, oldest first
	local  map[string]runbook.Local
	now    time.Time
	clock  func() time.Time
}

// oneShot are the flags of commands that read the fleet without a screen.
type oneShot struct {
	observe time.Duration
	timeout time.Duration
	// asked is the id of the subject that the command is about, as it was given; empty: of all.
	asked string
	// completes says that it only completes a word: nothing is removed.
	completes bool
}

func (o *oneShot) flags(cmd *cobra.Command) {
	cmd.Flags().Var((*lasting)(&o.observe), "observe", "watch for this long before concluding, for example 30s, and until each source has answered; without it every source is read once")
	o.timeout = 55 * time.Second
	cmd.Flags().Var((*lasting)(&o.timeout), "timeout", "give up on sources that have not answered after this long")
}

// opening says what a command opens a Station for.
type opening struct {
	permitted bool // what the command line allows counts, and a Control is made
	readOnly  bool
	keeps     bool // without a state directory there is no use
	problem   func(error)
	// sourceless says that the command needs no source.
	sourceless bool
}

// noSources refuses a configuration that shows nothing: an empty fleet would look like a healthy one.
func noSources(file string) error {
	return &failure{code: ExitConfig, what: file + " has no [[source]], so there is nothing to look at", next: "sandglass config init --full - lists what can be configured"}
}

// open reads the configuration and opens its Station. Close must be called.
func (p *Program) open(s shared, o opening) (*app.Station, error) {
	c, err := p.load(s)
	if err != nil {
		return nil, err
	}
	if s.trace && p.Sent != nil {
		p.Sent.Tell(func(sent backend.Sent) { p.notice("%s", text.SentLine(&sent, time.UTC)) })
	}
	if o.permitted {
		if c, err = c.Permitted(s.permit, p.Known()); err != nil {
			return nil, usage("%v", err)
		}
	}
	if len(c.Sources) == 0 && !o.sourceless {
		return nil, noSources(p.clean(c.File))
	}
	if unset := c.Unset(p.Getenv); len(unset) > 0 && !o.sourceless {
		return nil, unset
	}
	for _, w := range p.Warnings(c) {
		p.notice("warning: %s", w)
	}
	if o.problem == nil {
		o.problem = p.forgets
	}
	x, err := p.Open(app.StationOptions{Config: c, StateDir: s.stateDir, Reach: s.reach(), ReadOnly: s.readOnly || o.readOnly, Looks: !o.permitted, Problem: o.problem})
	switch {
	case err != nil:
		return nil, err
	case o.keeps && x.StateDir == "":
		x.Close()
		return nil, usage("%v", x.Forgets)
	case x.Forgets != nil:
		o.problem(x.Forgets)
	}
	return x, nil
}

// forgets says what it costs that the state directory cannot be used.
func (p *Program) forgets(err error) {
	if aside := (*alerts.SetAsideError)(nil); errors.As(err, &aside) {
		p.notice("%v", err)
		return
	}
	if skipped := (*alerts.UnreadLinesError)(nil); errors.As(err, &skipped) {
		p.notice("%v", err)
		return
	}
	p.notice("alerts of former runs are not known, and those of this run are not kept: %v; name another directory with --state-dir", err)
}

// read opens a Station, reads its sources, and evaluates the rules on every State. A source that hangs or fails shows as
// such and costs the others nothing. Close must be called where there is no error.
func (p *Program) read(ctx context.Context, s shared, o oneShot) (*reading, error) {
	switch {
	case o.observe < 0 || o.observe > maxObserve:
		return nil, usage("--observe must be from 0s to %s", duration(maxObserve))
	case o.timeout <= 0:
		return nil, usage("--timeout must be longer than 0s")
	}
	x, err := p.open(s, opening{})
	if err != nil {
		return nil, err
	}
	if x.Asked = o.asked; !o.completes {
		p.removeLeft(ctx, x)
	}
	if o.observe > 0 {
		x.Observe(ctx, o.observe, o.timeout)
	} else {
		once, cancel := context.WithTimeout(ctx, o.timeout)
		x.Poll(once)
		cancel()
	}
	if ctx.Err() != nil {
		x.Close()
		return nil, &failure{code: alerts.ExitUnknown, what: "nothing was concluded: interrupted"}
	}
	r := &reading{Station: x, local: app.LocalRunbook(x.Rules, x.Config), events: x.Events(), now: p.Now(), clock: p.Now}
	r.state, r.board = x.Alerts.Latest()
	return r, nil
}

// removeLeft removes what plans of killed processes made for themselves, and says so.
func (p *Program) removeLeft(ctx context.Context, x *app.Station) {
	for _, said := range x.RemoveLeft(ctx) {
		p.notice("%s", said)
	}
}

// reading reads the fleet and lets do conclude from it.
func (p *Program) reading(ctx context.Context, s shared, o oneShot, do func(*reading) error) error {
	r, err := p.read(ctx, s, o)
	if err != nil {
		return err
	}
	err = do(r)
	r.end(err)
	return err
}

// end closes the Station. A command that did not know its id or its value writes nothing at all.
func (r *reading) end(err error) {
	var f *failure
	if errors.As(err, &f) && (f.code == ExitUsage || f.unknown) {
		r.Forget()
	}
	r.Close()
}

func (p *Program) checkCommand(s *shared) *cobra.Command {
	var o oneShot
	var format *oneWord
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Read everything once and say what is wrong, for people, cron and monitoring",
		Long: `Read every source once, evaluate the rules and print the verdict.

Exit codes: 0 nothing is wrong, 1 a warning fires, 2 something critical fires,
3 a source is down or degraded, so that not everything is known, 64 wrong
flags, 78 wrong configuration. Alerts about sources themselves never count as 1 or 2.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.reading(c.Context(), *s, o, func(r *reading) error {
				doc := text.MakeCheck(r.Config.Environment, r.state, r.board, r.now)
				if format.word == formatText {
					doc.Advise(r.advice)
					doc.Unused = p.Unused(r.Config)
				}
				if err := print(p, format, doc, p.checkText); err != nil {
					return err
				}
				if doc.ExitCode != alerts.ExitOK {
					return exit(doc.ExitCode)
				}
				return nil
			})
		},
	}
	format = p.output(cmd)
	o.flags(cmd)
	return cmd
}

// checkText prints the verdict, in colours on a terminal.
func (p *Program) checkText(doc *text.Check) error {
	o := text.TableOptions{Colour: p.coloured(), Theme: p.theme()}
	return text.WriteCheck(p.Stdout, doc, o)
}

// coloured reports whether the standard output takes colours.
func (p *Program) coloured() bool {
	return p.Output.Terminal && p.Getenv("NO_COLOR") == "" && p.Output.Colours != theme.NoColours
}

// unwritten is the error of an output that nobody took: a full disk, a closed pipe.
func unwritten(err error) error {
	return &failure{code: alerts.ExitUnknown, what: "the result could not be printed: " + err.Error()}
}

// notice prints a remark that is no part of the result.
func (p *Program) notice(format string, args ...any) {
	_, _ = io.WriteString(p.Stderr, "sandglass: "+p.clean(p.pasted(fmt.Sprintf(format, args...)))+"\n")
}

// advice is the diagnosis of an alert that fires, nil where the runbook has none.
func (r *reading) advice(id string) *runbook.Diagnosis {
	for _, a := range r.board.Alerts {
		if q, asked := subjects.Asked(a); a.ID == id && asked && a.State == alerts.StateFiring {
			d := r.diagnosis(q)
			return &d
		}
	}
	return nil
}
