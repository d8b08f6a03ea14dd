package rules

import (
	"sandglass/alerts"
	"sandglass/backend"
)

// sameCause lists the rules whose alerts about the same workspaces and the same cause are part of an alert.
func sameCause(rules ...string) []alerts.Inhibition {
	return []alerts.Inhibition{{Rules: rules, Equal: []string{alerts.LabelSource, alerts.LabelFingerprint}}}
}

// named says what an error text names.
func named(env *alerts.Env, text backend.Safe) alerts.Naming {
	if text.IsEmpty() {
		return 0
	}
	return env.Names(text)
}
