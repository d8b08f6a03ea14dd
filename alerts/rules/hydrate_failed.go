package rules

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// HydrateOptions are the keys of `[rules.hydrate-failed]`.
type HydrateOptions struct{ LineOptions }

func hydrateDefaults() *HydrateOptions {
	return &HydrateOptions{LineOptions{Common: common(alerts.SeverityCritical), Lines: 1, Over: backend.Duration(30 * time.Minute)}}
}

func (o *HydrateOptions) build() (alerts.Rule, error) {
	r, err := o.lineRule("hydrate-failed", backend.MetricHydrateFailed, "the snapshot was not restored", "2")
	if err != nil {
		return nil, err
	}
	r.meta.Explain = alerts.Explain{
		Means: "The saved content of a workspace could not be brought back, or one of its mounts could not be made. A session that goes on nevertheless works in a " +
			"workspace that is empty or lacks files.",
		Inputs: "The agent's log lines: the error codes, class names and events of the OpenAI Agents SDK about hydrate_workspace, snapshots and mounts, and whatever patterns of " +
			"class hydrate-failed are configured.",
		Missing: "Held while the log source is down; blind without one.",
		Runbook: "2",
		First: []string{
			"Pause the session before it saves the empty workspace over the good snapshot.",
			"A snapshot that is not restorable is gone from its store: look for an older one.",
			"A mount that failed, also one that should have come back after a save, is missing now: its files are not lost, and what is written there lands beside them. The command names its tool, which may be missing from the image.",
		},
		Limits: "The log does not say whether the session went on without the files.",
	}
	return r, nil
}
