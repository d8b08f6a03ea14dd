package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"sandglass/backend"
)

// maxDelay caps the delay after failures, unless the source itself asked for a longer one or is polled more rarely.
const maxDelay = 60 * time.Second

// poller polls one source at its own pace and keeps its health.
type poller struct {
	src  backend.Source
	cfg  SourceConfig
	opt  Options
	back *backoff.ExponentialBackOff
	poke chan struct{} // one slot: the source itself says that something changed

	mu     sync.Mutex
	h      SourceHealth
	load   loadMeter
	asked  time.Time // start of the poll in flight, zero when none is
	last   *SourceHealth
	closed sync.Once
}

func newPoller(src backend.Source, c SourceConfig, opt Options) *poller {
	back := backoff.NewExponentialBackOff()
	back.InitialInterval, back.Multiplier, back.RandomizationFactor = c.Interval, 2, 0.2
	back.MaxInterval = max(maxDelay, c.Interval)
	p := &poller{src: src, cfg: c, opt: opt, back: back, poke: make(chan struct{}, 1)}
	p.h = SourceHealth{
		Key:  backend.Key{Kind: backend.KindSource, Source: src.ID(), ID: backend.MustID(src.ID())},
		Kind: c.Kind, About: c.About, Status: StatusStarting, Interval: c.Interval, Deadline: c.Deadline,
	}
	return p
}

// limit bounds one poll: a poll may be a slice as long as the interval, and its last request may take its deadline.
func (p *poller) limit() time.Duration { return p.cfg.Interval + 2*p.cfg.Deadline }

// run polls until ctx ends.
func (p *poller) run(ctx context.Context, submit func(*backend.Reading)) {
	var watch chan struct{} // closed when the watch in progress has ended, nil when there is none
	for {
		p.poll(ctx, submit, true)
		watch = p.keepWatching(ctx, watch)
		if !p.sleep(ctx) {
			break
		}
	}
	if watch != nil {
		<-watch
	}
}

// keepWatching starts the source's own watch after a successful poll, and again after one that ended.
func (p *poller) keepWatching(ctx context.Context, running chan struct{}) chan struct{} {
	w, ok := p.src.(backend.Watcher)
	if !ok || p.failing() {
		return running
	}
	if running != nil {
		select {
		case <-running:
		default:
			return running
		}
	}
	ended := make(chan struct{})
	p.opt.Spawn.Go("watch "+p.src.ID(), func() {
		defer close(ended)
		// A watch that fails is started anew after the next successful poll; polling goes on without it.
		_ = w.Watch(ctx, p.wake)
	})
	return ended
}

// wake asks for a poll now; it never blocks.
func (p *poller) wake() {
	select {
	case p.poke <- struct{}{}:
	default:
	}
}

func (p *poller) failing() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.h.Failures > 0
}

// sleep waits for the next poll; false when ctx ended.
func (p *poller) sleep(ctx context.Context) bool {
	p.mu.Lock()
	d := p.h.NextPoll.Sub(p.opt.Now())
	failing := p.h.Failures > 0
	p.mu.Unlock()
	t := time.NewTimer(max(d, time.Millisecond))
	defer t.Stop()
	poke := p.poke
	if failing {
		poke = nil // what a failing source says about changes must not undo its back-off
	}
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
	case <-poke:
	}
	return true
}

// poll reads the source once and submits what it read; it reports whether another poll would at once read more of
// what was never read. A source that does not return in time is given up on; a patient caller waits until it returns.
func (p *poller) poll(ctx context.Context, submit func(*backend.Reading), patient bool) (more bool) {
	pollCtx, cancel := context.WithTimeout(ctx, p.limit())
	defer cancel()
	start := p.opt.Now()
	p.mu.Lock()
	p.asked = start
	if p.h.FirstTry.IsZero() {
		p.h.FirstTry = start
	}
	p.mu.Unlock()
	done := make(chan answer, 1)
	p.opt.Spawn.Go("read "+p.src.ID(), func() {
		r, err := p.src.Poll(pollCtx)
		done <- answer{r, err}
	})
	var a answer
	select {
	case a = <-done:
	case <-pollCtx.Done():
		// A well-behaved adapter returns now with what it has.
		grace := time.NewTimer(time.Second)
		defer grace.Stop()
		select {
		case a = <-done:
		case <-grace.C:
			a.err = &backend.Error{Kind: backend.ErrTimeout, Err: fmt.Errorf("no answer within %s", p.limit())}
			p.note(a, start)
			submit(nil)
			if !patient {
				return false
			}
			select { // one poll in flight: the next waits for this one
			case a = <-done:
			case <-ctx.Done():
				return false
			}
		}
	}
	if ctx.Err() != nil && errors.Is(a.err, context.Canceled) {
		return false // we are leaving; that is not the source's failure
	}
	p.note(a, start)
	if a.err == nil {
		a.reading.Source, a.reading.Kind, a.reading.Schema = p.src.ID(), p.cfg.Kind, backend.ReadingSchema
		submit(&a.reading)
		return a.reading.Partial
	}
	submit(nil)
	return false
}

type answer struct {
	reading backend.Reading
	err     error
}

// note brings the health up to date with the answer of a poll.
func (p *poller) note(a answer, start time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.opt.Now()
	p.asked = time.Time{}
	h := &p.h
	h.LastTry = now
	p.load.add(now, a.reading.Load)
	if a.err != nil {
		p.noteFailure(h, a.err, now)
		return
	}
	p.back.Reset()
	r := &a.reading
	if r.At.IsZero() {
		r.At = now
	}
	h.Failures, h.DownFrom, h.ErrorKind, h.Error = 0, time.Time{}, "", r.Degraded
	h.Status = StatusOK
	if !r.Degraded.IsEmpty() || r.WorkspacesUnknown {
		h.Status = StatusDegraded
	}
	h.LastOK, h.Inputs, h.Missing, h.Problems, h.Notes, h.Facts = now, r.Inputs, r.Missing, r.Problems, r.Notes, r.Facts
	h.WorkspacesUnknown = r.WorkspacesUnknown
	if r.Registry != h.Registry {
		h.Registry, h.RegistrySince = r.Registry, now
	}
	if r.ClockOffset.IsKnown() {
		h.ClockOffset = r.ClockOffset
	}
	h.NextPoll = start.Add(p.cfg.Interval)
	if h.NextPoll.Before(now) {
		h.NextPoll = now
	}
}

func (p *poller) noteFailure(h *SourceHealth, err error, now time.Time) {
	h.Failures++
	if h.DownFrom.IsZero() {
		h.DownFrom = now
	}
	h.ErrorKind = backend.KindOf(err)
	h.Error = failureText(err)
	switch {
	case h.ErrorKind == backend.ErrAbsent:
		h.Status = StatusAbsent
	case h.Failures == 1 && !h.LastOK.IsZero():
		// One lost packet must not make a whole fleet's values doubtful: they are as old as they are.
		h.Status = StatusDegraded
		h.Error = backend.Textf("the newest poll failed: %s", h.Error)
	default:
		h.Status = StatusDown
	}
	delay := p.back.NextBackOff()
	var e *backend.Error
	if errors.As(err, &e) && e.RetryAfter > 0 {
		delay = e.RetryAfter
	}
	h.NextPoll = now.Add(delay)
}

// failureText leaves out the source's own id, which stands beside it everywhere.
func failureText(err error) backend.Safe {
	var e *backend.Error
	if errors.As(err, &e) {
		c := *e
		c.Source = ""
		return backend.Clean(c.Error(), 300)
	}
	return backend.Clean(err.Error(), 300)
}

// health returns the source's health as of now; the same pointer while nothing of it changed.
func (p *poller) health(now time.Time) *SourceHealth {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.h
	h.P50, h.P95 = p.load.latencies()
	h.RequestsPerMin, h.BytesPerMin = p.load.perMinute(now)
	if !p.asked.IsZero() && now.Sub(p.asked) > p.limit() {
		h.Problems = append(slices.Clone(h.Problems), backend.Problem{Kind: backend.ErrTimeout, At: now,
			What: backend.Textf("the poll that began at %s has not returned", p.asked.UTC().Format("15:04:05Z"))})
	}
	if p.last != nil && sameHealth(p.last, &h) {
		return p.last
	}
	h.Rev++
	p.h.Rev = h.Rev
	p.last = &h
	return p.last
}

func (p *poller) close() {
	p.closed.Do(func() {
		if c, ok := p.src.(backend.Closer); ok {
			_ = c.Close()
		}
	})
}
