package helix

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"net/http"
	"sync"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
)

// maxRefusals is the number of 429 and 503 answers after which a poll stops asking.
const maxRefusals = 3

// pollSessions finds the sessions and asks those that are due, as many as the slice allows.
func (s *Source) pollSessions(ctx, slice context.Context, r *backend.Reading) error {
	complete, err := s.discover(ctx, slice, r)
	if err != nil {
		return err
	}
	s.mu.Lock()
	for _, t := range s.sessions {
		t.fresh, t.touch = false, false
	}
	if complete {
		listed := func(id backend.ID) bool { return s.sessions[id] != nil }
		s.loseAlerting(listed)
		s.loseGradually(listed, s.mayRun())
	}
	plan := append(s.dueLost(), s.plan()...)
	s.mu.Unlock()
	s.askAll(ctx, slice, plan)
	if err := s.unreachable(ctx, slice); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fillReading(r, complete)
	s.addLost(r)
	s.countUnread(r)
	return nil
}

// askAll asks in the order of the plan, several at a time, until the slice is over or the server complains.
func (s *Source) askAll(ctx, slice context.Context, plan []*tracked) {
	var wg sync.WaitGroup
	free := make(chan struct{}, inFlight)
	defer wg.Wait()
	for _, t := range plan {
		select {
		case free <- struct{}{}:
		case <-slice.Done():
			return
		}
		if s.refusing() || !s.budget.Wait(slice) {
			return
		}
		wg.Add(1)
		s.deps.Spawn.Go("ask "+s.deps.ID, func() {
			defer wg.Done()
			s.ask(ctx, t)
			<-free
		})
	}
}

// refusing reports whether further requests are useless: the server refuses them, or does not answer.
func (s *Source) refusing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tally.throttled >= maxRefusals || s.tally.asked >= inFlight && s.tally.answered == 0
}

// ask sends one health request and records the answer.
func (s *Source) ask(ctx context.Context, t *tracked) {
	resp, err := s.request(ctx, t)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && ctx.Err() != nil {
		return // the poll was ended from outside: that says nothing about the session
	}
	s.tally.asked++
	t.before = t.outcome
	t.asked, t.touch = s.deps.Now(), true
	answer, err := s.judge(t, resp, err)
	t.answer, t.problem, t.text = answer, err, backend.Safe{}
	if answer != backend.AnswerFailed {
		s.tally.answered++
	} else {
		if s.tally.first == nil {
			s.tally.first = err
		}
		if backend.KindOf(err) == backend.ErrThrottled {
			s.tally.throttled++
		}
	}
	if err != nil {
		kind, where, what := explain(err)
		t.fails++
		t.text = s.client.Cleaner().Clean(fmt.Sprintf("%s: %s: %s", kind, where, what), 300)
		return
	}
	t.fails, t.good = 0, t.asked
	if t.answer == backend.AnswerOK {
		t.snapshot = t.asked
	}
}

func (s *Source) request(ctx context.Context, t *tracked) (*wire.Response, error) {
	url, err := sessionURL(s.opt.URL, t.id)
	if err != nil {
		return nil, backend.Errorf(backend.ErrInvalid, "session id", "%w", err)
	}
	headers, err := sessionHeaders(s.opt.Headers, t.id)
	if err != nil {
		return nil, backend.Errorf(backend.ErrInvalid, "session id", "%w", err)
	}
	s.mu.Lock()
	etag := ""
	if t.clock == s.epoch() {
		etag = t.etag
	}
	s.mu.Unlock()
	return s.client.Get(ctx, wire.Request{URL: url, Header: headers, ETag: etag, Route: s.target(s.opt.URL)})
}

// judge says what an answer means. With an error the answer says nothing about the workspaces.
func (s *Source) judge(t *tracked, resp *wire.Response, err error) (backend.RouteAnswer, error) {
	if err != nil {
		if backend.KindOf(err) == backend.ErrInvalid {
			return backend.AnswerInvalid, err
		}
		return backend.AnswerFailed, err
	}
	switch {
	case resp.NotModified:
		s.again(t, resp.At)
		return backend.AnswerOK, nil
	case resp.Status == http.StatusNotFound:
		if s.idle(resp.Body) {
			t.etag, t.hash = "", 0
			return backend.AnswerIdle, nil
		}
		return backend.AnswerNoRoute, backend.Errorf(backend.ErrInvalid, resp.Where,
			"the health route is not there: a 404 without %q at %s", s.opt.IdleMatch.Equals, s.opt.IdleMatch.Pointer)
	}
	hash, clock := maphash.Bytes(s.seed, resp.Body), s.epoch()
	if t.hash == hash && t.clock == clock && t.hash != 0 {
		t.etag = resp.ETag
		s.again(t, resp.At)
		return backend.AnswerOK, nil
	}
	d := s.ready()
	before := d.undated
	spaces, err := s.read(d, t.id, resp)
	switch {
	case errors.Is(err, errOtherShape):
		return backend.AnswerWrongPath, backend.Errorf(backend.ErrInvalid, resp.Where,
			"wrong path: the answer is not a registry snapshot (no %s, no workspace, no state)", s.opt.Pointers.Workspaces)
	case err != nil:
		return backend.AnswerInvalid, at(resp.Where, err)
	}
	t.undated = min(d.undated-before, len(spaces))
	t.workspaces, t.fresh, t.etag, t.hash, t.clock, t.retired = spaces, true, resp.ETag, hash, clock, false
	return backend.AnswerOK, nil
}

// again confirms the last snapshot.
func (s *Source) again(t *tracked, at time.Time) {
	for i := range t.workspaces {
		t.workspaces[i].ReadAt = at
	}
	t.fresh = true
}

// read decodes a health answer.
func (s *Source) read(d *decoder, id backend.ID, resp *wire.Response) ([]backend.Workspace, error) {
	doc, err := wire.Parse(resp.Body)
	if err != nil {
		return nil, err
	}
	entries, err := snapshot(doc.Root(), s.opt.Pointers.Workspaces)
	if err != nil {
		return nil, err
	}
	out := make([]backend.Workspace, 0, len(entries))
	for _, e := range entries {
		w, err := d.workspace(e, id, resp.At)
		if err != nil {
			return nil, err
		}
		out = append(out, *w)
	}
	return out, nil
}

// idle recognises the documented 404.
func (s *Source) idle(body []byte) bool {
	doc, err := wire.Parse(body)
	if err != nil {
		return false
	}
	n, ok := doc.Find(s.opt.IdleMatch.Pointer)
	text, isText := n.Text()
	return ok && isText && text == s.opt.IdleMatch.Equals
}

// unreachable decides whether nothing at all answered. When every request of this poll failed, a session that answered
// before is asked too: one broken session among idle ones must not look like a dead server.
func (s *Source) unreachable(ctx, slice context.Context) error {
	s.mu.Lock()
	n := s.tally
	var canary *tracked
	if n.asked > 0 && n.answered == 0 && !n.list {
		for _, t := range s.sessions {
			if !t.touch && !t.good.IsZero() && !t.bad() && (canary == nil || t.good.After(canary.good)) {
				canary = t
			}
		}
	}
	s.mu.Unlock()
	switch {
	case n.asked == 0 || n.answered > 0 || n.list:
		return nil
	case canary != nil && s.budget.Wait(slice):
		s.ask(ctx, canary)
		s.mu.Lock()
		answered := s.tally.answered
		s.mu.Unlock()
		if answered > 0 {
			return nil
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.sessions {
		if t.touch { // it is the server, not the session: what was known of it stays, and it is asked again at once
			t.outcome, t.touch = t.before, false
		}
	}
	return n.first
}
