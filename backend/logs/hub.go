package logs

import (
	"bytes"
	"time"

	"sandglass/backend"
)

// hubLines are what the Coder Hub of Agentuity writes about the drivers of its sessions (agentuity/sdk#1350, #1343). The texts
// leave out their first letter, which is large at the beginning of a line. That it waits is ordinary, at any level.
func hubLines() []pattern {
	const session, sandbox = "codesess_4cf3926c7813", "sbx_50445cf9266fbb2f74d0"
	line := func(name, contains, meaning string, event bool, hits ...string) pattern {
		return pattern{name: name, contains: contains, class: ClassHub, tier: tierMessage, meaning: meaning, inError: true, event: event, hits: hits,
			misses: []string{`{"level":40,"msg":"tool done","output":"f` + contains + `"}`}}
	}
	waits := func(p pattern) pattern { p.level = levelTrace; return p }
	return []pattern{
		line("hub-nudge-failed", "ailed to send USR1 reconnect nudge", "the Hub could not signal the driver of a session", true,
			`[hub] WARN failed to send USR1 reconnect nudge to `+session+` (`+sandbox+`): 500 Internal Server Error`,
			`{"level":"warn","msg":"Failed to send USR1 reconnect nudge","sessionId":"`+session+`","err":"500 Internal Server Error"}`),
		line("hub-not-reconnected", "till has not reconnected", "the driver of a session is not back after a signal", true,
			`ERROR driver of `+session+` still has not reconnected after 5000ms, sending a follow-up`),
		line("hub-unknown-session", "ontroller rejected for unknown session", "the Hub does not know a session that a controller asks for", true,
			`2026-04-04T01:05:00Z WARN [hub] Controller rejected for unknown session `+session),
		line("hub-driver-timeout", "river did not connect within", "the Hub gave up waiting for the driver of a session", true,
			`[error] `+session+`: Sandbox driver did not connect within 120000ms. Check sandbox background jobs for details.`,
			`{"level":"error","message":"wake failed","error":"Sandbox driver did not connect within 120000ms. Check sandbox background jobs for details.","sessionId":"`+session+`"}`),
		line("hub-driver-missing", "pc-driver process not found", "a signal found no driver process in a sandbox", true,
			`[hub] nudge of `+session+`: rpc-driver process not found`),
		line("hub-no-checkpoint", "no checkpoint data", "a suspended sandbox has no checkpoint to resume from", true,
			`WARN resume of `+sandbox+` failed: 409 Cannot resume sandbox: it is suspended but has no checkpoint data`),
		line("hub-resume-refused", "ailed to resume sandbox", "the Hub could not resume the sandbox of a session", true,
			`ERROR [hub] Failed to resume sandbox: 409 checkpoint is not stored yet `+session+` `+sandbox),
		waits(line("hub-driver-waiting", "aiting for driver", "the Hub waits for the driver of a session", true,
			`info: waiting for driver of `+session+` to connect`)),
		waits(line("hub-sandbox-driver-waiting", "aiting for sandbox driver", "the Hub waits for the driver of a session", true,
			`[info] Waiting for sandbox driver to connect... session=`+session)),
	}
}

// maxReports bounds what one poll reports beside joins: the newest stay.
const maxReports = backend.MaxReports

// report notes what a line of a hub says of a session or a sandbox. It is false for a line that names neither: others write
// such words too.
func (a *lineAnalyser) report(p *pattern, r record, data []byte, at time.Time) (backend.Report, bool) {
	said := r.message
	if p.in(said) < 0 {
		said = r.errText
	}
	out, ok := backend.HubText(string(data))
	if !ok {
		return out, ok
	}
	if (out.Kind == backend.ReportDriverWaiting || out.Kind == backend.ReportNoCheckpoint || out.Kind == backend.ReportResumeRefused) && out.Session.IsZero() && out.Sandbox.IsZero() {
		return out, false
	}
	if one, ok := backend.HubText(string(said)); ok {
		out.Kind = one.Kind
	}
	if id, err := backend.NewID(string(r.session)); err == nil && out.Session.IsZero() && !backend.IsTrace(string(r.session)) {
		out.Session = id
	}
	if id, err := backend.NewID(string(r.sandbox)); err == nil && out.Sandbox.IsZero() {
		out.Sandbox = id
	}
	if out.Session.IsZero() && out.Sandbox.IsZero() {
		return out, false
	}
	text := bytes.TrimSpace(said)
	if len(r.errText) > 0 && !bytes.Equal(said, r.errText) {
		text = append(append(bytes.Clone(text), ": "...), r.errText...)
	}
	out.Source, out.At, out.Where = a.source, at, a.where()
	out.Text = backend.HubSeconds(a.cleaner.Clean(string(text[:min(len(text), maxSample)]), sampleRunes))
	if len(a.reports) >= maxReports {
		a.reports = a.reports[1:]
	}
	a.reports = append(a.reports, out)
	return out, true
}

const (
	maxJoins  = backend.MaxJoins // sessions whose joins are remembered, and joins of one poll
	joinAgain = 20 * time.Minute // a join is told again: what hears of it forgets
)

// join notes which sandbox a session has, where a line of a hub names one of each.
func (a *lineAnalyser) join(data []byte, at time.Time) {
	if !bytes.Contains(data, []byte("codesess_")) || !bytes.Contains(data, []byte("sbx_")) || len(a.joins) >= maxJoins {
		return
	}
	session, sandbox, ok := backend.HubPair(string(data))
	if was := a.joined[session]; !ok || was.Sandbox == sandbox && at.Sub(was.At) < joinAgain || at.Before(was.At) {
		return
	}
	if a.joined == nil || len(a.joined) >= maxJoins {
		a.joined = map[backend.ID]backend.Report{}
	}
	out := backend.Report{Source: a.source, At: at, Kind: backend.ReportJoin, Session: session, Sandbox: sandbox, Where: a.where(),
		Text: a.cleaner.Clean(string(data[:min(len(data), maxSample)]), sampleRunes)}
	a.joined[session] = out
	a.joins = append(a.joins, out)
}

// where is the file that is read now.
func (a *lineAnalyser) where() backend.Safe {
	if a.file == nil {
		return backend.Safe{}
	}
	return a.cleaner.Clean(a.file.path, maxWhere)
}

// maxWhere bounds the name of a file.
const maxWhere = 200
