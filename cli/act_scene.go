package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"sandglass/actions"
	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/config"
)

// scene is what a command that acts has open: the fleet, the alerts and the control.
type scene struct {
	p       *Program
	config  *config.Config
	fleet   *fleet.Fleet
	desk    *alerts.Service
	feed    *ActionFeed
	acting  Acting
	control *actions.Control

	watched   bool // the fleet ran, which closes its sources
	closeDesk func()
}

// permitted reads the configuration, and what the command line allows where there is none.
func (p *Program) permitted(s shared) (*config.Config, error) {
	c, err := p.load(s)
	if err != nil {
		return nil, err
	}
	if c, err = c.Permitted(s.permit, p.Known()); err != nil {
		return nil, usage("%v", err)
	}
	return c, nil
}

// openScene joins everything that acting needs. It reads nothing yet; close must be called.
func (p *Program) openScene(s shared, a *acting) (*scene, error) {
	if a.timeout <= 0 {
		return nil, usage("--timeout must be longer than 0s")
	}
	c, err := p.permitted(s)
	if err != nil {
		return nil, err
	}
	sources, rules, err := p.Build(c)
	if err != nil {
		return nil, err
	}
	x := &scene{p: p, config: c}
	x.desk, x.closeDesk = p.desk(c, s, rules, func(at backend.Attention) { x.fleet.Attend(at) })
	x.fleet = fleet.New(fleet.Options{Now: p.Now, Mono: p.Mono, Spawn: p.Spawn, LongestOperation: c.LongestOperation, OnState: x.desk.Observe})
	AddTo(x.fleet, sources)
	x.feed = NewActionFeed(x.fleet, x.desk)
	dir, err := c.StateDirectory(s.stateDir, p.Getenv)
	if err != nil {
		dir = ""
	}
	x.acting = Acting{Config: c, Sources: sources, StateDir: dir, ReadOnly: s.readOnly || a.readOnly, Feed: x.feed, Desk: x.desk}
	x.control, err = p.Control(x.acting)
	if err != nil {
		x.close()
		return nil, err
	}
	return x, nil
}

func (x *scene) close() {
	if !x.watched {
		x.fleet.Close()
	}
	x.closeDesk()
}

// read reads every source once.
func (x *scene) read(ctx context.Context, timeout time.Duration) error {
	once, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	x.fleet.PollOnce(once)
	if ctx.Err() != nil {
		return refused(errors.New("interrupted"))
	}
	return nil
}

// watch goes on reading until stop is called. It does not end with ctx: what was begun is still to be verified.
func (x *scene) watch(ctx context.Context) (stop func()) {
	x.watched = true
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	for name, part := range map[string]func(context.Context){"fleet": x.fleet.Run, "alerts": x.desk.Run} {
		running.Add(1)
		x.p.Spawn.Go(name, func() {
			defer running.Done()
			part(ctx)
		})
	}
	return func() {
		cancel()
		done := make(chan struct{})
		x.p.Spawn.Go("leave", func() {
			running.Wait()
			close(done)
		})
		limit := time.NewTimer(leaveWithin)
		defer limit.Stop()
		select {
		case <-done:
		case <-limit.C: // a source that does not let go does not hold up the end
		}
	}
}

// leaveWithin is how long the end of a command waits for its sources.
const leaveWithin = 3 * time.Second

// available says why the verb cannot be done at all, before anything is read for it.
func (x *scene) available(verb actions.Verb, source string) error {
	if source != "" && x.config.Source(source) == nil {
		return usage("there is no source %q in the configuration", source)
	}
	var denied []string
	var custom []string
	for _, a := range x.control.All() {
		if a.Spec.Custom {
			custom = append(custom, string(a.Spec.Verb))
		}
		if a.Spec.Verb != verb || source != "" && a.Source != source {
			continue
		}
		if a.Denied.IsEmpty() {
			return nil
		}
		denied = append(denied, fmt.Sprintf("  %s: %s", a.Source, a.Denied))
	}
	f := &failure{code: ExitRefused, what: fmt.Sprintf("nothing was done: %s is not available here", verb), lines: denied}
	switch {
	case len(denied) == 0 && source != "":
		f.what = fmt.Sprintf("nothing was done: there is no %q on the source %s", verb, source)
	case len(denied) == 0 && len(custom) > 0:
		f.what = fmt.Sprintf("nothing was done: there is no verb %q here; an [[action]] defines %s", verb, strings.Join(distinct(custom), ", "))
	case len(denied) == 0:
		f.what = fmt.Sprintf("nothing was done: no source of this configuration is of a kind that knows %q", verb)
	}
	return f
}

func distinct(words []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, w := range words {
		if !seen[w] {
			seen[w] = true
			out = append(out, w)
		}
	}
	return out
}
