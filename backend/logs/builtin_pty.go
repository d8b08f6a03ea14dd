package logs

import (
	"regexp"

	"sandglass/backend"
)

// ptyLines are what the OpenAI Agents SDK logs of the terminals of an agent (src/agents/sandbox/session/pty_types.py, src/agents/sandbox/
// errors.py and the pty_ methods of its kinds of sandboxes).
func ptyLines() []pattern {
	const failed = "a terminal of an agent could not be used"
	frame := func(name, meaning string) pattern {
		return pattern{
			name: name, contains: name, class: ClassPTYFailed, tier: tierFrame, meaning: meaning, inError: true, quoted: true, frame: true,
			also: frameOf(name), cause: lastError,
			hits: []string{
				`2026-01-01T12:00:00Z ERROR agents terminal: Traceback: File "sandbox.py", line 700, in ` + name,
				`{"level":"error","message":"tool failed","session_id":"s1","exception":"Traceback (most recent call last):\n  File \"sandbox.py\", line 700, in ` + name + `\nTimeoutError"}`,
			},
			misses: []string{`{"level":"info","message":"` + name + ` done"}`, `{"level":30,"msg":"tool done","output":"TimeoutError in ` + name + `"}`,
				`{"level":"error","message":"the test test_` + name + `_again is skipped"}`},
		}
	}
	unknown := func(name, text, hit string) pattern {
		return pattern{name: name, contains: text, class: ClassPTYUnknown, tier: tierError, meaning: "an agent used a terminal that its SDK does not know any more", inError: true, quoted: true,
			hits: []string{hit}, misses: []string{`{"level":30,"msg":"tool done","output":"` + text + `"}`}}
	}
	return []pattern{
		{
			name: "pty-pressure", contains: "PTY process count reached warning threshold", class: ClassPTYCount, tier: tierMessage, meaning: "an agent has many terminals open",
			cause:  regexp.MustCompile(`warning threshold:\s*(\d{1,6} active)`),
			hits:   []string{`{"level":"warning","message":"PTY process count reached warning threshold: 61 active sessions","session_id":"s1"}`, `2026-01-01 12:00:00 WARNING PTY process count reached warning threshold: 64 active sessions`},
			misses: []string{`{"level":30,"msg":"tool done","output":"PTY process count reached warning threshold: 64 active sessions"}`, `{"level":"info","message":"PTY process count: 3"}`},
		},
		unknown("pty-unknown", "unknown PTY session", `{"level":"error","message":"write_stdin failed: unknown PTY session 4242","session_id":"s1"}`),
		unknown("pty-not-found", "PTY session not found", `2026-01-01T12:00:00Z ERROR agents.sandbox PTY session not found: 4242 session_id=s1`),
		unknown("pty-not-found-code", "pty_session_not_found", `{"level":"error","message":"write_stdin failed","error":{"code":"pty_session_not_found"}}`),
		{
			name: "pty-no-library", contains: "PTY support for BlaxelSandboxSession requires", class: ClassPTYFailed, tier: tierError, meaning: failed + ": " + backend.NoWebSocketLibrary, inError: true, quoted: true,
			hits:   []string{`{"level":"error","message":"exec failed","session_id":"s1","error":"ImportError: PTY support for BlaxelSandboxSession requires the aiohttp package. Install it with: pip install aiohttp"}`},
			misses: []string{`{"level":30,"msg":"tool done","output":"PTY support for BlaxelSandboxSession requires"}`},
		},
		frame(ptyFrames[0], failed+": "+backend.TerminalNoStart),
		frame(ptyFrames[1], failed+": "+backend.TerminalNoInput),
	}
}
