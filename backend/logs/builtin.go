package logs

import (
	"regexp"
	"slices"
)

// builtin is the table of lines that the workspace stack of Helix Agents is known to write. Message texts follow its
// operator runbook (agents.open-source.onhelix.ai, workspaces/runbook); the examples are made up around them. A test
// runs every example.
func builtin() []pattern {
	return slices.Concat(failures(), refusals(), errorClasses(), memoryLimits(), snapshots(), previewFailures(), ptyLines(), sdkLines(), kernelLog(), hubLines(), notStartedLines(), protocolLines())
}

func failures() []pattern {
	return []pattern{
		{
			name: "eviction-retry-exhausted", contains: "eviction retry exhausted", class: ClassEvictionExhausted, tier: tierMessage,
			meaning: "recovery from an eviction gave up",
			hits: []string{
				`{"level":50,"msg":"workspace tool: eviction retry exhausted","sessionId":"s1","err":{"type":"WorkspaceEvictedError","message":"gone"}}`,
				`2026-01-01T00:00:00Z ERROR workspace tool: eviction retry exhausted session=s1`,
			},
			misses: []string{
				`{"level":40,"msg":"workspace tool: command not in allowlist","command":"echo eviction retry exhausted"}`,
				`workspace tool: eviction retry 1 of 3`,
			},
		},
		{
			name: "tmpdir-close-failed", contains: "tmpdir close failed", class: ClassTmpdirCloseFailed, tier: tierMessage,
			meaning: "a scratch directory could not be removed", inError: true, event: true,
			cause: regexp.MustCompile(`tmpdir close failed(?:\s*[:(\x{2014}-]\s*|\s+)(.+)`),
			hits: []string{
				`{"level":"error","message":"tmpdir close failed","cause":"EBUSY: resource busy, rmdir '/tmp/helix-ws-a1B2c3'"}`,
				`[error] tmpdir close failed: ENOTEMPTY: directory not empty`,
			},
			misses: []string{`{"msg":"tmpdir closed"}`},
		},
	}
}

func refusals() []pattern {
	return []pattern{
		{
			name: "metacharacter-rejected", contains: "shell metacharacter rejected", class: ClassRejection, tier: tierMessage,
			meaning: "a guard refused a command with shell metacharacters",
			hits: []string{
				`{"level":40,"msg":"workspace tool: shell metacharacter rejected","sessionId":"s1","workspace":"box","command":"ls; id"}`,
				`WARN workspace tool: shell metacharacter rejected sessionId=s1 workspace=box`,
			},
			misses: []string{`{"msg":"done","output":"shell metacharacter rejected"}`},
		},
		{
			name: "glob-rejected", contains: "glob/brace expansion rejected", class: ClassRejection, tier: tierMessage,
			meaning: "a guard refused a command with glob or brace expansion",
			hits: []string{
				`{"level":40,"msg":"glob/brace expansion rejected"}`,
				`{"level":40,"msg":"workspace tool: glob\/brace expansion rejected"}`,
			},
			misses: []string{`{"msg":"glob expansion done"}`},
		},
		{
			name: "allowlist-rejected", contains: "command not in allowlist", class: ClassRejection, tier: tierMessage,
			meaning: "a guard refused a command that is not on the list of allowed ones",
			hits: []string{
				`{"level":40,"msg":"command not in allowlist","command":"curl x"}`,
				`warn: command not in allowlist command="echo tmpdir close failed"`,
			},
			misses: []string{`{"msg":"command in allowlist"}`},
		},
		{
			name: "name-collision", contains: "sub-agent declares workspace name that exists on parent", class: ClassNameCollision, tier: tierMessage,
			meaning: "a sub-agent got a workspace of its own although its parent has one of that name",
			hits:    []string{`{"level":40,"msg":"sub-agent declares workspace name that exists on parent","workspace":"notes"}`},
			misses:  []string{`{"msg":"sub-agent declares workspace"}`},
		},
	}
}

func errorClasses() []pattern {
	return []pattern{
		{
			name: "workspace-failed", contains: "WorkspaceFailedError", class: ClassWorkspaceFailed, tier: tierError,
			meaning: "an operation ended in a permanent failure of its workspace", inError: true,
			hits: []string{
				`{"level":50,"msg":"tool failed","err":{"type":"WorkspaceFailedError","message":"max_instances reached"}}`,
				`Error: WorkspaceFailedError: ref schemaVersion 4 is outside the supported range`,
			},
			misses: []string{`{"msg":"tool done","output":"WorkspaceFailedError"}`},
		},
		{
			name: "workspace-evicted", contains: "WorkspaceEvictedError", class: ClassWorkspaceEvicted, tier: tierError,
			meaning: "the resource behind a workspace vanished", inError: true,
			hits: []string{
				`{"level":40,"msg":"re-resolving","error":"WorkspaceEvictedError: sandbox instance is gone"}`,
			},
			misses: []string{
				`{"msg":"workspace tool: eviction retry exhausted","error":"WorkspaceEvictedError: gone"}`,
			},
		},
		{
			name: "rollup", contains: "[rate-limited]", class: ClassRollup, tier: tierMarker,
			meaning: "the rate limiter replaces suppressed lines",
			hits: []string{
				`{"level":40,"msg":"[rate-limited] workspace tool: shell metacharacter rejected","suppressedCount":37}`,
				`WARN workspace tool: command not in allowlist [rate-limited] suppressedCount=12`,
			},
			misses: []string{`{"level":40,"msg":"rate-limited","suppressedCount":37}`},
		},
	}
}

// closeTimeoutPattern matches one configured wording of a close that outlasted its deadline: the framework's own
// wording is not documented.
func closeTimeoutPattern(text string) pattern {
	return pattern{
		name: "close-timeout", contains: text, class: ClassCloseTimeout, tier: tierMessage,
		meaning: "a close outlasted its deadline and was abandoned", inError: true, event: true,
		hits:   []string{`{"level":50,"msg":"workspace ` + text + ` after 30000 ms","sessionId":"s1"}`, `registry ` + text},
		misses: []string{`{"msg":"workspace closed in 30 ms"}`},
	}
}
