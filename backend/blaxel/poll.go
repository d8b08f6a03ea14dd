package blaxel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"sandglass/backend"
	"sandglass/backend/blaxel/sandbox"
	"sandglass/internal/stable"
)

const (
	askAgain    = 10 * time.Second // between two requests for one part of one sandbox
	seenAgain   = 30 * time.Second // the same where people or rules look at it
	failedAgain = time.Minute      // the same where the newest one failed
	barredFor   = 5 * time.Minute  // how long a route is left alone that the key may not ask
	stateLives  = time.Minute      // how long the word of its own record counts where the list has none
	firstReads  = 45 * time.Second // a command that polls until everything is read gives up after so long
	sameExpiry  = 5 * time.Second  // a count of seconds that is left moves a little from reading to reading
	maxPreviews = 50               // of one sandbox
	maxTokens   = 20               // of one preview
)

func refusalOf(status int) sandbox.Refusal { return sandbox.Refusal{Status: status} }

// poll is the work of one Poll.
type poll struct {
	s          *Source
	ctx, slice context.Context
	r          backend.Reading
	now        time.Time
	unread     bool // something that was never read is left for the next poll
}

// Poll reads what is due: the list, then own records and previews, then snapshots.
func (s *Source) Poll(ctx context.Context) (backend.Reading, error) {
	now := s.deps.Now()
	p := &poll{s: s, ctx: ctx, now: now, r: backend.Reading{Schema: backend.ReadingSchema, Source: s.deps.ID, Kind: "blaxel", Started: now}}
	if b := s.budget.State(); b.Silence > 0 {
		return p.r, &backend.Error{Kind: backend.ErrThrottled, Source: s.deps.ID, RetryAfter: b.Silence,
			Err: fmt.Errorf("the control plane asked for silence for another %v", b.Silence.Round(time.Second))}
	}
	slice, cancel := context.WithTimeout(ctx, time.Duration(float64(s.deps.Interval)*sliceShare))
	defer cancel()
	p.slice = slice
	p.readSandboxes()
	if f := s.sandboxes.err; f != nil {
		kind, where, what := s.explain(f)
		p.finish()
		return p.r, &backend.Error{Kind: kind, Source: s.deps.ID, Where: where, RetryAfter: f.retryAfter, Err: errors.New(what)}
	}
	p.readNamed()
	p.readParts()
	p.readSnapshots()
	p.assemble()
	p.noteLoad()
	p.finish()
	return p.r, nil
}

// take takes over what the list, or its own record, says of a sandbox.
func (p *poll) take(r *row, at time.Time) {
	b := p.s.boxes[r.id]
	if b == nil {
		b = &box{since: p.now}
		p.s.recall(b, r)
		p.s.boxes[r.id] = b
	} else {
		if at.Before(b.readAt) {
			return
		}
		p.compare(b, r)
	}
	b.row, b.readAt, b.lost = *r, at, false
	delete(p.s.gone, r.id)
}

// compare tells what happened to a sandbox between two readings.
func (p *poll) compare(b *box, r *row) {
	if b.status != r.status || b.state != "" && r.state != "" && b.state != r.state { // one of two answers may leave the state out
		b.since = p.now
	}
	if e := &r.entity; e.ExpiresBy == b.entity.ExpiresBy && e.ExpiresAt.Sub(b.entity.ExpiresAt).Abs() < sameExpiry {
		e.ExpiresAt = b.entity.ExpiresAt
	}
	if e := &r.entity; e.ReapedBy == b.entity.ReapedBy && e.ReapedAt.Sub(b.entity.ReapedAt).Abs() < sameExpiry {
		e.ReapedAt = b.entity.ReapedAt
	}
	if b.created.IsZero() || !r.created.After(b.created) {
		return
	}
	b.since, b.own, b.previews, b.shown, b.ownRow = p.now, asked{}, asked{}, nil, row{}
	if at, known := r.entity.CreatedAt.Get(); known {
		b.fresh = at
		p.r.Events = append(p.r.Events, backend.Event{Kind: backend.EventChange, Name: backend.ChangeStart, At: at, Source: p.s.deps.ID, Subject: p.s.key(r.id),
			Text: backend.Textf("%s was re-created under the same name: its files are others", r.entity.Name)})
	}
}

// part is one request about one sandbox that is due.
type part struct {
	b    *box
	own  bool
	rank int
	last time.Time
}

// readParts reads own records and previews, the most urgent first: what a list left open, then what is looked at, then what was
// read longest ago.
func (p *poll) readParts() {
	var due []part
	for _, b := range p.s.boxes {
		over := b.entity.Class == backend.SandboxExited
		seen := p.s.attended(b.id)
		rank := func(a asked, open bool) (int, bool) {
			wait := p.now.Sub(a.at)
			switch {
			case a.at.IsZero() && open, wait >= askAgain && open:
				return 0, true
			case a.at.IsZero() && seen, wait >= seenAgain && seen, a.problem != nil && wait >= failedAgain:
				return 1, true
			case a.at.IsZero() || wait >= p.s.opt.Sweep.Std():
				return 2, true
			}
			return 0, false
		}
		open := b.lost || b.entity.Class == backend.SandboxDead && b.own.read.Before(b.since) ||
			b.status == "DEPLOYED" && b.state == "" && p.now.Sub(b.own.read) >= stateLives/2
		if r, is := rank(b.own, open); is && (!over || b.lost) {
			due = append(due, part{b, true, r, b.own.at})
		}
		if r, is := rank(b.previews, false); is && !over && !b.lost && !p.now.Before(p.s.barred.until) {
			due = append(due, part{b, false, r, b.previews.at})
		}
	}
	stable.Sort(due, func(x, y part) int {
		return cmp.Or(cmp.Compare(x.rank, y.rank), x.last.Compare(y.last), x.b.id.Compare(y.b.id))
	})
	for i, x := range due {
		if !x.own && p.now.Before(p.s.barred.until) || p.s.boxes[x.b.id] != x.b {
			continue
		}
		if !p.s.budget.Wait(p.slice) {
			// Previews of many sandboxes take minutes: only what the list leaves open is waited for.
			p.unread = p.unread || slices.ContainsFunc(due[i:], func(x part) bool { return x.rank == 0 && x.last.IsZero() })
			return
		}
		if x.own {
			p.readOwn(x.b)
		} else {
			p.readPreviews(x.b)
		}
	}
}

func (b *box) path() string { return "/sandboxes/" + url.PathEscape(b.id.Raw()) }

// readOwn asks for a sandbox's own record, which has its errors and events.
func (p *poll) readOwn(b *box) {
	b.own.at = p.now
	a, f := p.s.get(p.ctx, "/sandboxes/{name}", b.path(), nil)
	if f != nil && (f.refusal.Gone() || f.is(http.StatusNotFound) && f.refusal.Origin == sandbox.OriginInside) {
		if b.lost { // else the next list tells: it may have ended since
			p.end(b)
		}
		return
	}
	if f == nil {
		if r, ok := p.s.decoder().sandbox(a.root, a.at); ok && r.id == b.id {
			if b.lost && r.entity.Class == backend.SandboxExited { // the list names also what ended, as long as it is kept
				p.end(b)
				return
			}
			p.take(&r, a.at)
			b.own.read, b.own.problem, b.ownRow = a.at, nil, r
			return
		}
		f = &failure{refusal: refusalOf(http.StatusOK), err: backend.Errorf(backend.ErrInvalid, a.where, "the answer holds no such sandbox")}
	}
	b.own.problem = p.trouble(b, f, "its own record")
}

// end forgets a sandbox that the platform does not know any more.
func (p *poll) end(b *box) {
	p.r.Ended = append(p.r.Ended, p.s.key(b.id))
	delete(p.s.boxes, b.id)
	p.s.gone[b.id] = p.now
}

// trouble says why a part of a sandbox cannot be read.
func (p *poll) trouble(b *box, f *failure, part string) *backend.Problem {
	kind, where, what := p.s.explain(f)
	return &backend.Problem{Kind: kind, Where: p.clean(where, 300), What: p.clean(part+": "+what, 400), Subject: p.s.key(b.id), At: p.now}
}

// readPreviews asks for the addresses of a sandbox, and the tokens of the private ones.
func (p *poll) readPreviews(b *box) {
	b.previews.at = p.now
	a, f := p.s.get(p.ctx, "/sandboxes/{name}/previews", b.path()+"/previews", nil)
	if f == nil && !a.list.Exists() {
		f = &failure{refusal: refusalOf(http.StatusOK), err: backend.Errorf(backend.ErrInvalid, a.where, "the answer holds no list of previews")}
	}
	if p.bars(f) {
		return
	}
	if f != nil {
		if !f.refusal.Gone() { // the list tells what is gone
			b.previews.problem = p.trouble(b, f, "its previews")
		}
		return
	}
	d := p.s.decoder()
	b.previews.problem = nil
	out := make([]backend.Preview, 0, 4)
	for n := range a.list.Elements() {
		v, name, ok := d.preview(n)
		if !ok || len(out) == maxPreviews {
			continue
		}
		if !v.Public.Or(true) && !p.readTokens(b, name, &v) { // what was known of them stays
			for _, old := range b.shown {
				if old.Name == v.Name {
					v.Tokens, v.TokensAt = old.Tokens, old.TokensAt
				}
			}
		}
		out = append(out, v)
	}
	stable.Sort(out, func(x, y backend.Preview) int { return cmp.Compare(x.Name.String(), y.Name.String()) })
	b.shown, b.previews.read = out, a.at
}

// bars remembers that the key may not ask for previews at all: one refusal stands for those of all sandboxes.
func (p *poll) bars(f *failure) bool {
	if !f.refused() {
		p.s.barred = bar{}
		return false
	}
	p.s.barred = bar{p.now.Add(barredFor), f}
	return true
}

// readTokens asks for the tokens of a private preview; it reports whether they were read.
func (p *poll) readTokens(b *box, name backend.ID, v *backend.Preview) bool {
	if !p.s.budget.Wait(p.slice) {
		b.previews.at = time.Time{} // asked again in the next poll
		return false
	}
	a, f := p.s.get(p.ctx, "/sandboxes/{name}/previews/{preview}/tokens", b.path()+"/previews/"+url.PathEscape(name.Raw())+"/tokens", nil)
	if f == nil && !a.list.Exists() {
		f = &failure{refusal: refusalOf(http.StatusOK), err: backend.Errorf(backend.ErrInvalid, a.where, "the answer holds no list of tokens")}
	}
	if p.bars(f) {
		return false
	}
	if f != nil {
		b.previews.problem = p.trouble(b, f, "the tokens of a preview")
		return false
	}
	d := p.s.decoder()
	v.Tokens, v.TokensAt = nil, a.at
	for n := range a.list.Elements() {
		if t, ok := d.token(n); ok && len(v.Tokens) < maxTokens {
			v.Tokens = append(v.Tokens, t)
		}
	}
	return true
}

func (p *poll) problem(subject backend.Key, kind backend.ErrorKind, where, what string) {
	switch n := len(p.r.Problems); {
	case n < maxProblems:
		p.r.Problems = append(p.r.Problems, backend.Problem{Kind: kind, Where: p.clean(where, 300), What: p.clean(what, 400), Subject: subject, At: p.s.deps.Now()})
	case n == maxProblems:
		p.r.Problems = append(p.r.Problems, backend.Problem{Kind: kind, At: p.s.deps.Now(), What: backend.Textf("more than %d problems; the rest is not listed", maxProblems)})
	}
}

func (p *poll) note(format backend.Literal, args ...any) {
	p.r.Notes = append(p.r.Notes, backend.Textf(format, args...))
}

func (p *poll) clean(raw string, limit int) backend.Safe {
	return p.s.client.Cleaner().Clean(raw, limit)
}
