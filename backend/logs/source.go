package logs

import (
	"context"
	"sync"
	"time"

	"sandglass/backend"
	"sandglass/backend/hostfs"
)

// source is one configured log.
type source struct {
	opts    Options
	deps    backend.Deps
	analyst *lineAnalyser
	files   *files  // or
	origin  origin  // a stream and
	intake  *intake // what takes its lines in

	lastPoll time.Time
	stream   streamReading

	undated      backend.Safe // what was said of lines that could not be dated,
	undatedUntil time.Time    // until they are older than the lookback

	mu     sync.Mutex
	cancel context.CancelFunc // of the stream's goroutine, nil before it runs
	done   chan struct{}
	closed bool
}

// streamReading is what is remembered between the lines of a stream.
type streamReading struct {
	run     int
	past    placement
	lastOwn time.Time
	block   block
}

func newSource(opts Options, deps backend.Deps) (*source, error) {
	s := &source{opts: opts, deps: deps, analyst: newAnalyst(&opts, deps, deps.Now())}
	switch {
	case len(opts.Files) > 0:
		s.files = &files{globs: opts.Files, dec: s.analyst.dec, tails: map[hostfs.FileID]*tail{}}
	case len(opts.Command) > 0:
		s.origin = &command{argv: opts.Command, start: deps.Command}
	default:
		c, err := newContainer(&opts, deps)
		if err != nil {
			return nil, err
		}
		s.origin = c
	}
	if s.origin != nil {
		s.intake = newIntake(deps.Now, s.analyst.pats)
	}
	return s, nil
}

// ID returns the source's id.
func (s *source) ID() string { return s.deps.ID }

// Routes lists what the source reads.
func (s *source) Routes() []backend.Route {
	if s.origin != nil {
		return s.origin.routes()
	}
	var out []backend.Route
	for _, g := range s.opts.Files {
		out = append(out, backend.Route{Verb: "read", Target: g, Why: "log lines"})
	}
	return out
}

// Resume takes where a former process stopped in each file.
func (s *source) Resume(marks []backend.Bookmark) {
	if marks = s.analyst.commands.resume(marks); s.files != nil {
		s.files.resume(marks)
	}
}

// Poll reads what is new.
func (s *source) Poll(ctx context.Context) (backend.Reading, error) {
	start := s.deps.Now()
	r := backend.Reading{Schema: backend.ReadingSchema, Source: s.deps.ID, Kind: "logs", Started: start, Scopes: []backend.Scope{}, Inputs: []backend.Input{}}
	first := s.lastPoll.IsZero()
	elapsed := start.Sub(s.lastPoll)
	if first {
		elapsed = s.opts.Lookback.Std()
		s.analyst.tally.covered = start
	}
	s.lastPoll = start
	var err error
	if s.files != nil {
		s.pollFiles(ctx, &r, start, elapsed)
	} else {
		err = s.pollStream(ctx, &r, elapsed)
	}
	if e := s.analyst.seen.earliest; first && !e.IsZero() && e.Before(start) {
		s.analyst.tally.covered = e
	}
	r.At = s.deps.Now()
	if err != nil {
		return r, err
	}
	s.analyst.finish(&r, r.At)
	r.Bookmarks = append(r.Bookmarks, s.analyst.commands.bookmarks(r.At)...)
	return r, nil
}

func (s *source) pollFiles(ctx context.Context, r *backend.Reading, now time.Time, elapsed time.Duration) {
	f := s.files
	total := f.scan(now, s.opts.Lookback.Std())
	s.analyst.begin(min(total, maxPerPoll), elapsed)
	f.read(ctx, s.analyst, now)
	r.Problems = f.problems
	r.Load.Requests = len(f.tails)
	if len(f.tails) > 0 {
		r.Inputs = append(r.Inputs, backend.InputRejections, backend.InputEvictionLogs)
	} else {
		why := backend.Textf("no log file can be read: %s", f.reason())
		r.Degraded = why
		r.Missing = missing(why)
	}
	note := func(on bool, format backend.Literal, args ...any) {
		if on {
			r.Notes = append(r.Notes, backend.Textf(format, args...))
		}
	}
	note(len(f.tails) > 0, "%d files open", len(f.tails))
	note(f.hidden > 0, "%d more problems with files", f.hidden)
	note(f.packed > 0, "%d compressed files passed over", f.packed)
	note(f.emptied > 0, "%d files were emptied in place; lines written just before that may be missing", f.emptied)
	note(f.behind > 0, "%d kB wait for the next poll", f.behind/1000)
	note(s.analyst.seen.untimed > 0, "%d lines of the past carry no time and are not counted", s.analyst.seen.untimed)
	note(s.analyst.seen.bounded > 0, "%d lines of the past carry no time and are counted as of the look before them, or of the file's last change", s.analyst.seen.bounded)
	if u := s.analyst.undated(); !u.IsEmpty() {
		s.undated, s.undatedUntil = u, now.Add(s.opts.Lookback.Std())
	}
	if now.Before(s.undatedUntil) {
		r.Undated = s.undated
		r.Notes = append(r.Notes, s.undated)
	}
	r.Stopped = s.analyst.stopped(len(f.tails), now)
	r.Bookmarks = f.bookmarks(now, s.opts.Lookback.Std())
}

// reason names the globs without a match, or the first problem.
func (f *files) reason() backend.Safe {
	if len(f.missing) == len(f.globs) {
		globs := make([]backend.Safe, 0, len(f.missing))
		for _, g := range f.missing {
			globs = append(globs, backend.Clean(g, 200))
		}
		return backend.Textf("nothing matches %s; check files in the configuration", backend.Join(globs, ", "))
	}
	for _, p := range f.problems {
		if p.Kind != backend.ErrAbsent {
			return backend.Textf("%s: %s", p.Where, p.What)
		}
	}
	return backend.Text("only directories and compressed files match; check files in the configuration")
}

func missing(why backend.Safe) []backend.MissingInput {
	return []backend.MissingInput{{Input: backend.InputRejections, Why: why}, {Input: backend.InputEvictionLogs, Why: why}}
}

// pollStream works on the lines that came in since the last poll. It fails when the stream is broken and brought
// nothing.
func (s *source) pollStream(ctx context.Context, r *backend.Reading, elapsed time.Duration) error {
	if err := s.begin(); err != nil {
		return err
	}
	s.await(ctx)
	queue, more, status := s.intake.drain()
	var total int64
	for i := range queue {
		total += int64(queue[i].size)
	}
	s.analyst.begin(total, elapsed)
	for i := range queue {
		s.queued(&queue[i])
	}
	s.overflowed(more, r)
	r.Load.Requests = 1
	switch {
	case status.open:
		r.Inputs = append(r.Inputs, backend.InputRejections, backend.InputEvictionLogs)
	case status.err == nil:
		r.Degraded = backend.Text("the stream is still being opened")
		r.Missing = missing(r.Degraded)
	case len(queue) == 0 && more.lines == 0:
		return status.err
	default:
		in := status.retryAt.Sub(s.deps.Now()).Round(time.Second)
		why := backend.Textf("%s; opened again in %s", s.deps.Cleaner.Clean(status.err.Error(), 300), max(in, 0))
		r.Degraded, r.Missing = why, missing(why)
	}
	return nil
}

// begin starts the goroutine that follows the stream, once.
func (s *source) begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return backend.Errorf(backend.ErrGone, s.deps.ID, "the source is closed")
	}
	if s.cancel != nil {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel, s.done = cancel, make(chan struct{})
	since, done := s.deps.Now().Add(-s.opts.Lookback.Std()), s.done
	s.deps.Spawn.Go("log stream "+s.deps.ID, func() {
		defer close(done)
		s.intake.follow(ctx, s.origin, since)
	})
	return nil
}

// await gives a stream that was just started the chance to deliver its past to the first poll.
func (s *source) await(ctx context.Context) {
	limit := s.deps.Deadline / 2
	if limit <= 0 || limit > firstWait {
		limit = firstWait
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-s.intake.ready:
	case <-timer.C:
		s.intake.settled() // later polls do not wait again
	case <-ctx.Done():
	}
}

// queued places a line of a stream in time and takes it into account.
func (s *source) queued(q *queued) {
	st := &s.stream
	if q.run != st.run {
		st.run = q.run
		st.past = placement{past: true, lo: q.started.Add(-s.opts.Lookback.Std())}
		if st.lastOwn.After(st.past.lo) {
			st.past.lo = st.lastOwn.Add(1) // a command that was started again may repeat itself
		}
	}
	st.past.hi, st.past.whenUntimed = q.arrived, q.arrived
	past := q.past || q.stamp.IsZero() && q.arrived.Sub(q.started) < commandPast
	if past {
		st.block.feed(s.analyst, q.data, q.size, q.stamp, &st.past)
		if st.past.before.After(st.lastOwn) {
			st.lastOwn = st.past.before
		}
		return
	}
	live := placement{lo: q.arrived.Add(-2 * bucket), hi: q.arrived}
	st.block.feed(s.analyst, q.data, q.size, q.stamp, &live)
	if live.before.After(st.lastOwn) {
		st.lastOwn = live.before
	}
}

// overflowed counts the lines for which there was no room: without their session, which would take decoding.
func (s *source) overflowed(o overflow, r *backend.Reading) {
	if o.lines == 0 {
		return
	}
	now := s.deps.Now()
	t := s.analyst.tally
	t.add(seriesKey{metric: backend.MetricLogLines}, now, float64(o.lines), false, nil)
	t.add(seriesKey{metric: backend.MetricLogBytes}, now, float64(o.bytes), false, nil)
	for p, n := range o.hits {
		if m, counts := p.class.metric(); counts {
			t.add(seriesKey{metric: m}, now, float64(n), false, o.sample[p])
		}
	}
	if o.lostRollups > 0 {
		t.add(seriesKey{metric: backend.MetricRollups}, now, float64(o.lostRollups), false, nil)
		t.add(seriesKey{metric: backend.MetricRejections}, now, float64(o.lostRollups), true, nil)
	}
	s.analyst.seen.lines += o.lines
	s.analyst.seen.bytes += int64(o.bytes)
	r.Notes = append(r.Notes, backend.Textf("%d lines came faster than they could be taken apart: searched and counted without their session, so counts per session are lower bounds", o.lines))
}

// Close ends the stream, or closes the files. It waits until the stream's goroutine is gone.
func (s *source) Close() error {
	s.mu.Lock()
	s.closed = true
	cancel, done := s.cancel, s.done
	s.mu.Unlock()
	if cancel != nil {
		cancel()
		<-done
	}
	if s.files != nil {
		s.files.close()
	}
	if c, ok := s.origin.(*container); ok {
		return c.engine.Close()
	}
	return nil
}
