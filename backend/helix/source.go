package helix

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
)

const (
	// answersFor is how long an answer counts when the health routes are judged as a whole.
	answersFor = 5 * time.Minute
	inFlight   = 8 // requests at the same time
	// sliceShare is the part of the interval that one poll uses, so that the next one starts in time.
	sliceShare = 0.9
)

// Source polls one Helix server.
type Source struct {
	deps    backend.Deps
	opt     *Options
	client  *wire.Client
	budget  *wire.Budget
	running map[string]bool
	turns   turns
	// seenWork is when undated executions and jobs were first and last seen, by mark.
	seenWork map[string]workSeen
	seed     maphash.Seed
	started  time.Time // of the first poll

	mu        sync.Mutex // guards everything below; answers come from several goroutines
	dec       *decoder
	newest    newest
	sessions  map[backend.ID]*tracked
	lost      map[backend.ID]*tracked // a suspect list left them out: their own routes are asked
	left      map[backend.ID]*tracked // they left their list within the last minutes, a few at a time
	askedOnce map[backend.ID]bool     // alerting sessions that no list named
	pages     map[string]*page        // by route and cursor
	buffer    []byte                  // for pages, which are read one at a time
	discovery discovery
	agg       aggregate
	tally     answerCounts
	works     bool // a route lists executions or jobs

	attention sync.Mutex
	alerting  map[backend.ID]bool // sessions
	visible   map[backend.ID]bool
	known     []backend.ID // sessions that a former run listed; until the first list is read
}

// answerCounts counts what the health routes answered during one poll.
type answerCounts struct {
	asked, answered, throttled int
	first                      error // of the requests that failed
	list                       bool  // a list or aggregate route answered
}

func newSource(o *Options, opts backend.Options, deps backend.Deps) (*Source, error) {
	if err := o.check(opts); err != nil {
		return nil, err
	}
	declare, err := newDeclarations(deps.Declare)
	if err != nil {
		return nil, err
	}
	if deps.Interval <= 0 {
		deps.Interval = 5 * time.Second
	}
	if deps.Cleaner == nil {
		deps.Cleaner = backend.NewCleaner()
	}
	deps.Cleaner = deps.Cleaner.With(wire.ConfiguredSecrets(o.Headers, o.URL, o.ListURL, o.AggregateURL)...)
	budget := wire.NewBudget(o.RequestsPerSec, deps.Now)
	var origins []string
	for _, u := range []string{o.URL, o.ListURL, o.AggregateURL} {
		if u != "" {
			origins = append(origins, strings.ReplaceAll(u, placeholder, "x"))
		}
	}
	client, err := wire.New(wire.Config{Origins: origins, Credential: o.Read, MaxBody: int64(o.MaxBody), Budget: budget}, deps)
	if err != nil {
		return nil, fmt.Errorf("helix source %s: %w", deps.ID, err)
	}
	s := &Source{deps: deps, opt: o, client: client, budget: budget, seed: maphash.MakeSeed(),
		running: map[string]bool{}, sessions: map[backend.ID]*tracked{}, lost: map[backend.ID]*tracked{}, left: map[backend.ID]*tracked{}, askedOnce: map[backend.ID]bool{}, pages: map[string]*page{}, seenWork: map[string]workSeen{}}
	s.turns.after = maphash.String(s.seed, deps.ID) // another one in each process that knows of no former one
	for _, word := range o.RunningStatuses {
		s.running[word] = true
	}
	s.dec = &decoder{source: deps.ID, clean: deps.Cleaner, classes: classes(o.States), newest: &s.newest,
		declare: declare, words: map[string]backend.Safe{}}
	s.agg.init()
	if err := s.static(); err != nil {
		return nil, opts.Refuse("sessions", "%v", err)
	}
	return s, nil
}

// classes are the meanings of state words: the two that the framework documents, and those that the configuration
// maps.
func classes(configured map[string]string) map[string]backend.StateClass {
	out := map[string]backend.StateClass{"failed": backend.ClassFailed, "evicted": backend.ClassEvicted}
	for word, class := range configured {
		out[word] = backend.StateClass(class)
	}
	return out
}

// ID is the source's id in the configuration.
func (s *Source) ID() string { return s.deps.ID }

// Close ends idle connections.
func (s *Source) Close() error { return s.client.Close() }

// Attend remembers which sessions people and rules look at.
func (s *Source) Attend(a backend.Attention) {
	alerting, visible := sessionsOf(a.Alerting), sessionsOf(a.Visible)
	s.attention.Lock()
	defer s.attention.Unlock()
	s.alerting, s.visible = alerting, visible
	if len(a.Listed) > 0 {
		s.known = nil
		for id := range sessionsOf(a.Listed) {
			s.known = append(s.known, id)
		}
	}
}

func sessionsOf(keys []backend.Key) map[backend.ID]bool {
	out := make(map[backend.ID]bool, len(keys))
	for _, k := range keys {
		if k.Kind == backend.KindSession {
			out[k.ID] = true
		} else if slices.Contains(k.Kind.Spec().Parents, backend.KindSession) {
			out[k.Parent] = true
		}
	}
	return out
}

// Poll reads a slice: as many sessions or pages as the budget allows within the interval.
func (s *Source) Poll(ctx context.Context) (backend.Reading, error) {
	now := s.deps.Now()
	r := backend.Reading{Schema: backend.ReadingSchema, Source: s.deps.ID, Kind: "helix", Started: now}
	if b := s.budget.State(); b.Silence > 0 {
		return r, &backend.Error{Kind: backend.ErrThrottled, Source: s.deps.ID, RetryAfter: b.Silence,
			Err: fmt.Errorf("the server asked for silence for another %v", b.Silence.Round(time.Second))}
	}
	slice, cancel := context.WithTimeout(ctx, time.Duration(float64(s.deps.Interval)*sliceShare))
	defer cancel()
	s.mu.Lock()
	if s.started.IsZero() {
		s.started = now
	}
	s.tally = answerCounts{}
	s.mu.Unlock()
	var err error
	if s.opt.AggregateURL != "" {
		err = s.pollAggregate(ctx, slice, &r)
	} else {
		err = s.pollSessions(ctx, slice, &r)
	}
	s.markWork(&r)
	r.At = s.deps.Now()
	r.Load = s.client.TakeLoad()
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.epoch(); c.known {
		r.ClockOffset, r.ClockGuessed = backend.Known(c.offset), !s.client.Offset().IsKnown()
	} else if r.Load.Requests > 0 && err == nil {
		s.problem(&r, backend.ErrInvalid, "", "the server sends no Date header and none of its times is near ours: its "+
			"clock is unknown, so its times are not used")
	}
	s.note(&r)
	return r, err
}

func (s *Source) note(r *backend.Reading) {
	if b := s.budget.State(); b.Current < b.Configured {
		r.Notes = append(r.Notes, backend.Textf("request budget %.2g of %.2g a second: %v", b.Current, b.Configured, b.Why))
	}
	if s.opt.AggregateURL != "" && s.opt.ListURL != "" {
		r.Notes = append(r.Notes, backend.Text("list_url is not used: the aggregate route tells everything"))
	}
}

// epoch is the correction of the server's times that holds now.
func (s *Source) epoch() clockCorrection {
	if offset, ok := s.client.Offset().Get(); ok {
		return clockCorrection{known: true, offset: offset}
	}
	return s.newest.clock(s.deps.Now())
}

// ready prepares the decoder for an answer that has just come.
func (s *Source) ready() *decoder {
	s.dec.clock, s.dec.now, s.dec.clean = s.epoch(), s.deps.Now(), s.client.Cleaner()
	return s.dec
}

// undated says that some entries carry times that cannot be used. Where they are a fifth of all or more, the source cannot say
// what works.
func (s *Source) undated(r *backend.Reading, entries, of int) {
	if entries == 0 {
		return
	}
	s.problem(r, backend.ErrInvalid, s.target(cmp.Or(s.opt.AggregateURL, s.opt.URL)), fmt.Sprintf("%d entries carry times that are no times, or are more than %v ahead of the server's own clock; "+
		"those times are not used", entries, farFuture))
	if 5*entries >= of && r.Degraded.IsEmpty() {
		r.Degraded = backend.Textf("%d of %d workspaces have times that cannot be used: whether they work is not known", entries, of)
	}
}

// maxProblems bounds what one reading says about itself.
const maxProblems = 100

func (s *Source) problem(r *backend.Reading, kind backend.ErrorKind, where, what string) {
	s.problemOf(r, backend.Key{}, kind, where, what)
}

func (s *Source) problemOf(r *backend.Reading, subject backend.Key, kind backend.ErrorKind, where, what string) {
	clean := s.client.Cleaner()
	switch n := len(r.Problems); {
	case n < maxProblems:
		r.Problems = append(r.Problems, backend.Problem{Kind: kind, Where: clean.Clean(where, 300),
			What: clean.Clean(what, 300), Subject: subject, At: s.deps.Now()})
	case n == maxProblems:
		r.Problems = append(r.Problems, backend.Problem{Kind: kind, At: s.deps.Now(),
			What: backend.Textf("more than %d problems; the rest is not listed", maxProblems)})
	}
}

// problemErr adds an error as a problem, with its own kind and place.
func (s *Source) problemErr(r *backend.Reading, subject backend.Key, err error) {
	kind, where, what := explain(err)
	s.problemOf(r, subject, kind, where, what)
}
