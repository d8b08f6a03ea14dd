package actions

import (
	"fmt"
	"slices"
	"time"

	"sandglass/backend"
)

// StepResult is how one step of an effect ended.
type StepResult string

// The results of a step.
const (
	StepOK       StepResult = "ok"
	StepFailed   StepResult = "failed"
	StepUnknown  StepResult = "unknown" // it was tried, and the answer tells nothing
	StepNotTried StepResult = "not tried"
	StepStarting StepResult = "starting" // it is waited for; told while an effect is under way only
)

// Step is one thing that an effect of several steps tried.
type Step struct {
	Name   backend.Safe `json:"name"`
	Result StepResult   `json:"result"`
	// Plane is the plane that the step shows to work; empty: none of its own.
	Plane backend.Plane `json:"plane,omitempty"`
	// Took is zero for a step that was not tried.
	Took time.Duration `json:"took"`
	Said backend.Safe  `json:"said,omitzero"` // what the platform said, or what was seen
}

// Stepper is an effect of several steps. It calls told with each step as it ends.
type Stepper interface{ Tell(told func(Step)) }

// UntriedError says that the effect could not be tried at all: nothing was learnt.
type UntriedError struct{ Why backend.Safe }

// Error says why.
func (e *UntriedError) Error() string { return "could not be tried: " + e.Why.String() }

// stepFacts are the steps as the journal keeps them.
func stepFacts(steps []Step) []backend.Field {
	var out []backend.Field
	for _, s := range steps {
		value := backend.Textf("%s %s in %s", s.Name, backend.Clean(string(s.Result), 20), s.Took.Round(time.Millisecond))
		if s.Result == StepNotTried {
			value = backend.Textf("%s not tried", s.Name)
		} else if s.Result != StepOK {
			value = backend.Textf("%s: %s", value, s.Said)
		}
		out = append(out, backend.Field{Name: backend.Text("step"), Value: value})
	}
	return out[:min(len(out), mostSteps)]
}

// mostSteps bounds the steps that the journal keeps of one effect.
const mostSteps = 40

// step adds a step to a line while its effect is under way.
func (r *Run) step(i int, s Step) {
	r.set(func(p *Progress) {
		done := p.Lines[i].Done
		done.Steps = append(slices.Clip(done.Steps), s)
		p.Lines[i].Done, p.Lines[i].Text = done, backend.Textf("%s %s", s.Name, backend.Clean(string(s.Result), 20))
	})
}

// StepsOf are verdicts as the steps of a result, in the order of the planes that are given. hint says of a plane why it was not
// tried.
func StepsOf(found []backend.Verdict, planes []backend.Plane, hint func(backend.Plane) backend.Safe) []Step {
	o := backend.Observation{Verdicts: backend.MergeVerdicts(found)}
	var out []Step
	for _, plane := range planes {
		v, tried := o.Of(plane)
		s := Step{Name: backend.Clean(plane.String(), 40), Plane: plane, Result: StepNotTried, Said: v.What}
		if !tried {
			s.Said = hint(plane)
		}
		switch {
		case !tried:
		case v.Outcome == backend.OutcomeOK:
			s.Result, s.Took = StepOK, v.Took
		case v.Outcome == backend.OutcomeFailed:
			s.Result, s.Took = StepFailed, v.Took
		case v.Outcome == backend.OutcomeUnknown:
			s.Result, s.Took = StepUnknown, v.Took
		}
		out = append(out, s)
	}
	return out
}

// SandboxSteps are those of a sandbox without a queue and a driver.
func SandboxSteps(found []backend.Verdict) []Step {
	return StepsOf(found, backend.Planes()[:4], func(backend.Plane) backend.Safe { return backend.Safe{} })
}

// Concluded is what a probe came to. One in which nothing of the sandbox worked or failed proves nothing, which is an error.
func Concluded(found []backend.Verdict) (Done, error) {
	done := Done{Observed: found, Steps: SandboxSteps(found)}
	o := backend.Observation{Verdicts: backend.MergeVerdicts(found)}
	done.Text = o.What()
	if done.Proved = len(o.Failed()) > 0 || !o.StatusOnly(); !done.Proved {
		return done, fmt.Errorf("it proved nothing: %s", done.Text)
	}
	return done, nil
}

// markRepaired marks what a repair proved to work.
func markRepaired(found []backend.Verdict) {
	for i := range found {
		if v := &found[i]; v.Outcome == backend.OutcomeOK && !v.Passive {
			v.Repaired = v.At
		}
	}
}

// tellDestroyed tells of an end that was verified and took the files along: what was observed before is of a container that is gone.
func (r *Run) tellDestroyed(i int) {
	l, k := r.p.Lines[i], r.p.Lines[i].Target.Key
	o, ok := r.control.opt.Feed.(Observer)
	spec := &r.ability.Spec
	if !ok || l.Result != ResultVerified || l.Issued.IsZero() || k.Kind != backend.KindSandbox || spec.Verb != Destroy && !spec.Empties {
		return
	}
	how := backend.Textf("destroyed by %s", r.p.Plan.Who.Name())
	if spec.Empties {
		how = backend.Textf("stopped by %s", r.p.Plan.Who.Name())
	}
	o.Observe(k, []backend.Verdict{backend.DestroyedVerdict(l.Issued, how)})
}
