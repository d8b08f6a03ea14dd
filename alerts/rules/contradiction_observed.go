package rules

import (
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// routesDiffer is the word of the operator routes of a sandbox of a Worker where the account says otherwise of whether it runs.
func routesDiffer(env *alerts.Env, b *backend.Sandbox) []alerts.Evidence {
	word := b.RoutesSay()
	if word.IsEmpty() {
		return nil
	}
	return []alerts.Evidence{{Text: backend.Textf("reported: the operator routes of %s say of %s that it is %s, and the account says %s: whether it runs is not known", backend.Clean(b.Key.Source, 80), called(b), word, b.Reported),
		Source: b.Key.Source, At: env.Display(env.ReadAt(&b.Meta))}}
}

// observedText says what a verdict found, how, and when the plane last worked. from is when the fault was there, zero: no time.
func observedText(env *alerts.Env, a *alerts.Alert, b *backend.Sandbox, v *backend.Verdict, from time.Time) backend.Safe {
	how := backend.Text("seen by a command")
	switch {
	case v.Passive:
		how = backend.Text("seen without running anything")
	case v.Plane == backend.PlaneList && !b.Region.IsEmpty(): // a cloud platform has a route for it
		how = backend.Text("seen by a request into it")
	}
	if v.Past {
		how = backend.Textf("%s, before its newest %s", how, backend.Clean(b.Turn(), 20))
	}
	o, _ := b.Proved()
	switch v.Outcome {
	case backend.OutcomeOK:
		if v.At.Before(from) && !v.Passive {
			return backend.Textf("%s at %s, before %s: %s worked", how, env.Clock(env.Ours(v.At)), o.Fault(from), v.Plane)
		}
		if strings.Contains(v.What.String(), backend.ListHangs) {
			return backend.Textf("%s: %s works, but %s", how, v.Plane, backend.Text(backend.ListHangs))
		}
		return backend.Textf("%s: %s works", how, v.Plane)
	case backend.OutcomeFailed:
	case backend.OutcomeUnknown, backend.OutcomeNotTried:
		if v.Outcome == backend.OutcomeUnknown && !v.What.IsEmpty() {
			if v.At.Before(from) && !v.Passive {
				return backend.Textf("%s at %s, before %s: %s", how, env.Clock(env.Ours(v.At)), o.Fault(from), v.What)
			}
			return backend.Textf("%s: %s", how, v.What)
		}
		return backend.Textf("%s: %s is %s", how, v.Plane, v.Outcome)
	}
	said := v.What
	if said.IsEmpty() {
		said = fault(b, &failedPlane{Plane: v.Plane, Kind: v.Kind})
	}
	if at := b.NotRepaired(); v.Plane == backend.PlaneExec && !at.IsZero() && !v.Past {
		said = backend.Textf("%s; a repair at %s did not help", said, env.Clock(env.Ours(at)))
	}
	if v.LastOK.IsZero() {
		return backend.Textf("%s: %s", how, said)
	}
	at := env.Clock(env.Time(&b.Meta, backend.Known(v.LastOK)))
	if began := env.Display(a.Bounds.Latest); onWorkers(b) && v.Plane == backend.PlaneExec && !a.Bounds.Latest.IsZero() && v.LastOK.After(began) {
		return backend.Textf("%s: %s; a probe's command still ran at %s, later than the first of its agent that could not begin", how, said, at)
	}
	return backend.Textf("%s: %s; it last worked at %s", how, said, at)
}

// lacksFiles reports whether nothing in the working directory can be used: a success there is older.
func (f *failedPlane) lacksFiles() bool {
	return slices.Contains([]backend.FailureKind{backend.FailWorkDirMissing, backend.FailWorkDirDangling, backend.FailMountUnlinked, backend.FailMountGone,
		backend.FailFilesystemMissing, backend.FailGone}, f.Kind)
}
