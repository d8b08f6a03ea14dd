package cloudflare

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/cloudflare/bridge"
	"sandglass/backend/fleet"
)

// keepFile is the file through which the directory is made: the bridge makes the directories above what it writes.
const keepFile = bridge.Root + "/.keep"

// relink removes a link to nothing and makes the directory in its place; it does nothing where anything else stands there now.
const relink = `if [ -L /workspace ] && [ ! -e /workspace ]; then rm -- /workspace && mkdir -- /workspace; else echo changed; fi`

// repair makes a missing /workspace again. It looks first, as a probe does, and acts only on the fault that the plan saw.
func (c *client) repair(ctx context.Context, t actions.Target, id string) (actions.Done, error) {
	before := c.examine(ctx, id, fact(t, factRuns) == runsYes)
	observed := actions.Done{Observed: before.found, Steps: actions.SandboxSteps(before.found)}
	switch {
	case before.exec.Outcome == backend.OutcomeOK:
		return observed, &actions.ChangedError{What: backend.Text("commands run in /workspace: there is nothing to repair")}
	case string(before.exec.Kind) != fact(t, factFailure) || before.exec.What.String() != fact(t, factLink):
		return observed, &actions.ChangedError{What: backend.Textf("another fault was found now: %s", before.exec.Said())}
	}
	if why := fleet.Unrepairable(before.exec); !why.IsEmpty() {
		return observed, fmt.Errorf("nothing was done: %s", why)
	}
	err := c.make(ctx, id, before)
	if err != nil {
		if errors.As(err, new(*refusedError)) {
			notRepaired(observed.Observed, err.Error())
		}
		return observed, err
	}
	after := c.examine(ctx, id, true)
	done, err := after.concluded()
	relinked := before.exec.Kind == backend.FailWorkDirDangling
	answered := "the bridge took the file that makes /workspace"
	if relinked {
		answered = "the link was replaced"
	}
	switch {
	case err != nil:
		return done, fmt.Errorf("%s, but whether commands run there is not known: %w", answered, err)
	case after.exec.Outcome != backend.OutcomeOK:
		notRepaired(done.Observed, "")
		return done, fmt.Errorf("%s, and commands fail all the same: %s", answered, after.exec.Said())
	}
	for i := range done.Observed {
		if v := &done.Observed[i]; v.Plane == backend.PlaneExec {
			v.Evidence = []backend.Safe{backend.Text("after mkdir, no session: runs")}
			for _, was := range before.planes[:min(len(before.planes), backend.MaxEvidence-1)] {
				v.Evidence = append(v.Evidence, backend.Textf("before the repair, %s", was))
			}
		}
	}
	done.Text = after.thereAgain()
	if relinked {
		done.Notes = append(done.Notes, backend.Textf("the link to %s is removed; new files go to the container's own disk", c.clean(before.link, 200)))
		return done, nil
	}
	if len(after.others()) == 0 {
		done.Notes = append(done.Notes, backend.Text("the old files are gone"))
	}
	done.Notes = append(done.Notes, backend.Text("open sessions stay in the removed directory until cd /workspace"))
	return done, nil
}

// refusedError says that what a repair does was refused.
type refusedError struct{ error }

// notRepaired marks the commands that fail after a repair. why is what was answered to it; a disk that has no space left is kept as the
// first of what was found.
func notRepaired(found []backend.Verdict, why string) {
	for i := range found {
		if v := &found[i]; v.Plane == backend.PlaneExec && v.Outcome == backend.OutcomeFailed {
			v.Unrepaired = v.At
			if fullDisk(why) != "" {
				v.Evidence = append([]backend.Safe{backend.Textf("%s%s", backend.Text(backend.RepairFull), backend.Clean(why, 250))}, v.Evidence...)
			}
		}
	}
}

// thereAgain says what is in /workspace after a repair, as far as it was listed.
func (x *examination) thereAgain() backend.Safe {
	listed := slices.ContainsFunc(x.found, func(v backend.Verdict) bool { return v.Plane == backend.PlaneList && v.Outcome == backend.OutcomeOK })
	others := x.others()
	switch {
	case !listed:
		return backend.Text("/workspace is there again: true ran in it; what is in it was not listed")
	case len(others) == 0:
		return backend.Text("/workspace is there again, empty: true ran in it")
	}
	return backend.Textf("/workspace is there again: true ran in it, and it has %s that this repair did not make", backend.Clean(backend.Counted(len(others), "entry", "entries"), 40))
}

// others is what is in /workspace beside the file that a repair makes.
func (x *examination) others() []string {
	return slices.DeleteFunc(slices.Clone(x.names), func(name string) bool { return name == path.Base(keepFile) })
}

// make makes the directory.
func (c *client) make(ctx context.Context, id string, x *examination) error {
	if x.exec.Kind == backend.FailWorkDirDangling {
		a, err := c.unlink(ctx, id)
		switch {
		case err != nil:
			return lost(err)
		case a.problem != nil:
			return &refusedError{fmt.Errorf("the link was not removed: %s", c.said(a.problem))}
		case !a.ran.Exit.IsKnown():
			return &actions.UncertainError{Err: errors.New("the command that replaces the link did not end")}
		case !a.ran.OK():
			return &refusedError{fmt.Errorf("the link could not be replaced: %s", c.clean(a.ran.Stderr, 300))}
		case a.ran.Stdout != "":
			return &actions.ChangedError{What: backend.Text("/workspace is no link to nothing any more")}
		}
		return nil
	}
	call, err := bridge.WriteFile(id, keepFile, []byte("made by sandglass repair\n"))
	if err != nil {
		return err
	}
	a, err := c.send(ctx, call, c.factory.next)
	if err == nil && a.problem != nil && x.sessionless() {
		return c.mkdir(ctx, id)
	}
	switch {
	case err != nil:
		return lost(err)
	case a.problem != nil && a.status >= 500 && a.status != 503 && fullDisk(a.problem.Code, a.problem.Text) == "":
		return &actions.UncertainError{Err: errors.New(c.said(a.problem))}
	case a.problem != nil:
		return &refusedError{fmt.Errorf("/workspace was not made: %s", c.said(a.problem))}
	}
	return nil
}

// unlink replaces the link, in a session of its own: no other command begins.
func (c *client) unlink(ctx context.Context, id string) (answer, error) {
	x := &examination{c: c, id: id, session: newSession()}
	defer x.leave(ctx)
	return x.inSession(ctx, "sh", "-c", relink)
}
