package backend

import (
	"path"
	"strings"
	"time"
)

// KindSession is the kind of a Session.
const KindSession Kind = "session"

var sessionKind = SubjectKind{
	Kind: KindSession, Name: "session", Plural: "sessions", List: "sessions", Short: "se", Input: InputSessions,
	Copy: copyOf[Session], Tells: true, InUse: func(Entity) bool { return true },
}

// Session is one agent run; it owns workspaces.
type Session struct {
	Meta
	// Status is the word of the list route, empty when no route reports it.
	Status Safe `json:"status,omitzero"`
	// Running says whether a run loop is active now: known true when a list route says so or the health route
	// answered 200, known false on the documented idle answer.
	Running Value[bool] `json:"running"`
	// ListedRunning says that a list route calls the session running, whatever its health route answers.
	ListedRunning Value[bool] `json:"listed_running"`
	// Answer is what the session's health route last answered.
	Answer RouteAnswer `json:"answer,omitempty"`
	// AnswerText is the problem with that answer, empty when there is none.
	AnswerText Safe `json:"answer_text,omitzero"`
	// Hub is what a hub says of the session; nil: it is not one of a hub.
	Hub *HubSession `json:"hub,omitempty"`
	SessionFacts
}

// StatusWord returns the reported status.
func (s *Session) StatusWord() Safe { return s.Status }

// MayRun reports whether the session may be running: nothing says that it stopped.
func (s *Session) MayRun() bool {
	if s.ListedRunning.Or(false) || s.Running.Or(false) {
		return true
	}
	if s.ListedRunning.IsKnown() || s.Running.IsKnown() {
		return false
	}
	return s.Answer != AnswerIdle
}

// SessionFacts are optional facts that a list route or a declaration gives.
type SessionFacts struct {
	BranchedFrom     ID               `json:"branched_from,omitzero"`
	Tenant           Safe             `json:"tenant,omitzero"`
	Runtime          Safe             `json:"runtime,omitzero"`
	FrameworkVersion Safe             `json:"framework_version,omitzero"`
	SDKVersion       Safe             `json:"sdk_version,omitzero"` // of the sandbox SDK beside it
	WorkspaceRefs    []Safe           `json:"workspace_refs,omitempty"`
	StartedAt        Value[time.Time] `json:"started_at"`
	// Closing is what is declared of how its workspaces end, known before and after they are listed.
	Closing []WorkspaceClosing `json:"closing,omitempty"`
}

// WorkspaceClosing is what is declared of how a session's workspaces of some names end.
type WorkspaceClosing struct {
	Workspace           string               `json:"workspace"` // a glob over names
	DestroyOnClose      Value[bool]          `json:"destroy_on_close"`
	ShareAcrossSessions Value[bool]          `json:"share_across_sessions"`
	SleepAfter          Value[time.Duration] `json:"sleep_after"`
	CloseTimeout        Value[time.Duration] `json:"close_timeout"`
}

// Of reports whether the declaration is about the workspace of a name; all of them are where the name is not known.
func (c *WorkspaceClosing) Of(name ID) bool {
	flat := func(s string) string { return strings.ReplaceAll(s, "/", "\x1f") } // a star crosses slashes
	matched, err := path.Match(flat(c.Workspace), flat(name.Raw()))
	return name.IsZero() || c.Workspace == "*" || matched && err == nil
}

// Completed reports whether the list says that the session is over for good: not merely paused, suspended or idle.
func (s *Session) Completed() bool { return EndedWord(s.Status) && !s.MayRun() }

// EndedWord reports whether a status is a word of lists for what is over for good.
func EndedWord(status Safe) bool {
	switch strings.ToLower(status.String()) {
	case "completed", "complete", "finished", "done", "ended", "closed", "failed", "cancelled", "canceled", "aborted", "terminated", "expired":
		return true
	}
	return false
}

// Versions is what a session runs: the framework's version, and that of its sandbox SDK where it is known.
func (f *SessionFacts) Versions() Safe {
	switch {
	case f.SDKVersion.IsEmpty():
		return f.FrameworkVersion
	case f.FrameworkVersion.IsEmpty():
		return Textf("SDK %s", f.SDKVersion)
	}
	return Textf("%s, SDK %s", f.FrameworkVersion, f.SDKVersion)
}

// RouteAnswer is what the health route of a session answered.
type RouteAnswer string

// The answers of a health route.
const (
	AnswerNone      RouteAnswer = ""           // not asked, or asked through an aggregate route
	AnswerOK        RouteAnswer = "ok"         // a registry snapshot
	AnswerIdle      RouteAnswer = "idle"       // the documented 404
	AnswerNoRoute   RouteAnswer = "no route"   // any other 404
	AnswerWrongPath RouteAnswer = "wrong path" // 200 with a body of another shape
	AnswerInvalid   RouteAnswer = "invalid"    // a body that cannot be trusted
	AnswerFailed    RouteAnswer = "failed"     // 5xx, connection loss, timeout
)
