package helix

import (
	"context"
	"errors"
	"hash/maphash"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
)

const (
	maxPages    = 2000
	maxSessions = 500_000
)

// page is one page of the list or aggregate route, kept so that an unchanged one need not be sent or read again.
type page struct {
	etag  string
	hash  uint64
	clock clockCorrection
	next  string

	listed   []listed   // of a list route
	sessions []*session // of an aggregate route
	// bad are sessions without a usable id: the page counts them, but does not say which they are.
	bad []error
}

// explain takes an error apart into kind, place and cause.
func explain(err error) (kind backend.ErrorKind, where, what string) {
	var e *backend.Error
	if errors.As(err, &e) {
		return e.Kind, e.Where, e.Err.Error()
	}
	return backend.ErrUnreachable, "", err.Error()
}

// at puts a URL before the place that an error names inside the body.
func at(url string, err error) error {
	kind, where, what := explain(err)
	if where != "" {
		url += " at " + where
	}
	return backend.Errorf(kind, url, "%s", what)
}

// fetchPage asks for one page. fresh is false when nothing on it changed since it was last read. The caller took the
// request from the budget.
func (s *Source) fetchPage(ctx context.Context, route, cursor string) (p *page, fresh bool, err error) {
	url := withCursor(route, cursor)
	s.mu.Lock()
	old, etag := s.pages[url], ""
	if old != nil && old.clock == s.epoch() {
		etag = old.etag
	}
	buffer := s.buffer
	s.mu.Unlock()
	resp, err := s.client.Get(ctx, wire.Request{URL: url, Header: plainHeaders(s.opt.Headers), ETag: etag, Buffer: buffer})
	if err != nil {
		return nil, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if resp.NotModified {
		return old, false, nil
	}
	if resp.Status == 404 {
		return nil, false, backend.Errorf(backend.ErrInvalid, resp.Where, "the route is not there (404)")
	}
	if cap(resp.Body) > cap(s.buffer) {
		s.buffer = resp.Body
	}
	hash, clock := maphash.Bytes(s.seed, resp.Body), s.epoch()
	if old != nil && old.hash == hash && old.clock == clock {
		old.etag = resp.ETag
		return old, false, nil
	}
	p, err = s.readPage(resp, route == s.opt.AggregateURL)
	if err != nil {
		return nil, false, err
	}
	p.etag, p.hash, p.clock = resp.ETag, hash, clock
	if len(s.pages) < maxPages {
		s.pages[url] = p
	}
	return p, true, nil
}

func (s *Source) readPage(resp *wire.Response, full bool) (*page, error) {
	doc, broken, err := wire.ParseList(resp.Body, s.opt.Pointers.Sessions)
	if err != nil {
		return nil, at(resp.Where, err)
	}
	root := doc.Root()
	if err := root.Expect("sessions", "next"); err != nil {
		return nil, at(resp.Where, err)
	}
	list, ok := root.Find(s.opt.Pointers.Sessions)
	if !ok || list.Kind() != '[' {
		return nil, backend.Errorf(backend.ErrInvalid, resp.Where,
			"wrong path: the answer has no array of sessions at %q (pointers.sessions)", s.opt.Pointers.Sessions)
	}
	p := &page{}
	d := s.ready()
	index := -1
	for n := range list.Elements() {
		if index++; len(broken) > 0 && broken[0].Index == index {
			s.readBroken(broken[0], resp, p, full)
			broken = broken[1:]
			continue
		}
		if full {
			if err := s.readSession(d, n, resp, p); err != nil {
				p.bad = append(p.bad, at(resp.Where, err))
			}
			continue
		}
		l, _, err := d.session(n, s.opt.Pointers, s.running)
		if err != nil {
			p.bad = append(p.bad, at(resp.Where, err))
			continue
		}
		l.raw = d.raw(n)
		s.listsWork(l, resp.At)
		p.listed = append(p.listed, l)
	}
	if next, ok := root.Find(s.opt.Pointers.Next); ok && !next.IsNull() {
		text, isText := next.Text()
		if !isText && next.Kind() == '0' {
			text, isText = string(next.Raw()), true
		}
		if !isText || len(text) > 4096 {
			return nil, at(resp.Where, next.Invalid("want the cursor of the next page as a string"))
		}
		p.next = text
	}
	return p, nil
}

// readBroken adds a session whose text is no valid JSON: it cannot be read, and the others can.
func (s *Source) readBroken(e wire.BadElement, resp *wire.Response, p *page, full bool) {
	problem := at(resp.Where, e.Err)
	id, err := backend.NewID(e.Text(s.opt.Pointers.SessionID))
	switch {
	case err != nil || id.IsZero():
		p.bad = append(p.bad, problem)
	case full:
		p.sessions = append(p.sessions, s.badSession(listed{id: id}, problem, resp.At))
	default:
		p.listed = append(p.listed, listed{id: id, problem: problem})
	}
}

// pageWalk is one walk over all pages of a route. It may take several polls.
type pageWalk struct {
	cursor  string
	pages   []*page
	seen    map[string]bool
	ids     map[backend.ID]bool
	idle    int  // pages in a row that named no new session
	changed bool // some page changed
	count   int
}

// maxIdlePages is how many pages in a row may name no new session: pages that go on beyond that never end.
const maxIdlePages = 20

// add takes in a page.
func (w *pageWalk) add(p *page) {
	w.pages = append(w.pages, p)
	w.count += len(p.listed) + len(p.sessions)
	before := len(w.ids)
	for i := range p.listed {
		w.ids[p.listed[i].id] = true
	}
	for _, x := range p.sessions {
		w.ids[x.id] = true
	}
	if w.idle++; len(w.ids) > before {
		w.idle = 0
	}
}

// walk goes on with a walk until its end or the end of the slice. done is true at the end; err ends the walk.
func (s *Source) walk(ctx, slice context.Context, route string, w *pageWalk) (done bool, err error) {
	if w.seen == nil {
		w.seen, w.ids = map[string]bool{"": true}, map[backend.ID]bool{}
	}
	from := len(w.pages)
	for {
		if !s.budget.Wait(slice) {
			return false, nil
		}
		p, fresh, err := s.fetchPage(ctx, route, w.cursor)
		if err != nil && ctx.Err() != nil && len(w.pages) > from {
			return false, nil // the poll was ended from outside: what was read is delivered, the next poll goes on
		}
		if err != nil {
			return false, err
		}
		s.tally.list = true
		w.changed = w.changed || fresh
		w.add(p)
		switch {
		case p.next == "":
			return true, nil
		case w.seen[p.next]:
			return false, backend.Errorf(backend.ErrInvalid, route, "the cursors go in a circle: a page names a page before it as the next one")
		case w.idle >= maxIdlePages:
			return false, backend.Errorf(backend.ErrInvalid, route, "the pages do not end: the last %d name no new session and each names a next page", w.idle)
		case len(w.pages) >= maxPages || w.count > maxSessions:
			return false, backend.Errorf(backend.ErrInvalid, route, "more than %d pages or %d sessions", maxPages, maxSessions)
		}
		w.seen[p.next], w.cursor = true, p.next
	}
}

// endlessAfter is how long the first walk may take before the source counts as degraded.
const endlessAfter = 30 * time.Second

// tellEndless says that the first walk goes on for long: what it did not come to is not known.
func (s *Source) tellEndless(r *backend.Reading, w *pageWalk) {
	if took := s.deps.Now().Sub(s.started); r.Partial && took > endlessAfter && r.Degraded.IsEmpty() {
		r.Degraded = backend.Textf("the list of sessions was not read to its end: %d pages with %d sessions in %s", len(w.pages), len(w.ids), backend.Age(took))
	}
}

// forgetPages drops the pages of a route that a complete walk no longer reaches.
func (s *Source) forgetPages(route string, w *pageWalk) {
	keep := make(map[string]*page, len(w.seen))
	for cursor := range w.seen {
		url := withCursor(route, cursor)
		if p := s.pages[url]; p != nil {
			keep[url] = p
		}
	}
	s.pages = keep
}
