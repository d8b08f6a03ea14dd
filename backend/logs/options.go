package logs

import (
	"path/filepath"
	"regexp"
	"time"

	"sandglass/backend"
)

// Options are the keys of a source of kind "logs".
type Options struct {
	Files             []string         `toml:"files" path:"file" doc:"globs of log files; rotated and truncated files are followed"`
	Command           []string         `toml:"command" path:"program" doc:"or: argv of a command whose standard output is the log; restarted when it ends"`
	Container         string           `toml:"container" doc:"or: name or id of a container whose output is the log"`
	Host              string           `toml:"host" doc:"engine of the container, unix:///… or tcp://…; empty = DOCKER_HOST, else the usual socket"`
	Format            string           `toml:"format" doc:"auto, json or text; auto decides line by line"`
	Lookback          backend.Duration `toml:"lookback" doc:"how much of the past is read at the start, at most 1h"`
	ByteBudget        backend.Size     `toml:"byte_budget" doc:"bytes decoded per second; above it only decoding is sampled, every line is still searched"`
	CloseTimeoutTexts []string         `toml:"close_timeout_texts" doc:"texts that mean: closing a workspace took longer than its deadline"`
	Fields            Fields           `toml:"fields" doc:"names under which your logger writes each fact; dots reach into objects"`
	Pattern           []PatternOption  `toml:"pattern" doc:"patterns of your own, searched before the built-in ones"`
}

// Fields names the keys that carry the facts of a line, in order of preference.
type Fields struct {
	Message    []string `toml:"message" doc:"the text of the line"`
	Level      []string `toml:"level" doc:"severity, a word or a pino number"`
	Time       []string `toml:"time" doc:"time of the line: RFC 3339, or epoch seconds, milliseconds, microseconds or nanoseconds"`
	Session    []string `toml:"session" doc:"session id"`
	Workspace  []string `toml:"workspace" doc:"workspace name"`
	Sandbox    []string `toml:"sandbox" doc:"id of the sandbox, in lines of class read and write"`
	Suppressed []string `toml:"suppressed" doc:"number of lines that a rollup replaces"`
	Command    []string `toml:"command" doc:"rejected command; its first word tells rollups of one workspace apart"`
	Metachar   []string `toml:"metacharacter" doc:"the metacharacter that a guard refused; without it the first one in the command"`
	Error      []string `toml:"error" doc:"error text or object; searched for error classes and causes"`
	Logger     []string `toml:"logger" doc:"name of the logger that wrote the line"`
	Output     []string `toml:"output" doc:"output of a command or tool: a line with such a field is the agent's word"`
	Tool       []string `toml:"tool" doc:"tool or its call: what such a line says of the process's memory is the agent's word"`
}

// PatternOption is one [[source.pattern]].
type PatternOption struct {
	Name     string       `toml:"name" doc:"a short word for events and explanations"`
	Contains string       `toml:"contains" doc:"literal text to look for in the message, case matters"`
	Class    string       `toml:"class" doc:"eviction-exhausted, rejection, rollup, tmpdir-close-failed, workspace-failed, workspace-evicted, close-timeout, name-collision, agent-oom, persist-failed, persist-done or exec-done (a save or a command that went well), hydrate-failed, preview-failed, pty-count (the cause is the number of terminals), pty-unknown, pty-failed, sdk-exec, sdk-files, sdk-missing, sdk-delete or sdk-notice (errors of an agent SDK with commands, files, missing files, the deletion of a sandbox, and those that it goes on from: evidence), package-missing (of an agent SDK), limit-kill (the kernel killed a process at the limit of its container, whose id is the cause), read or write (of a file, with its path as the cause: evidence of possible leaks), memory (bytes that the process uses: the number after the text, or the first group of cause) or note"`
	Meaning  string       `toml:"meaning" doc:"what the line means, in one sentence"`
	Severity string       `toml:"severity" doc:"info, warning or critical; above info each line is also an event of the timeline"`
	Limit    backend.Size `toml:"limit" doc:"for class memory: how much the process may use; 0B = not known"`
	Level    string       `toml:"level" doc:"lowest level at which a line counts: trace, debug, info, warn, error or fatal; empty = warn, or every one for read, write, memory and note. A line without a level counts"`
	Logger   string       `toml:"logger" doc:"only lines of this logger, or of one whose name goes on after it with a dot, colon or slash"`
	Field    string       `toml:"field" doc:"the field that is searched in place of the message; dots reach into objects"`
	Speaker  string       `toml:"speaker" doc:"whose words count: server, agent, or empty for both; what the agent says, in quotes or in the output of a command or tool, is pending at most"`
	Cause    string       `toml:"cause" doc:"regular expression whose first group is the cause"`
}

// firstSource are the lines of a first source.
const firstSource = `files = ["/var/log/agents/*.log"]
#[[source.pattern]]
#name = "bucket"
#contains = "bucket is gone"
#class = "note"
#meaning = "the bucket of the workspaces does not answer"
`

// Kind is the source kind "logs".
func Kind() backend.SourceKind {
	return backend.NewSourceKind("logs", "log lines of agent servers: rejections, exhausted eviction retries, failed closes, who floods", defaults, open).
		WithSample(firstSource).Delivering(backend.InputRejections, backend.InputEvictionLogs)
}

func defaults() Options {
	return Options{
		Format:            "auto",
		Lookback:          backend.Duration(15 * time.Minute),
		ByteBudget:        1e6,
		CloseTimeoutTexts: []string{"close timed out", "close exceeded"},
		Fields: Fields{
			Message:    []string{"msg", "message", "Body", "Body.stringValue", "body.stringValue", "@m", "@mt"},
			Level:      []string{"level", "severity", "levelname", "severityText", "SeverityText", "log.level", "@l"},
			Time:       []string{"time", "timestamp", "ts", "@timestamp", "Timestamp", "@t"},
			Session:    []string{"sessionId", "session", "session_id"},
			Workspace:  []string{"workspace", "workspaceName"},
			Sandbox:    []string{"sandboxId", "sandbox", "sandbox_id", "sandbox_name", "sandboxName"},
			Suppressed: []string{"suppressedCount"},
			Command:    []string{"command", "cmd"},
			Metachar:   []string{"metacharacter", "metachar"},
			Error:      []string{"err", "error", "cause", "exception", "@x"},
			Logger:     []string{"logger", "name", "module", "component", "InstrumentationScope.Name"},
			Output:     []string{"stdout", "stderr", "output", "toolOutput", "tool_output", "toolResult", "tool_result"},
			Tool:       []string{"tool", "toolName", "tool_name", "toolCallId", "tool_call_id"},
		},
	}
}

func open(opts *Options, o backend.Options, deps backend.Deps) (backend.Source, error) {
	if err := opts.check(o); err != nil {
		return nil, err
	}
	return newSource(*opts, deps)
}

func (opts *Options) check(o backend.Options) error {
	given := 0
	for _, is := range []bool{len(opts.Files) > 0, len(opts.Command) > 0, opts.Container != ""} {
		if is {
			given++
		}
	}
	switch {
	case given == 0:
		return o.Refuse("kind", "a logs source needs one of files, command or container")
	case given > 1:
		return o.Refuse("kind", "files, command and container are three places; make one source for each")
	case opts.Format != "auto" && opts.Format != "json" && opts.Format != "text":
		return o.Refuse("format", "%q is not a format; write auto, json or text", opts.Format)
	case opts.Lookback.Std() > time.Hour:
		return o.Refuse("lookback", "at most 1h: counts are kept no longer")
	case opts.ByteBudget < 1000:
		return o.Refuse("byte_budget", "%d bytes a second decode nothing; give at least 1kB", opts.ByteBudget)
	case len(opts.Fields.Message) == 0:
		return o.Refuse("fields.message", "name at least one field that carries the text")
	}
	for _, g := range opts.Files {
		if _, err := filepath.Match(g, ""); err != nil || g == "" {
			return o.Refuse("files", "%q is not a glob", g)
		}
	}
	for _, t := range opts.CloseTimeoutTexts {
		if t == "" {
			return o.Refuse("close_timeout_texts", "an empty text is in every line")
		}
	}
	for _, p := range opts.Pattern {
		if err := p.check(o); err != nil {
			return err
		}
	}
	return nil
}

func (p PatternOption) check(o backend.Options) error {
	switch {
	case p.Contains == "":
		return o.Refuse("pattern.contains", "pattern %q: an empty text is in every line", p.Name)
	case !Class(p.Class).valid():
		return o.Refuse("pattern.class", "pattern %q: %q is not a class", p.Name, p.Class)
	case p.Severity != "" && p.Severity != "info" && p.Severity != "warning" && p.Severity != "critical":
		return o.Refuse("pattern.severity", "pattern %q: %q is not a severity; write info, warning or critical", p.Name, p.Severity)
	}
	if _, known := levelWords[p.Level]; p.Level != "" && !known {
		return o.Refuse("pattern.level", "pattern %q: %q is not a level; write trace, debug, info, warn, error or fatal", p.Name, p.Level)
	}
	if p.Speaker != "" && p.Speaker != speakerServer && p.Speaker != speakerAgent {
		return o.Refuse("pattern.speaker", "pattern %q: %q does not say whose words count; write server, agent or nothing", p.Name, p.Speaker)
	}
	if _, err := regexp.Compile(p.Cause); err != nil {
		return o.Refuse("pattern.cause", "pattern %q: %v", p.Name, err)
	}
	return nil
}
