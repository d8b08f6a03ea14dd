package actions

import (
	"time"

	"sandglass/backend"
)

// Compared is what a run of prove says about the suspect sandbox; suspect is nil where none was named, or it is gone. Empty:
// the run proved nothing.
func Compared(l *Line, suspect *backend.Sandbox, now time.Time) backend.Safe {
	works := l.Result == ResultVerified
	switch fails := failsOnly(l.Done.Steps); {
	case !works && l.Result != ResultFailed:
		return backend.Safe{}
	case suspect == nil && works:
		return backend.Text("the platform works: look for the cause in the sandbox that fails")
	case !works && !fails.IsEmpty() && suspect != nil:
		return backend.Textf("the platform fails at %s, in a new sandbox too; what else fails in %s is its own", fails, suspect.Name)
	case !works && !fails.IsEmpty():
		return backend.Textf("the platform fails at %s; the rest of it works", fails)
	case suspect == nil:
		return backend.Text("the platform itself fails: look there first, not in a single sandbox")
	case !works:
		return backend.Textf("the platform itself fails: it is not only %s", suspect.Name)
	}
	o := suspect.Observed.Or(backend.Observation{}).Present()
	switch o.Outcome() {
	case backend.OutcomeFailed:
		return backend.Textf("the platform works: it is this sandbox, %s", suspect.Name)
	case backend.OutcomeOK:
		if rest := o.NotTried(); len(rest) > 0 {
			return backend.Textf("the platform works, and so did %s %s ago; not tried there: %s; probe it", suspect.Name, backend.Age(now.Sub(o.At())), backend.PlaneNames(rest))
		}
		return backend.Textf("the platform works, and so did %s %s ago", suspect.Name, backend.Age(now.Sub(o.At())))
	case backend.OutcomeUnknown:
		return backend.Textf("the platform works; of %s it is not known", suspect.Name)
	case backend.OutcomeNotTried:
	}
	return backend.Textf("the platform works; in %s nothing was tried yet: probe it", suspect.Name)
}

// failsOnly names the steps that failed where others passed after the first of them; empty: none did, or it is not known of one.
// The removal of what was made proves nothing.
func failsOnly(steps []Step) backend.Safe {
	var failed []backend.Safe
	others := false
	for _, s := range steps {
		switch s.Result {
		case StepFailed:
			failed = append(failed, s.Name)
		case StepOK:
			others = others || len(failed) > 0 && s.Name.String() != "destroy"
		case StepUnknown, StepStarting:
			return backend.Safe{}
		case StepNotTried:
		}
	}
	if !others {
		return backend.Safe{}
	}
	return backend.Join(failed, ", ")
}

// Beside is what is known of a suspect sandbox on the plane that a step of prove shows to work.
func Beside(o backend.Observation, reported backend.Safe, plane backend.Plane, now time.Time) backend.Safe {
	said := backend.Text("not tried")
	if v, found := o.Of(plane); found && v.Tried() {
		said = v.Word()
		if v.Past {
			said = backend.Textf("%s, before its last start", said)
		}
		said = backend.Textf("%s, %s ago", said, backend.Age(now.Sub(v.At)))
	}
	if plane == backend.PlaneControl {
		return backend.Textf("reported %s; %s", reported, said)
	}
	return said
}
