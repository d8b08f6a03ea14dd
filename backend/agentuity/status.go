package agentuity

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"sandglass/backend"
)

// disagreeFor is how long at least two routes must give different statuses until they are said to disagree.
const disagreeFor = 10 * time.Second

// views are what the routes about one sandbox say of its status.
type views struct {
	at     time.Time // when the status route was last asked
	status string    // its answer
	got    string    // the answer of the sandbox's own route, asked where the others differ
	since  time.Time // since when list and status route differ in every round, zero: they agree
	rounds int
}

// readStatus asks the cheap status route of a sandbox.
func (p *poll) readStatus(b *box) job {
	return func(ctx context.Context) func() {
		at := url.PathEscape(b.id.Raw())
		a, f := p.ask(ctx, b, "status", "/sandbox/status/"+at, nil)
		if f.is(http.StatusNotFound) && !f.notFound() || f == errLater {
			return nil
		}
		var full *answer
		missed := f.notFound() && f.code != "" // a platform without this route gives no code
		if f == nil {
			if word, _ := a.data.Get("status").Text(); word != b.status {
				full, _ = p.ask(ctx, b, "sandbox", "/sandbox/"+at, nil)
			}
		} else if f.notFound() { // the status route is a cache: the sandbox's own route decides
			if full, f = p.ask(ctx, b, "sandbox", "/sandbox/"+at, nil); f == errLater {
				return nil
			}
		}
		where := p.locate(ctx, b, f)
		return func() {
			if p.located(b, where) && p.s.boxes[b.id] == b {
				p.end(b.id)
				return
			}
			p.takeStatus(b, a, full, f, missed)
		}
	}
}

// takeStatus takes over what the status route says; missed: it says that it does not find the sandbox.
func (p *poll) takeStatus(b *box, a, full *answer, f *failure, missed bool) {
	if p.s.boxes[b.id] != b {
		return
	}
	b.views.at, b.touched = p.now, true
	v := backend.Verdict{Plane: backend.PlaneControl, Outcome: backend.OutcomeOK, At: p.now, Passive: true}
	switch {
	case f.notFound() && (b.lost || !b.region.full.ids[b.id]):
		p.end(b.id)
		return
	case f.notFound():
		b.problem = nil // its list names it: the next one tells
		v.Outcome, v.What = backend.OutcomeUnknown, backend.Text("the list names it, and its own route does not find it")
		v.Evidence = []backend.Safe{p.clean(f.said(), 400)}
		b.observe(v)
		return
	case f != nil:
		p.failed(b, f)
		v.Outcome, v.Kind, v.What = p.controlFailure(b, f)
		v.Evidence = []backend.Safe{p.clean(f.said(), 400)}
		b.observe(v)
		return
	}
	word := ""
	if a != nil {
		word, _ = a.data.Get("status").Text()
		v.Took, v.At = a.took, a.at
	}
	if full != nil {
		b.views.got, _ = full.data.Get("status").Text()
		v.At = full.at
	}
	v.What = backend.Textf("its status route says %s", p.clean(word, 60))
	if word == "" {
		word = b.views.got
		v.What = backend.Textf("its own route says %s", p.clean(word, 60))
	}
	if missed {
		v.What = backend.Textf("%s, but its status route does not find it", v.What)
	}
	b.observe(v)
	b.lost, b.problem = false, nil
	if missed && word == b.status {
		b.views.differ("not found", p.now)
		return
	}
	p.compare(b, word, full)
}

// compare notes whether the routes agree. A sandbox that left the live list takes the status of its own route.
func (p *poll) compare(b *box, word string, full *answer) {
	x := &b.views
	x.status = word
	if word == b.status || word == "" {
		x.since, x.rounds = time.Time{}, 0
		return
	}
	if full != nil && x.got == word && !b.region.live.ids[b.id] { // the list that named it is older
		if r, ok := p.s.decoder(b.region.place).sandbox(full.data, b.region.name); ok {
			b.changed(word, p.s.statusSince(b, b.id, word, p.now))
			b.row, b.readAt = r, full.at
			x.since, x.rounds = time.Time{}, 0
			return
		}
	}
	x.differ(word, p.now)
}

// differ notes that the status route says otherwise than the list.
func (x *views) differ(word string, now time.Time) {
	if x.status = word; x.since.IsZero() {
		x.since = now
	}
	x.rounds++
}

// disagreement lists the statuses where routes differ in two rounds at least.
func (b *box) disagreement(now time.Time) []backend.Field {
	x := &b.views
	if x.since.IsZero() || x.rounds < 2 || now.Sub(x.since) < disagreeFor {
		return nil
	}
	out := []backend.Field{{Name: backend.Text("list"), Value: backend.Clean(b.status, 60)}, {Name: backend.Text("status"), Value: backend.Clean(x.status, 60)}}
	if x.got != "" {
		out = append(out, backend.Field{Name: backend.Text("get"), Value: backend.Clean(x.got, 60)})
	}
	return out
}

// controlFailure is what a failed status request says about the platform's word on a sandbox.
func (p *poll) controlFailure(b *box, f *failure) (backend.Outcome, backend.FailureKind, backend.Safe) {
	kind, _, what := p.explain(f, b)
	text := p.clean(what, 300)
	switch {
	case f.status >= 500:
		return backend.OutcomeFailed, backend.FailControl5xx, backend.Textf("its status route answers %d", f.status)
	case kind == backend.ErrUnauthorised:
		return backend.OutcomeUnknown, backend.FailUnauthorised, text
	case kind == backend.ErrThrottled:
		return backend.OutcomeUnknown, backend.FailThrottled, text
	}
	return backend.OutcomeUnknown, "", text
}

// observe keeps a verdict of this process until a newer one of its plane.
func (b *box) observe(v backend.Verdict) {
	b.checks = backend.MergeVerdicts(b.checks, []backend.Verdict{v})
	b.touched = true
}
