package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"

	"sandglass/backend"
)

// maxDelay caps the delay after failures, unless the source itself asked for a longer one or is polled more rarely.
const maxDelay = 60 * time.Second

// poller polls one source at its own pace.
type poller struct {
	src  backend.Source
	cfg  backend.SourceConfig
	opt  Options
	back *backoff.ExponentialBackOff
	poke chan struct{} // one slot: the source itself says that something changed
	// quiet is until when a former process was asked to wait; zero: it was not.
	quiet time.Time
	told  atomic.Bool // log lines or references told something since the newest poll began

	mu       sync.Mutex
	failures int           // polls that failed since the last one that did not
	next     time.Time     // when the next poll is due
	ended    time.Time     // when the newest poll that did not fail ended
	reading  chan struct{} // closed when the newest poll has returned, nil before the first
	closed   sync.Once
}

func newPoller(src backend.Source, c backend.SourceConfig, opt Options) *poller {
	back := backoff.NewExponentialBackOff()
	back.InitialInterval, back.Multiplier, back.RandomizationFactor = c.Interval, 2, 0.2
	back.MaxInterval = max(maxDelay, c.Interval)
	return &poller{src: src, cfg: c, opt: opt, back: back, poke: make(chan struct{}, 1)}
}

// limit bounds one poll: a poll may be a slice as long as the interval, and its last request may take its deadline.
func (p *poller) limit() time.Duration { return p.cfg.Interval + 2*p.cfg.Deadline }

// run polls until ctx ends.
func (p *poller) run(ctx context.Context, submit func(backend.Answer)) {
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
		// A watch that fails is started again after the next successful poll; polling goes on without it.
		_ = w.Watch(ctx, p.wake)
	})
	return ended
}

// wake asks for a poll now; it never blocks.
func (p *poller) wake() { signal(p.poke) }

func (p *poller) failing() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failures > 0
}

// overdue reports whether what was read is old by now, as Overdue of its health does.
func (p *poller) overdue() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := SourceHealth{LastOK: p.ended}
	h.Interval, h.Deadline = p.cfg.Interval, p.cfg.Deadline
	return p.failures == 0 && h.Overdue(p.opt.Now())
}

// sleep waits for the next poll; false when ctx ended.
func (p *poller) sleep(ctx context.Context) bool {
	p.mu.Lock()
	d := p.next.Sub(p.opt.Now())
	failing := p.failures > 0
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
func (p *poller) poll(ctx context.Context, submit func(backend.Answer), live bool) (more bool) {
	pollCtx, cancel := context.WithTimeout(ctx, p.limit())
	defer cancel()
	start := p.opt.instant()
	p.told.Store(false)
	if err := p.hushed(start.Wall); err != nil {
		submit(p.answer(result{err: err}, start))
		return false
	}
	done := make(chan result, 1)
	reading := make(chan struct{})
	p.mu.Lock()
	p.reading = reading
	p.mu.Unlock()
	p.opt.Spawn.Go("read "+p.src.ID(), func() {
		defer close(reading)
		read := p.src.Poll
		if x, ok := p.src.(backend.Progressive); ok && live {
			read = func(ctx context.Context) (backend.Reading, error) {
				return x.PollParts(ctx, func(r backend.Reading) { submit(p.part(r, start)) })
			}
		}
		r, err := read(pollCtx)
		done <- result{r, err}
	})
	var res result
	select {
	case res = <-done:
	case <-pollCtx.Done():
		// A well-behaved adapter returns now with what it has.
		grace := time.NewTimer(time.Second)
		defer grace.Stop()
		select {
		case res = <-done:
		case <-grace.C:
			res.err = &backend.Error{Kind: backend.ErrTimeout, Err: fmt.Errorf("no answer within %s", p.limit())}
			submit(p.answer(res, start))
			if !live {
				return false
			}
			select { // one poll in flight: the next waits for this one
			case res = <-done:
			case <-ctx.Done():
				return false
			}
		}
	}
	if gone := ctx.Err(); gone != nil && (errors.Is(res.err, context.Canceled) || errors.Is(res.err, gone)) {
		return false // we are leaving; that is not the source's failure
	}
	submit(p.answer(res, start))
	return res.err == nil && res.reading.Partial
}

// hushed is why the source is not asked yet, though this process never did; nil: it may be.
func (p *poller) hushed(now time.Time) error {
	if !p.quiet.After(now) {
		return nil
	}
	rest := p.quiet.Sub(now)
	return &backend.Error{Kind: backend.ErrThrottled, RetryAfter: rest, Unasked: true,
		Err: fmt.Errorf("it asked an earlier run to wait until %s: it is not asked before, in %s", p.quiet.UTC().Format("15:04:05Z"), rest.Round(time.Second))}
}

type result struct {
	reading backend.Reading
	err     error
}

// answer says what a poll came to, and when the next one is due. It never blocks.
func (p *poller) answer(res result, start backend.Instant) backend.Answer {
	end := p.opt.instant()
	a := backend.Answer{Source: p.src.ID(), Started: start, Ended: end, Load: res.reading.Load}
	p.mu.Lock()
	defer p.mu.Unlock()
	if res.err != nil {
		a.Failure = backend.NewFailure(res.err)
		delay := p.back.NextBackOff()
		if a.Failure.RetryAfter > 0 {
			delay = a.Failure.RetryAfter
		}
		p.failures++
		p.next = end.Wall.Add(delay)
	} else {
		p.back.Reset()
		p.failures, p.ended = 0, end.Wall
		if p.next = start.Wall.Add(p.cfg.Interval); p.next.Before(end.Wall) {
			p.next = end.Wall
		}
		a.Reading = p.signed(res.reading)
	}
	a.Next = p.next
	return a
}

// part says what a poll read that goes on.
func (p *poller) part(r backend.Reading, start backend.Instant) backend.Answer {
	return backend.Answer{Source: p.src.ID(), Started: start, Ended: p.opt.instant(), Reading: p.signed(r), More: true}
}

// signed is a reading under the name of its source.
func (p *poller) signed(r backend.Reading) *backend.Reading {
	r.Source, r.Kind, r.Schema, r.Load = p.src.ID(), p.cfg.Kind, backend.ReadingSchema, backend.Load{}
	if r.At.IsZero() {
		r.At = p.opt.Now()
	}
	sortReading(&r)
	return &r
}

// close closes the source, at once or as soon as a poll that was given up on returns: a source is never closed under its poll.
func (p *poller) close() {
	c, ok := p.src.(backend.Closer)
	if !ok {
		return
	}
	p.closed.Do(func() {
		p.mu.Lock()
		reading := p.reading
		p.mu.Unlock()
		if reading != nil {
			select {
			case <-reading:
			default:
				p.opt.Spawn.Go("close "+p.src.ID(), func() {
					<-reading
					_ = c.Close()
				})
				return
			}
		}
		_ = c.Close()
	})
}
