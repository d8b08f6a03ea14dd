package blaxel

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
	"sandglass/internal/stable"
)

const (
	pageSize       = 200 // the most that the platform gives
	maxPages       = 500 // of one list
	snapshotsEvery = 5 * time.Minute
	perPage        = 2 * time.Second // for which a list rests: one of many pages is read less often
	cursorLife     = 23 * time.Hour  // a cursor of the platform dies after 24 h
)

// list is one paged list of the control plane and how far it is read.
type list[T any] struct {
	walk *walk[T]
	next time.Time
	from time.Time // when its first page came, of the newest reading that came to an end; zero: none did
	size int       // pages of that reading
	done time.Time // when it was last read to its end, zero: never
	said string    // why its newest reading is not whole
	err  *failure
	none bool // the platform has no such route
}

// walk is one reading of a list in progress.
type walk[T any] struct {
	began  time.Time
	first  time.Time // when its first page came
	cursor string
	pages  int
	seen   map[string]bool // cursors of pages
	rows   []T
	bad    int   // rows that cannot be read
	least  int64 // rows that the list has at least: the smallest total of its pages
}

// due reports whether a list is read now.
func (l *list[T]) due(now time.Time) bool { return l.walk != nil || !now.Before(l.next) }

// read goes on with a list until its end, an error, or the end of the slice. It returns the rows at its end. decode reads one
// element; a page is asked for again from its start where its cursor is too old.
func read[T any](ctx, slice context.Context, s *Source, l *list[T], path string, query url.Values, every time.Duration, decode func(wire.Node, time.Time) (T, bool)) (rows []T, end bool) {
	now := s.deps.Now()
	if l.walk == nil || now.Sub(l.walk.began) > cursorLife {
		l.walk = &walk[T]{began: now, seen: map[string]bool{}}
	}
	for {
		if !s.budget.Wait(slice) {
			return nil, false
		}
		q := maps.Clone(query)
		q.Set("limit", strconv.Itoa(pageSize))
		if l.walk.cursor != "" {
			q.Set("cursor", l.walk.cursor)
		}
		got, f := s.get(ctx, path, path, q)
		if f == nil && !got.list.Exists() {
			f = &failure{refusal: refusalOf(http.StatusOK), err: &backend.Error{Kind: backend.ErrInvalid, Source: s.deps.ID, Where: got.where,
				Err: fmt.Errorf("the answer holds no list; is %s the control plane?", s.opt.URL)}}
		}
		if f != nil {
			l.walk, l.err = nil, f
			l.next = now.Add(spread(every) * 9 / 10)
			return nil, false
		}
		w := l.walk
		if w.first.IsZero() {
			w.first = got.at
		}
		w.bad += len(got.bad)
		for x := range got.list.Elements() {
			if r, ok := decode(x, got.at); ok {
				w.rows = append(w.rows, r)
			} else if x.Kind() != '0' { // a number stands for what is no valid JSON
				w.bad++
			}
		}
		if w.pages++; w.pages == 1 || got.total < w.least {
			w.least = got.total
		}
		over, why := w.over(got)
		if !over {
			continue
		}
		if why == "" && w.bad > 0 {
			why = backend.Counted(w.bad, "row", "rows") + " cannot be read; the others are shown"
		}
		l.walk, l.err, l.said, l.from, l.size = nil, nil, why, w.first, w.pages
		l.next = w.began.Add(spread(every * 9 / 10)) // the poll that falls on it finds it due
		if rested := s.deps.Now().Add(spread(time.Duration(w.pages) * perPage)); w.pages > 1 && rested.After(l.next) {
			l.next = rested
		}
		if why == "" {
			l.done = s.deps.Now()
		}
		return w.rows, true
	}
}

// over takes the cursor of the next page. It reports whether the list is at its end, and why not whole.
func (w *walk[T]) over(got *answer) (end bool, why string) {
	next, rows := got.next, len(w.rows)+w.bad
	switch {
	case next == "" && int64(rows) < w.least:
		return true, fmt.Sprintf("its rows end after %d, and its total says %d", rows, w.least)
	case next == "" && got.more:
		return true, fmt.Sprintf("after %s it says that there are more, and gives no cursor for them", backend.Counted(rows, "row", "rows"))
	case next == "":
		return true, ""
	case w.seen[next]:
		return true, "the platform gave the same cursor twice; the list is read again"
	case w.pages >= maxPages:
		return true, fmt.Sprintf("it has more than %d pages", maxPages)
	}
	w.seen[next] = true
	w.cursor = next
	return false, ""
}

// readSandboxes reads the list of sandboxes when it is due; those that ended and are still kept are in it.
func (p *poll) readSandboxes() {
	l := &p.s.sandboxes
	if !l.due(p.now) {
		return
	}
	d := p.s.decoder
	rows, end := read(p.ctx, p.slice, p.s, l, "/sandboxes", url.Values{"showTerminated": {"true"}, "sort": {"createdAt:asc"}}, p.s.opt.Inventory.Std(),
		func(n wire.Node, at time.Time) (row, bool) {
			r, ok := d().sandbox(n, at)
			r.entity.ReadAt = at
			return r, ok
		})
	if !end {
		p.unread = p.unread || l.err == nil
		return
	}
	named := map[backend.ID]int{} // of two of one name the newest counts: the other one ended
	for i := range rows {
		if k, known := named[rows[i].id]; !known || rows[k].created.Before(rows[i].created) {
			named[rows[i].id] = i
		}
	}
	for i := range rows {
		if r := &rows[i]; named[r.id] == i {
			p.take(r, r.entity.ReadAt)
			p.s.boxes[r.id].alone = false
		}
	}
	if l.said != "" {
		return
	}
	for id, b := range p.s.boxes {
		_, is := named[id]
		b.lost, b.alone = !is, !is
	}
	clear(p.s.formers) // those are no more
}

// readSnapshots reads what could be restored when it is due. Older installations have no such route.
func (p *poll) readSnapshots() {
	l := &p.s.saved
	if !l.due(p.now) {
		return
	}
	d := p.s.decoder
	rows, end := read(p.ctx, p.slice, p.s, l, "/snapshots", url.Values{}, snapshotsEvery, func(n wire.Node, _ time.Time) (savedSnapshot, bool) {
		x, of, ok := d().snapshot(n)
		return savedSnapshot{x, of}, ok
	})
	l.none = l.err.is(http.StatusNotFound)
	if !end {
		return
	}
	by := map[string][]backend.Snapshot{}
	for _, x := range rows {
		by[x.of] = append(by[x.of], x.Snapshot)
	}
	for _, all := range by {
		stable.Sort(all, func(a, b backend.Snapshot) int {
			return b.CreatedAt.Or(time.Time{}).Compare(a.CreatedAt.Or(time.Time{}))
		})
	}
	p.s.snapshots = by
}
