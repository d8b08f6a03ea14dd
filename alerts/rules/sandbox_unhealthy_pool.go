package rules

import (
	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// JudgeFleet judges the applications of cloud platforms by the platforms' own word: where containers do not come up, no sandbox shows it.
func (r *unhealthy) JudgeFleet(env *alerts.Env, known alerts.Known) []alerts.Found {
	var out []alerts.Found
	seen := map[backend.Key]bool{}
	for _, h := range env.State.Sources {
		for i := range h.Pools {
			x := &h.Pools[i]
			key := backend.PlacesKey(h.Key.Source, x)
			if x.Health.String() != "unhealthy" && known.Finding(key) == "" || seen[key] {
				continue
			}
			seen[key] = true
			out = append(out, alerts.Found{Key: key, Verdict: r.application(env, h, x, alerts.NoteAs[unhealthyNote](known.Note(key)))})
		}
	}
	for key := range known.Findings {
		if key.Kind == backend.KindSource && !seen[key] && known.Finding(key) != "" {
			out = append(out, alerts.Found{Key: key, Verdict: r.unlisted(env, key, known)})
		}
	}
	return out
}

// unlisted is the verdict about an application that is not listed any more, or of which the list was not read.
func (r *unhealthy) unlisted(env *alerts.Env, key backend.Key, known alerts.Known) alerts.Verdict {
	v, gap := gapOf(env, key.Source)
	h := env.State.Source(key.Source)
	switch {
	case gap:
	case h != nil && h.Unfinished:
		v = alerts.Verdict{Outcome: alerts.NoData, Why: backend.Text("the list of its applications was not read to its end")}
	default:
		return alerts.Verdict{Outcome: alerts.False}
	}
	v.Note = known.Note(key)
	return v
}

// application judges one application.
func (r *unhealthy) application(env *alerts.Env, h *fleet.SourceHealth, x *backend.Pool, known *unhealthyNote) alerts.Verdict {
	if v, gap := gapOf(env, h.Key.Source); gap {
		v.Note = alerts.NoteOf(known)
		return v
	}
	if x.Health.String() != "unhealthy" {
		return alerts.Verdict{Outcome: alerts.False}
	}
	at := env.Ours(x.At)
	n := &unhealthyNote{By: at}
	if known != nil && !known.By.IsZero() {
		n = known
	}
	v := alerts.Verdict{
		Outcome: alerts.True, Source: h.Key.Source, Runbook: "container", Provider: backend.Clean(h.Kind, 60), Confirmed: at, Note: alerts.NoteOf(n),
		Cause: backend.Textf("its platform calls the application %s unhealthy", x.Name), Fingerprint: alerts.Fingerprint("application unhealthy") + "-" + x.Name.String(),
		Bounds: alerts.Bounds{Latest: n.By},
	}
	v.Detail = v.Cause
	tell := func(format backend.Literal, counted backend.Value[int], unit string) {
		if c, is := counted.Get(); is {
			v.Evidence = append(v.Evidence, alerts.Evidence{Text: backend.Textf(format, x.Name, c), Value: backend.Known(float64(c)), Unit: unit, Source: h.Key.Source, At: env.Display(at)})
		}
	}
	tell("instances of %s that failed, as the platform counts: %d", x.Failed, "instances")
	tell("instances of %s that run, as the platform counts: %d", x.Used, "instances")
	tell("instances of %s that start, as the platform counts: %d", x.Starting, "instances")
	if !x.Rollout.IsEmpty() {
		v.Evidence = append(v.Evidence, alerts.Evidence{Text: backend.Textf("rollout %s goes on", x.Rollout), Source: h.Key.Source, At: env.Display(at)})
	}
	if due := n.By.Add(r.least); env.Now.Before(due) {
		v.Suspected, v.Why, v.Recheck = true, backend.Textf("fires when it is still called so at %s", env.Clock(due)), due
	}
	return v
}
