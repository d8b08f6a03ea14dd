package rules

import (
	"slices"
	"strings"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// refusedCommand is a command of an action that a platform refused because it had no instance for it.
type refusedCommand struct {
	box *backend.Sandbox
	v   backend.Verdict
}

// refusals are the newest refused commands of each source, no older than errors that count.
func (r *capacity) refusals(env *alerts.Env) map[string]refusedCommand {
	out := map[string]refusedCommand{}
	if !slices.ContainsFunc(env.State.Sources, func(h *fleet.SourceHealth) bool { return len(h.Pools) > 0 }) {
		return out // none of a Worker is read
	}
	for b := range env.State.Sandboxes.All() {
		o, known := b.Observed.Get()
		if !known || !onWorkers(b) {
			continue
		}
		v, is := o.Of(backend.PlaneExec)
		if is && v.Kind == backend.FailThrottled && env.Now.Sub(env.Ours(v.At)) <= r.over && v.At.After(out[b.Key.Source].v.At) {
			out[b.Key.Source] = refusedCommand{b, v}
		}
	}
	return out
}

// said is the refusal as evidence.
func (x *refusedCommand) said() alerts.Evidence {
	return alerts.Evidence{Text: backend.Textf("a command in %s was refused: %s", called(x.box), backend.Clean(x.v.What.String(), 300)), Source: x.box.Key.Source, At: x.v.At}
}

// alone judges a refused command where no application is known to be full: counts lag, and the platform may have no instance to give.
func (r *capacity) alone(env *alerts.Env, x *refusedCommand) alerts.Found {
	source := x.box.Key.Source
	v := alerts.Verdict{Outcome: alerts.True, Source: source, Runbook: "7", Provider: x.box.Provider, Confirmed: env.Ours(x.v.At), Severity: worse(r.meta.Severity),
		Cause: backend.Textf("%s has no instance left for a command", backend.Clean(source, 60)), Fingerprint: alerts.Fingerprint("command refused"), Evidence: []alerts.Evidence{x.said()}}
	if strings.Contains(x.v.What.String(), "not your limit") { // as the action told it
		v.Cause = backend.Textf("the platform of %s has no container to give now: that is not your limit", backend.Clean(source, 60))
	}
	v.Detail = v.Cause
	return alerts.Found{Key: backend.PlacesKey(source, nil), Verdict: v}
}
