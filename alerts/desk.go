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

	saving sync.Mutex // one save at a time
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
	d := &Desk{engine: e, opt: opt, subs: map[chan struct{}]struct{}{}, visible: map[string][]backend.Key{}}
	if opt.Vault != nil {
		d.load()
	}
	return d
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

func (d *Desk) problem(err error) {
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
	d.mu.Lock()
	prev := d.board
	if d.adopted != nil {
		prev, d.adopted = d.adopted, nil
	}
	d.mu.Unlock()
	board, events := d.engine.Next(prev, st)
	d.mu.Lock()
	moved := d.board == nil || !slices.Equal(d.board.Alerts, board.Alerts)
	d.state, d.board, d.at, d.dirty = st, board, at, true
	for c := range d.subs {
		select {
		case c <- struct{}{}:
		default:
		}
	}
	d.mu.Unlock()
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

// Run saves the state from time to time and waits for the lock if another process holds it, until ctx ends; then it
// saves once more. Without a Vault it returns at once.
func (d *Desk) Run(ctx context.Context) {
	if d.opt.Vault == nil {
		return
	}
	pause := d.opt.SaveEvery
	for {
		locked := d.opt.Vault.Locked()
		if !locked {
			pause = d.opt.TakeOver
		}
		t := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			t.Stop()
			d.save()
			return
		case <-t.C:
		}
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

// Close saves the newest Board. It is for one-shot commands, which do not Run; the Vault stays open.
func (d *Desk) Close() { d.save() }
