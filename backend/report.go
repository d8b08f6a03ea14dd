package backend

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"sandglass/internal/stable"
)

// Report is what a hub says of a session or a sandbox in a log line: a claim about the subject of another source.
type Report struct {
	Source  string     `json:"source"` // that read the line
	At      time.Time  `json:"at"`     // of the line, by our clock; of reading where it has none
	Kind    ReportKind `json:"kind"`
	Session ID         `json:"session,omitzero"` // raw; at least one of the two is named
	Sandbox ID         `json:"sandbox,omitzero"`
	// Status is the HTTP status that it names, 0: none. Limit is a duration that it names, 0: none.
	Status int           `json:"status,omitempty"`
	Limit  time.Duration `json:"limit,omitempty"`
	// Phase is when a nudge was sent, as the line says: right after a resume, or as a follow-up; empty: not told.
	Phase Safe `json:"phase,omitzero"`
	Text  Safe `json:"text"`
	// Command is what could not begin, or what ran; empty: the line does not name it. GoodAt is the time of the newest line
	// before it that shows a command which ran in the same session, zero: none was read. Changed is a command between the two that
	// removed, moved or replaced the working directory, at ChangedAt. ChangedBy is the agent that ran it, empty where its line names
	// none, with its exit code: 0 where that is not told too. Agents are those whose lines of the session were read, by name.
	Command   Safe      `json:"command,omitzero"`
	FileCall  bool      `json:"file_call,omitempty"` // of what could not begin: it was no command, but a call for a file
	GoodAt    time.Time `json:"good_at,omitzero"`
	Changed   Safe      `json:"changed,omitzero"`
	ChangedAt time.Time `json:"changed_at,omitzero"`
	ChangedBy Safe      `json:"changed_by,omitzero"`
	Exit      int       `json:"changed_exit,omitempty"`
	Agents    Safe      `json:"agents,omitzero"`
	// Where is the file of the line; empty: it came from a program or a container.
	Where Safe `json:"where,omitzero"`
}

// ReportKind is what a report says.
type ReportKind string

// The kinds of reports, from what a Coder Hub writes (agentuity/sdk#1350, #1343).
const (
	ReportNudgeFailed    ReportKind = "nudge-failed"     // the command that signals the driver could not be sent
	ReportNotReconnected ReportKind = "not-reconnected"  // the driver is not back after a nudge
	ReportUnknownSession ReportKind = "unknown-session"  // a controller asked for a session that the hub does not know
	ReportDriverTimeout  ReportKind = "driver-timeout"   // the hub gave up waiting for the driver
	ReportDriverWaiting  ReportKind = "driver-waiting"   // it waits for the driver, which is ordinary
	ReportDriverNotFound ReportKind = "driver-not-found" // a command ran and found no driver process
	ReportNoCheckpoint   ReportKind = "no-checkpoint"    // a suspended sandbox has no checkpoint to resume from
	ReportResumeRefused  ReportKind = "resume-refused"   // a resume was refused, which may pass
	ReportJoin           ReportKind = "join"             // a line names a session and its sandbox
	ReportNotStarted     ReportKind = "not-started"      // a command could not begin in a sandbox, see NotStartedText
	ReportCommandRan     ReportKind = "command-ran"      // after such a line one ran in the same session
	ReportCommandLost    ReportKind = "command-lost"     // an agent's SDK waits for a command no more, which it names as CommandOf does
	ReportCommandGood    ReportKind = "command-good"     // the newest command of a session of the sandbox SDK that a log shows to have run
	ReportProtocol       ReportKind = "protocol"         // a call into a sandbox failed, since versions do not understand each other
	ReportAgentRuns      ReportKind = "agent-runs"       // an agent takes its sandbox for running
	ReportAgentDown      ReportKind = "agent-down"       // an agent says that its sandbox does not run
	ReportCheckFailed    ReportKind = "check-failed"     // the check of its SDK failed, which it takes for the same, whatever the reason
	ReportAgentDone      ReportKind = "agent-done"       // the session of an agent ended: it takes its sandbox for nothing any more
)

// Belief reports whether a report is about what an agent takes its sandbox for.
func (k ReportKind) Belief() bool {
	return k == ReportAgentRuns || k == ReportAgentDown || k == ReportCheckFailed || k == ReportAgentDone
}

// Suspicious reports whether a report is a reason to look at the sandbox.
func (k ReportKind) Suspicious() bool {
	switch k {
	case ReportNudgeFailed, ReportNotReconnected, ReportUnknownSession, ReportDriverTimeout:
		return true
	case ReportDriverWaiting, ReportDriverNotFound, ReportNoCheckpoint, ReportResumeRefused, ReportJoin, ReportNotStarted, ReportCommandRan, ReportCommandLost,
		ReportCommandGood, ReportProtocol, ReportAgentRuns, ReportAgentDown, ReportCheckFailed, ReportAgentDone:
	}
	return false
}

// MaxReports bounds the reports that are kept of one source, MaxJoins the joins and the beliefs among them, and MaxGood the commands that
// ran; these do not crowd out the others: the newest stay, at most ReportsFor long. Of the beliefs about one sandbox or session, and of
// the commands that ran in one, the newest stays.
const (
	MaxReports = 500
	MaxJoins   = 2000
	MaxGood    = 1000
	ReportsFor = time.Hour
)

// share is among which reports one counts: others, joins and beliefs, or commands that ran.
func (k ReportKind) share() (i, most int) {
	switch {
	case k == ReportCommandGood, k == ReportProtocol:
		return 2, MaxGood
	case k == ReportJoin, k.Belief():
		return 1, MaxJoins
	}
	return 0, MaxReports
}

// KeepReports adds the newest reports to those that are kept, the oldest first.
func KeepReports(kept, more []Report, now time.Time) []Report {
	oldest := now.Add(-ReportsFor)
	out := slices.DeleteFunc(slices.Concat(kept, more), func(r Report) bool { return r.At.Before(oldest) })
	stable.Sort(out, func(a, b Report) int { return a.At.Compare(b.At) })
	if len(out) == 0 {
		return nil
	}
	type subject struct {
		kind             ReportKind // empty: a belief
		session, sandbox ID
	}
	var count [3]int
	newest := map[subject]time.Time{}
	one := func(k ReportKind) bool { return k.Belief() || k == ReportCommandGood || k == ReportProtocol }
	of := func(r *Report) subject {
		if r.Kind.Belief() {
			return subject{"", r.Session, r.Sandbox}
		}
		return subject{r.Kind, r.Session, r.Sandbox}
	}
	for i := range out {
		x := &out[i]
		share, _ := x.Kind.share()
		if count[share]++; one(x.Kind) {
			newest[of(x)] = x.At
		}
	}
	return slices.DeleteFunc(out, func(r Report) bool { // the oldest come first
		share, most := r.Kind.share()
		count[share]--
		return count[share] >= most || one(r.Kind) && r.At.Before(newest[of(&r)])
	})
}

// hubTexts are the words of each kind of report, in the order in which they are looked for.
var hubTexts = []struct {
	words string
	kind  ReportKind
}{
	{"no checkpoint data", ReportNoCheckpoint},
	{"rpc-driver process not found", ReportDriverNotFound},
	{"driver did not connect within", ReportDriverTimeout},
	{"failed to send usr1 reconnect nudge", ReportNudgeFailed},
	{"still has not reconnected", ReportNotReconnected},
	{"controller rejected for unknown session", ReportUnknownSession},
	{"failed to resume sandbox", ReportResumeRefused},
	{"cannot resume sandbox", ReportResumeRefused},
	{"waiting for driver", ReportDriverWaiting},
	{"waiting for sandbox driver", ReportDriverWaiting},
}

var (
	hubStatus  = regexp.MustCompile(`\b(?:status(?:\s*code)?|http|answered|returned|error)\W{0,3}([45]\d\d)\b|\b(5\d\d)\W{0,2}\s*internal server error`)
	hubLimit   = regexp.MustCompile(`(?i)\b(?:(\d{1,4})m)?(\d{1,9}(?:[_,]\d{3})*(?:\.\d{1,6})?)\s?(ms|msecs?|millis|milliseconds?|s|secs?|seconds?|m|mins?|minutes?)\b`)
	hubResumed = regexp.MustCompile(`\b(?:right )?after (?:the |a |its )?(?:sandbox )?(?:resume|wake)|\bpost-resume\b|\bimmediate|\binitial\b|\bfirst nudge\b`)
	hubSession = regexp.MustCompile(`\bcodesess_[0-9A-Za-z]{4,64}\b`)
	hubTrace   = regexp.MustCompile(`^sess_[0-9a-f]{32}$`)
	hubSandbox = regexp.MustCompile(`\bsbx_[0-9A-Za-z]{4,80}\b`)
)

// HubText reads what a hub wrote about a session: what it says, and the ids, the status and the duration that it names.
func HubText(raw string) (r Report, ok bool) {
	low := strings.ToLower(raw)
	for _, t := range hubTexts {
		if strings.Contains(low, t.words) {
			r.Kind = t.kind
			break
		}
	}
	if r.Kind == "" {
		return r, false
	}
	if m := hubStatus.FindStringSubmatch(low); m != nil {
		r.Status, _ = strconv.Atoi(m[1] + m[2])
	} else if strings.Contains(low, "internal server error") {
		r.Status = 500
	}
	if m := hubLimit.FindStringSubmatch(raw); m != nil {
		r.Limit = hubDuration(m)
	}
	switch {
	case strings.Contains(low, "follow-up"), strings.Contains(low, "followup"), strings.Contains(low, "follow up"):
		r.Phase = Text("follow-up")
	case hubResumed.MatchString(low):
		r.Phase = Text("right after the resume")
	}
	if id, err := NewID(hubSession.FindString(raw)); err == nil {
		r.Session = id
	}
	if id, err := NewID(hubSandbox.FindString(raw)); err == nil {
		r.Sandbox = id
	}
	return r, true
}

// HubPair is the session and the sandbox of a hub that a line names; false where it names several, or none of one.
func HubPair(raw string) (session, sandbox ID, ok bool) {
	one := func(of *regexp.Regexp) (ID, bool) {
		all := of.FindAllString(raw, mostPaired)
		id, err := NewID(strings.Join(slices.Compact(all), " "))
		return id, err == nil && len(all) < mostPaired && len(slices.Compact(all)) == 1
	}
	session, has := one(hubSession)
	sandbox, ok = one(hubSandbox)
	return session, sandbox, has && ok
}

// mostPaired is from how many ids on a line is no record of one session.
const mostPaired = 20

// IsTrace reports whether an id is the handle of one answer of the platform, which its header and errors call a session id.
func IsTrace(raw string) bool { return hubTrace.MatchString(raw) }

// hubDuration is the duration that hubLimit found: 120000ms, 2m0s, 1.5 s or 2 minutes.
func hubDuration(m []string) time.Duration {
	n, err := strconv.ParseFloat(strings.NewReplacer("_", "", ",", "").Replace(m[2]), 64)
	if err != nil {
		return 0
	}
	unit := time.Second
	switch low := strings.ToLower(m[3]); {
	case strings.HasPrefix(low, "ms"), strings.HasPrefix(low, "mil"):
		unit = time.Millisecond
	case low[0] == 'm':
		unit = time.Minute
	}
	minutes, _ := strconv.Atoi(m[1]) // none: 0
	return time.Duration(n*float64(unit)) + time.Duration(minutes)*time.Minute
}

// HubSeconds is a text of a hub with its durations in seconds: "within 120000ms" becomes "within 120 s".
func HubSeconds(text Safe) Safe {
	return Clean(hubLimit.ReplaceAllStringFunc(text.String(), func(found string) string {
		return strconv.FormatFloat(hubDuration(hubLimit.FindStringSubmatch(found)).Seconds(), 'f', -1, 64) + " s"
	}), MaxTextRunes)
}
