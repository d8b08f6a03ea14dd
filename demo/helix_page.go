package demo

import (
	"fmt"
	"strconv"
	"time"
)

// pageSlots is a little below the page size that the routes promise (1,000
// sessions), because a slot shows two sessions for a while when a run ends.
const pageSlots = 950

// page is one page of the operator routes.
type page struct {
	where instance
	first int // index into fleet.order
	full  bool
}

// parseCursor reads what a former page gave as next; empty is the first page.
func (f *fleet) parseCursor(where instance, cursor string, full bool) (page, error) {
	p := page{where: where, full: full}
	if cursor == "" {
		return p, nil
	}
	n, err := strconv.Atoi(cursor)
	if err != nil || n <= 0 || n >= len(f.order[where]) || n%pageSlots != 0 {
		return page{}, fmt.Errorf("cursor %q was never given out", cursor)
	}
	p.first = n
	return p, nil
}

func (f *fleet) slots(p page) []int32 {
	all := f.order[p.where]
	return all[p.first:min(p.first+pageSlots, len(all))]
}

// wirePage writes a page out.
func (w world) wirePage(p page) wirePage {
	slots := w.slots(p)
	out := wirePage{Sessions: make([]wireSession, 0, len(slots)+8)}
	for _, slot := range slots {
		if p.full {
			out.Sessions = append(out.Sessions, w.fullSession(int(slot)))
		} else {
			out.Sessions = append(out.Sessions, w.bareSession(int(slot)))
		}
		if old, ok := w.finished(int(slot)); ok {
			out.Sessions = append(out.Sessions, old)
		}
	}
	if end := p.first + len(slots); end < len(w.order[p.where]) {
		out.Next = strconv.Itoa(end)
	}
	return out
}

// tag is a strong entity tag: everything of a page that can change goes into
// it, so that an unchanged page is answered without writing it out.
func (w world) tag(p page) string {
	h := scramble(uint64(w.random) ^ uint64(w.start.UnixNano()))
	h = scramble(h ^ uint64(p.first)<<2 ^ uint64(p.where)<<1)
	if p.full {
		h = scramble(h)
	}
	for _, slot := range w.slots(p) {
		h = w.hashSession(h, int(slot), p.full)
	}
	return fmt.Sprintf(`"%016x"`, h)
}

func (w world) hashSession(h uint64, slot int, full bool) uint64 {
	s := &w.sessions[slot]
	if s.kind == turning {
		h = scramble(h ^ uint64(w.cycle(slot)))
		if w.t < w.startOf(slot)+completedFor {
			h = scramble(h)
		}
	}
	h = w.hashWork(h, slot)
	if !full {
		return h
	}
	for k := range s.count {
		e := w.entry(s.first + k)
		h = scramble(h ^ uint64(e.state)<<8 ^ uint64(e.cause))
		h = scramble(h ^ hashMoment(e.attempt))
		h = scramble(h ^ hashMoment(e.success) ^ uint64(e.nonce)<<48)
	}
	return h
}

func hashMoment(m moment) uint64 {
	if !m.known {
		return 1
	}
	return uint64(m.at/time.Millisecond) << 1
}
