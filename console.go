package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/term"

	"sandglass/actions"
	"sandglass/actions/audit"
	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/cli"
	"sandglass/config"
	"sandglass/demo"
	"sandglass/ui"
	"sandglass/views/theme"
)

// console joins the fleet, the rules and the screen.
type console struct {
	sys     *system
	program *cli.Program
}

// run shows the console until its operator leaves it or ctx ends.
func (c *console) run(ctx context.Context, o cli.Console) error {
	if !term.IsTerminal(os.Stdin.Fd()) || !term.IsTerminal(os.Stdout.Fd()) {
		return errors.New("there is no terminal to draw on; for output without a screen use sandglass check or sandglass get")
	}
	engine := alerts.NewEngine(o.Rules, o.Config.Environment, alerts.WithConfiguration(o.Config.File, o.Config.Digest))
	store, remark := openVault(o.StateDir, engine)
	if store != nil {
		defer func() { _ = store.Close() }()
	}
	var problems problemList
	problems.add(remark)
	f, desk := c.watch(o, engine, store, problems.add)
	acting := cli.Acting{Config: o.Config, Sources: o.Sources, StateDir: o.StateDir, ReadOnly: o.ReadOnly, Feed: cli.NewActionFeed(f, desk), Desk: desk}
	control, err := c.control(acting)
	if err != nil {
		return err
	}
	c.sys.acts(func() bool { return carriesOut(control) })
	if o.Armed {
		if _, err := control.Arm(ctx, actions.LongestArming, backend.Text("demo"), backend.Text("the demo is there to be tried")); err != nil {
			problems.add(err)
		}
	}

	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	viewer := c.viewer(o)
	viewer.Control = control
	parts := map[string]func(context.Context){"fleet": f.Run, "alerts": desk.Run}
	if records, err := newAuditJournal(o.StateDir, o.Config.Digest); err == nil {
		c.past(ctx, records, desk, o, &viewer, problems.add)
		if ks := c.keepers(acting); len(ks) > 0 {
			parts["grace periods"] = func(ctx context.Context) {
				c.keep(ctx, ks, f.State, records, desk, problems.add)
			}
		}
	}
	for name, part := range parts {
		running.Add(1)
		c.sys.spawn.Go(name, func() {
			defer running.Done()
			part(ctx)
		})
	}
	feed := ui.Feed(desk)
	if o.ReadOnly {
		feed = ui.Looking(desk)
	}
	err = ui.Run(ctx, viewer, feed, ui.Terminal{In: os.Stdin, Out: os.Stdout, Spawn: c.sys.spawn,
		Started: func(kill func()) { c.sys.screenUp(kill, o.StateDir) }})
	c.sys.screenDown()
	if broken := (*ui.PanicError)(nil); errors.As(err, &broken) {
		c.sys.crash("screen", broken.Reason, broken.Stack)
	}
	c.hangUp(control)
	interrupted := ctx.Err() != nil
	cancel()
	c.leave(&running)
	problems.print()
	if interrupted && errors.Is(err, context.Canceled) {
		return nil // asked to end by a signal, and ended
	}
	return err
}

// watch builds what reads and what concludes: a fleet of the sources, and the desk that it feeds.
func (c *console) watch(o cli.Console, engine *alerts.Engine, store *alerts.StateStore, problem func(error)) (*fleet.Fleet, *alerts.Service) {
	var journal alerts.OrderJournal
	if store != nil {
		var err error
		if journal, err = newOrderJournal(o.StateDir, o.Config.Digest); err != nil {
			problem(err)
		}
	}
	var f *fleet.Fleet // desk and fleet need each other
	desk := alerts.NewService(engine, alerts.ServiceOptions{Store: store, ReadClock: c.sys.moment, Problem: problem, Journal: journal,
		LongestOrder: o.Config.LongestOrder,
		Attention: func(a backend.Attention) {
			if f != nil {
				f.Attend(a)
			}
		}})
	f = fleet.New(fleet.Options{Now: c.sys.now, Mono: c.sys.mono, Spawn: c.sys.spawn,
		LongestOperation: o.Config.LongestOperation, OnState: desk.Observe})
	cli.AddTo(f, o.Sources)
	return f, desk
}

// past gives the viewer what the journal is for: plans that were broken off, and a place for evidence.
func (c *console) past(ctx context.Context, records *audit.Journal, desk *alerts.Service, o cli.Console, v *ui.Viewer, problem func(error)) {
	broken, err := unfinished(ctx, records, c.sys.now(), desk, o.ReadOnly)
	problem(err)
	v.Unfinished = broken
	if o.ReadOnly {
		return
	}
	evidence := cli.Evidence{Journal: records, Who: whoIs(), Version: version(), Environment: o.Config.Environment, Cleaner: c.program.Cleaner, Now: c.sys.now}
	v.Bundle = func(ctx context.Context, k backend.Key) (string, error) {
		saved, err := evidence.Save(ctx, desk, k, "")
		return saved.Path, err
	}
}

// longestGoodbye is how long the end of the program waits for the target that is being acted on.
const longestGoodbye = 130 * time.Second

// hangUp ends what can act: nothing begins any more, a plan that is being carried out stops before its next target, and
// the end of the last one is in the journal before this returns.
func (c *console) hangUp(control *actions.Control) {
	why, told := backend.Text("the console ended"), carriesOut(control)
	if told {
		control.Current().Leave(why) // so that it holds when it is said
		fmt.Fprintln(os.Stderr, "sandglass: the plan stops before its next target; what is under way finishes first")
	}
	ctx, cancel := context.WithTimeout(context.Background(), longestGoodbye)
	defer cancel()
	control.Hangup(ctx, why)
	if told {
		p := control.Current().Snapshot()
		fmt.Fprintf(os.Stderr, "sandglass: %s: %s\n", p.Plan.Verb, p.Summary())
	}
}

// carriesOut reports whether a plan is being carried out.
func carriesOut(control *actions.Control) bool {
	r := control.Current()
	return r != nil && !r.Over()
}

// leave waits for the parts to end, but not for a source that does not let go.
func (c *console) leave(running *sync.WaitGroup) {
	done := make(chan struct{})
	c.sys.spawn.Go("leave", func() {
		running.Wait()
		close(done)
	})
	select {
	case <-done:
	case <-time.After(3 * time.Second):
	}
}

func (c *console) viewer(o cli.Console) ui.Viewer {
	v := ui.Viewer{
		Name: "operator", Origin: "local", Environ: os.Environ(), Glyphs: theme.GlyphsOf(os.Getenv),
		Focus: o.Focus, Environment: o.Config.Environment, Production: o.Config.Production, Now: c.sys.now,
		CanSuspend: canSuspend(), Runbook: cli.LocalRunbook(o.Rules), ColorProfile: colorprofile.Detect(os.Stdout, os.Environ()),
	}
	if o.Config.Bell != "off" {
		v.Bell = alerts.Severity(o.Config.Bell)
	}
	if name := systemUser(); name != "" {
		v.Name = name
	}
	if host, err := os.Hostname(); err == nil {
		v.Origin = host
	}
	if w, h, err := term.GetSize(os.Stdout.Fd()); err == nil {
		v.Size = ui.Size{Width: w, Height: h}
	}
	return v
}

// openVault opens the state directory. Without one the console works and forgets.
func openVault(dir string, engine *alerts.Engine) (*alerts.StateStore, error) {
	if dir == "" {
		return nil, nil
	}
	s, err := alerts.OpenStateStore(dir, engine)
	if err != nil {
		return nil, fmt.Errorf("alerts are not remembered between runs: %w", err)
	}
	return s, nil
}

// problemList keeps what must not be written to a terminal while a screen is up.
type problemList struct {
	mu   sync.Mutex
	seen map[string]bool
	list []string
}

func (p *problemList) add(err error) {
	if err == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := err.Error(); !p.seen[s] && len(p.list) < 20 {
		if p.seen == nil {
			p.seen = map[string]bool{}
		}
		p.seen[s] = true
		p.list = append(p.list, s)
	}
}

func (p *problemList) print() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.list {
		fmt.Fprintln(os.Stderr, "sandglass: "+s)
	}
}

// demo starts the embedded fleet and shows it, or only serves it.
func (c *console) demo(ctx context.Context, o cli.Demo) error {
	d, err := demo.Start(ctx, demo.Options{Workspaces: o.Workspaces, Seed: o.Seed, Scenario: o.Scenario})
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	if o.WriteConfig != "" {
		if err := os.WriteFile(o.WriteConfig, []byte(d.Config()), 0o600); err != nil {
			return err
		}
	}
	if o.Headless {
		fmt.Fprintf(os.Stderr, "sandglass: the demo's servers run until interrupted; %s\n", whereConfig(o.WriteConfig))
		<-ctx.Done()
		return d.Wait()
	}
	cfg, err := config.Parse([]byte(d.Config()), "demo", c.program.Known())
	if err != nil {
		return err
	}
	cfg.File = ""   // it was read from none
	cfg.Digest = "" // its ports are others at each start, and that is no change worth a marker
	dir, err := cfg.StateDirectory(o.StateDir, os.Getenv)
	if err != nil {
		return err
	}
	sources, rules, err := c.program.Build(cfg)
	if err != nil {
		return err
	}
	return c.run(ctx, cli.Console{Config: cfg, Sources: sources, Rules: rules, StateDir: dir, Focus: o.Focus, ReadOnly: o.ReadOnly,
		Armed: !o.ReadOnly})
}

func whereConfig(file string) string {
	if file == "" {
		return "with --write-config FILE they also write a configuration for other commands"
	}
	return "use them with --config " + file
}
