package rules

import (
	"slices"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// usage judges the workspaces of platforms of agents that refuse every call for a usage limit: an action met that, or the log of an agent
// tells it. It holds until a call to a sandbox works that was made later, by an action or by that log.
// One older than over begins none.
func (r *capacity) usage(env *alerts.Env, known alerts.Known, seen map[backend.Key]bool) (out []alerts.Found) {
	if !slices.ContainsFunc(env.State.Sources, func(h *fleet.SourceHealth) bool { return h.Kind == "blaxel" }) {
		return nil
	}
	refused, worked := map[string]shortNote{}, map[string]time.Time{}
	for b := range env.State.Sandboxes.All() {
		if o, tried := b.Observed.Get(); tried && b.Provider.String() == "blaxel" {
			callsOf(env, b, o, refused, worked)
		}
	}
	for _, m := range [...]backend.Metric{backend.MetricSDKExec, backend.MetricSDKFiles, backend.MetricSDKMissing, backend.MetricPTYFailed, backend.MetricPersistFailed, backend.MetricHydrateFailed} {
		for s := range env.State.Windows.All(m) {
			limitSaid(env, s, refused)
		}
	}
	for s := range env.State.Windows.All(backend.MetricExecDone) {
		answeredSaid(env, s, worked)
	}
	for _, h := range env.State.Sources {
		key := backend.PlacesKey(h.Key.Source, nil)
		n := refused[h.Key.Source]
		was := alerts.NoteAs[shortNote](known.Note(key))
		if was != nil && was.Refused.After(n.Refused) { // its sandbox is not listed any more, or its line is old
			n = *was
		}
		if n.Refused.IsZero() || h.Kind != "blaxel" || seen[key] || worked[h.Key.Source].After(n.Refused) || was == nil && env.Now.Sub(n.Refused) > r.over {
			continue // one that is older says nothing of now
		}
		seen[key] = true
		out = append(out, alerts.Found{Key: key, Verdict: r.usedUp(env, h, n, was)})
	}
	return out
}

// callsOf takes the newest answers to calls of actions to a sandbox.
func callsOf(env *alerts.Env, b *backend.Sandbox, o backend.Observation, refused map[string]shortNote, worked map[string]time.Time) {
	source := b.Key.Source
	for _, p := range [...]backend.Plane{backend.PlaneList, backend.PlaneExec, backend.PlaneRead} {
		v, _ := o.Of(p)
		if at := env.Ours(v.LastOK); !v.Passive && !v.LastOK.IsZero() && at.After(worked[source]) {
			worked[source] = at
		}
		if at := env.Ours(v.At); v.Kind == backend.FailUsageLimit && at.After(refused[source].Refused) {
			refused[source] = shortNote{Refused: at, Said: backend.Clean(v.What.String(), 300), By: backend.Textf("a call of an action to %s was refused", called(b))}
		}
	}
}

// limitSaid takes what the log of an agent says of the usage limit of the workspace of its sandbox.
func limitSaid(env *alerts.Env, s backend.Series, refused map[string]shortNote) {
	m, h, last := env.Over(s, fleet.WindowSpan), env.State.Source(s.Source), newestOf(env, []backend.Series{s})
	if last.IsZero() || s.Session.IsZero() || h == nil || backend.SignedAnswer(m.Sample) != backend.AnswerUsage {
		return
	}
	for _, b := range env.State.BoxesOf(s.Session) {
		if at := env.Ours(last); h.ReportsOn(b.Key.Source) && at.After(refused[b.Key.Source].Refused) {
			refused[b.Key.Source] = shortNote{Refused: at, Said: backend.Clean(m.Sample.String(), 300), By: backend.Textf("log of %s: a call of the agent in %s was refused", backend.Clean(s.Source, 60), called(b))}
		}
	}
}

// answeredSaid takes when the log of an agent last told of a command that was answered: the platform let it through.
func answeredSaid(env *alerts.Env, s backend.Series, worked map[string]time.Time) {
	h, last := env.State.Source(s.Source), newestOf(env, []backend.Series{s})
	if last.IsZero() || s.Session.IsZero() || h == nil {
		return
	}
	for _, b := range env.State.BoxesOf(s.Session) {
		if at := env.Ours(last); h.ReportsOn(b.Key.Source) && at.After(worked[b.Key.Source]) {
			worked[b.Key.Source] = at
		}
	}
}

// usedUp is the verdict about a workspace whose usage limit is met.
func (r *capacity) usedUp(env *alerts.Env, h *fleet.SourceHealth, n shortNote, was *shortNote) alerts.Verdict {
	source := h.Key.Source
	if n.Since = n.Refused; was != nil && !was.Since.IsZero() {
		n.Since = was.Since
	}
	v := alerts.Verdict{Outcome: alerts.True, Source: source, Runbook: "7", Provider: backend.Clean(h.Kind, 60), Confirmed: n.Refused, Severity: worse(r.meta.Severity),
		Cause:       backend.Textf("the workspace of %s met its usage limit: its platform refuses every call there (%s)", backend.Clean(source, 60), backend.Text(backend.CodeUsage)),
		Fingerprint: alerts.Fingerprint("usage limit"), Bounds: alerts.Bounds{Latest: n.Since}, Note: alerts.NoteOf(&n)}
	if was != nil && *was == n {
		v.Note = alerts.NoteOf(was)
	}
	if gap, is := gapOf(env, source); is {
		gap.Note = v.Note
		return gap
	}
	v.Detail = v.Cause
	v.Evidence = []alerts.Evidence{{Text: backend.Textf("%s at %s: %s", n.By, env.Clock(n.Refused), n.Said), Source: source, At: env.Display(n.Refused)}}
	return v
}
