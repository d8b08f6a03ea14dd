// Package logstream follows the logs about one subject: all at once, each opened again when it ends or breaks, the lines of their
// past in the order of their times.
package logstream

import (
	"context"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"sandglass/backend"
	"sandglass/internal/stable"
)

const (
	retryFirst = time.Second // pause before a log is opened again; doubles, with jitter
	retryMax   = 30 * time.Second
	// settleWithin is how long the past of one log is held back for the others'.
	settleWithin = 2 * time.Second
	// maxPast bounds what is held back, in bytes.
	maxPast = 8 << 20
	// lineOverhead is what a line costs besides its text, in bytes.
	lineOverhead = 64
)

// Sink takes what is read. Its methods are called by several goroutines.
type Sink interface {
	// Line takes a line of one of the logs, by its place in the set. Its text is valid during the call only.
	Line(log int, l backend.LogLine)
	// State takes what became of a log.
	State(log int, s State)
}

// State is what became of a log.
type State struct {
	Live bool // its past was read
	// Err is why it is not read now; nil: it is, or it ended where nothing was to follow.
	Err error
	// Ended says that it came to its end; it is opened again where it is followed.
	Ended bool
	// Again is the pause after which it is opened again; zero: it is not.
	Again time.Duration
}

// Options say how logs are read.
type Options struct {
	Spawn backend.Spawner
	Query backend.LogQuery
	// Pause waits before a log is opened again, false: ctx ended; nil: by the machine's time.
	Pause func(ctx context.Context, d time.Duration) bool
}

// Run reads logs into a sink until ctx ends, or, where they are not followed, until all have ended. It returns when all its
// goroutines have.
func Run(ctx context.Context, logs []backend.Log, o Options, to Sink) {
	if o.Pause == nil {
		o.Pause = pause
	}
	p := &past{to: to, left: len(logs), settled: make(chan struct{})}
	if len(logs) < 2 {
		p.release()
	}
	var running sync.WaitGroup
	done := make(chan struct{})
	for i := range logs {
		running.Add(1)
		o.Spawn.Go("log "+logs[i].Name.String(), func() {
			defer running.Done()
			f := &follower{log: i, past: p, o: o, to: to}
			f.run(ctx, &logs[i])
		})
	}
	running.Add(1)
	o.Spawn.Go("past of logs", func() {
		defer running.Done()
		limit := time.NewTimer(settleWithin)
		defer limit.Stop()
		select {
		case <-p.settled:
		case <-limit.C:
		case <-done:
		case <-ctx.Done():
		}
		p.release()
	})
	o.Spawn.Go("end of logs", func() {
		running.Wait()
		close(done)
	})
	<-done
}

func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// follower keeps one log open. It is its sink.
type follower struct {
	log   int
	past  *past
	o     Options
	to    Sink
	last  time.Time // of the newest line
	lines int       // since it was opened
	live  bool
}

func (f *follower) run(ctx context.Context, l *backend.Log) {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.Multiplier, wait.RandomizationFactor, wait.MaxInterval = retryFirst, 2, 0.25, retryMax
	q := f.o.Query
	for {
		f.lines = 0
		err := l.Read(ctx, q, f)
		f.settle()
		if ctx.Err() != nil {
			return
		}
		if f.lines > 0 {
			wait.Reset()
		}
		s := State{Live: f.live, Err: err, Ended: err == nil}
		if q.Follow && backend.KindOf(err) != backend.ErrGone {
			s.Again = min(wait.NextBackOff(), retryMax)
		}
		f.to.State(f.log, s)
		if s.Again == 0 || !f.o.Pause(ctx, s.Again) {
			return
		}
		if !f.last.IsZero() {
			q.Since = f.last // it goes on where it stopped
		} else if f.lines > 0 || f.live {
			q.Tail = 0 // it tells no times: what was there was read
		}
	}
}

// Line passes a line on, or holds it back until the pasts of all logs can be merged.
func (f *follower) Line(l backend.LogLine) {
	f.lines++
	if l.At.After(f.last) {
		f.last = l.At
	}
	if !f.past.hold(f.log, l) {
		f.to.Line(f.log, l)
	}
}

// Live says that what follows is new.
func (f *follower) Live() {
	f.live = true
	f.settle()
	f.to.State(f.log, State{Live: true})
}

func (f *follower) settle() { f.past.ready(f.log) }

// past holds back the lines of the past of several logs, so that they can be put in the order of their times.
type past struct {
	to Sink

	mu       sync.Mutex
	held     []heldLine
	bytes    int
	released bool
	seen     map[int]bool
	left     int // logs whose past is not read yet
	settled  chan struct{}
}

type heldLine struct {
	log int
	at  time.Time // of the line, or of the one before it in the same log
	l   backend.LogLine
}

// hold keeps a line, and reports whether it did.
func (p *past) hold(log int, l backend.LogLine) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.released {
		return false
	}
	h := heldLine{log: log, at: l.At, l: l}
	h.l.Text = append([]byte(nil), l.Text...)
	for i := len(p.held) - 1; i >= 0 && h.at.IsZero(); i-- {
		if p.held[i].log == log {
			h.at = p.held[i].at
			break
		}
	}
	p.held = append(p.held, h)
	if p.bytes += len(l.Text) + lineOverhead; p.bytes > maxPast {
		p.flush()
	}
	return true
}

// ready notes that the past of a log was read.
func (p *past) ready(log int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen[log] || p.released {
		return
	}
	if p.seen == nil {
		p.seen = map[int]bool{}
	}
	p.seen[log] = true
	if p.left--; p.left == 0 {
		p.flush()
	}
}

// release hands over what is held back, and holds back nothing more.
func (p *past) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flush()
}

func (p *past) flush() {
	if p.released {
		return
	}
	p.released = true
	close(p.settled)
	stable.Sort(p.held, func(a, b heldLine) int { return a.at.Compare(b.at) })
	for _, h := range p.held {
		p.to.Line(h.log, h.l)
	}
	p.held = nil
}
