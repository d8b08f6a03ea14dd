package actions

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"sandglass/actions/audit"
	"sandglass/backend"
)

// Journal keeps what is done; *audit.Journal is one. AppendPaced also holds the rate limit, which counts what every
// process does.
type Journal interface {
	Append(context.Context, audit.Entry, audit.Durability) (audit.Receipt, error)
	AppendPaced(context.Context, audit.Entry, audit.Durability, audit.Pace) (audit.Receipt, error)
}

// Options are what a Control needs from the wiring.
type Options struct {
	Environment string
	Production  bool
	ReadOnly    bool // beats everything
	// StateDir keeps plans and the marks of used ones; empty: nothing can be done, because nothing could be proved.
	StateDir  string
	Abilities []Ability
	Feed      Feed
	// Journal is nil where there can be none: then nothing can be done. Problem says why.
	Journal        Journal
	JournalProblem backend.Safe
	// WriteNew writes plans and the marks of used ones; nil: audit.WriteNew, for which a full disk is the end.
	WriteNew func(path string, content []byte) error
	Now      func() time.Time
	Spawn    backend.Spawner
	// Process names this process in the ids of its viewers; empty: they are numbers alone.
	Process string
	// Self is this process, Alive whether another one still runs, and NewID makes 16 random hexadecimal digits; verbs that make a
	// sandbox need them.
	Self  Process
	Alive func(Process) bool
	NewID func() string
	// Fingerprint names the cause in an error text, so that two failures of one cause are equal; nil: causes are not compared.
	Fingerprint func(backend.Safe) string
	// EvidenceSaved reports whether a bundle was written about every one of the keys since then; nil: not known.
	EvidenceSaved func(ctx context.Context, since time.Time, keys []backend.Key) bool
	// Tell takes events for the timeline. It may be nil.
	Tell func([]backend.Event)
}

// Control is what all viewers of one program share: what can be done, the journal, the rate limits, and the one plan that is
// carried out at a time. A viewer acts through an Operator, which As makes. It is safe for concurrent use.
type Control struct {
	opt   Options
	store store

	mu      sync.Mutex
	viewers int // how many there were
	current *Run
	starts  bool // a plan is about to be carried out
	ended   bool // the program is ending: no further run starts
	paces   map[pace]*window

	subs map[chan struct{}]struct{}
}

type pace struct {
	source string
	verb   Verb
}

// NewControl makes a Control. It opens nothing.
func NewControl(o Options) *Control {
	if o.WriteNew == nil {
		o.WriteNew = audit.WriteNew
	}
	return &Control{opt: o, store: store{o.StateDir, o.WriteNew}, paces: map[pace]*window{}, subs: map[chan struct{}]struct{}{}}
}

// differences says how a plan differs from the one before it, in at most a line for each sort of difference.
func differences(old, now *Plan) []backend.Safe {
	if old == nil || len(old.Choices) > 0 && old.Params != now.Params { // what was chosen is what differs
		return nil
	}
	before := map[backend.Key][]Fact{}
	for _, t := range old.Targets {
		before[t.Key] = t.Identity
	}
	var out []backend.Safe
	added, changed := 0, 0
	for _, t := range now.Targets {
		identity, was := before[t.Key]
		switch {
		case !was:
			added++
		case !slices.Equal(identity, t.Identity):
			changed++
		}
		delete(before, t.Key)
	}
	for _, x := range []struct {
		n    int
		text backend.Literal
	}{{added, "%d more than before"}, {len(before), "%d are left out now"}, {changed, "%d changed meanwhile"}} {
		if x.n > 0 {
			out = append(out, backend.Textf(x.text, x.n))
		}
	}
	if len(out) == 0 {
		out = append(out, backend.Text("nothing changed meanwhile"))
	}
	return out
}

// startWithin is how long after its confirmation even an expired plan can begin: a program without a screen reads its
// sources in between.
const startWithin = 30 * time.Second

// start carries a plan out, unless the viewer that confirmed it has gone.
func (c *Control) start(ctx context.Context, p *Plan, ability Ability, on Terminal, gone func() bool) (*Run, error) {
	if err := c.claim(gone); err != nil {
		return nil, err
	}
	r, err := c.ready(ctx, p, ability)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.starts = false
	switch {
	case err != nil:
		return nil, err
	case c.ended || gone():
		return nil, errEnding
	}
	r.terminal = on
	c.current = r
	c.opt.Spawn.Go("plan "+p.Digest, func() { r.carryOut(ctx) })
	return r, nil
}

var errEnding = errors.New("the program is ending: nothing begins any more")

// claim makes this the only plan that begins. The lock is not held while files are written: the screen needs it.
func (c *Control) claim(gone func() bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.ended || gone():
		return errEnding
	case c.starts, c.current != nil && !c.current.Over():
		return errors.New("another plan is being carried out: wait until it is over, or stop it")
	}
	c.starts = true
	return nil
}

// ready looks once more for reasons not to begin, which may have come up since the plan was made, and uses the plan up.
func (c *Control) ready(ctx context.Context, p *Plan, ability Ability) (*Run, error) {
	r := newRun(c, p, ability)
	if p.DryRun {
		return r, nil
	}
	if snap := c.opt.Feed.Snapshot(); snap.State != nil {
		now := Plan{Refusals: c.refusals(ctx, p, ability.Spec, snap), Overrides: p.Overrides}
		if open := now.Open(); len(open) > 0 {
			return nil, &RefusedError{open}
		}
	}
	return r, c.store.use(p.Digest, c.opt.Now())
}

// Current is the plan that is being carried out, or was last; nil: none yet.
func (c *Control) Current() *Run {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current
}

// Hangup ends the Control for all viewers: no further run starts, and the present one stops before its next target. It
// waits until the journal has the end of the run, or ctx ends.
func (c *Control) Hangup(ctx context.Context, why backend.Safe) {
	c.mu.Lock()
	c.ended = true
	r := c.current
	c.mu.Unlock()
	if r == nil {
		return
	}
	r.Leave(why)
	select {
	case <-r.Done():
	case <-ctx.Done():
	}
}

// subscribe returns a channel of one slot that is filled when a plan begins or moves on.
func (c *Control) subscribe() (changed <-chan struct{}, stop func()) {
	ch := make(chan struct{}, 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.subs[ch] = struct{}{}
	return ch, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.subs, ch)
	}
}

// moved tells the subscribers.
func (c *Control) moved() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for ch := range c.subs {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

// journal writes one record; without a journal nothing may be done.
func (c *Control) journal(ctx context.Context, e audit.Entry, d audit.Durability) error {
	if c.opt.Journal == nil {
		return errors.New("there is no journal, and without a journal nothing is done")
	}
	_, err := c.opt.Journal.Append(ctx, e, d)
	return err
}

func (c *Control) notify(name string, k backend.Key, text backend.Safe) {
	if c.opt.Tell != nil {
		c.opt.Tell([]backend.Event{{Kind: backend.EventAction, At: c.opt.Now(), Source: k.Source, Subject: k, Name: name, Text: text}})
	}
}

// window says when the last effects of one verb on one source happened, for the rate limit.
type window struct{ at []time.Time }

// wait is how long the next effect must wait so that at most n happen in a minute.
func (w *window) wait(n int, now time.Time) time.Duration {
	w.at = slices.DeleteFunc(w.at, func(t time.Time) bool { return now.Sub(t) >= time.Minute })
	if len(w.at) < n {
		return 0
	}
	return w.at[len(w.at)-n].Add(time.Minute).Sub(now)
}

// pace returns how long the next effect of the plan must wait after this process's own effects, by the monotonic clock.
// The journal counts the effects of other processes.
func (c *Control) pace(p *Plan) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.paces[pace{p.Source, p.Verb}]
	if w == nil {
		return 0
	}
	return w.wait(p.PerMinute, c.opt.Now())
}

// countEffect counts an announced effect for the rate limit.
func (c *Control) countEffect(p *Plan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := pace{p.Source, p.Verb}
	if c.paces[k] == nil {
		c.paces[k] = &window{}
	}
	c.paces[k].at = append(c.paces[k].at, c.opt.Now())
}
