package rules

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// PersistOptions are the keys of `[rules.persist-failed]`.
type PersistOptions struct{ LineOptions }

func persistDefaults() *PersistOptions {
	return &PersistOptions{LineOptions{Common: common(alerts.SeverityCritical), Lines: 1, Over: backend.Duration(30 * time.Minute)}}
}

func (o *PersistOptions) build() (alerts.Rule, error) {
	r, err := o.lineRule("persist-failed", backend.MetricPersistFailed, "the snapshot was not saved", "2")
	if err != nil {
		return nil, err
	}
	r.meta.Explain = alerts.Explain{
		Means: "The content of a workspace could not be saved. What the agent wrote since the last snapshot exists only in the sandbox, and is lost when that ends.",
		Inputs: "The agent's log lines: the error codes, class names and events of the OpenAI Agents SDK about persist_workspace and snapshots, and whatever patterns of class " +
			"persist-failed are configured.",
		Missing: "Held while the log source is down; blind without one.",
		Runbook: "2",
		First: []string{
			"Do not end the sandbox: the files are still in it. Copy out what matters first.",
			"Look at the store of the snapshots: credentials, quota, reachability.",
			"A detached mount that could not be attached again after the attempt is missing now.",
		},
		Limits: "A save that is retried with success has no line of its own; the alert then lasts for `over`.",
	}
	return r, nil
}
