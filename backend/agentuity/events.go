package agentuity

import (
	"time"

	"sandglass/backend"
)

// freshEvents is how old an event may be that the first reading of a sandbox tells.
const freshEvents = 15 * time.Minute

// events are the lifecycle events of a sandbox as they were last read.
type events struct {
	list []backend.LifecycleEvent
	at   time.Time
	told map[backend.ID]bool
}

// takeEvents takes over the lifecycle events of a sandbox, and tells those that are new.
func (p *poll) takeEvents(b *box, a *answer) {
	rows := a.data.Get("events")
	if rows.Kind() != '[' && !rows.IsNull() { // null is an empty list
		b.work.shapeless = a.lacks("list data.events", "")
		return
	}
	d := p.s.decoder(b.region.place)
	var all []backend.LifecycleEvent
	for n := range rows.Elements() {
		if e, ok := d.lifecycle(n, a.at); ok {
			all = append(all, e)
		}
	}
	first := b.events.told == nil
	if first {
		b.events.told = map[backend.ID]bool{}
	}
	b.events.list, b.events.at = order(all), a.at
	for _, e := range b.events.list {
		if e.ID.IsZero() || b.events.told[e.ID] {
			continue
		}
		b.events.told[e.ID] = true
		fresh := e.At.After(p.now.Add(-freshEvents)) || p.urgent(b)
		if first && (!fresh || !e.At.After(p.s.toldTo)) {
			continue // it happened before anybody looked
		}
		p.r.Events = append(p.r.Events, told(&b.entity, e, p.now))
		if e.At.After(p.s.newest) && !e.At.After(p.now) {
			p.s.newest = e.At
		}
	}
	if len(b.events.told) > 4*rowsAsked {
		b.events.told = map[backend.ID]bool{}
		for _, e := range b.events.list {
			b.events.told[e.ID] = true
		}
	}
}
