package columns

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// Ctx is what a cell may look at besides its row. State is never nil; Board may be.
type Ctx struct {
	Now   time.Time
	State *fleet.State
	Board *alerts.Board
	// Events is what happened, newest first, for what shows it; nil elsewhere.
	Events []backend.Event

	naming map[backend.Key]*alerts.Alert  // worst alert by subject; filled on first use
	past   map[backend.Key]*backend.Event // Events by key; filled on first use
	places map[backend.Key]*fleet.Place   // filled on first use
	twins  map[sameCause]string           // source of each rule and cause, empty where several have it; filled on first use
}

// NewCtx makes a Ctx. A nil State or Board stands for an empty one.
func NewCtx(now time.Time, state *fleet.State, board *alerts.Board) *Ctx {
	if state == nil {
		state = &fleet.State{}
	}
	if board == nil {
		board = &alerts.Board{}
	}
	return &Ctx{Now: now, State: state, Board: board}
}

// Next is a Ctx for a later moment; it keeps what was worked out for an unchanged Board.
func (c *Ctx) Next(now time.Time, state *fleet.State, board *alerts.Board) *Ctx {
	n := NewCtx(now, state, board)
	n.Events = c.Events
	if board == c.Board {
		n.naming, n.twins = c.naming, c.twins
	}
	return n
}

// Alert returns the worst alert that names the subject, nil when none does. Alerts list their first 1,000 subjects.
func (c *Ctx) Alert(k backend.Key) *alerts.Alert {
	if c.naming == nil {
		c.naming = make(map[backend.Key]*alerts.Alert)
		if c.Board != nil {
			for _, a := range c.Board.Alerts { // worst first, so the first one stays
				for i := range a.Subjects {
					if _, named := c.naming[a.Subjects[i].Key]; !named {
						c.naming[a.Subjects[i].Key] = a
					}
				}
			}
		}
	}
	return c.naming[k]
}

// sameCause is what alerts of several sources can have in common.
type sameCause struct{ rule, fingerprint string }

// twin reports whether another source has an alert of the same rule and cause.
func (c *Ctx) twin(a *alerts.Alert) bool {
	if c.twins == nil {
		c.twins = make(map[sameCause]string, len(c.Board.Alerts))
		for _, x := range c.Board.Alerts {
			k := sameCause{x.Rule, x.Fingerprint}
			if source, met := c.twins[k]; met && source != x.Source {
				c.twins[k] = ""
			} else {
				c.twins[k] = x.Source
			}
		}
	}
	return c.twins[sameCause{a.Rule, a.Fingerprint}] == ""
}

// Place returns the shared place of a row's key, nil when nothing is shared there.
func (c *Ctx) Place(k backend.Key) *fleet.Place {
	if c.places == nil {
		c.places = make(map[backend.Key]*fleet.Place)
		for p := range c.State.Shared(c.State.HomeOf, true) {
			c.places[PlaceKey(p)] = p
		}
	}
	return c.places[k]
}

// Interval is how often a source is polled, 0 when it is not known.
func (c *Ctx) Interval(source string) time.Duration {
	if h := c.State.Source(source); h != nil {
		return h.Interval
	}
	return 0
}

// ReadAt is when an entity was last read: its own reading, or a later one that confirmed all of its kind unchanged.
func (c *Ctx) ReadAt(m *backend.Meta) time.Time {
	if c.State == nil {
		return m.ReadAt
	}
	return c.State.ReadAt(m)
}

// Stale reports whether newer readings of an entity failed, because of itself or because its source is down.
func (c *Ctx) Stale(m *backend.Meta) bool {
	if c.State == nil || c.State.Source(m.Key.Source) == nil {
		return m.Stale
	}
	_, stale := c.State.StaleWhy(m)
	return stale
}
