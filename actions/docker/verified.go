package docker

import (
	"context"
	"fmt"

	"sandglass/actions"
	"sandglass/backend"
)

// verifyCost is what the verification after an order costs.
const verifyCost = "afterwards starts at most 3 short commands in the container: probe_command, ls, head; the engine's event log records them"

// verified tries what runs again plane by plane: a command, unless one was run already, then the directory and a file of it.
// Each plane is a step of its own; one that fails is the error.
func (m *mutatingClient) verified(ctx context.Context, b *containerInfo, done actions.Done, ran *commandResult) (actions.Done, error) {
	p := &planeProbe{m: m, b: b}
	goes := true
	if ran == nil {
		goes = p.exec(ctx)
	} else {
		p.add(p.result(backend.PlaneExec, *ran, nil, m.verdict(b, *ran)))
	}
	if goes {
		if name, found := p.list(ctx); found {
			p.read(ctx, name)
		}
	}
	done.Observed, done.Notes = append(done.Observed, p.done.Observed...), append(done.Notes, p.done.Notes...)
	done.Steps = planeSteps(p.done.Observed, backend.Planes()[1:])
	for i := range p.done.Observed {
		if v := &p.done.Observed[i]; v.Outcome == backend.OutcomeFailed {
			return done, fmt.Errorf("%s; but %s fails: %s", done.Text, v.Plane, v.Said())
		}
	}
	return done, nil
}

// planeSteps are verdicts as the steps of a result, one for each plane. An engine has no queue, and looks of its own tell what
// the main process does: both are named as not tried.
func planeSteps(found []backend.Verdict, planes []backend.Plane) []actions.Step {
	o := backend.Observation{Verdicts: backend.MergeVerdicts(found)}
	var out []actions.Step
	for _, plane := range planes {
		v, tried := o.Of(plane)
		step := actions.Step{Name: backend.Clean(plane.String(), 40), Plane: plane, Result: actions.StepNotTried, Said: v.What}
		switch {
		case tried && v.Outcome == backend.OutcomeOK:
			step.Result, step.Took = actions.StepOK, v.Took
		case tried && v.Outcome == backend.OutcomeFailed:
			step.Result, step.Took = actions.StepFailed, v.Took
		case plane == backend.PlaneQueue:
			step.Said = backend.Text("a container engine has none")
		case plane == backend.PlaneDriver:
			step.Said = backend.Text("no command tells it: sweeps look at the main process")
		}
		out = append(out, step)
	}
	return out
}
