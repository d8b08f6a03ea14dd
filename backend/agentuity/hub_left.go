package agentuity

import (
	"maps"
	"strings"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// leftHub ends the sessions that the Hub lists no more: those of this process, and those that alert or had no driver in a
// former one. A list of several pages may leave one out while it is read, so that two lists in a row must.
func (p *poll) leftHub(named map[backend.ID]bool, onePage bool) {
	h, s := &p.s.hub, p.s
	left, marks, boxes := map[backend.ID]bool{}, map[backend.ID][]string{}, map[backend.ID]backend.ID{}
	note := func(key backend.ID) {
		if !named[key] && !key.IsZero() {
			left[key] = false
		}
	}
	for key := range s.sessions {
		note(key)
	}
	for key := range p.attention.sessions {
		note(key)
	}
	for mark := range s.seen {
		if rest, is := strings.CutPrefix(mark, markDriver); is {
			raw, box, _ := strings.Cut(rest, " ")
			key, _ := backend.NewID(raw)
			note(key)
			marks[key] = append(marks[key], mark)
			boxes[key], _ = backend.NewID(box)
		}
	}
	for _, key := range stable.Sorted(maps.Keys(left), backend.ID.Compare) {
		told, missed := h.missed[key]
		if left[key] = told || onePage || missed; told || !left[key] {
			continue
		}
		if b := s.boxes[boxes[key]]; b != nil {
			b.led = true
		}
		for _, mark := range marks[key] {
			delete(s.seen, mark)
		}
		delete(s.sessions, key)
		p.r.Ended = append(p.r.Ended, backend.Key{Kind: backend.KindSession, Source: s.deps.ID, ID: key})
	}
	h.missed = left
}

// unled takes back that no driver leads the session of a sandbox: the Hub lists no session of it any more, or one that needs
// no driver.
func (p *poll) unled(b *box) {
	known, told := find(b.checks, backend.PlaneDriver)
	if !b.led || p.s.hub.failed != nil || p.s.hub.ok.IsZero() || told && known.Outcome != backend.OutcomeFailed {
		return
	}
	b.led = false
	b.observe(backend.Verdict{Plane: backend.PlaneDriver, Outcome: backend.OutcomeUnknown, At: p.s.hub.ok, Passive: true, What: backend.Text("the Hub lists no session of it that needs a driver")})
}
