package rules

import "sandglass/alerts"

// sameCause lists the rules whose alerts about the same workspaces and the same cause are part of an alert.
func sameCause(rules ...string) []alerts.Inhibition {
	return []alerts.Inhibition{{Rules: rules, Equal: []string{alerts.LabelSource, alerts.LabelFingerprint}}}
}
