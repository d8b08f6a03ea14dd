package logs

import (
	"bytes"
	"cmp"
	"regexp"
	"strings"
	"time"

	"sandglass/backend"
)

// notStartedLines are what the sandbox SDK of Cloudflare writes of commands that could not begin (cloudflare/sandbox-sdk#288).
// The command stands in the message, so that the agent's words are in it by its nature.
func notStartedLines() []pattern {
	return []pattern{{
		name: "sandbox-not-started", contains: backend.MarkNotStarted, class: ClassNotStarted, tier: tierError,
		meaning: "a command could not begin in a sandbox", inError: true, quoted: true, event: true,
		hits: []string{
			`Error: Failed to execute command 'ls -la' in session 'sandbox-demo': Unknown Error, TODO`,
			`{"level":"error","msg":"tool failed","err":{"name":"CommandError","message":"Failed to execute command 'pwd' in session 'sandbox-demo': Unknown Error, TODO"}}`,
			`{"level":"error","message":"Unknown Error, TODO","sessionId":"sandbox-demo"}`,
			`{"level":"error","msg":"tool failed","err":{"name":"CommandError","stack":"CommandError: Failed to execute command 'pwd' in session 'sandbox-demo': Unknown Error, TODO\n    at Sandbox.exec (sandbox.js:1:2)"}}`,
		},
		misses: []string{
			`{"level":30,"msg":"tool done","stack":"CommandError: Failed to execute command 'pwd' in session 'sandbox-demo': Unknown Error, TODO\n    at x"}`,
			`{"level":30,"msg":"tool done","output":"Failed to execute command 'pwd' in session 'sandbox-demo': Unknown Error, TODO"}`,
			`{"level":30,"msg":"Failed to execute command 'pwd' in session 'sandbox-demo': Unknown Error, TODO"}`,
		},
	}, {
		name: "sandbox-no-directory", contains: backend.MarkNoDirectory, class: ClassNotStarted, tier: tierError,
		meaning: "a command or a session could not begin in a sandbox, for want of its directory", inError: true, quoted: true, event: true,
		hits: []string{
			`2026-01-01T12:00:00Z ERROR Failed to create session 'sandbox-demo': ENOENT: no such file or directory, posix_spawn 'bash'`,
			`{"level":"error","msg":"tool failed","sessionId":"sandbox-demo","err":{"name":"CommandError","message":"Failed to execute command 'ls' in sessionless execution: ENOENT: no such file or directory, posix_spawn '/bin/bash'"}}`,
		},
		misses: []string{
			`{"level":30,"msg":"tool done","sessionId":"sandbox-demo","output":"Failed to create session 'sandbox-demo': ENOENT: no such file or directory, posix_spawn 'bash'"}`,
		},
	}}
}

// protocolLines are what the sandbox SDK writes while a Worker and its containers have versions that do not understand each other:
// it ends with a rollout, of which the line tells nothing, and is no fault of a sandbox.
func protocolLines() []pattern {
	return []pattern{{
		name: "sandbox-protocol", contains: "CONTROL_PROTOCOL_INCOMPATIBLE", class: ClassNote, tier: tierError, level: levelWarn, change: backend.ChangeProtocol,
		meaning: "Worker and containers have versions that do not understand each other: a rollout ends that, and without one both need one version of the SDK", inError: true, quoted: true, event: true,
		hits: []string{
			`{"level":"error","msg":"tool failed","sessionId":"sandbox-demo","err":{"name":"SandboxError","message":"CONTROL_PROTOCOL_INCOMPATIBLE: the container speaks another control protocol"}}`,
			`2026-01-01T12:00:00Z ERROR SandboxError: CONTROL_PROTOCOL_INCOMPATIBLE: the container speaks another control protocol`,
			`{"level":50,"msg":"tool failed","err":{"type":"SandboxError","code":"CONTROL_PROTOCOL_INCOMPATIBLE","message":"another protocol"}}`,
		},
		misses: []string{`{"level":30,"msg":"tool done","output":"grep CONTROL_PROTOCOL_INCOMPATIBLE"}`},
	}}
}

// begin is where the message of a line begins that holds what the pattern looks for at a place.
func (p *pattern) begin(text []byte, at int) int {
	if p.class != ClassNotStarted {
		return at
	}
	if i := bytes.Index(text[:at], commandHead); i >= 0 { // the command that follows is the agent's by its nature
		return i
	}
	return at
}

// sandboxCommands remembers, by session of the sandbox SDK, what its lines say of the commands before one that could not begin.
type sandboxCommands struct {
	known map[string]*sandboxSession
	open  *openCommand
}

type sandboxSession struct {
	goodAt    time.Time // the newest line that shows a command which ran
	goodTold  time.Time // that which was reported last
	changedAt time.Time // a later command that removed, moved or replaced the working directory
	changed   backend.Safe
	changedBy backend.Safe // the agent that its line names
	exit      int          // its exit code
	agents    []string     // that the lines of the session name, by name
	failing   bool
	failedAt  time.Time // the newest line of a command that could not begin
	unended   bool      // such a line was reported, and no command that ran since
}

// openCommand is the head of a message whose command has several lines.
type openCommand struct {
	of    *lineage
	r     record
	text  []byte
	lines int
}

const (
	maxSandboxSessions = 2000
	maxCommandLines    = 60
	maxCommandBytes    = 16 << 10
	workRoot           = backend.SandboxRoot
)

var (
	// commandDir is the directory in which a line says that a command ran.
	commandDir  = regexp.MustCompile(`(?:^|[^\\\w])"?(?:cwd|workdir|workDir|workingDirectory|working_directory|working_dir)"?\s*[:=]\s*"?(/[^"\s,}]*)`)
	commandHead = []byte("Failed to execute command '")
	exitCode    = regexp.MustCompile(`(?:^|[^\\])"?\bexit_?[cC]ode"?\s*[:=]\s*"?(-?\d+)`)
)

// laterFailed reports whether the exit code of a command that changes the working directory is that of a part after the change. A
// removal that fails itself ends with 1.
func laterFailed(command, code string) bool {
	i := max(strings.LastIndex(command, "&&"), strings.LastIndexAny(command, ";\n"))
	return i > 0 && code != "1" && backend.ChangesRoot(command[:i], workRoot)
}

// gather puts the message of a command with several lines together: at its end r is the whole, with the time and the fields of
// its first line.
func (s *sandboxCommands) gather(data []byte, r *record, of *lineage) {
	if o := s.open; o != nil && o.of == of && !bytes.Contains(data, commandHead) {
		o.text = append(append(o.text, '\n'), unstamped(data)...)
		o.lines++
		ended := bytes.Contains(data, []byte(backend.MarkNotStarted))
		switch {
		case !r.plain && (!r.at.IsZero() || len(r.level) > 0), o.lines > maxCommandLines, len(o.text) > maxCommandBytes:
			s.open = nil
		case ended:
			whole := o.r
			if whole.message = o.text; !whole.part.continues {
				whole.part = part{}
			}
			*r, s.open = whole, nil
		}
		return
	}
	if i := bytes.Index(data, commandHead); i >= 0 && r.plain && !bytes.Contains(data[i:], []byte("' in session '")) {
		head := *r
		head.message, head.session, head.level = bytes.Clone(r.message), bytes.Clone(r.session), bytes.Clone(r.level)
		head.part.head = bytes.Clone(r.part.head)
		head.errText, head.workspace, head.sandbox, head.command = nil, nil, nil, nil
		s.open = &openCommand{of: of, r: head, text: bytes.Clone(data)}
	}
}

// unstamped is a further line of a command without the time and the mark of what carries the log.
func unstamped(data []byte) []byte {
	text := uncarried(data)
	if _, rest, ok := backend.LeadingTime(text, time.UTC); ok {
		return rest
	}
	return text
}

// session is what is known of one, which is made where there is room.
func (s *sandboxCommands) session(name string) *sandboxSession {
	x := s.known[name]
	if x == nil {
		if s.known == nil || len(s.known) >= maxSandboxSessions {
			s.known = map[string]*sandboxSession{}
		}
		x = &sandboxSession{}
		s.known[name] = x
	}
	return x
}

// commandRan notes a line of a session of the sandbox SDK that shows a command which ran, or that changed the working directory.
func (a *lineAnalyser) commandRan(r *record, data []byte, at time.Time) {
	if r.part.continues {
		return
	}
	if !bytes.HasPrefix(r.session, []byte(backend.SessionPrefix)) {
		a.ranWithout(r, data, at)
		return
	}
	ended := exitCode.FindSubmatch(data)
	agent := ""
	if ended != nil || len(r.command) > 0 {
		agent = agentOf(data)
		a.commands.session(string(r.session)).ranBy(agent)
	}
	if len(r.command) > 0 && backend.ChangesRoot(string(r.command), workRoot) {
		x := a.commands.session(string(r.session))
		said := a.cleaner.Clean(string(r.command[:min(len(r.command), maxSample)]), sampleRunes)
		switch failed := ended != nil && strings.Trim(string(ended[1]), "0") != "" && !laterFailed(string(r.command), string(ended[1])); {
		case !failed:
			if ended != nil || x.changed != said { // the line of its end tells more than that of its beginning
				x.changedBy, x.exit = a.cleaner.Clean(agent, maxAgentRunes), exitOf(ended)
			}
			x.changedAt, x.changed = at, said
		case x.changed == said: // the line of its beginning came before
			x.changedAt, x.changed, x.changedBy, x.exit = time.Time{}, backend.Safe{}, backend.Safe{}, 0
		}
	}
	if ended == nil || elsewhere(data) {
		return
	}
	a.ran(a.commands.session(string(r.session)), string(r.session), r, at)
}

// ran notes a command that ran, and reports it after one that could not begin.
func (a *lineAnalyser) ran(x *sandboxSession, name string, r *record, at time.Time) {
	if at.After(x.goodAt) {
		x.goodAt = at
	}
	if over := x.failing && !at.Before(x.failedAt); (over || x.unended) && len(a.reports) < maxReports { // a former process may have read a newer line
		x.failing, x.unended = x.failing && !over, false
		a.reports = append(a.reports, a.ofSession(backend.ReportCommandRan, name, at,
			backend.Report{Command: a.cleaner.Clean(string(r.command[:min(len(r.command), maxSample)]), sampleRunes)}))
	}
}

// ranLast are the newest commands of the sessions in which one ran since this was last asked: a probe that finds a fault later tells no
// other time at which the sandbox worked.
func (a *lineAnalyser) ranLast() (out []backend.Report) {
	for name, x := range a.commands.known {
		if x.goodAt.After(x.goodTold) && len(out) < maxReports {
			x.goodTold = x.goodAt
			out = append(out, a.ofSession(backend.ReportCommandGood, name, x.goodAt, backend.Report{}))
		}
	}
	return out
}

// elsewhere reports whether a line says that its command ran outside the working directory: that proves nothing of commands in it.
func elsewhere(data []byte) bool {
	m := commandDir.FindSubmatch(data)
	return m != nil && string(m[1]) != workRoot && !bytes.HasPrefix(m[1], []byte(workRoot+"/"))
}

// notStarted reports a command that could not begin. It is false for a line that names no session.
func (a *lineAnalyser) notStarted(r *record, data []byte, at time.Time) bool {
	said := r.message
	if !bytes.Contains(said, []byte(backend.MarkNotStarted)) && !bytes.Contains(said, []byte(backend.MarkNoDirectory)) {
		said = r.errText
	}
	command, session, is := backend.NotStartedText(string(said))
	if !is {
		if command, session, is = backend.NoDirectoryText(string(said)); !is {
			return false
		}
	}
	session, command = cmp.Or(session, string(r.session)), cmp.Or(command, string(r.command))
	r.session = []byte(session)
	if session == "" {
		session = withoutSession(r, data)
	}
	if session == "" || len(session) > maxWhere || len(a.reports) >= maxReports {
		return false
	}
	x := a.commands.session(session)
	out := backend.Report{Command: a.cleaner.Clean(command[:min(len(command), maxSample)], sampleRunes), FileCall: backend.FileCallText(string(said))}
	if !x.goodAt.After(at) {
		out.GoodAt = x.goodAt
	}
	if !x.changedAt.IsZero() && !x.changedAt.Before(x.goodAt) && !x.changedAt.After(at) {
		out.Changed, out.ChangedAt, out.ChangedBy, out.Exit = x.changed, x.changedAt, x.changedBy, x.exit
	}
	x.ranBy(cmp.Or(agentOf(data), agentOf(r.message)))
	out.Agents = a.cleaner.Clean(strings.Join(x.agents, ", "), sampleRunes)
	out.Text = a.cleaner.Clean(string(said[:min(len(said), maxSample)]), sampleRunes)
	a.reports = append(a.reports, a.ofSession(backend.ReportNotStarted, session, at, out))
	if at.Before(x.goodAt) { // a newer file was read first
		a.reports = append(a.reports, a.ofSession(backend.ReportCommandRan, session, x.goodAt, backend.Report{}))
		return true
	}
	if x.failing, x.unended = true, true; at.After(x.failedAt) {
		x.failedAt = at
	}
	return true
}

// mismatched reports versions that do not understand each other, in a session of the sandbox SDK.
func (a *lineAnalyser) mismatched(session string, at time.Time) {
	if !strings.HasPrefix(session, backend.SessionPrefix) || len(session) > maxWhere || len(a.reports) >= maxReports {
		return
	}
	if x := a.commands.session(session); !at.Before(x.failedAt) { // the next command that runs is told
		x.failing, x.failedAt = true, at
	}
	a.reports = append(a.reports, a.ofSession(backend.ReportProtocol, session, at, backend.Report{}))
}

// ofSession completes a report about a session of the sandbox SDK, or about a sandbox without one.
func (a *lineAnalyser) ofSession(kind backend.ReportKind, session string, at time.Time, out backend.Report) backend.Report {
	out.Source, out.Kind, out.At, out.Where = a.source, kind, at, a.where()
	if raw, is := strings.CutPrefix(session, noSession); is {
		out.Sandbox, _ = backend.NewID(raw)
		return out
	}
	if id, err := backend.NewID(session); err == nil {
		out.Session = id
	}
	if box, is := backend.SandboxOfSession(session); is {
		out.Sandbox = box
	}
	return out
}
