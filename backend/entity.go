package backend

import (
	"strings"
	"time"
)

// Meta is what every entity carries. An entity is immutable once it is in a State; a change makes a new one.
type Meta struct {
	Key    Key       `json:"key"`
	ReadAt time.Time `json:"read_at"` // when this entity was last read successfully
	// Stale says that newer readings of this entity failed, so that its values are those of ReadAt.
	Stale bool `json:"stale,omitempty"`
	// StaleWhy says what failed.
	StaleWhy Safe `json:"stale_why,omitzero"`

	// Rev is the number of the State that last changed the entity; FirstSeen the time of the first reading that had
	// it; History its last status changes, oldest first. The fleet sets these three; an adapter leaves them zero.
	Rev       uint64         `json:"rev,omitempty"`
	FirstSeen time.Time      `json:"first_seen,omitzero"`
	History   []StatusChange `json:"history,omitempty"`
	// LostSuccess is the last success that an earlier reading reported and that a later one no longer knew, although
	// the entity was there all along; zero: none was lost. The fleet sets it, for workspaces only.
	LostSuccess time.Time `json:"lost_success,omitzero"`
	// WorkedAt is when the entity was last read without a failure before its newest change: what fails now began after
	// that; zero: it was never read so. The fleet sets it, for workspaces only.
	WorkedAt time.Time `json:"worked_at,omitzero"`
	// Raw is the reading as the backend gave it, masked and bounded, for the details view.
	Raw Safe `json:"raw,omitzero"`
}

// MaxHistory bounds Meta.History.
const MaxHistory = 8

// StatusChange is one change of the reported status.
type StatusChange struct {
	Status Safe      `json:"status"`
	At     time.Time `json:"at"`
}

// Entity is any of the things in a State. Its methods serve merging; an Entity is immutable.
type Entity interface {
	EntityMeta() *Meta
	StatusWord() Safe // the reported status literal, empty when there is none
}

// EntityMeta gives access to the common part.
func (m *Meta) EntityMeta() *Meta { return m }

// Field is one unrecognised or additional fact, shown generically.
type Field struct {
	Name  Safe `json:"name"`
	Value Safe `json:"value"`
}

// Session is one agent run; it owns workspaces.
type Session struct {
	Meta
	// Status is the word of the list route, empty when no route tells.
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

// Host is a machine that a source can see into.
type Host struct {
	Meta
	Name         Safe             `json:"name"`
	BootedAt     Value[time.Time] `json:"booted_at"`
	MemTotal     Value[int64]     `json:"mem_total"`     // bytes
	MemAvailable Value[int64]     `json:"mem_available"` // bytes
	MemPressure  Value[float64]   `json:"mem_pressure"`  // share of the last 10 s in which some task stalled on memory, 0..1
	OOMKills     Value[int64]     `json:"oom_kills"`     // since boot
	Roots        []Root           `json:"roots,omitempty"`
}

// StatusWord is empty: nobody reports a host's status.
func (h *Host) StatusWord() Safe { return Safe{} }

// Root is one directory below which scratch directories live, and the file system that holds it.
type Root struct {
	Path       Safe         `json:"path"`
	Exists     Value[bool]  `json:"exists"`
	Writable   Value[bool]  `json:"writable"` // by the agent's user
	ReadOnly   Value[bool]  `json:"read_only"`
	FSType     Safe         `json:"fs_type,omitzero"`
	Bytes      Value[int64] `json:"bytes"`
	BytesFree  Value[int64] `json:"bytes_free"` // for unprivileged users
	Inodes     Value[int64] `json:"inodes"`
	InodesFree Value[int64] `json:"inodes_free"`
	Problem    Safe         `json:"problem,omitzero"`
	// Waiting are scratch directories that a clean-up has set aside: they still occupy the disk, can be put back until
	// Due, and are removed by the next Sandglass after it. In the order of their keys, at most MaxWaiting of them;
	// WaitingCount counts all.
	Waiting      []Waiting `json:"waiting,omitempty"`
	WaitingCount int       `json:"waiting_count,omitempty"`
}

// MaxWaiting bounds Root.Waiting.
const MaxWaiting = 1000

// Waiting is one scratch directory that was set aside.
type Waiting struct {
	// Key is the one that the directory had as a Tmpdir, so that whoever cleaned it can name it again.
	Key   Key          `json:"key"`
	Path  Safe         `json:"path"`  // where it was
	Aside Safe         `json:"aside"` // the name it has now, in the same root
	Moved time.Time    `json:"moved"`
	Due   time.Time    `json:"due"`   // from then on it is removed
	Bytes Value[int64] `json:"bytes"` // allocated; unknown until it was walked
	// Begun says that its removal has begun and did not end.
	Begun bool `json:"begun,omitempty"`
}

// TmpdirPath is the path in the key of a scratch directory.
func TmpdirPath(k Key) string {
	parts := strings.SplitN(k.ID.Raw(), ":", 3) // device, inode, path
	return parts[len(parts)-1]
}

// Tmpdir is one scratch directory. Its key's Parent is the host and its ID is "device:inode:path".
type Tmpdir struct {
	Meta
	Path    Safe             `json:"path"`
	RawPath ID               `json:"raw_path"`
	Root    Safe             `json:"root"`
	Newest  Value[time.Time] `json:"newest"` // newest change anywhere in the tree
	Born    Value[time.Time] `json:"born"`
	Bytes   Value[int64]     `json:"bytes"` // allocated
	Entries Value[int64]     `json:"entries"`
	// Cut says that the walk stopped at its bound, so that Bytes and Entries are lower bounds and Newest is unknown
	// unless it was already recent.
	Cut bool `json:"cut,omitempty"`
	// CutWhy says why the numbers are not those of the whole tree: the bound that was reached, what could not be read,
	// what is mounted inside.
	CutWhy  Safe            `json:"cut_why,omitzero"`
	Owner   Safe            `json:"owner,omitzero"`
	Mode    Safe            `json:"mode,omitzero"`
	Holders Value[[]Holder] `json:"holders"` // unknown when some process could not be read and none was found
	// Unreadable is the number of processes whose use of files could not be read.
	Unreadable int `json:"unreadable,omitempty"`
}

// StatusWord is empty: nobody reports a directory's status.
func (t *Tmpdir) StatusWord() Safe { return Safe{} }

// Holder is a process that uses something inside a directory.
type Holder struct {
	PID     int  `json:"pid"`
	Command Safe `json:"command"`
	How     Safe `json:"how"` // cwd, root, exe, fd, map, mount
}
