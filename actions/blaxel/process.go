package blaxel

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/blaxel/sandbox"
)

// process finds the process among those that the newest probe saw.
func (l targetReader) process(c *actions.Candidate, b *backend.Sandbox, q actions.Question) {
	wanted := q.Params.Process
	x, read := b.Inside()
	var alive []backend.Safe
	var choices []actions.Choice
	var found backend.SandboxProcess
	var over backend.Safe // what is reported of one of that name that is over
	if read {
		for _, p := range x.Processes {
			if !p.MayRun() {
				if over.IsEmpty() && wanted != "" && (p.PID.String() == wanted || p.Name.String() == wanted) {
					over = p.Reported
				}
				continue
			}
			alive = append(alive, backend.Textf("%s %s", p.PID, p.Name))
			choices = append(choices, actions.Choice{Name: p.PID.String(), Text: described(&p)})
			// Of several of one name the newest stands first, and only that answers to the name.
			if found.PID.IsEmpty() && (wanted == "" || p.PID.String() == wanted || p.Name.String() == wanted) {
				found = p
			}
		}
	}
	c.Identity = append(c.Identity, actions.Fact{Name: factPID, Value: found.PID.String()}, actions.Fact{Name: factProcess, Value: found.Name.String()},
		actions.Fact{Name: factCommand, Value: found.Command.String()})
	if !found.StartedAt.IsZero() {
		c.Identity = append(c.Identity, actions.Fact{Name: factStarted, Value: found.StartedAt.UTC().Format(time.RFC3339)})
	}
	switch {
	case !c.Why.IsEmpty():
	case wanted == "" && len(alive) > 1:
		c.Why = backend.Textf("%s ran in it: choose one (a command takes --process), of %s", backend.Counted(len(alive), "process", "processes"), some(alive))
		c.Choices = choices
	case found.PID.IsEmpty() && !over.IsEmpty():
		c.Why = backend.Textf("process %s was over when it was probed: %s", backend.Clean(wanted, 80), over)
	case found.PID.IsEmpty():
		c.Why = backend.Textf("no process is called so: there are %s", some(alive))
	case l.verb == actions.StopProcess && found.Reported.String() == sandbox.StatusStopped:
		c.Why = backend.Text("it was asked to end before and runs on; a second request is refused: kill it")
	default:
		c.Loses = []backend.Safe{backend.Textf("process %s %s with its group: %s", found.PID, found.Name, found.Command)}
		c.Notes = append(c.Notes, actions.Sitting(q.State, b, "Its agent may wait for the process")...)
		if found.Restartable {
			c.Notes = append(c.Notes, backend.Text("the server starts it again when it fails: a kill may not end it"))
		}
		if l.verb == actions.KillProcess {
			c.Notes = append(c.Notes, backend.Text("the server would signal the number of a process that is over as well: it is read once more before, and left alone then"))
		}
	}
}

// described is one line about a process.
func described(p *backend.SandboxProcess) backend.Safe {
	since := backend.Safe{}
	if !p.StartedAt.IsZero() {
		since = backend.Textf(", since %s", backend.Clean(p.StartedAt.UTC().Format("2006-01-02 15:04:05Z"), 40))
	}
	return backend.Textf("%s %s%s: %s", p.PID, p.Name, since, p.Command)
}

// again reads the process just before it is signalled: it must be the one of the plan and not be over.
func (c *client) again(ctx context.Context, t actions.Target) (sandbox.Process, error) {
	if _, err := c.first(ctx); err != nil { // wakes it
		return sandbox.Process{}, fmt.Errorf("nothing was done: %w", err)
	}
	p, refusal, err := c.processOf(ctx, fact(t, factPID))
	switch {
	case err != nil:
		return p, fmt.Errorf("nothing was done, the process cannot be read: %w", err)
	case refusal != nil && refusal.Meaning() == sandbox.MeansNoProcess:
		return p, &actions.ChangedError{What: backend.Text("the server knows no such process any more")}
	case refusal != nil:
		return p, fmt.Errorf("nothing was done, the process cannot be read: %s", c.said(refusal))
	case c.clean(p.Name, maxCommand).String() != fact(t, factProcess) || c.command(p.Command).String() != fact(t, factCommand):
		return p, &actions.ChangedError{What: backend.Textf("process %s is another one now", backend.Clean(p.PID, 40))}
	case p.Over():
		return p, &actions.ChangedError{What: backend.Textf("it is over: %s", ended(&p))}
	}
	return p, nil
}

func (c *client) processOf(ctx context.Context, id string) (sandbox.Process, *sandbox.Refusal, error) {
	call, err := sandbox.ProcessOf(id)
	if err != nil {
		return sandbox.Process{}, nil, err
	}
	a, err := c.ask(ctx, call, c.factory.reads)
	if err != nil || a.refusal != nil {
		return sandbox.Process{}, a.refusal, err
	}
	p, err := sandbox.ReadProcess(a.body)
	return p, nil, err
}

// ended says how a process ended.
func ended(p *sandbox.Process) backend.Safe {
	if code, known := p.ExitCode.Get(); known {
		return backend.Textf("%s, exit code %d", backend.Clean(p.Status, 40), code)
	}
	return backend.Textf("%s, its exit code is not told", backend.Clean(p.Status, 40))
}

func (c *client) stop(ctx context.Context, t actions.Target) (actions.Done, error) {
	p, err := c.again(ctx, t)
	if err != nil {
		return actions.Done{}, err
	}
	if p.Status == sandbox.StatusStopped {
		return actions.Done{}, &actions.ChangedError{What: backend.Text("it was asked to end meanwhile and runs on: kill it")}
	}
	return c.signal(ctx, t, &p, sandbox.Stop, "it was asked to end and runs on: it may ignore that; kill-process ends it")
}

func (c *client) kill(ctx context.Context, t actions.Target) (actions.Done, error) {
	p, err := c.again(ctx, t)
	if err != nil {
		return actions.Done{}, err
	}
	return c.signal(ctx, t, &p, sandbox.Kill, "the server accepted it, and the process is not over yet")
}

// signal sends the request once, and looks whether the process ends. What the sandbox has then is read again, so that nothing
// goes on from the old list.
func (c *client) signal(ctx context.Context, t actions.Target, read *sandbox.Process, call func(string) (sandbox.Call, error), not backend.Literal) (actions.Done, error) {
	order, err := call(fact(t, factPID))
	if err != nil {
		return actions.Done{}, err
	}
	a, err := c.ask(ctx, order, c.factory.reads)
	doubt := error(nil) // the request may have been carried out
	if err != nil {
		doubt = lost(err)
	} else if a.refusal != nil {
		doubt = c.refused(a.refusal)
	}
	if doubt != nil && !uncertain(doubt) {
		return actions.Done{}, doubt
	}
	done, seen := actions.Done{Text: backend.Text(not)}, false
	for end := c.factory.now().Add(c.factory.ends); ; {
		p, refusal, err := c.processOf(ctx, fact(t, factPID))
		seen = seen || err == nil && refusal == nil
		if err == nil && refusal == nil && p.Over() {
			done.Proved, done.Text = true, backend.Textf("it is over: %s", ended(&p))
			break
		}
		if err == nil && refusal == nil && (p.Restarts > read.Restarts || p.Started.After(read.Started)) {
			not = "it was ended, and the server started it again: that does not end it"
			done.Text = backend.Textf("%s (restarted %s before, %d now)", backend.Text(not), backend.Counted(read.Restarts, "time", "times"), p.Restarts)
			break
		}
		if c.factory.now().After(end) || !sleep(ctx, c.factory.ends/16) {
			break
		}
	}
	if doubt != nil && !seen {
		return actions.Done{}, doubt
	}
	x := c.examine(t)
	if at, err := time.Parse(time.RFC3339, fact(t, factStarted)); err == nil { // the probe knew the zone of the sandbox
		x.clock(read.Started, at)
	}
	x.commands(ctx)
	x.inside(ctx)
	done.Observed = x.found
	switch {
	case done.Proved:
		return done, nil
	case doubt != nil:
		return done, fmt.Errorf("read again, it still runs, and the request was not confirmed: %s", doubt)
	}
	return done, errors.New(string(not))
}
