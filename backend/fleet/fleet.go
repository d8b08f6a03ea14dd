package fleet

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"sandglass/backend"
)

const (
	// minBuild is the shortest time between two States: at most 4 a second. Only the first Answer of a source does not wait.
	minBuild = 250 * time.Millisecond
	// A large fleet rests restShare times as long as its last State took, at most longestRest: what many sources told
	// meanwhile is folded at once.
	restShare   = 100
	longestRest = 2 * time.Second
	// heartbeat is the longest time between two States, so that ages and clocks move when nothing is read.
	heartbeat = time.Second
)

// Options are what a Fleet needs from the wiring.
type Options struct {
	Now   func() time.Time     // wall clock
	Mono  func() time.Duration // since the process started; never jumps
	Spawn backend.Spawner
	// LongestOperation is copied into every State.
	LongestOperation time.Duration
	// Reach is copied into every State.
	Reach backend.Reach
	// OnState sees every State, in order, on the goroutine that built it. It may be nil.
	OnState func(*State)
	// OnAnswer sees every Answer just before it is folded, on the same goroutine. It may be nil.
	OnAnswer func(*backend.Answer)
}

func (o Options) instant() backend.Instant { return backend.Instant{Wall: o.Now(), Mono: o.Mono()} }

// Fleet polls sources and publishes States.
type Fleet struct {
	opt     Options
	pollers []*poller
	folder  *Folder
	latest  atomic.Pointer[State]
	wake    chan struct{}                    // one slot: an Answer waits
	first   chan struct{}                    // one slot: the first Answer of a source waits
	joins   map[backend.Key]*backend.Sandbox // of a former process; set before it polls

	mu       sync.Mutex
	pending  []backend.Answer
	answered map[string]bool // sources that gave an Answer
	lined    linedIDs
}

// New makes a Fleet without sources.
func New(opt Options) *Fleet {
	f := &Fleet{opt: opt, folder: NewFolder(opt.LongestOperation), wake: make(chan struct{}, 1),
		first: make(chan struct{}, 1), answered: map[string]bool{}}
	f.folder.Before(opt.OnAnswer)
	f.folder.store.reach = opt.Reach
	f.latest.Store(&State{Wall: opt.Now(), Mono: opt.Mono(), LongestOperation: opt.LongestOperation, Reach: opt.Reach})
	return f
}

// Add adds a source. It must not be called once the Fleet runs.
func (f *Fleet) Add(src backend.Source, c backend.SourceConfig) {
	f.pollers = append(f.pollers, newPoller(src, c, f.opt))
	f.queue(backend.Answer{Source: src.ID(), Config: &c})
}

// State returns the newest State, never nil.
func (f *Fleet) State() *State { return f.latest.Load() }

// Attend hands every source the part of the attention that concerns it.
func (f *Fleet) Attend(a backend.Attention) {
	for _, p := range f.pollers {
		if s, ok := p.src.(backend.Attentive); ok {
			s.Attend(backend.Attention{Asked: a.Asked, Alerting: ofSource(a.Alerting, p.src.ID()), Visible: ofSource(a.Visible, p.src.ID()), Listed: ofSource(a.Listed, p.src.ID())})
		}
	}
}

// Resume tells the sources where a former process stopped, by source, and keeps to the time until which that was asked to wait. It must be called before the Fleet polls.
func (f *Fleet) Resume(marks map[string][]backend.Bookmark) {
	for _, p := range f.pollers {
		until, others := backend.TakeQuiet(marks[p.src.ID()], p.opt.Now())
		if s, ok := p.src.(backend.Quieter); ok && !until.IsZero() {
			s.Quiet(until)
		} else {
			p.quiet = until
		}
		if s, ok := p.src.(backend.Resumer); ok && len(others) > 0 {
			s.Resume(others)
		}
	}
}

// Wake asks for a poll of one source now, out of turn. A source that fails keeps to its back-off.
func (f *Fleet) Wake(source string) {
	for _, p := range f.pollers {
		if p.src.ID() == source {
			p.wake()
		}
	}
}

// Reread is Wake for a subject that must be read anew: a source that can read it alone does so first.
func (f *Fleet) Reread(k backend.Key) {
	for _, p := range f.pollers {
		if p.src.ID() != k.Source {
			continue
		}
		if s, ok := p.src.(backend.Rereader); ok {
			s.Reread(k)
		}
		p.wake()
	}
}

func ofSource(keys []backend.Key, id string) []backend.Key {
	var out []backend.Key
	for _, k := range keys {
		if k.Source == id {
			out = append(out, k)
		}
	}
	return out
}

// Run polls until ctx ends, then waits for the polls in flight as long as they keep to their deadlines, and closes
// the sources.
func (f *Fleet) Run(ctx context.Context) {
	var wg sync.WaitGroup
	for _, p := range f.pollers {
		wg.Add(1)
		f.opt.Spawn.Go("poll "+p.src.ID(), func() {
			defer wg.Done()
			p.run(ctx, f.submit)
		})
	}
	for {
		began := f.opt.Mono()
		f.build()
		if !f.waitForWork(ctx, max(minBuild, min(restShare*(f.opt.Mono()-began), longestRest))) {
			break
		}
	}
	wg.Wait()
	for _, p := range f.pollers {
		p.close()
	}
}

// answeredEvery is how often RunFor looks whether a source has not answered yet.
const answeredEvery = 50 * time.Millisecond

// RunFor is Run for a while, and longer as long as a source has not answered once: its own deadline decides, and a slow link is no
// outage. It ends after longest, or with ctx.
func (f *Fleet) RunFor(ctx context.Context, while, longest time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, max(while, longest))
	defer cancel()
	f.opt.Spawn.Go("observe", func() {
		defer cancel()
		for wait := while; ; wait = answeredEvery {
			t := time.NewTimer(wait)
			select {
			case <-t.C:
			case <-ctx.Done():
				t.Stop()
				return
			}
			if !f.State().Starting() {
				return
			}
		}
	})
	f.Run(ctx)
}

// waitForWork returns when a State is due, after a rest, false when ctx ended.
func (f *Fleet) waitForWork(ctx context.Context, rest time.Duration) bool {
	pause := time.NewTimer(rest)
	defer pause.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-f.first:
		return true
	case <-pause.C:
	}
	beat := time.NewTimer(max(0, heartbeat-rest))
	defer beat.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-f.first:
	case <-f.wake:
	case <-beat.C:
	}
	return true
}

// PollOnce polls every source completely, or until ctx ends, and publishes one State. A source that hangs delays it at
// most until ctx ends, and shows as timed out. What was read long before a slow source ended is read once more, so that it is not old.
func (f *Fleet) PollOnce(ctx context.Context) *State {
	all := func(*poller) bool { return true }
	f.pollThose(ctx, all)
	f.pollThose(ctx, (*poller).overdue)
	for _, p := range f.pollers { // what a log told while they were read, or after, may join and explain what they show
		for more := p.told.Load() && !p.failing(); more && ctx.Err() == nil; {
			more = p.poll(ctx, f.submit, false)
		}
	}
	return f.build()
}

// pollThose polls some sources completely, or until ctx ends.
func (f *Fleet) pollThose(ctx context.Context, which func(*poller) bool) {
	var wg sync.WaitGroup
	for _, p := range f.pollers {
		if ctx.Err() != nil || !which(p) {
			continue
		}
		wg.Add(1)
		f.opt.Spawn.Go("poll "+p.src.ID(), func() {
			defer wg.Done()
			for more := true; more && ctx.Err() == nil; {
				more = p.poll(ctx, f.submit, false)
			}
		})
	}
	wg.Wait()
}

// Close closes the sources of a Fleet that was polled once.
func (f *Fleet) Close() {
	for _, p := range f.pollers {
		p.close()
	}
}

// queue keeps an Answer for the next State. It never blocks.
func (f *Fleet) queue(a backend.Answer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pending = append(f.pending, a)
}

// submit queues the Answer of a poll and asks for a State.
func (f *Fleet) submit(a backend.Answer) {
	if a.Reading != nil {
		f.rejoin(a.Reading)
	}
	f.queue(a)
	if a.Reading != nil && slices.ContainsFunc(a.Reading.Reports, func(r backend.Report) bool { return r.Kind != backend.ReportCommandGood }) {
		f.report(a.Reading.Reports)
	}
	if a.Reading != nil && slices.ContainsFunc(a.Reading.Scopes, func(c backend.Scope) bool { return c.Kind == backend.KindRef }) {
		f.refer(a.Source, a.Reading.Refs, a.Reading.Whole(backend.KindRef))
	}
	if a.Reading != nil {
		f.referWorkspaces(a.Reading)
	}
	f.mu.Lock()
	known := f.answered[a.Source]
	f.answered[a.Source] = true
	f.mu.Unlock()
	if known {
		signal(f.wake)
	} else {
		signal(f.first)
	}
}

// report hands what log lines say to the sources that go on it, and has them polled.
func (f *Fleet) report(all []backend.Report) {
	for _, p := range f.pollers {
		if s, ok := p.src.(backend.Listener); ok {
			s.Listen(all)
			p.told.Store(true)
			p.wake()
		}
	}
}

func signal(slot chan<- struct{}) {
	select {
	case slot <- struct{}{}:
	default:
	}
}

// build folds what waits and publishes the next State.
func (f *Fleet) build() *State {
	f.mu.Lock()
	pending := f.pending
	f.pending = nil
	f.mu.Unlock()
	st := f.folder.Fold(pending, f.opt.instant())
	f.latest.Store(st)
	if f.opt.OnState != nil {
		f.opt.OnState(st)
	}
	return st
}
