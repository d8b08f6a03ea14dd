package changes

import (
	"context"
	"hash/maphash"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

const (
	maxEvents = 50              // of one poll; more are summed up
	maxSeen   = 100_000         // lines remembered
	skew      = 2 * time.Minute // how far ahead of our clock a line may be and still be believed
	textRunes = 300
)

// source reads one place.
type source struct {
	opts Options
	deps backend.Deps
	seed maphash.Seed

	seen  map[uint64]int // how often each line was there at the last reading
	begun bool
	file  fileState
	lost  bool // the file was there, and is not any more
}

func newSource(opts Options, deps backend.Deps) *source {
	return &source{opts: opts, deps: deps, seed: maphash.MakeSeed(), seen: map[uint64]int{}}
}

// ID returns the source's id.
func (s *source) ID() string { return s.deps.ID }

// Routes names the file or the command.
func (s *source) Routes() []backend.Route {
	if s.opts.File != "" {
		return []backend.Route{{Verb: "read", Target: s.opts.File, Why: "change markers"}}
	}
	return []backend.Route{{Verb: "run", Target: strings.Join(s.opts.Command, " "), Why: "change markers; it runs once a poll"}}
}

// Poll reads what is new.
func (s *source) Poll(ctx context.Context) (backend.Reading, error) {
	r := backend.Reading{Schema: backend.ReadingSchema, Source: s.deps.ID, Kind: "changes", Started: s.deps.Now(),
		Scopes: []backend.Scope{}, Inputs: []backend.Input{}}
	content, fresh, err := s.read(ctx, &r)
	r.At = s.deps.Now()
	if err != nil {
		return r, err
	}
	if fresh {
		s.compare(&r, s.opts.split(content))
	}
	return r, nil
}

// compare finds the lines that the reading before did not have, and keeps the present ones for the next. A line that
// is there twice now and was there once before is one new line.
func (s *source) compare(r *backend.Reading, lines []change) {
	now := make(map[uint64]int, len(lines))
	var added []change
	for _, c := range lines {
		h := maphash.String(s.seed, c.raw)
		if now[h]++; now[h] > s.seen[h] {
			added = append(added, c)
		}
		if len(now) >= maxSeen {
			r.Notes = append(r.Notes, backend.Textf("more than %d lines: what follows is not read", maxSeen))
			break
		}
	}
	first := !s.begun
	s.seen, s.begun = now, true
	s.publish(r, added, first)
}

func (s *source) publish(r *backend.Reading, added []change, first bool) {
	var undated, old int
	var events []backend.Event
	oldest := r.At.Add(-maxLookback)
	if first {
		oldest = r.At.Add(-s.opts.Lookback.Std())
	}
	for _, c := range added {
		at := c.at
		switch {
		case at.IsZero() && first:
			undated++ // nobody knows when it was written
			continue
		case at.IsZero(), at.After(r.At.Add(skew)):
			at = r.At
		case at.Before(oldest):
			old++
			continue
		case at.After(r.At):
			at = r.At
		}
		events = append(events, s.event(at, c.at, s.deps.Cleaner.Clean(c.text, textRunes)))
	}
	stable.Sort(events, func(a, b backend.Event) int { return a.At.Compare(b.At) })
	if n := len(events) - maxEvents; n > 0 {
		sum := s.event(events[n].At, time.Time{}, backend.Textf("%d more changes between %s and %s", n,
			events[0].At.UTC().Format(time.DateTime), events[n-1].At.UTC().Format(time.DateTime+" UTC")))
		events = append([]backend.Event{sum}, events[n:]...)
	}
	r.Events = events
	if undated > 0 {
		r.Notes = append(r.Notes, backend.Textf("%d lines without a time were there at the start: they are not shown, because nothing tells when they were written", undated))
	}
	if old > 0 {
		r.Notes = append(r.Notes, backend.Textf("%d lines are older than what is looked back at", old))
	}
}

func (s *source) event(at, own time.Time, text backend.Safe) backend.Event {
	return backend.Event{Kind: backend.EventChange, At: at, SourceAt: own, Source: s.deps.ID, Name: s.opts.Name, Text: text,
		Subject: backend.Key{Kind: backend.KindSource, Source: s.deps.ID, ID: backend.MustID(s.deps.ID)}}
}
