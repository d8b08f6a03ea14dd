package rules

import (
	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// SourceDownOptions are the keys of `[rules.source-down]`.
type SourceDownOptions struct {
	Common
	FailedPolls int `toml:"failed_polls" doc:"how many polls in a row must fail"`
}

func sourceDownDefaults() *SourceDownOptions {
	return &SourceDownOptions{Common: common(alerts.SeverityWarning), FailedPolls: 3}
}

func (o *SourceDownOptions) build() (alerts.Rule, error) {
	r := &sourceDown{base: o.base("source-down", "", ""), polls: o.FailedPolls}
	r.meta.Folds = true
	return r, atLeast("failed_polls", o.FailedPolls, 1)
}

type sourceDown struct {
	base
	polls int
}

func (r *sourceDown) JudgeFleet(env *alerts.Env, known alerts.Known) []alerts.Found {
	out := make([]alerts.Found, 0, len(env.State.Sources))
	for _, h := range env.State.Sources {
		v := r.judge(env, h)
		if v.Outcome == alerts.False && known.Finding(h.Key) == "" {
			continue
		}
		out = append(out, alerts.Found{Key: h.Key, Verdict: v})
	}
	return out
}

func (r *sourceDown) judge(env *alerts.Env, h *fleet.SourceHealth) alerts.Verdict {
	switch {
	case h.Status == fleet.StatusStarting:
		return alerts.Verdict{Outcome: alerts.NoData, Why: backend.Text("it has not been read yet")}
	case h.Status != fleet.StatusDown:
		return alerts.Verdict{Outcome: alerts.False}
	}
	cause := backend.Textf("%s", h.ErrorKind)
	if !h.Error.IsEmpty() {
		cause = alerts.CauseText(h.Error)
	}
	v := alerts.Verdict{
		Outcome: alerts.True, Source: h.Key.Source, Cause: cause, Runbook: "source",
		Fingerprint: alerts.Fingerprint("source does not answer"), // the error's words may change while it is down
		Bounds:      alerts.Bounds{Earliest: env.Ours(h.LastOK), Latest: env.Ours(h.DownFrom)},
		Confirmed:   env.Ours(h.LastTry), Detail: cause,
		Evidence: []alerts.Evidence{{
			Text:  backend.Textf("%s in a row failed", plural(h.Failures, "poll")),
			Value: backend.Known(float64(h.Failures)), Unit: "polls", Source: h.Key.Source, At: h.LastTry,
		}},
	}
	if h.LastOK.IsZero() {
		v.Evidence = append(v.Evidence, alerts.Evidence{Text: backend.Text("it has not answered since Sandglass started"), Source: h.Key.Source, At: h.FirstTry})
	} else {
		v.Evidence = append(v.Evidence, alerts.Evidence{Text: backend.Textf("it last answered at %s", env.Clock(env.Ours(h.LastOK))), Source: h.Key.Source, At: h.LastOK})
	}
	if h.Failures < r.polls {
		v.Suspected = true
		v.Why = backend.Textf("fires after %s in a row, %d so far", plural(r.polls, "failed poll"), h.Failures)
	}
	return v
}
