package blaxel

import (
	"context"
	"errors"
	"slices"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/blaxel/sandbox"
	"sandglass/backend/wire"
)

// quiet is a request of which not a byte came until our own deadline.
type quiet struct {
	of     backend.Literal
	within time.Duration
	heard  int // answers of the server before it
}

// The requests of a probe that no part is named after.
const (
	askExec backend.Literal = "exec"
	askList backend.Literal = "filesystem list"
	askRead backend.Literal = "filesystem read"
)

// ask sends one request of an examination. It tells what is waited for, and remembers what was not answered at all.
func (x *examination) ask(ctx context.Context, name backend.Literal, call sandbox.Call, within time.Duration) (answer, error) {
	heard := x.c.answers
	x.c.waits(name, within)
	a, err := x.c.ask(ctx, call, within)
	x.c.waited(name, &a, err)
	if a.silent {
		x.quiet = append(x.quiet, quiet{name, within, heard})
	}
	return a, err
}

// waits tells which request is waited for, and for how long at most.
func (c *client) waits(name backend.Literal, within time.Duration) {
	c.told(actions.Step{Name: backend.Text(name), Result: actions.StepStarting, Said: backend.Textf("waited for at most %s", backend.Age(within))})
}

// waited tells how such a wait ended. What its answer means is told with the result of the whole.
func (c *client) waited(name backend.Literal, a *answer, err error) {
	s := actions.Step{Name: backend.Text(name), Result: actions.StepOK, Took: a.took}
	switch {
	case err != nil:
		s.Result, s.Said = actions.StepUnknown, c.clean(err.Error(), 200)
	case a.refusal != nil:
		s.Result, s.Said = actions.StepUnknown, backend.Clean(c.said(a.refusal), 300)
	}
	c.told(s)
}

// silent reports whether a request ended at our own deadline, with nothing of an answer. One that never left tells nothing of who
// should answer; Fetch cannot tell that, and is of use only beside one that can.
func silent(ctx, bounded context.Context, err error, size int64, posted bool) bool {
	var sent *wire.LostError
	return err != nil && size == 0 && ctx.Err() == nil && errors.Is(bounded.Err(), context.DeadlineExceeded) && (!posted || errors.As(err, &sent))
}

// commands reads which processes its server started.
func (x *examination) commands(ctx context.Context) {
	x.part(ctx, backend.PartProcesses, sandbox.Processes(), x.c.factory.list, func(body []byte) (err error) {
		x.all, x.left, err = sandbox.ReadProcesses(body)
		return err
	})
}

// hangs takes a command that was not answered for one that hangs, where the same server answered another request after it: then the
// way to it is no cause. That its list of processes was not answered either is evidence of the same failure, and none where a command ran.
func (x *examination) hangs() {
	of := func(name backend.Literal) *quiet {
		if i := slices.IndexFunc(x.quiet, func(q quiet) bool { return q.of == name }); i >= 0 {
			return &x.quiet[i]
		}
		return nil
	}
	i := slices.IndexFunc(x.found, func(v backend.Verdict) bool { return v.Plane == backend.PlaneExec })
	if i < 0 {
		return
	}
	v, command, list := &x.found[i], of(askExec), of(backend.PartProcesses)
	switch {
	case command == nil && list != nil && v.Outcome == backend.OutcomeOK:
		v.What = backend.Textf("%s; %s within %s before", v.What, backend.Text(backend.ListHangs), backend.Age(list.within))
		v.Evidence = []backend.Safe{backend.Textf("GET /process: nothing within %s", backend.Age(list.within))}
	case command == nil:
	case x.c.answers == command.heard:
		v.What = backend.Textf("%s; nothing else was answered since", v.What)
	default:
		v.Outcome, v.Kind = backend.OutcomeFailed, backend.FailExecTimeout
		v.What = backend.Textf("true was not answered within %s, while its server answered other requests; it may still run", backend.Age(command.within))
		v.Evidence = []backend.Safe{backend.Textf("POST /process: nothing within %s", backend.Age(command.within))}
		if list != nil {
			v.Evidence = append(v.Evidence, backend.Textf("GET /process: nothing within %s", backend.Age(list.within)))
		}
		v.Evidence = append(v.Evidence, backend.Textf("its server answered %s before it and %d after it", backend.Counted(command.heard, "request", "requests"), x.c.answers-command.heard))
	}
}
