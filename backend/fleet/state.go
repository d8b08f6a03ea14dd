// Package fleet polls sources, each at its own pace, and merges their readings into one immutable State.
package fleet

import (
	"slices"
	"time"

	"sandglass/backend"
)

// State is everything known at one moment. It is immutable and numbered; a holder may read it for ever.
type State struct {
	Number uint64
	Wall   time.Time     // wall clock when the State was built
	Mono   time.Duration // since the process started; never jumps
	// LongestOperation is how long one operation may take before an attempt without success counts as failing.
	LongestOperation time.Duration
	// Reach is what a printed command needs to look at the same sources.
	Reach backend.Reach

	Sources       []*SourceHealth // in the order of the configuration
	Sessions      Table[backend.Session, *backend.Session]
	Workspaces    Table[backend.Workspace, *backend.Workspace]
	Sandboxes     Table[backend.Sandbox, *backend.Sandbox]
	Tmpdirs       Table[backend.Tmpdir, *backend.Tmpdir]
	Hosts         Table[backend.Host, *backend.Host]
	Refs          Table[backend.Ref, *backend.Ref]
	Executions    Table[backend.Execution, *backend.Execution]
	Jobs          Table[backend.Job, *backend.Job]
	Windows       Windows
	Day           Day
	MemoryHistory MemoryHistory
	Earlier       *Earlier // nil: none is known

	// Delta is what this State changed against the one numbered one less.
	Delta Delta
	// Events happened since the State before: platform events and change markers.
	Events []backend.Event

	history   *changeLog
	forgotten map[backend.Key]bool
	ended     map[backend.Key]bool
	confirmed map[confirmation]time.Time
	sandboxes map[backend.ID][]*backend.Sandbox
	byName    map[backend.ID]*backend.Sandbox
	agents    *agentIndex // nil: looked up as it is asked
	registry  *registryJoins
	running   map[versionedKind][]VersionCount
	// Where these are nil, all entities are looked at.
	sharing   *sharedKeys
	elsewhere []labelledElsewhere // nothing without sharing
	observes  *bool               // nil: not counted
	providers map[providerOf]int
}

// Delta lists the keys that one State changed or removed.
type Delta struct {
	Changed []backend.Key
	// Gone are entities that left this State, with why: ended (their owner said so) or absent twice.
	Gone []Departure
	// Series are the series whose windows changed.
	Series []backend.Series
}

// Departure is an entity that left the State.
type Departure struct {
	Key    backend.Key
	Last   backend.Entity // its last value
	Why    backend.Safe
	At     time.Time
	Absent bool // complete lists did not name it, or what it was part of; nothing said that it ended
}

// SourceStatus is the health of a source in one word.
type SourceStatus string

// The states of a source. Starting has not answered yet; absent is not there, which is no failure of what no configuration
// names; degraded is partly usable, or failed its newest poll only; down has failed at least twice, or has never answered.
const (
	StatusStarting SourceStatus = "starting"
	StatusOK       SourceStatus = "ok"
	StatusDegraded SourceStatus = "degraded"
	StatusDown     SourceStatus = "down"
	StatusAbsent   SourceStatus = "absent"
)

// SourceHealth is what is known about one source itself.
type SourceHealth struct {
	Key  backend.Key // KindSource
	Kind string
	// Organisation is the only one of its platform that it reads; empty: it does not say.
	Organisation string

	About     []string // ids of the sources that it reports about; empty = all
	Allowed   []string // verbs that the configuration allows; nil: not known
	Local     bool     // no configuration names it
	Status    SourceStatus
	Error     backend.Safe // why it is degraded or down, empty otherwise
	ErrorKind backend.ErrorKind

	FirstTry time.Time
	LastTry  time.Time
	LastOK   time.Time // when the newest answer came that the last successful poll told; zero: never
	DownFrom time.Time // first failure of the present run of failures, zero when the last poll succeeded
	Failures int       // consecutive failed polls
	NextPoll time.Time
	Interval time.Duration // between two requests for what it tells: the configured one, or a longer one
	Paced    backend.Safe  // why it is longer than the configured one; empty: it is not
	Deadline time.Duration // of one request

	P50, P95       time.Duration // of single requests over the last polls; 0: none measured
	RequestsPerMin float64
	BytesPerMin    float64

	ClockOffset       backend.Value[time.Duration]
	ClockGuessed      bool // from the newest times of its entries
	Inputs            []backend.Input
	Missing           []backend.MissingInput
	WorkspacesUnknown bool
	Registry          backend.RegistryState
	RegistrySince     time.Time // when Registry took its value
	// BodyAge is how old the newest answer's body is: a cache serves a copy, or the Date stands still. BodyWhere is the route
	// without credentials, BodyDate its Date header.
	BodyAge   time.Duration
	BodyBy    string // the header that proves the age: Age or Date
	BodyWhere backend.Safe
	BodyDate  string
	// Unread are the sessions whose newest reading failed, by kind of error, of Asked ones; UnreadSince is when they became
	// so many that the source is degraded, zero while they are few.
	Unread      []backend.Unread
	Asked       int
	UnreadSince time.Time
	// Unlisted are the sessions that its lists name no more though nothing says that they ended; UnlistedSince is when a reading
	// first showed any, zero without.
	Unlisted      []backend.Unlisted
	UnlistedSince time.Time
	// Held is what its answers lost suspiciously, by kind; nil without any.
	Held []Held
	// Unfinished says that what there is to read was not read to its end, or cannot be.
	Unfinished bool
	// Unseen says that a part of it cannot be read, and that reading again does not change that.
	Unseen   bool
	OtherIDs bool // its sandboxes are listed under other ids than references name
	// OwnGone are sandboxes that references name and whose own record is no more; nil: the list alone tells that.
	OwnGone      []backend.Key
	Problems     []backend.Problem
	Bookmarks    []backend.Bookmark
	Stopped      []backend.ID           // sessions whose log file has not grown since their newest line
	Exposed      backend.Safe           // what others can do with a service of it without a credential; empty: nothing shows that
	Failing      backend.FailingService // which service of it does not answer while the rest does
	FailingSince time.Time              // when that was first seen; zero: all answer
	Refuses      backend.Safe           // why no action through it can be tried; empty: that is not known beforehand
	ExposedSince time.Time              // when that was first seen; zero: nothing shows it
	Undated      backend.Safe           // matching log lines that were not counted, since nothing tells when they were written
	Client       backend.Safe           // the command that reaches the same platform from a shell, empty without one
	Engine       backend.Safe           // the container engine of the newest reading, empty of other sources
	Notes        []backend.Safe
	Facts        []backend.Fact // as of the last successful poll
	Pools        []backend.Pool // likewise
	Rejections   []*backend.Rejection
	Reports      []backend.Report // what its log lines said lately of subjects of other sources, the oldest first
	Rev          uint64
}

// Starting reports whether some source has neither answered nor failed yet.
func (s *State) Starting() bool {
	return slices.ContainsFunc(s.Sources, func(h *SourceHealth) bool { return h.Status == StatusStarting })
}

// TooManyUnread reports whether so many of a source's sessions cannot be read that it is degraded: a fifth, or 5.
func TooManyUnread(unread, of int) bool { return unread >= 5 || unread > 0 && 5*unread >= of }

// UnreadSessions is the number of sessions whose newest reading failed.
func (h *SourceHealth) UnreadSessions() int {
	n := 0
	for _, u := range h.Unread {
		n += u.Sessions
	}
	return n
}

// Unlists reports whether two readings or more showed sessions that left the list though nothing says that they ended: a list
// may be a moment ahead of the sessions' own routes.
func (h *SourceHealth) Unlists() bool {
	return !h.UnlistedSince.IsZero() && h.LastOK.After(h.UnlistedSince)
}

// Silent is why nothing tells whether a session that left the list ended: its own route cannot be read either.
func (h *SourceHealth) Silent(session backend.ID) (why backend.Safe, is bool) {
	i := slices.IndexFunc(h.Unlisted, func(u backend.Unlisted) bool { return u.Silent() && u.Session == session })
	if i < 0 {
		return backend.Safe{}, false
	}
	return h.Unlisted[i].Why, true
}

// Copied reports whether the source serves copies: its newest body is three intervals old, or older.
func (h *SourceHealth) Copied() bool { return h.Interval > 0 && h.BodyAge >= 3*h.Interval }

// DataAt is when what the source told last was so: its last success, or earlier where it serves copies.
func (h *SourceHealth) DataAt() time.Time {
	if h.LastOK.IsZero() {
		return h.LastOK
	}
	return h.LastOK.Add(-h.BodyAge)
}

// Blurred reports whether the source answers, and what it answers does not tell how its part of the fleet is.
func (h *SourceHealth) Blurred() bool {
	return h.WorkspacesUnknown || !h.UnreadSince.IsZero() || h.Held != nil || h.Unfinished || h.Copied() || h.Unlists()
}

// Delivers reports whether the source delivers the input now.
func (h *SourceHealth) Delivers(in backend.Input) bool {
	for _, i := range h.Inputs {
		if i == in {
			return true
		}
	}
	return false
}

// ReportsOn reports whether what the source delivers concerns the source with the given id.
func (h *SourceHealth) ReportsOn(id string) bool {
	if len(h.About) == 0 || h.Key.Source == id {
		return true
	}
	for _, a := range h.About {
		if a == id {
			return true
		}
	}
	return false
}

// Source returns the health of one source, nil when there is none of that id.
func (s *State) Source(id string) *SourceHealth {
	for _, h := range s.Sources {
		if h.Key.Source == id {
			return h
		}
	}
	return nil
}

// Workspace, Session and Sandbox look one entity up; nil when the State has none of that key.
func (s *State) Workspace(k backend.Key) *backend.Workspace { return s.Workspaces.Get(k) }

// Session looks up a session.
func (s *State) Session(k backend.Key) *backend.Session { return s.Sessions.Get(k) }

// Sandbox looks up a sandbox.
func (s *State) Sandbox(k backend.Key) *backend.Sandbox { return s.Sandboxes.Get(k) }

// SessionOf returns the session that owns a workspace, nil when it is not listed.
func (s *State) SessionOf(w *backend.Workspace) *backend.Session {
	return s.Sessions.Get(backend.Key{Kind: backend.KindSession, Source: w.Key.Source, ID: w.Key.Parent})
}

// WithSandboxes returns a copy of the State that knows its sandboxes by session and by name. It serves tests and readers of recordings.
func (s *State) WithSandboxes(t Table[backend.Sandbox, *backend.Sandbox]) *State {
	c := *s
	c.Sandboxes, c.sandboxes, c.byName, c.observes = t, indexBySession(t), indexByName(t), nil
	c.agents, c.registry = nil, nil
	return &c
}

// SandboxesOf returns the sandboxes of every source that are joined to the session with this raw id.
func (s *State) SandboxesOf(session backend.ID) []*backend.Sandbox { return s.sandboxes[session] }

// ReadAt is when the entity was last read: its own read time, or the later moment at which its source confirmed all
// of its kind unchanged.
func (s *State) ReadAt(m *backend.Meta) time.Time {
	if m.Stale {
		return m.ReadAt
	}
	if at := s.confirmed[confirmation{m.Key.Source, m.Key.Kind}]; at.After(m.ReadAt) {
		return at
	}
	return m.ReadAt
}

// StaleWhy says whether an entity's values are old, and why: its own newest reading failed, its source is down, or
// its source has not been read for longer than two intervals.
func (s *State) StaleWhy(m *backend.Meta) (why backend.Safe, stale bool) {
	if m.Stale {
		return m.StaleWhy, true
	}
	h := s.Source(m.Key.Source)
	switch {
	case h == nil:
		return backend.Text("its source is not configured any more"), true
	case h.Status == StatusDown:
		return backend.Textf("%s is down: %s", backend.Clean(m.Key.Source, 80), h.Error), true
	case h.Overdue(s.Wall):
		return backend.Textf("%s has not been read for two intervals", backend.Clean(m.Key.Source, 80)), true
	}
	return backend.Safe{}, false
}

// Overdue reports whether the source has not been read for longer than two intervals and its deadline.
func (h *SourceHealth) Overdue(now time.Time) bool {
	return !h.LastOK.IsZero() && now.Sub(h.LastOK) > 2*h.Interval+h.Deadline
}

func orNil[T any, P interface {
	*T
	backend.Entity
}](p P) backend.Entity {
	if p == nil {
		return nil
	}
	return p
}

// ChangesSince lists what changed after the State numbered n, newest values included. complete is false when n lies
// further back than the 100 States that are remembered; the reader then rebuilds from the whole State.
func (s *State) ChangesSince(n uint64) (deltas []Delta, complete bool) {
	if s.history == nil {
		return nil, n >= s.Number
	}
	return s.history.since(n, s.Number)
}

// MayRead reports whether some source delivers an input, or could. A source that has never answered may deliver any.
func (s *State) MayRead(in backend.Input) bool {
	return slices.ContainsFunc(s.Sources, func(h *SourceHealth) bool {
		return h.Status != StatusAbsent && h.LastOK.IsZero() || h.Watches(in)
	})
}

// WatchesFramework reports whether some source reads an agent framework, and not this machine alone. A source that has
// never answered may read any.
func (s *State) WatchesFramework() bool {
	return slices.ContainsFunc(s.Sources, func(h *SourceHealth) bool {
		return h.Status != StatusAbsent && h.LastOK.IsZero() || slices.ContainsFunc(h.Inputs, backend.Input.OfFramework) ||
			slices.ContainsFunc(h.Missing, func(x backend.MissingInput) bool { return x.Input.OfFramework() })
	})
}
