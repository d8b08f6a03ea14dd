package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/config"
	"sandglass/views/text"
)

// reading is what the one-shot commands conclude from.
type reading struct {
	config *config.Config
	desk   *alerts.Service
	state  *fleet.State
	board  *alerts.Board
	events []backend.Event // of former runs and of this one, oldest first
	local  map[string]runbook.Local
	now    time.Time
}

// recentEvents is how many events a diagnosis looks back at.
const recentEvents = 5000

// oneShot are the flags of commands that read the fleet without a screen.
type oneShot struct {
	observe time.Duration
	timeout time.Duration
}

func (o *oneShot) flags(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&o.observe, "observe", 0, "watch for this long before concluding, for example 30s; without it every source is read once")
	cmd.Flags().DurationVar(&o.timeout, "timeout", 55*time.Second, "give up on sources that have not answered after this long")
}

// read builds the sources, reads them, and evaluates the rules on every State. A source that hangs or fails shows as
// such and costs the others nothing.
func (p *Program) read(ctx context.Context, s shared, o oneShot) (*reading, error) {
	r, closeDesk, err := p.open(ctx, s, o)
	closeDesk()
	return r, err
}

// open is read with a desk that still takes orders until it is closed; the function is never nil.
func (p *Program) open(ctx context.Context, s shared, o oneShot) (r *reading, closeDesk func(), err error) {
	closeDesk = func() {}
	switch {
	case o.observe < 0 || o.observe > maxObserve:
		return nil, closeDesk, usage("--observe must be from 0s to %s", maxObserve)
	case o.timeout <= 0:
		return nil, closeDesk, usage("--timeout must be longer than 0s")
	}
	c, err := p.load(s)
	if err != nil {
		return nil, closeDesk, err
	}
	sources, rules, err := p.Build(c)
	if err != nil {
		return nil, closeDesk, err
	}
	var f *fleet.Fleet
	desk, closeDesk := p.desk(c, s, rules, func(a backend.Attention) { f.Attend(a) })
	f = fleet.New(fleet.Options{Now: p.Now, Mono: p.Mono, Spawn: p.Spawn, LongestOperation: c.LongestOperation, OnState: desk.Observe})
	AddTo(f, sources)
	if o.observe > 0 {
		watching, cancel := context.WithTimeout(ctx, o.observe)
		f.Run(watching)
		cancel()
	} else {
		once, cancel := context.WithTimeout(ctx, o.timeout)
		f.PollOnce(once)
		cancel()
		f.Close()
	}
	if ctx.Err() != nil {
		return nil, closeDesk, &failure{code: alerts.ExitUnknown, what: "nothing was concluded: interrupted"}
	}
	r = &reading{config: c, desk: desk, local: LocalRunbook(rules), events: slices.Clone(desk.Timeline(recentEvents)), now: p.Now()}
	slices.Reverse(r.events)
	r.state, r.board = desk.Latest()
	return r, closeDesk, nil
}

// desk makes what evaluates the States, on top of what former runs left in the state directory. Without a directory it
// still evaluates, and says what that costs.
func (p *Program) desk(c *config.Config, s shared, rules []alerts.Rule, attend func(backend.Attention)) (*alerts.Service, func()) {
	engine := alerts.NewEngine(rules, c.Environment, alerts.WithConfiguration(c.File, c.Digest))
	problem := func(err error) {
		p.notice("what former runs found out is not known to this one, or this one's to the next: %v; name another directory with --state-dir", err)
	}
	o := alerts.ServiceOptions{ReadClock: p.Moment, Problem: problem, Attention: attend, LongestOrder: c.LongestOrder}
	dir, err := c.StateDirectory(s.stateDir, p.Getenv)
	if err == nil {
		o.Store, err = alerts.OpenStateStore(dir, engine)
	}
	if err == nil && p.Journal != nil {
		o.Journal, err = p.Journal(dir, c.Digest)
	}
	if err != nil {
		problem(err)
	}
	desk := alerts.NewService(engine, o)
	return desk, func() {
		desk.Close()
		if o.Store != nil {
			if err := o.Store.Close(); err != nil {
				problem(err)
			}
		}
	}
}

func (p *Program) checkCommand(s *shared) *cobra.Command {
	var o oneShot
	format := "text"
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Read everything once and say what is wrong, for people, cron and monitoring",
		Long: `Read every source once, evaluate the rules and print the verdict.

Exit codes: 0 nothing is wrong, 1 a warning fires, 2 something critical fires,
3 a source is down or cannot tell about its workspaces, 64 wrong flags,
78 wrong configuration. Alerts about sources themselves never count as 1 or 2.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := oneOf("-o", format, "text", "json"); err != nil {
				return err
			}
			r, err := p.read(c.Context(), *s, o)
			if err != nil {
				return err
			}
			doc := text.MakeCheck(r.config.Environment, r.state, r.board, r.now)
			write := text.WriteCheck
			if format == "json" {
				write = text.WriteJSON[*text.Check]
			}
			if err := write(p.Stdout, doc); err != nil {
				return unwritten(err)
			}
			if doc.ExitCode != alerts.ExitOK {
				return exit(doc.ExitCode)
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&format, "output", "o", format, "text or json")
	p.complete(cmd, "output", []string{"text", "json"})
	o.flags(cmd)
	return cmd
}

func oneOf(flag, got string, allowed ...string) error {
	for _, a := range allowed {
		if got == a {
			return nil
		}
	}
	return usage("%s %q is not known; it is one of %v", flag, got, allowed)
}

// unwritten is the error of an output that nobody took: a full disk, a closed pipe.
func unwritten(err error) error {
	return &failure{code: alerts.ExitUnknown, what: "the result could not be printed: " + err.Error()}
}

// notice prints a remark that is no part of the result.
func (p *Program) notice(format string, args ...any) {
	_, _ = io.WriteString(p.Stderr, "sandglass: "+p.clean(fmt.Sprintf(format, args...))+"\n")
}
