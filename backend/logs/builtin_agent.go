package logs

import (
	"regexp"
	"slices"
	"strings"
)

// memoryLimits are the lines that say that the agent itself ran out of memory: Cloudflare's words for a Durable Object
// (developers.cloudflare.com/durable-objects/observability/troubleshooting, and the outcome of a tail event,
// developers.cloudflare.com/workers/observability/logs/tail-workers) and those of Node.js.
func memoryLimits() []pattern {
	const meaning = "the agent's own process or Durable Object ran out of memory"
	return []pattern{
		{
			name: "isolate-out-of-memory", contains: "isolate exceeded its memory limit", class: ClassAgentOOM, tier: tierError,
			meaning: meaning, inError: true, event: true,
			also: regexp.MustCompile(`(?:^|[^B]['’]s |[^s] |\bits )isolate exceeded`), // a D1 database has an isolate too
			hits: []string{
				`{"level":50,"msg":"run failed","sessionId":"s1","err":{"name":"Error","message":"Durable Object's isolate exceeded its memory limit and was reset."}}`,
				`{"level":"error","msg":"run failed","stack":"Error: Durable Object's isolate exceeded its memory limit and was reset.\n    at Agent.run (index.js:1:2)"}`,
				`(error) Durable Object's isolate exceeded its memory limit and was reset.`,
				`{"level":"error","msg":"Durable Object reset because its isolate exceeded its memory limit."}`,
			},
			misses: []string{
				`{"level":50,"msg":"query failed","err":"D1_ERROR: D1 DB's isolate exceeded its memory limit and was reset."}`,
				`{"level":50,"msg":"Durable Object exceeded its CPU time limit and was reset."}`,
			},
		},
		{
			name: "tail-exceeded-memory", contains: "exceededMemory", class: ClassAgentOOM, tier: tierError,
			meaning: meaning, inError: true, event: true, quoted: true, also: regexp.MustCompile(`"?outcome"?\s*[:=\s]\s*"?exceededMemory`),
			hits: []string{
				`{"outcome":"exceededMemory","scriptName":"agent","exceptions":[],"logs":[],"eventTimestamp":1767225600000}`,
				`  "outcome": "exceededMemory",`,
				`{"level":"error","msg":"outcome exceededMemory"}`,
			},
			misses: []string{`{"outcome":"ok","scriptName":"agent","exceptions":[]}`, `{"msg":"metric","name":"exceededMemory"}`},
		},
		{
			name: "outcome-exceeded-memory", contains: outcomeOOM, class: ClassAgentOOM, tier: tierError, level: levelTrace,
			meaning: meaning, event: true, field: outcomes[0],
			hits: []string{
				`{"level":"info","message":"GET /run","outcome":"exceededMemory","scriptName":"agents"}`,
				`{"$workers":{"outcome":"exceededMemory","scriptName":"agents"},"message":"alarm"}`,
			},
			misses: []string{`{"level":"error","message":"GET /run","outcome":"exceededCpu"}`, `{"msg":"tool done","output":{"outcome":"exceededMemory"}}`,
				`{"msg":"tool done","toolName":"wrangler","outcome":"exceededMemory"}`},
		},
		{
			// What wrangler tail prints of that outcome for people (workers-sdk, packages/wrangler/src/tail/printing.ts).
			name: "tail-printed-exceeded-memory", contains: "Exceeded Memory Limit", class: ClassAgentOOM, tier: tierError,
			meaning: meaning, event: true, also: regexp.MustCompile(` - Exceeded Memory Limit(?: @ |\s*$)`),
			hits: []string{
				`GET https://agents.example.com/run - Exceeded Memory Limit @ 1/1/2026, 12:00:00 PM`,
				`Alarm @ 1/1/2026, 12:00:00 PM - Exceeded Memory Limit`,
			},
			misses: []string{`GET https://agents.example.com/run - Exceeded CPU Limit @ 1/1/2026, 12:00:00 PM`, `  (log) Exceeded Memory Limit of the plan`},
		},
		{
			name: "heap-out-of-memory", contains: "JavaScript heap out of memory", class: ClassAgentOOM, tier: tierError,
			meaning: meaning, event: true, begins: true,
			hits:   []string{`FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory`},
			misses: []string{`{"level":30,"msg":"tool done","output":"FATAL ERROR: JavaScript heap out of memory"}`},
		},
	}
}

// kernelLog are the lines of a Linux kernel that killed a process because its control group was at its memory limit
// (mm/oom_kill.c and mm/memcontrol.c). The first one names the container.
func kernelLog() []pattern {
	const meaning = "the kernel killed a process at the memory limit of its container"
	return []pattern{
		{
			name: "kernel-limit-kill", contains: "oom-kill:constraint=CONSTRAINT_MEMCG", class: ClassLimitKill, tier: tierMessage, meaning: meaning, level: levelTrace, quoted: true,
			cause:  regexp.MustCompile(`task_memcg=[^,]*?([0-9a-f]{64})`),
			hits:   []string{`kernel: oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=c,mems_allowed=0,oom_memcg=/docker/c,task_memcg=/docker/c,task=node,pid=42,uid=0`},
			misses: []string{`kernel: oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/user.slice,task=node,pid=42,uid=0`},
		},
		{
			name: "kernel-limit-killed", contains: "Memory cgroup out of memory: Kill", class: ClassLimitKill, tier: tierMessage, meaning: meaning, level: levelTrace, quoted: true,
			hits:   []string{`kernel: Memory cgroup out of memory: Killed process 42 (node) total-vm:900kB, anon-rss:800kB`},
			misses: []string{`kernel: Out of memory: Killed process 42 (node) total-vm:900kB, anon-rss:800kB`},
		},
	}
}

// snapshots are the failures of the OpenAI Agents SDK to save and bring back what is in a workspace: its error codes,
// class names and events (src/agents/sandbox/errors.py and session/events.py of github.com/openai/openai-agents-python).
func snapshots() []pattern {
	const saved, restored, mounted = "the content of a workspace could not be saved", "the saved content of a workspace could not be brought back",
		"a mount of a workspace could not be made: it may be missing now"
	notOK := regexp.MustCompile(`"ok":\s*false`)
	spared := []string{`{"level":30,"msg":"tool done","output":"SnapshotPersistError SnapshotRestoreError snapshot_persist_error mount_failed mount command failed error_before_remount_corruption additional_remount_errors"}`, `INFO snapshot restored`,
		`{"level":30,"msg":"tool done","output":{"context":{"additional_remount_errors":[{"message":"busy"}]}}}`,
		`{"level":30,"msg":"saved","context":{"additional_remount_errors":[],"hydrate_error_before_remount_corruption":null,"note":"SnapshotPersistError"}}`}
	failure := func(class Class, name, contains, meaning string, hits ...string) pattern {
		return pattern{name: name, contains: contains, class: class, tier: tierError, meaning: meaning, inError: true, event: true,
			cause: regexp.MustCompile(regexp.QuoteMeta(contains) + `(?:\s*[:(\x{2014}-]\s*|\s+)([^"]+)|"error_message":\s*"([^"]+)"`), hits: hits, misses: spared}
	}
	event := func(class Class, name, op, code, meaning string) pattern {
		p := failure(class, name, op, meaning,
			`{"version":1,"ts":"2026-01-01T12:00:00Z","session_id":"s1","seq":9,"op":"`+op+`","phase":"finish","ok":false,"error_code":"`+code+
				`","error_message":"failed to read archive for path: /workspace"}`)
		p.also, p.quoted = notOK, true
		p.misses = []string{`{"version":1,"ts":"2026-01-01T12:00:00Z","session_id":"s1","seq":9,"op":"` + op + `","phase":"finish","ok":true}`}
		return p
	}
	done := func() pattern {
		ok := `{"version":1,"ts":"2026-01-01T12:00:00Z","session_id":"s1","seq":9,"op":"persist_workspace","phase":"finish","ok":`
		return pattern{name: "persist-workspace-done", contains: "persist_workspace", class: ClassPersistDone, tier: tierError, meaning: "the content of a workspace was saved", quoted: true,
			also: regexp.MustCompile(`"op":\s*"persist_workspace".*"phase":\s*"finish".*"ok":\s*true`), hits: []string{ok + `true}`}, misses: []string{ok + `false,"error_message":"x"}`, `{"op":"persist_workspace","phase":"start","ok":true}`}}
	}
	ran := func() pattern {
		event := `{"version":1,"ts":"2026-01-01T12:00:00Z","session_id":"s1","seq":9,"op":"exec","phase":"finish","data":{"command":["ls"]`
		return pattern{name: "exec-done", contains: `"exec"`, class: ClassExecDone, tier: tierError, meaning: "a command was answered", quoted: true,
			also: regexp.MustCompile(`^[^{]*\{"version":.*"op":\s*"exec",.*"phase":\s*"finish",.*(?:"ok":\s*true|"exit_code":\s*-?\d)`), // one that ends with an error was answered too
			hits: []string{event + `},"ok":true}`, event + `,"exit_code":2},"ok":false}`, `{"version":1,"session_id":"s1","op": "exec", "data":{},"phase": "finish", "ok": true}`},
			misses: []string{event + `},"ok":false,"error_message":"x"}`, `{"level":30,"msg":"tool done","output":{"version":1,"op":"exec","phase":"finish","ok":true}}`,
				`{"version":1,"session_id":"s1","op":"exec","phase":"start","data":{}}`}}
	}
	archive := func(class Class, reason, meaning string) pattern {
		p := inQuotes(failure(class, strings.ReplaceAll(reason, "_", "-"), reason, meaning,
			`ERROR agents.sandbox: failed to read archive for path: /workspace context={'path': '/workspace', 'reason': '`+reason+`', 'output': 'tar: ./a: Cannot open'}`,
			`{"level":"error","message":"stop failed","error":{"message":"failed to read archive for path: /workspace","context":{"path":"/workspace","reason":"`+reason+`","output":"tar: ./a: Cannot open"}}}`))
		p.also = regexp.MustCompile(`reason["']?\s*[:=]\s*["']?` + reason + `\b`)
		p.cause = regexp.MustCompile(`(?:output|detail)["']?\s*[:=]\s*["']?([^"'}]+)`)
		p.misses = append(slices.Clone(spared), `{"level":30,"msg":"tool done","output":"reason: `+reason+`"}`, `{"level":"error","message":"the test `+reason+` is skipped"}`)
		return p
	}
	return []pattern{
		archive(ClassPersistFailed, "tar_failed", saved),
		archive(ClassHydrateFailed, "tar_extract_failed", restored),
		archive(ClassHydrateFailed, "unsafe_or_invalid_tar", restored),
		failure(ClassPersistFailed, "snapshot-persist-error", "SnapshotPersistError", saved,
			`ERROR agents.sandbox: agents.sandbox.errors.SnapshotPersistError: failed to persist snapshot session=s1`),
		failure(ClassPersistFailed, "snapshot-persist-code", "snapshot_persist_error", saved,
			`{"level":"error","message":"stop failed","error":{"code":"snapshot_persist_error","message":"failed to persist snapshot"},"sessionId":"s1"}`),
		failure(ClassPersistFailed, "snapshot-persist-text", "failed to persist snapshot", saved,
			`{"level":"error","message":"failed to persist snapshot: disk quota exceeded","session_id":"s1"}`),
		done(), ran(),
		event(ClassPersistFailed, "persist-workspace", "persist_workspace", "workspace_archive_read_error", saved),
		failure(ClassHydrateFailed, "snapshot-restore-error", "SnapshotRestoreError", restored,
			`SnapshotRestoreError: failed to restore snapshot`),
		failure(ClassHydrateFailed, "snapshot-restore-code", "snapshot_restore_error", restored,
			`{"level":"error","message":"start failed","error":{"code":"snapshot_restore_error"}}`),
		failure(ClassHydrateFailed, "snapshot-restore-text", "failed to restore snapshot", restored,
			`WARNING failed to restore snapshot: connection reset`),
		failure(ClassHydrateFailed, "snapshot-not-restorable", "napshot is not restorable", restored,
			`{"level":"error","message":"snapshot is not restorable"}`),
		failure(ClassHydrateFailed, "snapshot-not-restorable-code", "snapshot_not_restorable", restored,
			`{"level":"error","message":"resume failed","error":{"code":"snapshot_not_restorable"}}`),
		event(ClassHydrateFailed, "hydrate-workspace", "hydrate_workspace", "workspace_archive_write_error", restored),
		failure(ClassHydrateFailed, "mount-failed", "mount command failed", mounted,
			`{"level":"error","message":"mount command failed: s3fs: unable to access MOUNTPOINT"}`),
		mountCode(failure(ClassHydrateFailed, "mount-failed-code", "mount_failed", mounted,
			`{"level":"error","message":"start failed","error":{"code":"mount_failed"}}`)),
		// Mounts are detached while a workspace is saved or brought back, and attached again. The context of the error
		// says where that failed.
		inQuotes(failure(ClassHydrateFailed, "remount-failed", markRemount, mounted,
			`ERROR persist failed: failed to read archive for path: /workspace {'snapshot_error_before_remount_corruption': {'message': 'timed out'}}`,
			`{"level":"error","message":"hydrate failed: hydrate_error_before_remount_corruption: connection reset"}`,
			`{"level":"error","message":"failed to write archive for path: /workspace","context":{"path":"/workspace","hydrate_error_before_remount_corruption":{"message":"connection reset"}}}`,
			`{"level":"error","message":"run failed","error":{"message":"stop failed","cause":{"context":{"snapshot_error_before_remount_corruption":{"message":"timed out"}}}}}`)),
		inQuotes(failure(ClassHydrateFailed, "remounts-failed", markRemounts, mounted,
			`WARNING failed to read archive for path: /workspace context={'additional_remount_errors': [{'message': 'mount: /data: busy'}]}`,
			`{"level":"error","message":"failed to read archive for path: /workspace","extra":{"context":{"details":[{"additional_remount_errors":[{"message":"mount: /data: busy"}]}]}}}`)),
	}
}

// previewFailures are the failures of the OpenAI Agents SDK to make the address of an exposed port of a Blaxel sandbox: what the
// member detail of an error's context says (src/agents/extensions/sandbox/blaxel/sandbox.py).
func previewFailures() (out []pattern) {
	for _, detail := range previewDetails {
		name := strings.ReplaceAll(detail, "_", "-")
		out = append(out, pattern{name: name, contains: detail, class: ClassPreviewFailed, tier: tierError, meaning: "the address of a port could not be made",
			inError: true, event: true, quoted: true, also: regexp.MustCompile(`detail["']?\s*[:=]\s*["']?` + detail + `\b`),
			cause: regexp.MustCompile(`detail["']?\s*[:=]\s*["']?(` + detail + `)\b`),
			hits: []string{
				`ERROR agents.sandbox: exposed port unavailable: 3000 context={'port': 3000, 'exposed_ports': (3000, 8081), 'backend': 'blaxel', 'detail': '` + detail + `'}`,
				`{"level":"error","message":"run failed","session_id":"s1","error":{"type":"ExposedPortUnavailableError","message":"port 3000","context":{"port":3000,"exposed_ports":[3000],"detail":"` + detail + `"}}}`,
			},
			misses: []string{`{"level":30,"msg":"tool done","output":"detail: ` + detail + `"}`, `{"level":"error","message":"the test ` + detail + ` is skipped"}`,
				`{"level":"info","message":"retried","context":{"detail":"` + detail + `"}}`},
		})
	}
	return out
}

// mountCode is a pattern that is no part of a longer code, such as unmount_failed.
func mountCode(p pattern) pattern {
	p.also = regexp.MustCompile(`\bmount_failed\b`)
	p.misses = append(slices.Clone(p.misses), `{"level":"error","message":"persist failed: unmount_failed"}`, `ERROR agents.sandbox persist failed {'path': '/workspace', 'reason': 'remount_failed'}`)
	return p
}

// inQuotes is a pattern whose text stands in quotes by its nature.
func inQuotes(p pattern) pattern {
	p.quoted = true
	return p
}
