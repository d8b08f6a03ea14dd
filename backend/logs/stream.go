package logs

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"sandglass/backend"
)

// origin is where a stream of lines comes from.
type origin interface {
	// run hands lines to in until the stream ends or ctx does. since is how far back to read at first; after a
	// restart it is the time of the last line.
	run(ctx context.Context, since time.Time, in *intake) error
	routes() []backend.Route
}

// queued is a line that waits for the next poll.
type queued struct {
	data    []byte
	size    int
	arrived time.Time
	stamp   time.Time // given by the transport
	past    bool      // written before the stream was opened
	run     int       // which opening of the stream brought it
	started time.Time // when that was
}

// intake takes lines in from a stream. A full queue does not stop the stream: further lines are searched for the
// patterns and counted without being decoded, except rollups, which may fill a reserve as large as the queue.
type intake struct {
	now   func() time.Time
	pats  *patterns
	ready chan struct{} // closed when the first poll has something to work on, or nothing to wait for

	mu       sync.Mutex
	once     sync.Once
	queue    []queued
	held     int // bytes in queue
	overflow overflow
	status   streamStatus
	mark     time.Time   // stamped lines up to here were taken in before
	parts    [2]splitter // standard output, standard error
}

// overflow is what is known of lines that were not queued.
type overflow struct {
	lines, bytes, lostRollups int
	hits                      map[*pattern]int
	sample                    map[*pattern][]byte
}

type streamStatus struct {
	open    bool
	runs    int
	started time.Time
	last    time.Time // of the last line, by the stream's own time when it has one
	err     error
	retryAt time.Time
}

func newIntake(now func() time.Time, pats *patterns) *intake {
	return &intake{now: now, pats: pats, ready: make(chan struct{})}
}

// opened notes that the stream is there; settled that its past was read.
func (in *intake) opened() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.status.open, in.status.err, in.status.started = true, nil, in.now()
	in.status.runs++
	in.parts = [2]splitter{}
}

// resume makes lines up to the newest one count as known, and returns its time, zero before the first.
func (in *intake) resume() time.Time {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.mark = in.status.last
	return in.mark
}

func (in *intake) settled() { in.once.Do(func() { close(in.ready) }) }

// take cuts b into lines. which is 0 or 1, since lines of the two outputs interleave. stamped lines begin with the
// transport's time.
func (in *intake) take(b []byte, which int, stamped, past bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.parts[which].feed(b, func(data []byte, size int) { in.line(data, size, stamped, past) })
}

// ended hands out unfinished lines.
func (in *intake) ended(stamped, past bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for i := range in.parts {
		in.parts[i].flush(func(data []byte, size int) { in.line(data, size, stamped, past) })
	}
}

func (in *intake) line(data []byte, size int, stamped, past bool) {
	q := queued{size: size, arrived: in.now(), past: past, run: in.status.runs, started: in.status.started}
	if stamped {
		var ok bool
		before := len(data)
		if q.stamp, data, ok = backend.LeadingTime(data, time.UTC); ok {
			q.size -= before - len(data)
			if !q.stamp.After(in.mark) {
				return // it was read before the stream broke, or before it was followed
			}
			if q.stamp.After(in.status.last) {
				in.status.last = q.stamp
			}
		}
	}
	room := queueBytes
	if in.held >= queueBytes && in.pats.holds(data) {
		room *= 2
	}
	if in.held+len(data)+queueOverhead > room {
		in.overflow.count(in.pats, data, q.size)
		return
	}
	q.data = append([]byte(nil), data...)
	in.held += len(data) + queueOverhead
	in.queue = append(in.queue, q)
}

func (o *overflow) count(pats *patterns, data []byte, size int) {
	o.lines++
	o.bytes += size
	if pats.holds(data) {
		o.lostRollups++
		return
	}
	if f := pats.find(&record{message: data, plain: true}); f.pattern != nil && !f.said {
		p := f.pattern
		if o.hits == nil {
			o.hits, o.sample = map[*pattern]int{}, map[*pattern][]byte{}
		}
		o.hits[p]++
		if o.sample[p] == nil {
			o.sample[p] = append([]byte(nil), data[:min(len(data), maxSample)]...)
		}
	}
}

// drain takes everything that waits.
func (in *intake) drain() ([]queued, overflow, streamStatus) {
	in.mu.Lock()
	defer in.mu.Unlock()
	q, o := in.queue, in.overflow
	in.queue, in.held, in.overflow = nil, 0, overflow{}
	return q, o, in.status
}

// follow keeps a stream open until ctx ends: whenever it ends it is opened again after a pause that doubles up to a
// minute, with jitter, and starts small again after a run that brought lines.
func (in *intake) follow(ctx context.Context, from origin, since time.Time) {
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.Multiplier, pause.RandomizationFactor, pause.MaxInterval = retryFirst, 2, 0.25, retryMax
	for ctx.Err() == nil {
		begun := in.now()
		err := from.run(ctx, since, in)
		if err == nil {
			err = errEnded
		}
		if in.now().Sub(begun) > retryMax {
			pause.Reset()
		}
		wait := min(pause.NextBackOff(), retryMax)
		since = in.broke(err, in.now().Add(wait), since)
		in.settled()
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
		case <-timer.C:
		}
	}
}

var errEnded = errors.New("the stream ended")

func (in *intake) broke(err error, retry, since time.Time) time.Time {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.status.open, in.status.err, in.status.retryAt = false, err, retry
	if in.status.last.After(since) {
		return in.status.last
	}
	return since
}
