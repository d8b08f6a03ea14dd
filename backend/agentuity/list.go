package agentuity

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"sandglass/backend"
)

const (
	liveEvery  = 5 * time.Second  // the sheet of the vendor's clients: 5 to 10 s
	liveSlow   = 10 * time.Second // for lists of more than slowPages pages
	slowPages  = 3
	endedEvery = time.Minute
	maxPages   = 1000
	perPage    = time.Second // a list of many pages is read less often
	liveFilter = "live=true"
	mostBack   = 20 // how often one reading goes back a page
)

func trimSlash(s string) string { return strings.TrimRight(s, "/") }

func joined(all []string) string { return strings.Join(all, ", ") }

// list is one filtered list of a region and how far it is read.
type list struct {
	filter  string // "live=true", "status=failed", empty: all
	every   time.Duration
	newest  bool // one page is enough
	walk    *walk
	next    time.Time
	done    time.Time // when it was last read to its end, zero: never
	from    time.Time // when the first page of that reading came
	size    int       // pages of it
	left    int       // rows that it left out the last time
	whole   bool      // the last time it held still while it was read
	ids     map[backend.ID]bool
	changed backend.Safe // why it is not whole
}

// walk is one reading of a list in progress.
type walk struct {
	first         time.Time // when its first page came
	offset, pages int
	bad           int // rows without an id
	total         int // as the newest page counts; -1: not told
	back          int // how often it went back a page
	ids           map[backend.ID]bool
	problem       string
}

func newRegion(name string, p *place, full time.Duration) *region {
	r := &region{name: name, place: p, live: list{filter: liveFilter, every: liveEvery}, full: list{every: full}}
	for _, status := range []string{"failed", "terminated"} {
		r.ended = append(r.ended, &list{filter: "status=" + status, every: endedEvery, newest: true})
	}
	return r
}

// due reports whether the list is to be read, or to be read on.
func (l *list) due(now time.Time) bool { return l.walk != nil || !now.Before(l.next) }

// from is the first row of the next page: the last one of the page before it, which shows that the list held still.
func (w *walk) from() int { return max(w.offset-1, 0) }

// query is what a page is asked with. Rows are listed by their creation, so that new ones come last.
func (l *list) query() url.Values {
	q := url.Values{"limit": {strconv.Itoa(pageSize)}, "offset": {strconv.Itoa(l.walk.from())}, "sort": {"created"}, "direction": {"asc"}}
	if name, value, ok := strings.Cut(l.filter, "="); ok {
		q.Set(name, value)
	}
	if l.newest {
		q.Set("sort", "updated")
		q.Set("direction", "desc")
	}
	return q
}

// page is one page of a list.
type page struct {
	rows  []row
	bad   int // rows without an id
	full  bool
	total int // -1: not told
	at    time.Time
	took  time.Duration
}

// readPage asks for the next page of a list.
func (s *Source) readPage(ctx context.Context, r *region, l *list) (*page, *failure) {
	a, f := r.place.get(ctx, "/sandbox?"+l.filter, "/sandbox", l.query())
	if f != nil {
		return nil, f
	}
	rows := a.data.Get("sandboxes")
	if total, ok := number(a.data.Get("total")); rows.Kind() != '[' && !(rows.IsNull() && ok && total == 0) { // null is an empty list
		return nil, a.lacks("list data.sandboxes", r.place.asks)
	}
	p := &page{total: -1, at: a.at, took: a.took}
	if n, ok := number(a.data.Get("total")); ok && n >= 0 {
		p.total = n
	}
	d := s.decoder(r.place)
	for n := range rows.Elements() {
		x, ok := d.sandbox(n, r.name)
		if !ok {
			p.bad++
			continue
		}
		p.rows = append(p.rows, x)
	}
	return p, nil
}

func (s *Source) decoder(p *place) *decoder {
	return &decoder{source: s.deps.ID, clean: p.client.Cleaner(), offset: p.client.Offset()}
}

// add takes one page into a walk; it reports whether the walk is at its end. Rows that are removed move the others to the
// front: a page that does not begin with a known row may leave some out, and the page before it is read again.
func (l *list) add(p *page) (end bool) {
	w := l.walk
	if w.ids == nil {
		w.ids, w.first = map[backend.ID]bool{}, p.at
	}
	n := len(p.rows) + p.bad
	moved := w.offset > 0 && p.bad == 0 && (n == 0 || !w.ids[p.rows[0].id])
	ended := w.from() + n
	w.pages, w.total = w.pages+1, p.total
	switch {
	case w.pages >= maxPages:
		return true
	case n == 0 && p.total > w.offset:
		w.problem = fmt.Sprintf("the page from row %d on is empty, but the list counts %d sandboxes; it is read again", w.from()+1, p.total)
		return true
	case moved && w.back == mostBack:
		w.problem = fmt.Sprintf("the list changed %d times while it was read; it is read again", w.back)
		return true
	case moved:
		w.back, w.offset = w.back+1, max(w.offset-pageSize, 0)
		return false
	}
	before := len(w.ids)
	for i := range p.rows {
		w.ids[p.rows[i].id] = true
	}
	if len(w.ids) == before && p.bad == 0 && w.offset > 0 && p.total > ended {
		w.problem = fmt.Sprintf("the page from row %d on brings no new sandbox, but the list counts %d; it is read again", w.from()+1, p.total)
		return true
	}
	w.offset, w.bad = ended, w.bad+p.bad
	if l.newest {
		return true
	}
	if p.total >= 0 {
		return ended >= p.total
	}
	return n < pageSize
}

// finish ends a walk.
func (l *list) finish(now time.Time) {
	w := l.walk
	l.walk, l.done, l.ids, l.from, l.size = nil, now, w.ids, w.first, w.pages
	l.whole, l.changed, l.left = true, backend.Safe{}, w.bad
	seen := len(w.ids) + w.bad
	switch {
	case w.problem != "":
		l.whole, l.changed = false, backend.Clean(w.problem, 200)
	case !l.newest && seen < w.total:
		l.whole = false
		l.changed = backend.Textf("the list changed while it was read: %d of %d sandboxes came; it is read again", seen, w.total)
	}
	every := l.rest(w.pages)
	if !l.whole {
		every = max(every/2, time.Duration(w.pages)*perPage)
	}
	l.next = now.Add(every - every/10)
}

// readLists goes on with the lists of a region that are due, until the slice of the poll ends.
func (s *Source) readLists(ctx, slice context.Context, r *region) {
	for _, l := range append([]*list{&r.full, &r.live}, r.ended...) {
		now := s.deps.Now()
		if !l.due(now) || l == &r.live && r.full.done.IsZero() { // the first full list holds the live ones
			continue
		}
		if l.walk == nil {
			l.walk = &walk{total: -1}
		}
		for l.walk != nil {
			if !r.place.budget.Wait(slice) {
				return
			}
			p, f := s.readPage(ctx, r, l)
			if f != nil && l.newest && r.err == nil { // the other lists tell
				l.walk, l.next, l.changed = nil, now.Add(l.every), backend.Clean(f.Error(), 400)
				continue
			}
			if f != nil {
				r.err, l.walk, l.next = f, nil, now.Add(s.deps.Interval*9/10)
				return
			}
			r.err, r.ok = nil, p.at
			p.full = l == &r.full
			r.got = append(r.got, p)
			if l.add(p) {
				l.finish(s.deps.Now())
				r.finished = append(r.finished, l)
			}
		}
	}
}
