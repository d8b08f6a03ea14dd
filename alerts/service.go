package alerts

import (
	"context"
	"errors"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/internal/stable"
)

// ServiceOptions are what a Service needs from the wiring.
type ServiceOptions struct {
	// Store keeps the state between runs; nil keeps nothing.
	Store *StateStore
	// ReadClock reads the clocks. It is required with a StateStore.
	ReadClock func() ClockReading
	// Events takes what happened, in order, on the goroutine that calls Observe. It may be nil.
	Events func([]backend.Event)
	// Attention is told when the alerting or visible subjects changed. It may be nil.
	Attention func(backend.Attention)
	// Observed takes what other processes observed of a sandbox and wrote down. It may be nil.
	Observed func(backend.Proof)
	// Problem is told when the state cannot be loaded or saved. It may be nil.
	Problem func(error)
	// Journal keeps the orders of this process before they take effect; nil: they are not journalled.
	Journal OrderJournal
	// LongestOrder caps acknowledgements and silences, 0 for LongestOrder (24 h).
	LongestOrder time.Duration
	// SaveEvery is the shortest time between two saves, 0 for 3 s; what only refreshes readings is saved every 30 s. TakeOver is how often a Service without the lock tries
	// to get it, 0 for 2 s.
	SaveEvery, TakeOver time.Duration
}

// Service turns every State into a Board and hands the newest pair to whoever looks. It is safe for concurrent use, except
// that Observe is called by one goroutine.
type Service struct {
	OrderWriter // the orders of this process
	engine      *Engine
	opt         ServiceOptions

	mu      sync.Mutex
	state   *fleet.State
	board   *Board
	at      ClockReading // of board
	adopted *Board       // taken over from a former holder of the lock, not evaluated yet
	subs    map[chan struct{}]struct{}
	visible map[string][]backend.Key
	seed    maphash.Seed
	dirty   bool
	news    bool    // an alert or an event came since the newest save
	forgets bool    // nothing is written at the end
	list    []Order // all of them, in the order of the file
	orders  *Orders // of list

	evaluating sync.Mutex // one evaluation at a time
	saving     sync.Mutex // one save at a time
	ordering   sync.Mutex // one reading of the orders at a time
	ordersAt   lineCursor
	verdictsAt lineCursor
	written    []backend.Proof // that the file of verdicts held at the start
	timeline   timeline
	wake       chan struct{} // something waits to be written to the timeline
}

// NewService makes a Service and loads what a former process left. A state that cannot be read is reported and set aside; the
// Service then starts without one.
func NewService(e *Engine, opt ServiceOptions) *Service {
	if opt.SaveEvery == 0 {
		opt.SaveEvery = 3 * time.Second
	}
	if opt.TakeOver == 0 {
		opt.TakeOver = 2 * time.Second
	}
	svc := &Service{seed: maphash.MakeSeed(), engine: e, opt: opt, subs: map[chan struct{}]struct{}{}, visible: map[string][]backend.Key{}, wake: make(chan struct{}, 1)}
	svc.OrderWriter = svc.OrdersInto(opt.Journal)
	if opt.Store != nil {
		svc.open()
		svc.load()
	}
	return svc
}

// open reads the files to which several processes add.
func (svc *Service) open() {
	file := storeFile(svc.opt.Store, timelineFile)
	svc.timeline.file = &file
	svc.trim()
	svc.readOrders()
	svc.written = svc.readVerdicts()
	svc.problemIf(svc.timeline.write())
}

// trim keeps the files within their bounds, where this process holds the alert state.
func (svc *Service) trim() {
	if svc.opt.Store.Locked() {
		now := svc.now()
		svc.problemIf(svc.timeline.trim(now))
		svc.problemIf(svc.trimOrders(now))
		svc.problemIf(svc.trimVerdicts())
	}
}

func (svc *Service) load() {
	l, err := svc.opt.Store.Load(svc.opt.ReadClock())
	if err != nil {
		if aside, failed := svc.opt.Store.SetAside(); failed != nil {
			err = errors.Join(err, failed)
		} else if aside != "" {
			err = &SetAsideError{err, aside}
		}
		svc.problem(err)
		return
	}
	if l.Board == nil {
		return
	}
	svc.mu.Lock()
	svc.adopted = l.Board
	svc.mu.Unlock()
	if svc.opt.Events != nil {
		by := "boot clock"
		if l.ByWall {
			by = "wall clock"
		}
		svc.opt.Events([]backend.Event{{
			Kind: backend.EventNote, At: plain(svc.opt.ReadClock().Wall), Name: "resumed",
			Text: backend.Textf("alert state of %s ago taken over, by the %s", short(l.Elapsed.Round(time.Second)), by),
		}})
	}
}

// tell puts events on the timeline; Run or Close writes them down.
func (svc *Service) addToTimeline(events []backend.Event) {
	if svc.timeline.take(svc.holds(), events) {
		select {
		case svc.wake <- struct{}{}:
		default:
		}
	}
}

// problem reports what went wrong, each of several problems on its own: they are written one a line.
func (svc *Service) problem(err error) {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range many.Unwrap() {
			svc.problem(one)
		}
		return
	}
	if svc.opt.Problem != nil {
		svc.opt.Problem(err)
	}
}

// Observe evaluates a State. It returns after the new pair is visible to Latest and subscribers were told.
func (svc *Service) Observe(st *fleet.State) {
	var at ClockReading
	if svc.opt.ReadClock != nil {
		at = svc.opt.ReadClock()
	}
	svc.evaluating.Lock()
	defer svc.evaluating.Unlock()
	svc.mu.Lock()
	prev, orders, engine := svc.board, svc.orders, svc.engine
	if svc.adopted != nil {
		prev, svc.adopted = svc.adopted, nil
	}
	svc.mu.Unlock()
	board, events := engine.NextWith(prev, withEvents(st, svc.timeline.done()), orders)
	svc.addToTimeline(slices.Concat(st.Events, ends(st), board.ended))
	svc.publish(st, board, events, &at)
}

// withEvents is the State with more events.
func withEvents(st *fleet.State, more []backend.Event) *fleet.State {
	if len(more) == 0 {
		return st
	}
	c := *st
	c.Events = slices.Concat(st.Events, more)
	return &c
}

// publish hands a new Board to whoever looks. Without a moment the Board is of the one before.
func (svc *Service) publish(st *fleet.State, board *Board, events []backend.Event, at *ClockReading) {
	svc.mu.Lock()
	moved := svc.board == nil || !slices.Equal(svc.board.Alerts, board.Alerts)
	svc.state, svc.board, svc.dirty = st, board, true
	svc.news = svc.news || moved || len(events)+len(st.Events) > 0
	if at != nil {
		svc.at = *at
	}
	for c := range svc.subs {
		select {
		case c <- struct{}{}:
		default:
		}
	}
	svc.mu.Unlock()
	svc.addToTimeline(events)
	if len(events) > 0 && svc.opt.Events != nil {
		svc.opt.Events(events)
	}
	if moved && svc.opt.Attention != nil {
		svc.opt.Attention(svc.Attention())
	}
}

// Latest returns the newest State and the Board concluded from it; both are nil before the first State.
func (svc *Service) Latest() (*fleet.State, *Board) {
	svc.mu.Lock()
	defer svc.mu.Unlock()
	return svc.state, svc.board
}

// Subscribe returns a channel that holds one value when there is something newer than at the last receive, and a
// function that ends the subscription.
func (svc *Service) Subscribe() (<-chan struct{}, func()) {
	c := make(chan struct{}, 1)
	svc.mu.Lock()
	svc.subs[c] = struct{}{}
	if svc.board != nil {
		c <- struct{}{}
	}
	svc.mu.Unlock()
	return c, func() {
		svc.mu.Lock()
		delete(svc.subs, c)
		svc.mu.Unlock()
	}
}

// SetVisible says which rows a viewer shows; none ends it.
func (svc *Service) SetVisible(viewer string, keys []backend.Key) {
	svc.mu.Lock()
	if slices.Equal(svc.visible[viewer], keys) {
		svc.mu.Unlock()
		return
	}
	if len(keys) == 0 {
		delete(svc.visible, viewer)
	} else {
		svc.visible[viewer] = slices.Clone(keys)
	}
	svc.mu.Unlock()
	if svc.opt.Attention != nil {
		svc.opt.Attention(svc.Attention())
	}
}

// Attention is what sources should spend their budget on first: the subjects of pending, firing and held alerts in the
// order of the Board, and what any viewer shows.
func (svc *Service) Attention() backend.Attention {
	svc.mu.Lock()
	defer svc.mu.Unlock()
	var a backend.Attention
	board := svc.board
	if svc.adopted != nil {
		board = svc.adopted // of the process before
	}
	if board != nil {
		count := 0
		for _, x := range board.Alerts {
			count = max(count, len(x.Subjects)) // alerts have most of their subjects in common
		}
		// By a hash, which needs an eighth of the memory of a key: 100,000 subjects are collected many times a minute.
		seen := make(map[uint64]struct{}, count)
		a.Alerting = make([]backend.Key, 0, count)
		for _, x := range board.Alerts {
			if x.State == StateEnded {
				continue
			}
			for _, s := range x.Subjects {
				h := maphash.Comparable(svc.seed, s.Key)
				if _, is := seen[h]; !is {
					seen[h] = struct{}{}
					a.Alerting = append(a.Alerting, s.Key)
				}
			}
		}
	}
	for _, keys := range svc.visible {
		a.Visible = append(a.Visible, keys...)
	}
	a.Listed = board.expected()
	stable.Sort(a.Visible, backend.Key.Compare)
	a.Visible = slices.Compact(a.Visible)
	return a
}

// trimEvery is how often a process that runs on looks whether its files keep within their bounds.
const trimEvery = time.Hour

// seldom is how old a save may be: of readings that only refreshed others, and of a large fleet.
const seldom = 30 * time.Second

// Run saves the state from time to time and waits for the lock if another process holds it, until ctx ends; then it
// saves once more. Without a StateStore it returns at once.
func (svc *Service) Run(ctx context.Context) {
	if svc.opt.Store == nil {
		return
	}
	pause, untrimmed, unsaved := svc.opt.SaveEvery, time.Duration(0), time.Duration(0)
	for {
		if untrimmed >= trimEvery {
			svc.trim()
			untrimmed = 0
		}
		locked := svc.opt.Store.Locked()
		if !locked {
			pause = svc.opt.TakeOver
		}
		if !svc.wait(ctx, pause) {
			svc.Close()
			return
		}
		untrimmed += pause
		svc.readAdded()
		if !locked {
			svc.tryTakeOver()
			pause = svc.opt.SaveEvery
			continue
		}
		if unsaved += pause; unsaved < seldom && !svc.hasNews() {
			pause = svc.opt.SaveEvery
			continue
		}
		unsaved = 0
		began := svc.opt.ReadClock()
		svc.save()
		took, _ := svc.opt.ReadClock().Since(began)
		// A large fleet spends a 1000th of its time on saving, as long as a save is no older than 30 s; a huge one a twentieth.
		pause = max(svc.opt.SaveEvery, min(1000*took, seldom), 20*took)
	}
}

// look takes over what other processes added to the orders and the timeline.
func (svc *Service) readAdded() {
	if svc.readOrders() {
		svc.apply()
	}
	if svc.opt.Observed != nil {
		for _, p := range svc.readVerdicts() {
			svc.opt.Observed(p)
		}
	}
	svc.problemIf(svc.timeline.write())
}

// wait writes the timeline down whenever something happened, and looks for what other processes added, for a while; it
// reports whether ctx goes on.
func (svc *Service) wait(ctx context.Context, pause time.Duration) bool {
	t, look := time.NewTimer(pause), time.NewTicker(min(pause, svc.opt.TakeOver))
	defer t.Stop()
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-svc.wake:
			svc.problemIf(svc.timeline.write())
		case <-look.C:
			svc.readAdded()
		case <-t.C:
			return true
		}
	}
}

// takeOver tries to become the process that keeps the alert state: it goes on from what the former one left.
func (svc *Service) tryTakeOver() {
	switch got, err := svc.opt.Store.TryLock(); {
	case err != nil:
		svc.problem(err)
	case got:
		svc.load()
	}
}

// save writes the newest Board unless that is done already.
func (svc *Service) save() {
	if svc.opt.Store == nil || !svc.opt.Store.Locked() {
		return
	}
	svc.saving.Lock()
	defer svc.saving.Unlock()
	svc.mu.Lock()
	board, at, dirty := svc.board, svc.at, svc.dirty
	waiting := svc.adopted != nil
	svc.dirty, svc.news = false, false
	svc.mu.Unlock()
	if board == nil || !dirty || waiting {
		return
	}
	if _, err := svc.opt.Store.Save(board, at); err != nil {
		svc.problem(err)
		svc.mu.Lock()
		svc.dirty, svc.news = true, true
		svc.mu.Unlock()
	}
}

// hasNews reports whether more than the age of readings is to be saved.
func (svc *Service) hasNews() bool {
	svc.mu.Lock()
	defer svc.mu.Unlock()
	return svc.news
}

// Forget makes Close write nothing.
func (svc *Service) Forget() {
	svc.mu.Lock()
	defer svc.mu.Unlock()
	svc.forgets = true
}

// Close saves the newest Board and what happened. It is for one-shot commands, which do not Run; the StateStore stays open.
func (svc *Service) Close() {
	svc.mu.Lock()
	forgets := svc.forgets
	svc.mu.Unlock()
	if forgets {
		return
	}
	svc.save()
	svc.problemIf(svc.timeline.write())
}
