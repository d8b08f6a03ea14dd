package rules

// groundKinds are the rules about what workspaces stand on: sandboxes, hosts, scratch directories, the agent's process, and
// the console's own sight of them.
func groundKinds() []Kind {
	return []Kind{
		{"sandbox-oom", "a sandbox reached its memory limit", func() Options { return sandboxOOMDefaults() }},
		{"agent-oom", "the agent's own process or Durable Object ran out of memory", func() Options { return agentOOMDefaults() }},
		{"wont-terminate", "a sandbox runs on after its session ended", func() Options { return terminateDefaults() }},
		{"tmpdir-pileup", "scratch directories pile up", func() Options { return pileupDefaults() }},
		{"tmpdir-orphaned", "scratch directories that nobody owns", func() Options { return orphanDefaults() }},
		{"tmpdir-close-failed", "a scratch directory could not be removed on close", func() Options { return closeFailedDefaults() }},
		{"tmpdir-root-unusable", "no scratch directory can be made", func() Options { return rootDefaults() }},
		{"host-oom", "a host ran out of memory", func() Options { return hostOOMDefaults() }},
		{"host-restarted", "a host booted anew", func() Options { return hostRestartedDefaults() }},
		{"persist-failed", "the content of a workspace was not saved", func() Options { return persistDefaults() }},
		{"hydrate-failed", "the content of a workspace was not restored", func() Options { return hydrateDefaults() }},
		{"source-stale", "a source answers with old data", func() Options { return staleDefaults() }},
		{"clock-skew", "a source's clock differs from ours", func() Options { return skewDefaults() }},
	}
}
