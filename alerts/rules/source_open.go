package rules

import (
	"sandglass/alerts"
	"sandglass/backend"
)

// OpenOptions are the keys of `[rules.source-open]`.
type OpenOptions struct{ Common }

func openDefaults() *OpenOptions { return &OpenOptions{Common: common(alerts.SeverityWarning)} }

func (o *OpenOptions) build() (alerts.Rule, error) {
	return &sourceOpen{base: o.base("source-open", "", "")}, nil
}

// sourceOpen tells of services that obey without a credential.
type sourceOpen struct{ base }

func (r *sourceOpen) JudgeFleet(env *alerts.Env, known alerts.Known) []alerts.Found {
	var out []alerts.Found
	for _, h := range env.State.Sources {
		if h.Exposed.IsEmpty() && known.Finding(h.Key) == "" {
			continue
		}
		v := alerts.Verdict{Outcome: alerts.False, Source: h.Key.Source}
		switch o, why, gap := env.Gap(h.Key.Source); {
		case gap:
			v.Outcome, v.Why = o, why
		case !h.Exposed.IsEmpty():
			seen := h.LastOK
			if h.ExposedSince.After(seen) { // it was asked later than what the source tells
				seen = h.ExposedSince
			}
			v.Outcome, v.Runbook, v.Confirmed = alerts.True, "source", env.Ours(seen)
			v.Cause, v.Fingerprint = backend.Text("it obeys without a key"), "open"
			v.Detail, v.Bounds.Latest = v.Cause, env.Ours(h.ExposedSince)
			v.Evidence = []alerts.Evidence{{Text: h.Exposed, Source: h.Key.Source, At: seen}}
		}
		out = append(out, alerts.Found{Key: h.Key, Verdict: v})
	}
	return out
}
