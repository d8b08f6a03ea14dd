package backend

import (
	"slices"
	"strings"
	"time"
)

// ReadingSchema is the number of the Reading's JSON form. Fields are only ever added within one number.
const ReadingSchema = 1

// Reading is what one poll of one source returned. It may be a slice of the source: Scopes says what it covered, and
// what is absent from a scope that is not complete says nothing.
type Reading struct {
	Schema  int       `json:"schema"`
	Source  string    `json:"source"`
	Kind    string    `json:"kind"`
	Started time.Time `json:"started"`
	At      time.Time `json:"at"` // end of the poll
	Scopes  []Scope   `json:"scopes"`
	// AnsweredAt is when the oldest answer came that the reading repeats, since what it tells is asked for more rarely than it is
	// polled; zero: all was asked for in this poll. Every is how often it is asked for then, EveryWhy why not at each poll; 0: at each.
	AnsweredAt time.Time     `json:"answered_at,omitzero"`
	Every      time.Duration `json:"every,omitzero"`
	EveryWhy   Safe          `json:"every_why,omitzero"`
	// Partial says that polling again at once would read more that is still unread. A console continues at its
	// interval; a one-shot command polls on.
	Partial bool `json:"partial,omitempty"`

	// Unseen says that a part of what there is cannot be read, and that polling again does not change that.
	Unseen bool `json:"unseen,omitempty"`

	Sessions   []*Session   `json:"sessions,omitempty"`
	Workspaces []*Workspace `json:"workspaces,omitempty"`
	Sandboxes  []*Sandbox   `json:"sandboxes,omitempty"`
	Tmpdirs    []*Tmpdir    `json:"tmpdirs,omitempty"`
	Hosts      []*Host      `json:"hosts,omitempty"`
	Refs       []*Ref       `json:"refs,omitempty"`
	Executions []*Execution `json:"executions,omitempty"`
	Jobs       []*Job       `json:"jobs,omitempty"`

	// Ended are entities whose owner says that they are no more (a destroy event, the documented 404 of a session
	// while the endpoint answers others). The workspaces of an ended or idle session are listed too.
	Ended []Key `json:"ended,omitempty"`
	// Stale are entities whose newest reading failed; their last values stay, marked.
	Stale []StaleMark `json:"stale,omitempty"`
	// Confirmed are scopes whose entities were confirmed unchanged without being sent again (304).
	Confirmed []Scope `json:"confirmed,omitempty"`

	// Pools are how full the applications of a platform are that run sandboxes.
	Pools []Pool `json:"pools,omitempty"`

	Counts []Count `json:"counts,omitempty"`
	Events []Event `json:"events,omitempty"`
	// Reports are what log lines say of sessions and sandboxes of other sources.
	Reports []Report `json:"reports,omitempty"`
	// Memory is what processes used, at most a few hundred of them, each at one or more times.
	Memory []Memory `json:"memory,omitempty"`

	Problems []Problem `json:"problems,omitempty"`
	// Unread are the sessions whose newest reading failed, counted by kind of error; Asked is of how many sessions.
	Unread []Unread `json:"unread,omitempty"`
	Asked  int      `json:"asked,omitempty"`
	// Unlisted are sessions that no list names any more though nothing says that they ended, sorted.
	Unlisted []Unlisted `json:"unlisted,omitempty"`
	// Degraded is why the source is only partly usable, empty when it is not degraded.
	Degraded Safe `json:"degraded,omitzero"`
	// Exposed is what others can do with a service of the source without a credential; empty: nothing shows that.
	Exposed Safe `json:"exposed,omitzero"`
	// Failing is which service of the source does not answer while the rest does, as its address is asked again and again.
	Failing FailingService `json:"failing,omitzero"`
	// Refuses is why no action through the source can be tried; empty: that is not known beforehand.
	Refuses Safe `json:"refuses,omitzero"`
	// OtherIDs says that its sandboxes are listed under other ids than references name: what they name need not be there, and what is
	// not listed need not be gone.
	OtherIDs bool `json:"other_ids,omitempty"`
	// OwnGone are the sandboxes that references name, a whole list does not, and whose own record is no more. nil: such records are not
	// asked, and the list alone tells.
	OwnGone []Key `json:"own_gone,omitzero"`
	// WorkspacesUnknown says that the source cannot tell whether its workspaces exist or work.
	WorkspacesUnknown bool `json:"workspaces_unknown,omitempty"`
	// Registry is what the health routes of the source answer as a whole; empty for sources without such routes.
	Registry RegistryState `json:"registry,omitempty"`
	// Inputs are what this source delivers now, and Missing what it could deliver but does not, with the reason.
	Inputs  []Input        `json:"inputs"`
	Missing []MissingInput `json:"missing,omitempty"`
	// Rejections are all rejected commands that a source of logs remembers, in a stable order.
	Rejections []*Rejection `json:"rejections,omitempty"`
	// Facts are what checks of the site's own found out, which no backend reports.
	Facts []Fact `json:"facts,omitempty"`
	// Bookmarks are where a source of files stands in each.
	Bookmarks []Bookmark `json:"bookmarks,omitempty"`
	// Stopped are the sessions whose log file has not grown since their newest line, sorted, where the source reads several.
	Stopped []ID `json:"stopped,omitempty"`
	// Undated says which log lines matched and were not counted, since nothing tells when they were written; empty: none.
	Undated Safe `json:"undated,omitzero"`
	// Client is the command line client that reaches the same platform, as a shell takes it: "podman"; empty without one.
	Client Safe `json:"client,omitzero"`
	// Engine is the address of the container engine that was read, with symbolic links followed; empty of other sources. One
	// source can read another engine at the next start.
	Engine Safe `json:"engine,omitzero"`
	// Notes are remarks for the Sources screen: "1 in 20 lines decoded", "no socket at …".
	Notes []Safe `json:"notes,omitempty"`
	// ClockOffset is the source's clock minus ours; unknown when nothing showed it.
	ClockOffset Value[time.Duration] `json:"clock_offset"`
	// ClockGuessed says that no answer told the source's clock: ClockOffset is a guess from the newest times that it wrote.
	ClockGuessed bool `json:"clock_guessed,omitempty"`
	Load         Load `json:"load"`
}

// Scope names a set of entities that a reading covered: all of Kind of the source, or those whose key's Parent is
// Parent. Absence means gone only in a complete scope, and only after two complete readings.
type Scope struct {
	Kind     Kind `json:"kind"`
	Parent   ID   `json:"parent,omitzero"`
	Complete bool `json:"complete"`
}

// SoAt is when what the reading tells was so: at its end, or earlier where it repeats an answer.
func (r *Reading) SoAt() time.Time {
	if r.AnsweredAt.IsZero() || r.AnsweredAt.After(r.At) {
		return r.At
	}
	return r.AnsweredAt
}

// Paced notes that a source asks for what it tells only every so often, which a poll at each interval keeps to. why is told where
// that is rarer than each poll.
func (r *Reading) Paced(every, interval time.Duration, why Safe) {
	if interval > 0 && every > interval {
		r.Every, r.EveryWhy = (every+interval-1)/interval*interval, why
	}
}

// Whole reports whether the reading covers all entities of a kind of its source.
func (r *Reading) Whole(k Kind) bool {
	return slices.ContainsFunc(r.Scopes, func(c Scope) bool { return c.Kind == k && c.Complete && c.Parent.IsZero() })
}

// StaleMark says that the newest reading of something failed. A session's mark covers its workspaces.
type StaleMark struct {
	Key Key  `json:"key"`
	Why Safe `json:"why"`
}

// Fact is one thing that a check of the site's own ([[check]]) found out about what the agents depend on. A check that
// could not say gives no Fact: its poll fails, and its last Fact grows old.
type Fact struct {
	Name  string    `json:"name"`  // what it states: r2.reachable
	Holds bool      `json:"holds"` // whether that is so
	Text  Safe      `json:"text"`  // what was seen: "answered 200"
	At    time.Time `json:"at"`    // when it was found out
	Since time.Time `json:"since"` // when it was first found out the same way, without another finding between
	// RulesOut are the questions of the diagnoses whose cause is not there when the fact holds, and is when it does
	// not; Confirms those for which it is the other way round.
	RulesOut []string `json:"rules_out,omitempty"`
	Confirms []string `json:"confirms,omitempty"`
}

// Load is what a poll cost the backend.
type Load struct {
	Requests int   `json:"requests"`
	Bytes    int64 `json:"bytes"` // received, decoded
	// Latencies are the times of single requests, at most 64 of them.
	Latencies []time.Duration `json:"latencies,omitempty"`
	// BodyAge is how old what was received is: by an Age header, or since when the Date header stands still. BodyWhere is the
	// route, BodyDate its Date header.
	BodyAge   time.Duration `json:"body_age,omitempty"`
	BodyBy    string        `json:"body_by,omitempty"` // the header that proves the age: Age or Date
	BodyWhere string        `json:"body_where,omitempty"`
	BodyDate  string        `json:"body_date,omitempty"`
}

// Plus is the cost of two clients of one source: sums, the latencies of both up to their bound, and the older of their bodies.
func (l Load) Plus(b Load) Load {
	l.Requests += b.Requests
	l.Bytes += b.Bytes
	l.Latencies = append(l.Latencies, b.Latencies...)
	l.Latencies = l.Latencies[:min(len(l.Latencies), 64)]
	if b.BodyAge > l.BodyAge {
		l.BodyAge, l.BodyBy, l.BodyWhere, l.BodyDate = b.BodyAge, b.BodyBy, b.BodyWhere, b.BodyDate
	}
	return l
}

// RegistryState is what the health routes of a source answer as a whole.
type RegistryState string

// The states of a source's health routes.
const (
	RegistryNone      RegistryState = ""
	RegistryAnswers   RegistryState = "answers"    // at least one session answered with a snapshot in the last 5 minutes
	RegistryAllIdle   RegistryState = "all idle"   // every session asked answered the documented 404
	RegistryNoRoute   RegistryState = "no route"   // every session asked answered another 404
	RegistryWrongPath RegistryState = "wrong path" // answers of another shape
)

// Input is a kind of knowledge that rules need.
type Input string

// The inputs. A rule without its inputs is blind and says so.
const (
	InputRegistry     Input = "workspace registry"
	InputSessions     Input = "session list"
	InputContainers   Input = "container state"
	InputPlatform     Input = "cloud sandboxes"
	InputCapacity     Input = "platform capacity"
	InputEvictions    Input = "eviction metrics"
	InputEvictionLogs Input = "eviction log lines"
	InputRejections   Input = "rejection log lines"
	InputTmpdirs      Input = "scratch directories"
	InputHost         Input = "host memory and disk"
	InputRefs         Input = "persisted refs"
)

// OfFramework reports whether only an agent framework reports the input: its registries, metrics, logs and references.
func (in Input) OfFramework() bool {
	switch in {
	case InputContainers, InputPlatform, InputCapacity, InputTmpdirs, InputHost:
		return false
	case InputRegistry, InputSessions, InputEvictions, InputEvictionLogs, InputRejections, InputRefs:
	}
	return true
}

// MissingInput is an input that a source could deliver but does not.
type MissingInput struct {
	Input Input `json:"input"`
	Why   Safe  `json:"why"`
}

// saidSuffix marks counts of lines in which an agent said it.
const saidSuffix = "-said"

// Said counts lines whose words an agent wrote, or a command or tool that it ran: they prove nothing.
func (m Metric) Said() Metric { return m + saidSuffix }

// Unsaid is the metric of the same lines as a server writes them; is says that m counts what agents said.
func (m Metric) Unsaid() (of Metric, is bool) {
	text, is := strings.CutSuffix(string(m), saidSuffix)
	return Metric(text), is
}

// CloseErrnos are the errors of failed closes that are counted apart.
func CloseErrnos() []string {
	return []string{"EACCES", "EBUSY", "EIO", "EMFILE", "ENFILE", "ENOENT", "ENOSPC", "ENOTDIR", "ENOTEMPTY", "EPERM", "EROFS", "ESTALE"}
}

// CloseFailedWith counts the failed closes that name an errno.
func CloseFailedWith(errno string) Metric { return MetricTmpdirCloseFailed + Metric(":"+errno) }

// Lines of the operator's own patterns, and the bytes that they name, are counted by the pattern's name.
const (
	patternLines = "pattern:"
	patternBytes = "pattern-bytes:"
)

// PatternLines counts the lines that a pattern of the configuration matches; without a name it begins all of them.
func PatternLines(pattern string) Metric { return Metric(patternLines + pattern) }

// Pattern is the name of the pattern whose lines, or whose bytes, m counts; is says that it counts them.
func (m Metric) Pattern() (name string, is bool) {
	if name, is = strings.CutPrefix(string(m), patternLines); is {
		return name, is
	}
	return strings.CutPrefix(string(m), patternBytes)
}

// PatternBytes sums the bytes that lines of a pattern of the configuration name.
func PatternBytes(pattern string) Metric { return Metric(patternBytes + pattern) }

// Count is a number of things that happened at a time: an increase of a counter, or matched log lines. Adapters turn
// cumulative counters into increases; the fleet keeps them in windows. A Count of 0 says that the source looked and
// nothing happened: without any Count a window knows nothing.
type Count struct {
	Series Series    `json:"series"`
	At     time.Time `json:"at"`
	N      float64   `json:"n"`
	// Sample is one line or label set behind the number, for evidence; the newest is kept.
	Sample Safe `json:"sample,omitzero"`
	// LowerBound says that more may have happened than was seen.
	LowerBound bool `json:"lower_bound,omitempty"`
}

// Series identifies one counted thing. Source is the source that counted; Session and Workspace are raw ids or zero.
type Series struct {
	Source    string `json:"source"`
	Name      Metric `json:"name"`
	Provider  string `json:"provider,omitempty"` // raw label, for grouping; cleaned before drawing
	Session   ID     `json:"session,omitzero"`
	Workspace ID     `json:"workspace,omitzero"`
	Sandbox   ID     `json:"sandbox,omitzero"` // of reads and writes of files and of kills, where one is named
}

// Metric names what a Series counts.
type Metric string

// What is counted. Rates of log lines are counted per session where the line names one.
const (
	MetricEvictions         Metric = "evictions"          // counter
	MetricEvictionRetries   Metric = "eviction-retries"   // counter
	MetricEvictionExhausted Metric = "eviction-exhausted" // log lines
	MetricRejections        Metric = "rejections"         // rejected commands, rebuilt from rollups
	MetricRollups           Metric = "rollups"            // rollup lines
	MetricLogLines          Metric = "log-lines"
	MetricLogBytes          Metric = "log-bytes"
	MetricErrorLines        Metric = "error-lines"       // lines at level error or above that name a session and match no pattern
	MetricWorkspaceFailed   Metric = "workspace-failed"  // WorkspaceFailedError lines
	MetricWorkspaceEvicted  Metric = "workspace-evicted" // WorkspaceEvictedError lines
	MetricCloseTimeout      Metric = "close-timeout"     // lines
	MetricTmpdirCloseFailed Metric = "tmpdir-close-failed"
	MetricNameCollision     Metric = "name-collision"
	MetricAgentOOM          Metric = "agent-oom"       // lines: the agent's own process or Durable Object ran out of memory
	MetricLimitKills        Metric = "limit-kills"     // the kernel killed a process at the memory limit of its container, as an engine or a kernel's log says
	MetricPersistFailed     Metric = "persist-failed"  // lines: the content of a workspace could not be saved
	MetricHydrateFailed     Metric = "hydrate-failed"  // lines: saved content could not be brought back, or a mount not be made
	MetricPersistDone       Metric = "persist-done"    // lines: the content of a workspace was saved
	MetricExecDone          Metric = "exec-done"       // lines: a command of an agent's SDK was answered, as its session events tell
	MetricPreviewFailed     Metric = "preview-failed"  // lines: the address of a port could not be made
	MetricPTYCount          Metric = "pty-count"       // lines that name how many terminals an agent has open: the number is the sample
	MetricPTYUnknown        Metric = "pty-unknown"     // lines about a terminal that the SDK does not know any more
	MetricPTYFailed         Metric = "pty-failed"      // errors of an agent's terminals
	MetricSDKExec           Metric = "sdk-exec"        // errors in which an agent's SDK gave a command up, or got no answer to it: the class is the sample
	MetricSDKFiles          Metric = "sdk-files"       // … could not read or write, which belongs to no snapshot
	MetricSDKMissing        Metric = "sdk-missing"     // … read a file that was not there
	MetricSDKDelete         Metric = "sdk-delete"      // … could not delete a sandbox at the end of its session
	MetricSDKNotice         Metric = "sdk-notice"      // … went on from: its root could not be made, an archive not be removed
	MetricPackageMissing    Metric = "package-missing" // lines: a package that an agent's SDK needs is not installed
	MetricRejectedWords     Metric = "rejected-words"  // first words of rejected commands, each counted once for as long as its session goes on using it, at least once an hour
	MetricReads             Metric = "reads"           // log lines that say that files of a workspace were read; no pattern is built in
	MetricReadBytes         Metric = "read-bytes"      // what lines about reads name as their bytes
	MetricWrites            Metric = "writes"          // … or written
	MetricNamed             Metric = "session-named"   // log lines that name the session: it is known to run
)

// TerminalEnded is how the sample of a line begins that tells of a terminal whose end gives no exit code.
const TerminalEnded = "a terminal ended without an exit code"

// NoWebSocketLibrary is how the sample of a line is told that says that an agent lacks the library for terminals.
const NoWebSocketLibrary = "the WebSocket library aiohttp is missing"

// LostAtOnce reports whether a list that named so many sessions before lost suspiciously many of them at once: an empty or
// cut answer looks like the end of all.
func LostAtOnce(before, lost int) bool { return before >= 10 && 2*lost >= before }

// LogMetrics are counted by a source of logs from its first poll on, as 0 while no line matches.
func LogMetrics() []Metric {
	return []Metric{MetricEvictionExhausted, MetricRejections, MetricRollups, MetricLogLines, MetricLogBytes, MetricWorkspaceFailed,
		MetricWorkspaceEvicted, MetricCloseTimeout, MetricTmpdirCloseFailed, MetricNameCollision, MetricAgentOOM, MetricPersistFailed,
		MetricHydrateFailed, MetricPersistDone, MetricExecDone, MetricPreviewFailed, MetricPTYCount, MetricPTYUnknown, MetricPTYFailed, MetricSDKExec, MetricSDKFiles, MetricSDKMissing, MetricSDKDelete, MetricSDKNotice, MetricPackageMissing, MetricRejectedWords}
}
