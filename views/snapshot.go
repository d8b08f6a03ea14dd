package views

import (
	"slices"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views/names"
)

// Snapshot is what all views look at: one State with its Board, at one time. State and Board are never nil.
type Snapshot struct {
	Now   time.Time
	State *fleet.State
	Board *alerts.Board
	// Events is what happened, newest first, for what shows it; nil elsewhere.
	Events []backend.Event
	// Signals are what happened to subjects for a short while; nil: none is kept.
	Signals *Signals
	// Hidden are the names that the viewer's screen does not show; nil: it shows all.
	Hidden *names.Set

	// These are filled on first use.
	naming  map[backend.Key]*alerts.Alert  // worst alert by subject
	inside  map[backend.Key]*alerts.Alert  // worst alert of a workspace, by its session
	failing map[backend.Key]bool           // workspaces of which a firing alert says that they fail
	past    map[backend.Key]*backend.Event // Events by key
	shared  map[backend.Key]*fleet.SharedStorage
	evicted map[string][]backend.Key // workspaces that are evicted, by source
	grouped *outages
}

// NewSnapshot makes a Snapshot. A nil State or Board reads as an empty one.
func NewSnapshot(now time.Time, state *fleet.State, board *alerts.Board) *Snapshot {
	if state == nil {
		state = &fleet.State{}
	}
	if board == nil {
		board = &alerts.Board{}
	}
	return &Snapshot{Now: now, State: state, Board: board}
}

// Next is a Snapshot of a later time. It keeps what was computed for an unchanged Board.
func (c *Snapshot) Next(now time.Time, state *fleet.State, board *alerts.Board) *Snapshot {
	n := NewSnapshot(now, state, board)
	n.Events, n.Hidden, n.Signals = c.Events, c.Hidden, c.Signals
	if board == c.Board {
		n.naming, n.inside, n.failing, n.grouped = c.naming, c.inside, c.failing, c.grouped
	}
	if state == c.State {
		n.shared, n.evicted = c.shared, c.evicted
	}
	return n
}

// Pasted gives the sandglass commands in our own text the flags of this run, or names its keys.
func (c *Snapshot) Pasted(text string) string { return backend.CommandsWith(text, c.State.Reach) }

// Shown is a text as the viewer's screen shows it: with hashes where names are hidden.
func (c *Snapshot) Shown(text string) string { return c.Hidden.Text(text) }

// Alert returns the worst alert that names the subject, nil when none does. Alerts list their first 1,000 subjects.
func (c *Snapshot) Alert(k backend.Key) *alerts.Alert {
	c.nameAlerts()
	return c.naming[k]
}

// AlertOfWorkspaces returns the worst alert that names a workspace of a session, nil when none does.
func (c *Snapshot) AlertOfWorkspaces(session backend.Key) *alerts.Alert {
	c.nameAlerts()
	return c.inside[session]
}

func (c *Snapshot) nameAlerts() {
	if c.naming == nil {
		c.naming, c.inside = make(map[backend.Key]*alerts.Alert), make(map[backend.Key]*alerts.Alert)
		for _, a := range c.Board.Alerts { // worst first, so the first one stays
			for i := range a.Subjects {
				k := a.Subjects[i].Key
				if k.Kind == backend.KindSession { // a log names it, the alert's source lists it
					k.Source = a.Source
				}
				if _, named := c.naming[k]; !named {
					c.naming[k] = a
				}
				session := backend.Key{Kind: backend.KindSession, Source: k.Source, ID: k.Parent}
				if _, named := c.inside[session]; !named && k.Kind == backend.KindWorkspace {
					c.inside[session] = a
				}
			}
		}
	}
}

// Condition says whether a workspace works now. One that is tried again fails while a firing alert says that it does.
func (c *Snapshot) Condition(w *backend.Workspace) backend.Condition {
	cond := w.Condition(c.Now, c.State.LongestOperation)
	if cond != backend.CondBusy {
		return cond
	}
	if c.failing == nil {
		c.failing = map[backend.Key]bool{}
		for _, a := range c.Board.Alerts {
			if a.State != alerts.StateFiring || !slices.Contains([]string{"hammered-and-failing", "failed-too-long", "capability-mismatch", "ref-mismatch", "reset-loop"}, a.Rule) {
				continue
			}
			for i := range a.Subjects {
				c.failing[a.Subjects[i].Key] = a.Subjects[i].State == alerts.StateFiring
			}
		}
	}
	if c.failing[w.Key] {
		return backend.CondFailing
	}
	return cond
}

// SharedStorage returns the shared place of a row's key, nil when nothing is shared there.
func (c *Snapshot) SharedStorage(k backend.Key) *fleet.SharedStorage {
	if c.shared == nil {
		c.shared = make(map[backend.Key]*fleet.SharedStorage)
		for p := range c.State.Explicit(c.State.HomeOf) {
			c.shared[SharedStorageKey(p)] = p
		}
		for p := range c.State.Shared(c.State.HomeOf, true) {
			c.shared[SharedStorageKey(p)] = p
		}
	}
	return c.shared[k]
}

// Evicted are the workspaces of a source whose registry says that they are evicted, in key order.
func (c *Snapshot) Evicted(source string) []backend.Key {
	if c.evicted == nil {
		c.evicted = map[string][]backend.Key{}
		for w := range c.State.Workspaces.All() {
			if w.Class == backend.ClassEvicted {
				c.evicted[w.Key.Source] = append(c.evicted[w.Key.Source], w.Key)
			}
		}
	}
	return c.evicted[source]
}

// Event finds one of Events by its key; nil when it is no longer kept.
func (c *Snapshot) Event(k backend.Key) *backend.Event {
	if c.past == nil {
		c.past = make(map[backend.Key]*backend.Event, len(c.Events))
		for e := range EventRows(c.Events) {
			c.past[e.Key] = e.Event
		}
	}
	return c.past[k]
}

// Interval is how often a source is polled, 0 when it is not known.
func (c *Snapshot) Interval(source string) time.Duration {
	if h := c.State.Source(source); h != nil {
		return h.Interval
	}
	return 0
}

// ReadAt is when an entity was last read: its own reading, or a later one that confirmed all of its kind unchanged.
func (c *Snapshot) ReadAt(m *backend.Meta) time.Time {
	return c.State.ReadAt(m)
}

// Stale reports whether newer readings of an entity failed, because of itself or because its source is down.
func (c *Snapshot) Stale(m *backend.Meta) bool {
	if c.State.Source(m.Key.Source) == nil {
		return m.Stale
	}
	_, stale := c.State.StaleWhy(m)
	return stale
}

// Local reports whether containers are all that is watched: no source reads registries of agents.
func (c *Snapshot) Local() bool {
	for _, h := range c.State.Sources {
		if h.Kind == "helix" || h.Watches(backend.InputRegistry) {
			return false
		}
	}
	return len(c.State.Sources) > 0
}
