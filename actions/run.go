package actions

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"sandglass/actions/audit"
	"sandglass/backend"
)

// The numbers of a run. They are the same for every verb.
const (
	longestEffect  = 2 * time.Minute  // of one target; a slow stop of a container fits
	freshReading   = 5 * time.Second  // a target is judged by a reading at most this old
	patience       = 15 * time.Second // for such a reading
	settle         = 30 * time.Second // after a wave that is only accepted, before the operator may start the next
	verifyFor      = 2 * time.Minute  // after the last wave, then what is not decided is unverified
	breakAfter     = 3                // failures in a row
	journalTimeout = 10 * time.Second
)

// looksAfter are the times after an effect at which its source is read out of turn.
func looksAfter() []time.Duration {
	return []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second}
}

// Run carries one confirmed plan out.
type Run struct {
	control *Control
	ability Ability
	// terminal is that of the person who confirmed; nil: they have none on this machine.
	terminal Terminal
	stop     chan struct{}
	next     chan struct{}
	done     chan struct{}

	mu      sync.Mutex
	p       Progress
	halt    backend.Safe // why it must not go on; empty: it may
	unseen  bool         // the viewer was gone before it was stopped
	began   time.Time
	version int    // of p, for shown
	shown   []Line // a copy of p.Lines that is handed out and never changed
	shownAt int

	// What follows belongs to the run's own goroutine, which alone changes p.
	changes  int               // targets that were not what the plan saw
	unread   int               // targets in a row that could not be read again
	known    map[string]bool   // alerts that fire since before the run
	acted    bool              // an effect was begun
	inside   bool              // an effect never came back
	intended bool              // the journal has the intent
	stands   map[int]*standing // of the lines whose result is not known
}

func newRun(c *Control, p *Plan, a Ability) *Run {
	r := &Run{control: c, ability: a, stop: make(chan struct{}), next: make(chan struct{}, 1), done: make(chan struct{}),
		began: c.opt.Now(), known: map[string]bool{}, version: 1}
	for _, x := range c.opt.Feed.Snapshot().Concerns {
		// On a screen, an alert that began after the plan was made is new to the person who confirmed it. A headless
		// program started reading only now.
		if x.Firing && (p.Headless || !x.Since.After(p.Made.Add(time.Second))) {
			r.known[x.ID] = true
		}
	}
	r.p = Progress{Plan: p, Phase: PhaseActing, Began: r.began}
	for _, t := range p.Targets {
		r.p.Lines = append(r.p.Lines, Line{Target: t})
	}
	for i, w := range waves(len(p.Targets)) {
		r.p.Waves = i + 1
		for j := w.from; j < w.to; j++ {
			r.p.Lines[j].Wave = i + 1
		}
	}
	return r
}

type wave struct{ from, to int }

// waves divides n targets: one canary, a tenth, the rest.
func waves(n int) []wave {
	switch {
	case n <= 1:
		return []wave{{0, n}}
	case n == 2:
		return []wave{{0, 1}, {1, 2}}
	}
	second := 1 + int(math.Ceil(float64(n)/10))
	if second >= n {
		return []wave{{0, 1}, {1, n}}
	}
	return []wave{{0, 1}, {1, second}, {second, n}}
}

// Progress is the present state of the run. Its lines are shared with other values: they must not be changed.
func (r *Run) Progress() Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.shownAt != r.version {
		r.shown, r.shownAt = slices.Clone(r.p.Lines), r.version
	}
	p := r.p
	p.Lines = r.shown
	return p
}

// Over reports whether the run has ended.
func (r *Run) Over() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.p.Over()
}

// Done is closed when the run is over and written down.
func (r *Run) Done() <-chan struct{} { return r.done }

// plan is what is carried out. It never changes.
func (r *Run) plan() *Plan { return r.p.Plan }

// Stop ends the run before its next target. What is under way finishes.
func (r *Run) Stop(why backend.Safe) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.halt.IsEmpty() {
		r.halt = why
		close(r.stop)
	}
}

// Leave is Stop without a viewer: the terminal was lost, or the program is ending. The next start reports how far the
// plan went.
func (r *Run) Leave(why backend.Safe) {
	r.mu.Lock()
	r.unseen = r.unseen || r.halt.IsEmpty()
	r.mu.Unlock()
	r.Stop(why)
}

// Continue starts the next wave when the run waits for that.
func (r *Run) Continue() {
	select {
	case r.next <- struct{}{}:
	default:
	}
}

// set changes the progress and notifies the subscribers.
func (r *Run) set(change func(*Progress)) {
	r.mu.Lock()
	change(&r.p)
	r.version++
	r.mu.Unlock()
	r.control.moved()
}

func (r *Run) now() time.Time { return r.control.opt.Now() }

// halted says why the run must not go on; empty: it may.
func (r *Run) halted() backend.Safe {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.halt
}

// carryOut is the whole of the run. It ends with the run written down.
func (r *Run) carryOut(ctx context.Context) {
	defer close(r.done)
	end := context.AfterFunc(ctx, func() { r.Leave(backend.Text("the program is ending")) })
	defer end()
	r.control.opt.Feed.Attend(subjects(r.p.Plan))
	defer r.control.opt.Feed.Attend(nil)
	effect, err := r.begin(ctx)
	if err != nil {
		r.finish(backend.Clean("nothing was done: "+err.Error(), backend.MaxTextRunes))
		return
	}
	for w := 1; w <= r.p.Waves; w++ {
		for r.act(ctx, effect, w); w == 1 && r.halted().IsEmpty() && r.moreCanary(); {
			r.act(ctx, effect, w)
		}
		if !r.halted().IsEmpty() {
			break
		}
		if r.p.Plan.DryRun {
			continue
		}
		if r.settle(w); !r.halted().IsEmpty() {
			break
		}
	}
	r.close(effect)
	why := r.halted()
	if !why.IsEmpty() {
		r.lastJudgement()
	}
	r.finish(why)
}

// close releases what the effect holds, above all its credential. An effect that never returned still uses it: that one
// is released when the process exits.
func (r *Run) close(effect Effect) {
	if r.inside {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	failed, err := within(ctx, r.control.opt.Spawn, "let the effect go", lookGrace, effect.Close)
	if err == nil {
		err = failed
	}
	if err != nil {
		r.set(func(p *Progress) { p.Problem = backend.Clean(err.Error(), backend.MaxTextRunes) })
	}
}

// moreCanary promotes the next target if the canary was skipped, so that every wave follows a canary that was acted on.
func (r *Run) moreCanary() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.p.Lines {
		if !r.p.Lines[i].Issued.IsZero() {
			return false
		}
		if r.p.Lines[i].Wave > 1 && r.p.Lines[i].Result == ResultNone {
			r.p.Lines[i].Wave = 1
			r.version++
			return true
		}
	}
	return false
}

// begin writes the intent to the journal and opens the effect. After an error no target may be acted on.
func (r *Run) begin(ctx context.Context) (Effect, error) {
	p := r.p.Plan
	if p.DryRun {
		return &recorder{}, nil
	}
	facts := []backend.Field{{Name: backend.Text("excluded"), Value: backend.Textf("%d", len(p.Excluded))}}
	if !p.madeBy.User.IsEmpty() {
		facts = append(facts, backend.Field{Name: backend.Text("plan made by"), Value: p.madeBy.Text()})
	}
	for _, w := range p.Overrides {
		facts = append(facts, backend.Field{Name: backend.Text("overridden"), Value: backend.Clean(w, 80)})
	}
	if len(p.Targets) == 1 {
		facts = append(facts, p.Targets[0].nameFact()...)
	}
	e := audit.Entry{Phase: audit.PhaseIntent, Subjects: subjects(p), Targets: len(p.Targets), Reason: p.Reason, Facts: facts}
	if err := r.journal(e, audit.Synced); err != nil {
		return nil, err
	}
	r.intended = true
	r.control.notify(string(p.Verb), only(p), backend.Textf("%s of %d begun, plan %s: %s", backend.Clean(string(p.Verb), 40), len(p.Targets),
		backend.Clean(p.Digest, 20), p.Reason))
	if r.ability.Part.Open == nil {
		return nil, errors.New("there is nothing that could do it")
	}
	type opened struct {
		effect Effect
		err    error
	}
	waiting, cancel := context.WithTimeout(ctx, patience) // the effect itself may keep ctx
	defer cancel()
	got, err := within(waiting, r.control.opt.Spawn, "open the effect", lookGrace, func() opened {
		effect, err := r.ability.Part.Open(ctx)
		return opened{effect, err}
	})
	effect := got.effect
	switch {
	case err == nil && got.err != nil:
		err = got.err
	case err == nil && effect == nil:
		err = errors.New("there is nothing that could do it")
	}
	if x, ok := effect.(TerminalUser); ok && err == nil && r.ability.Spec.Takes {
		x.UseTerminal(r.terminal)
	}
	if x, ok := effect.(interface{ ForPlan(digest string) }); ok && err == nil {
		x.ForPlan(p.Digest) // what it sets aside says so
	}
	return effect, err
}

func subjects(p *Plan) []backend.Key {
	keys := make([]backend.Key, len(p.Targets))
	for i, t := range p.Targets {
		keys[i] = t.Key
	}
	return keys
}

// only is the plan's subject on the timeline: its target when it has one, else its source.
func only(p *Plan) backend.Key {
	if len(p.Targets) == 1 {
		return p.Targets[0].Key
	}
	return backend.Key{Kind: backend.KindSource, Source: p.Source, ID: backend.MustID(p.Source)}
}

// journal writes one record of the run. It does not end with the program: what happened is written down.
func (r *Run) journal(e audit.Entry, d audit.Durability) error {
	return r.record(e, func(ctx context.Context, e audit.Entry) error { return r.control.journal(ctx, e, d) })
}

// announce writes down that a target is acted on next, and what is made for that, unless the rate limit says later: then it
// is an *audit.TooSoonError.
func (r *Run) announce(t Target) (*Made, error) {
	p := r.p.Plan
	e := audit.Entry{Phase: audit.PhaseTargetIntent, Subjects: []backend.Key{t.Key}, Facts: t.nameFact()}
	made, err := r.making()
	if err != nil {
		return nil, err
	}
	if made != nil {
		e.Facts = append(e.Facts, made.facts()...)
	}
	err = r.record(e, func(ctx context.Context, e audit.Entry) error {
		_, err := r.control.opt.Journal.AppendPaced(ctx, e, audit.Synced, audit.Pace{Source: p.Source, Most: p.PerMinute, Within: time.Minute})
		return err
	})
	if err == nil && !p.DryRun {
		r.control.countEffect(p)
	}
	if err == nil && made != nil {
		err = r.control.store.making(made)
	}
	return made, err
}

// forget notes that what the plan made is gone.
func (r *Run) forget() {
	if err := r.control.store.gone(r.p.Plan.Digest); err != nil {
		r.set(func(p *Progress) {
			p.Problem = backend.Clean("what was made is gone, and that cannot be written down: "+err.Error(), backend.MaxTextRunes)
		})
	}
}

func (r *Run) record(e audit.Entry, write func(context.Context, audit.Entry) error) error {
	p := r.p.Plan
	if p.DryRun {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), journalTimeout)
	defer cancel()
	e.At, e.Who, e.Verb, e.Kind, e.Digest = r.now(), p.Who, string(p.Verb), string(p.Of), p.Digest
	failed, err := within(ctx, r.control.opt.Spawn, "write the journal", journalGrace, func() error { return write(ctx, e) })
	if err != nil {
		return fmt.Errorf("the journal: %w", err)
	}
	return failed
}

// finish writes the end of the run down: done, stopped, or refused when it never began.
func (r *Run) finish(stopped backend.Safe) {
	now := r.now()
	r.set(func(p *Progress) {
		p.Phase, p.Why, p.Ended, p.CanContinue = PhaseDone, stopped, now, false
		if !stopped.IsEmpty() {
			p.Phase = PhaseStopped
		}
	})
	p := r.Progress()
	if p.Plan.DryRun {
		return
	}
	detail := p.Summary()
	e := audit.Entry{Phase: audit.PhaseDone, Result: p.Overall(), Subjects: subjects(p.Plan), Targets: len(p.Lines), Done: p.Acted()}
	if !stopped.IsEmpty() {
		detail = backend.Textf("%s; stopped: %s", detail, stopped)
		e.Phase, e.Result = audit.PhaseStopped, ResultNone
		r.mu.Lock()
		e.Unseen = r.unseen && r.intended
		r.mu.Unlock()
		if !r.intended {
			e.Phase = audit.PhaseRefused
		}
	}
	e.Detail = detail
	r.control.notify(string(p.Plan.Verb), only(p.Plan), backend.Textf("%s, plan %s: %s", backend.Clean(string(p.Plan.Verb), 40), backend.Clean(p.Plan.Digest, 20), detail))
	if err := r.journal(e, audit.Synced); err != nil {
		r.set(func(p *Progress) {
			p.Problem = backend.Clean("the end is not in the journal: "+err.Error(), backend.MaxTextRunes)
		})
	}
}

// recorder is the effect of a dry run.
type recorder struct{ did []backend.Key }

// Do records.
func (r *recorder) Do(_ context.Context, t Target, _ Params) (Done, error) {
	r.did = append(r.did, t.Key)
	return Done{Text: backend.Text("would be done")}, nil
}

// Close does nothing.
func (r *recorder) Close() error { return nil }
