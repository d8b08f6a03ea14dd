package alerts

import (
	"context"
	"slices"
	"sync"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// DeskOptions are what a Desk needs from the wiring.
type DeskOptions struct {
	// Vault keeps the state between runs; nil keeps nothing.
	Vault *Vault
	// Now reads the clocks. It is required with a Vault.
	Now func() Moment
	// Events takes what happened, in order, on the goroutine that calls Observe. It may be nil.
	Events func([]backend.Event)
	// Attention is told when the alerting or visible subjects changed. It may be nil.
	Attention func(backend.Attention)
	// Problem is told when the state cannot be loaded or saved. It may be nil.
	Problem func(error)
	// Journal keeps orders before they take effect; nil: nobody does.
	Journal OrderJournal
	// LongestOrder caps acknowledgements and silences, 0 for LongestOrder (24 h).
	LongestOrder time.Duration
	// SaveEvery is the shortest time between two saves, 0 for 3 s; TakeOver is how often a Desk without the lock tries
	// to get it, 0 for 2 s.
	SaveEvery, TakeOver time.Duration
}

// Desk turns every State into a Board and hands the newest pair to whoever looks. It is safe for concurrent use, except
// that Observe is called by one goroutine.
type Desk struct {
	engine *Engine
	opt    DeskOptions

	mu      sync.Mutex
	state   *fleet.State
	board   *Board
	at      Moment // of board
	adopted *Board // taken over from a former holder of the lock, not evaluated yet
	subs    map[chan struct{}]struct{}
	visible map[string][]backend.Key
	dirty   bool
	list    []Order // all of them, in the order of the file
	orders  *Orders // of list

	evaluating sync.Mutex // one evaluation at a time
	saving     sync.Mutex // one save at a time
	ordering   sync.Mutex // one reading of the orders at a time
	ordersAt   lineCursor
	timeline   timeline
	wake       chan struct{} // something waits to be written to the timeline
}

// NewDesk makes a Desk and loads what a former process left. A state that cannot be read is reported and set aside; the
// Desk then starts without one.
func NewDesk(e *Engine, opt DeskOptions) *Desk {
	if opt.SaveEvery == 0 {
		opt.SaveEvery = 3 * time.Second
	}
	if opt.TakeOver == 0 {
		opt.TakeOver = 2 * time.Second
	}
	d := &Desk{engine: e, opt: opt, subs: map[chan struct{}]struct{}{}, visible: map[string][]backend.Key{}, wake: make(chan struct{}, 1)}
	if opt.Vault != nil {
		d.open()
		d.load()
	}
	return d
}

// open reads the files to which several processes add.
func (d *Desk) open() {
	file := vaultFile(d.opt.Vault, timelineFile)
	d.timeline.file = &file
	d.trim()
	d.readOrders()
	d.problemIf(d.timeline.write())
}

// trim keeps the files within their bounds, where this process holds the alert state.
func (d *Desk) trim() {
	if d.opt.Vault.Locked() {
		now := d.now()
		d.problemIf(d.timeline.trim(now))
		d.problemIf(d.trimOrders(now))
	}
}

func (d *Desk) load() {
	l, err := d.opt.Vault.Load(d.opt.Now())
	if err != nil {
		d.problem(err)
		if err := d.opt.Vault.SetAside(); err != nil {
			d.problem(err)
		}
		return
	}
	if l.Board == nil {
		return
	}
	d.mu.Lock()
	d.adopted = l.Board
	d.mu.Unlock()
	if d.opt.Events != nil {
		by := "boot clock"
		if l.ByWall {
			by = "wall clock"
		}
		d.opt.Events([]backend.Event{{
			Kind: backend.EventNote, At: plain(d.opt.Now().Wall), Name: "resumed",
			Text: backend.Textf("alert state of %s ago taken over, by the %s", short(l.Elapsed.Round(time.Second)), by),
		}})
	}
}

// tell puts events on the timeline; Run or Close writes them down.
func (d *Desk) tell(events []backend.Event) {
	if d.timeline.take(d.holds(), events) {
		select {
		case d.wake <- struct{}{}:
		default:
		}
	}
}

// problem reports what went wrong, each of several problems on its own: they are written one a line.
func (d *Desk) problem(err error) {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range many.Unwrap() {
			d.problem(one)
		}
		return
	}
	if d.opt.Problem != nil {
		d.opt.Problem(err)
	}
}

// Observe evaluates a State. It returns after the new pair is visible to Latest and subscribers were told.
func (d *Desk) Observe(st *fleet.State) {
	var at Moment
	if d.opt.Now != nil {
		at = d.opt.Now()
	}
	d.evaluating.Lock()
	defer d.evaluating.Unlock()
	d.mu.Lock()
	prev, orders := d.board, d.orders
	if d.adopted != nil {
		prev, d.adopted = d.adopted, nil
	}
	d.mu.Unlock()
	board, events := d.engine.NextWith(prev, withEvents(st, d.timeline.done()), orders)
	d.tell(st.Events)
	d.publish(st, board, events, &at)
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
func (d *Desk) publish(st *fleet.State, board *Board, events []backend.Event, at *Moment) {
	d.mu.Lock()
	moved := d.board == nil || !slices.Equal(d.board.Alerts, board.Alerts)
	d.state, d.board, d.dirty = st, board, true
	if at != nil {
		d.at = *at
	}
	for c := range d.subs {
		select {
		case c <- struct{}{}:
		default:
		}
	}
	d.mu.Unlock()
	d.tell(events)
	if len(events) > 0 && d.opt.Events != nil {
		d.opt.Events(events)
	}
	if moved && d.opt.Attention != nil {
		d.opt.Attention(d.Attention())
	}
}

// Latest returns the newest State and the Board concluded from it; both are nil before the first State.
func (d *Desk) Latest() (*fleet.State, *Board) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.state, d.board
}

// Subscribe returns a channel that holds one value when there is something newer than at the last receive, and a
// function that ends the subscription.
func (d *Desk) Subscribe() (<-chan struct{}, func()) {
	c := make(chan struct{}, 1)
	d.mu.Lock()
	d.subs[c] = struct{}{}
	if d.board != nil {
		c <- struct{}{}
	}
	d.mu.Unlock()
	return c, func() {
		d.mu.Lock()
		delete(d.subs, c)
		d.mu.Unlock()
	}
}

// SetVisible says which rows a viewer shows; none ends it.
func (d *Desk) SetVisible(viewer string, keys []backend.Key) {
	d.mu.Lock()
	if slices.Equal(d.visible[viewer], keys) {
		d.mu.Unlock()
		return
	}
	if len(keys) == 0 {
		delete(d.visible, viewer)
	} else {
		d.visible[viewer] = slices.Clone(keys)
	}
	d.mu.Unlock()
	if d.opt.Attention != nil {
		d.opt.Attention(d.Attention())
	}
}

// Attention is what sources should spend their budget on first: the subjects of pending, firing and held alerts in the
// order of the Board, and what any viewer shows.
func (d *Desk) Attention() backend.Attention {
	d.mu.Lock()
	defer d.mu.Unlock()
	var a backend.Attention
	seen := map[backend.Key]bool{}
	if d.board != nil {
		for _, x := range d.board.Alerts {
			if x.State == StateEnded {
				continue
			}
			for _, s := range x.Subjects {
				if !seen[s.Key] {
					seen[s.Key] = true
					a.Alerting = append(a.Alerting, s.Key)
				}
			}
		}
	}
	clear(seen)
	for _, keys := range d.visible {
		for _, k := range keys {
			if !seen[k] {
				seen[k] = true
				a.Visible = append(a.Visible, k)
			}
		}
	}
	slices.SortFunc(a.Visible, backend.Key.Compare)
	return a
}

// trimEvery is how often a process that runs on looks whether its files keep within their bounds.
const trimEvery = time.Hour

// Run saves the state from time to time and waits for the lock if another process holds it, until ctx ends; then it
// saves once more. Without a Vault it returns at once.
func (d *Desk) Run(ctx context.Context) {
	if d.opt.Vault == nil {
		return
	}
	pause, untrimmed := d.opt.SaveEvery, time.Duration(0)
	for {
		if untrimmed >= trimEvery {
			d.trim()
			untrimmed = 0
		}
		locked := d.opt.Vault.Locked()
		if !locked {
			pause = d.opt.TakeOver
		}
		if !d.wait(ctx, pause) {
			d.Close()
			return
		}
		untrimmed += pause
		d.look()
		if !locked {
			d.takeOver()
			pause = d.opt.SaveEvery
			continue
		}
		began := d.opt.Now()
		d.save()
		took, _ := d.opt.Now().Since(began)
		pause = max(d.opt.SaveEvery, 20*took) // a huge fleet must not spend its time on saving
	}
}

// look takes over what other processes added to the orders and the timeline.
func (d *Desk) look() {
	if d.readOrders() {
		d.apply()
	}
	d.problemIf(d.timeline.write())
}

// wait writes the timeline down whenever something happened, and looks for what other processes added, for a while; it
// reports whether ctx goes on.
func (d *Desk) wait(ctx context.Context, pause time.Duration) bool {
	t, look := time.NewTimer(pause), time.NewTicker(min(pause, d.opt.TakeOver))
	defer t.Stop()
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-d.wake:
			d.problemIf(d.timeline.write())
		case <-look.C:
			d.look()
		case <-t.C:
			return true
		}
	}
}

// takeOver tries to become the process that keeps the alert state: it goes on from what the former one left.
func (d *Desk) takeOver() {
	switch got, err := d.opt.Vault.TryLock(); {
	case err != nil:
		d.problem(err)
	case got:
		d.load()
	}
}

// save writes the newest Board unless that is done already.
func (d *Desk) save() {
	if d.opt.Vault == nil || !d.opt.Vault.Locked() {
		return
	}
	d.saving.Lock()
	defer d.saving.Unlock()
	d.mu.Lock()
	board, at, dirty := d.board, d.at, d.dirty
	waiting := d.adopted != nil
	d.dirty = false
	d.mu.Unlock()
	if board == nil || !dirty || waiting {
		return
	}
	if _, err := d.opt.Vault.Save(board, at); err != nil {
		d.problem(err)
		d.mu.Lock()
		d.dirty = true
		d.mu.Unlock()
	}
}

// Close saves the newest Board and what happened. It is for one-shot commands, which do not Run; the Vault stays open.
func (d *Desk) Close() {
	d.save()
	d.problemIf(d.timeline.write())
}
