package rules

// causeKinds are the rules that say why workspaces fail, or what else follows from their states taken together.
func causeKinds() []Kind {
	return []Kind{
		{"evicted-sustained", "a workspace stays evicted, or is lost again and again", func() Options { return sustainedDefaults() }},
		{"reset-loop", "a workspace is reset over and over and fails again for the same cause", func() Options { return loopDefaults() }},
		{"error-burst", "many sessions begin to fail with one cause: one outage", func() Options { return burstDefaults() }},
		{"error-chaos", "workspaces fail for many different causes at once", func() Options { return chaosDefaults() }},
		{"files-vanished", "a workspace lost its files, or may have", func() Options { return vanishedDefaults() }},
		{"ref-mismatch", "a stored reference and what it leads to disagree", func() Options { return refDefaults() }},
		{"capability-mismatch", "a configuration error that no reset cures", func() Options { return capabilityDefaults() }},
		{"possible-leak", "one place for files stands behind two sessions", func() Options { return leakDefaults() }},
		{"misclassified-transient", "retries for a cause that no retry cures", func() Options { return transientDefaults() }},
		{"capacity", "a provider has no instances left, or soon none", func() Options { return capacityDefaults() }},
		{"restart-storm", "after a change many workspaces are opened at once and do not get through", func() Options { return restartDefaults() }},
	}
}
