package logs

import (
	"bytes"
	"regexp"
	"time"

	"sandglass/backend"
)

// runsWord is what a line says of whether the sandbox of its agent runs: the kind of the JSON value.
type runsWord byte

const (
	saysNothing runsWord = 0
	saysRuns    runsWord = 't'
	saysDown    runsWord = 'f'
)

// checkFailed is what the OpenAI Agents SDK writes where its check of a sandbox failed, whatever the reason, in its level of debugging.
var checkFailed = []byte("andbox health check failed")

// What says that the session of an agent ended. A session of a terminal or a connection is another one.
var (
	sessionOver = regexp.MustCompile(`(?i)\b(?:session|agent run)(?: (\S{1,80}))? (?:(?:is|was|has) )?(?:ended|closed|stopped|finished|completed|over|shut down)\b|\b(?:ended|closed|stopped|finished|completed) (?:the |its )?(?:agent |sandbox )?session\b`)
	otherOver   = regexp.MustCompile(`(?i)\b(?:pty|terminal|websocket|ws|http|https|shell|ssh|tls|tcp|preview|browser|database|db|redis|mcp|client|user)[ _-]session`)
)

// ends reports whether a line says that the session of its agent ended. What a command or tool wrote does not.
func ends(r *record) bool {
	if r.output || r.tool || len(r.command) > 0 || len(r.message) > maxSample {
		return false
	}
	if bytes.Contains(r.message, deleteFailed) {
		return true
	}
	if !bytes.Contains(r.message, []byte("ession")) && !bytes.Contains(r.message, []byte("gent run")) {
		return false
	}
	m := sessionOver.FindSubmatch(r.message)
	return m != nil && string(m[1]) != "not" && string(m[1]) != "never" && !otherOver.Match(r.message)
}

// deleteFailed is what the OpenAI Agents SDK writes where it could not delete a sandbox at the end of its session.
var deleteFailed = []byte("andbox delete failed during shutdown")

// believes notes what a line says of whether an agent takes its sandbox for running. Of each session the newest line of a poll stays.
func (a *lineAnalyser) believes(r *record, data []byte, at time.Time) {
	if len(r.session)+len(r.sandbox) == 0 || r.part.continues {
		return
	}
	k := [2]string{string(r.session), string(r.sandbox)}
	kind := backend.ReportKind("")
	switch {
	case ends(r):
		kind = backend.ReportAgentDone
	case r.runs == saysRuns:
		kind = backend.ReportAgentRuns
	case r.runs == saysDown:
		kind = backend.ReportAgentDown
	case bytes.Contains(r.message, checkFailed):
		kind = backend.ReportCheckFailed
	case a.saysDown[k] && len(r.command) > 0 && exitCode.Match(data): // it works with its sandbox again
		kind = backend.ReportAgentRuns
	default:
		return
	}
	old, known := a.beliefs[k]
	if known && at.Before(old.At) || !known && len(a.beliefs) >= maxJoins {
		return
	}
	out := backend.Report{Source: a.source, At: at, Kind: kind, Where: a.where(), Text: a.cleaner.Clean(string(r.message[:min(len(r.message), maxSample)]), sampleRunes)}
	var err error
	if out.Session, err = backend.NewID(k[0]); err != nil {
		out.Session = backend.ID{}
	}
	if out.Sandbox, err = backend.NewID(k[1]); err != nil {
		out.Sandbox = backend.ID{}
	}
	if out.Session.IsZero() && out.Sandbox.IsZero() {
		return
	}
	if a.beliefs == nil {
		a.beliefs = map[[2]string]backend.Report{}
	}
	a.beliefs[k] = out
	if a.saysDown == nil || len(a.saysDown) >= maxJoins {
		a.saysDown = map[[2]string]bool{}
	}
	if delete(a.saysDown, k); kind == backend.ReportAgentDown || kind == backend.ReportCheckFailed {
		a.saysDown[k] = true
	}
}
