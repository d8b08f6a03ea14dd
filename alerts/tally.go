package alerts

import (
	"time"

	"sandglass/backend"
)

// count is what a group's members add up to.
type count struct {
	live                                   bool // some member has not ended
	firing, held, pending, ended           int
	count, sessions, providers, tenants    int
	active, since, confirmed               time.Time
	oldest                                 *record // the member that speaks for all
	oldestHeld, oldestPending, oldestEnded *record
}

// tally counts members in one pass; they are sorted by key, so that subjects of one session are neighbours.
func tally(members []*record) count {
	var t count
	for _, r := range members {
		switch r.State {
		case StateFiring:
			t.firing++
		case StateHeld:
			t.held++
			t.oldestHeld = older(t.oldestHeld, r)
		case StatePending:
			t.pending++
			t.oldestPending = older(t.oldestPending, r)
		case StateEnded, StateResolved:
			t.ended++
			t.oldestEnded = older(t.oldestEnded, r)
		}
	}
	t.live = t.ended < len(members)
	best := t.state()
	var session backend.ID
	var source string
	var providers, tenants distinct
	for _, r := range members {
		if t.live == (r.State == StateEnded) {
			continue
		}
		t.count++
		if !r.Session.IsZero() && (r.Session != session || r.Key.Source != source) {
			t.sessions++
			session, source = r.Session, r.Key.Source
		}
		providers.add(r.Provider)
		tenants.add(r.Tenant)
		t.confirmed = latest(t.confirmed, r.Confirmed)
		if t.active.IsZero() || r.Active.Before(t.active) {
			t.active = r.Active
		}
		if r.State == best {
			t.oldest = older(t.oldest, r)
			if t.since.IsZero() || r.Since.Before(t.since) {
				t.since = r.Since
			}
		}
	}
	t.providers, t.tenants = providers.n(), tenants.n()
	return t
}

func (t *count) state() AlertState {
	switch {
	case t.firing > 0:
		return StateFiring
	case t.held > 0:
		return StateHeld
	case t.pending > 0:
		return StatePending
	}
	return StateEnded
}

// why is the text that goes with the alert's state: what is missing, or what decides.
func (t *count) why(s AlertState) backend.Safe {
	switch {
	case s == StateHeld && t.oldestHeld != nil:
		return t.oldestHeld.Why
	case s == StatePending && t.oldestPending != nil:
		return t.oldestPending.Why
	case s == StateEnded && t.oldestEnded != nil:
		return t.oldestEnded.Why
	}
	return t.oldest.Why
}

// older picks the record whose onset is proved to lie further back.
func older(a, b *record) *record {
	if a == nil || onset(b).Before(onset(a)) {
		return b
	}
	return a
}

func onset(r *record) time.Time {
	if r.Bounds.Latest.IsZero() {
		return r.Active
	}
	return r.Bounds.Latest
}

// distinct counts different texts; there are few, and neighbours mostly repeat.
type distinct struct {
	last backend.Safe
	few  []backend.Safe
	many map[backend.Safe]bool
}

func (d *distinct) add(s backend.Safe) {
	if s == d.last || s.IsEmpty() {
		return
	}
	d.last = s
	if d.many != nil {
		d.many[s] = true
		return
	}
	for _, x := range d.few {
		if x == s {
			return
		}
	}
	if d.few = append(d.few, s); len(d.few) > 32 {
		d.many = make(map[backend.Safe]bool, 64)
		for _, x := range d.few {
			d.many[x] = true
		}
	}
}

func (d *distinct) n() int { return max(len(d.few), len(d.many)) }
