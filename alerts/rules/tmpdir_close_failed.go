package rules

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// CloseFailedOptions are the keys of `[rules.tmpdir-close-failed]`.
type CloseFailedOptions struct{ LineOptions }

func closeFailedDefaults() *CloseFailedOptions {
	return &CloseFailedOptions{LineOptions{Common: common(alerts.SeverityWarning), Lines: 1, Over: backend.Duration(30 * time.Minute)}}
}

func (o *CloseFailedOptions) build() (alerts.Rule, error) {
	r, err := o.lineRule("tmpdir-close-failed", backend.MetricTmpdirCloseFailed, "the log gives no cause", "5")
	if err != nil {
		return nil, err
	}
	r.meta.Explain = alerts.Explain{
		Means: "An agent could not remove the scratch directory of a workspace that it closed. The directory stays, with all that is in it. The cause that the log " +
			"gives is the cause of the alert, so that one reason is one line however many sessions meet it.",
		Inputs:  "Log lines that say `tmpdir close failed`, and the cause in them.",
		Missing: "Held while the log source is down. Without a log source the rule is blind: Helix writes no log lines unless a Logger is configured.",
		Runbook: "5",
		First: []string{
			"EACCES and EPERM: a tool left entries that the agent's user may not remove, or an immutable file.",
			"EBUSY: something is mounted inside. ENOTEMPTY: a process still creates entries, or NFS keeps files that are open.",
			"A process that merely has a file open does not block the removal on a local file system; it only keeps the space.",
		},
		Limits: "The line names no directory, so the leftover itself shows up as a scratch directory that nobody owns.",
	}
	return r, nil
}
