package logs

import (
	"bytes"
	"regexp"
	"time"

	"sandglass/backend"
)

// What the OpenAI Agents SDK tells of a terminal that ended without saying how: neither an exit code nor a process is left. It cut the
// output where it counts the tokens that there were (src/agents/sandbox/session/pty_types.py).
var (
	ptyTokens   = []byte("original_token_count")
	ptyUpdate   = regexp.MustCompile(`\bPtyExecUpdate\(process_id=None\b.*\bexit_code=None\b.*\boriginal_token_count=(\d{1,12}|None)`)
	noExitCode  = regexp.MustCompile(`"exit_code"\s*:\s*null\b`)
	someProcess = regexp.MustCompile(`"process_id"\s*:\s*[^n\s]`)
	tokenCount  = regexp.MustCompile(`"original_token_count"\s*:\s*(\d{1,12}|null)\b`)
)

// terminalEnded counts a line of a terminal that ended and whose result is not known: evidence, and no trouble of its own.
func (a *lineAnalyser) terminalEnded(data []byte, k seriesKey, at time.Time) {
	if !bytes.Contains(data, ptyTokens) {
		return
	}
	m := ptyUpdate.FindSubmatch(data)
	if m == nil && noExitCode.Match(data) && !someProcess.Match(data) {
		m = tokenCount.FindSubmatch(data)
	}
	if m == nil {
		return
	}
	sample := string(backend.TerminalEnded)
	if n := string(m[1]); n != "None" && n != "null" {
		sample += ", output cut: it had " + n + " tokens"
	}
	a.tally.add(k.of(backend.MetricSDKNotice), at, 1, false, []byte(sample))
}
