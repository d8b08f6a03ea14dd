package actions

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"sandglass/actions/audit"
	"sandglass/backend"
)

// Person is who uses a viewer, as far as the system knows.
type Person struct {
	Who audit.Who
	// Shared says that several people use the account: arming and confirming ask for a name.
	Shared bool
}

// Operator is a Control in the hands of one viewer: what that viewer may do, its arming and its plans. Two viewers of one
// person are two Operators. It is safe for concurrent use.
type Operator struct {
	control *Control
	person  Person
	may     Permissions

	mu       sync.Mutex
	terminal Terminal // nil: the viewer has none on this machine
	armed    Arming
	ended    bool // the viewer is gone: it starts no further run
}

// As makes the Operator of one more viewer. The journal names the viewer by an id of its own.
func (c *Control) As(p Person, may Permissions) *Operator {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.viewers++
	p.Who.Viewer = backend.Textf("%d", c.viewers)
	if c.opt.Process != "" {
		p.Who.Viewer = backend.Textf("%s.%d", backend.Clean(c.opt.Process, 40), c.viewers)
	}
	return &Operator{control: c, person: p, may: may}
}

// ID is the viewer's own, unique among those of this process.
func (o *Operator) ID() string { return o.person.Who.Viewer.String() }

// Permissions are what the viewer may do.
func (o *Operator) Permissions() Permissions { return o.may }

// Who is the person; claimed is what they call themselves, empty where the account or their arming tells.
func (o *Operator) Who(claimed backend.Safe) audit.Who {
	who := o.person.Who
	if a, ok := o.Armed(); ok {
		who = a.Who
	}
	if !claimed.IsEmpty() {
		who.Claimed = claimed
	}
	return who
}

// NeedsName reports whether the person has to say who they are: several people use the account.
func (o *Operator) NeedsName() bool { return o.person.Shared && o.person.Who.Claimed.IsEmpty() }

// name is what to call the person.
func (o *Operator) name() backend.Safe { return o.Who(backend.Safe{}).Name() }

// CanAct reports whether any verb is available to the viewer on any source.
func (o *Operator) CanAct() bool {
	return !o.control.opt.ReadOnly && slices.ContainsFunc(o.control.opt.Abilities, func(a Ability) bool {
		return a.Denied.IsEmpty() && o.may.Acts(a.Spec.Verb, a.Source)
	})
}

// unpermitted says why the viewer may do none of what is available; empty: it may do something, or nothing is available.
func (o *Operator) unpermitted() backend.Safe {
	var why backend.Safe
	for _, a := range o.control.opt.Abilities {
		if a.Denied.IsEmpty() && why.IsEmpty() {
			why = o.may.denied(o.name(), a.Spec.Verb, a.Source)
		}
	}
	if o.CanAct() {
		return backend.Safe{}
	}
	return why
}

// All lists every verb on every source, the unavailable ones with their reason.
func (o *Operator) All() []Ability { return o.judged(func(*Ability) bool { return true }) }

func (o *Operator) judged(is func(*Ability) bool) []Ability {
	var out []Ability
	for _, a := range o.control.opt.Abilities {
		if is(&a) {
			out = append(out, o.judge(a))
		}
	}
	return out
}

// judge adds what denies every verb alike.
func (o *Operator) judge(a Ability) Ability {
	c := o.control
	if a.Part.Now != nil {
		if s := c.opt.Feed.Snapshot().State; s != nil {
			a.Spec = a.Part.Now(s, a.Spec)
		}
	}
	denied := o.may.denied(o.name(), a.Spec.Verb, a.Source)
	switch {
	case c.opt.ReadOnly:
		a.Denied = ReadOnly().Why
	case !denied.IsEmpty():
		a.Denied = denied
	case !a.Denied.IsEmpty():
	case a.Spec.Takes && o.localTerminal() == nil:
		a.Denied = noTerminal(runtime.GOOS)
	case c.opt.Journal == nil && !c.opt.JournalProblem.IsEmpty():
		a.Denied = backend.Textf("without a journal nothing is done: %s", c.opt.JournalProblem)
	case c.opt.Journal == nil || c.opt.StateDir == "":
		a.Denied = backend.Text("without a state directory there is no journal, and without a journal nothing is done: name one with --state-dir")
	}
	return a
}

func (o *Operator) ability(source string, verb Verb) (Ability, error) {
	all := o.judged(func(a *Ability) bool { return a.Source == source })
	if len(all) == 0 {
		return Ability{}, fmt.Errorf("there is nothing that Sandglass can do on the source %q", source)
	}
	var verbs []Verb
	for _, a := range all {
		if a.Spec.Verb == verb {
			return a, nil
		}
		verbs = append(verbs, a.Spec.Verb)
	}
	return Ability{}, fmt.Errorf("there is no %q on the source %q; it has %v", verb, source, verbs)
}

// Start carries a confirmed plan out. The plan must be this viewer's own, confirmed within its time and not used before;
// a console must be armed. It returns when the run has begun; an error means that nothing was done.
func (o *Operator) Start(ctx context.Context, ok Confirmed) error {
	_, err := o.start(ctx, ok)
	return err
}

func (o *Operator) start(ctx context.Context, ok Confirmed) (*Run, error) {
	p, c := ok.plan, o.control
	if p == nil {
		return nil, errors.New("nothing was confirmed")
	}
	ability, err := o.ability(p.Source, p.Verb)
	switch {
	case err != nil:
		return nil, err
	case !ability.Denied.IsEmpty():
		return nil, &DeniedError{p.Verb, p.Source, ability.Denied}
	case !o.owns(p) && !p.Headless:
		return nil, fmt.Errorf("this plan belongs to another viewer, %s: make your own", p.Who.Text())
	case p.Expired(ok.at) || p.Expired(c.opt.Now()) && c.opt.Now().Sub(ok.at) > startWithin:
		return nil, ErrExpired
	}
	if _, armed := o.Armed(); !armed && !p.Headless && !p.DryRun {
		return nil, ErrNotArmed
	}
	return c.start(ctx, p, ability, o.localTerminal(), o.hungUp)
}

// owns reports whether the plan was made by this viewer.
func (o *Operator) owns(p *Plan) bool { return p.Who.Viewer == o.person.Who.Viewer }

func (o *Operator) hungUp() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ended
}

// Current is the plan that any viewer carries out, or carried out last; nil: none yet.
func (o *Operator) Current() *Run { return o.control.Current() }

// Progress is the plan that any viewer carries out, or carried out last; false: none yet.
func (o *Operator) Progress() (Progress, bool) {
	r := o.control.Current()
	if r == nil {
		return Progress{}, false
	}
	p := r.Progress()
	p.Own = o.owns(p.Plan)
	p.CanContinue = p.CanContinue && p.Own
	return p, true
}

// Subscribe returns a channel of one slot that is filled when a plan begins or moves on, whoever carries it out.
func (o *Operator) Subscribe() (changed <-chan struct{}, stop func()) { return o.control.subscribe() }

// Stop ends the viewer's own run of the plan of that digest before its next target. What is under way finishes.
func (o *Operator) Stop(digest string, why backend.Safe) error {
	r, err := o.own(digest)
	if err == nil {
		r.Stop(why)
	}
	return err
}

// Continue starts the next wave of the viewer's own run when that waits for it.
func (o *Operator) Continue(digest string) error {
	r, err := o.own(digest)
	if err == nil {
		r.Continue()
	}
	return err
}

// own is the run of the plan of that digest, when this viewer confirmed it.
func (o *Operator) own(digest string) (*Run, error) {
	r := o.control.Current()
	switch {
	case r == nil || r.plan().Digest != digest:
		return nil, errors.New("this plan is not being carried out")
	case !o.owns(r.plan()):
		return nil, fmt.Errorf("nothing was changed: %s confirmed this plan, and only their viewer steers it", r.plan().Who.Name())
	}
	return r, nil
}

// Hangup ends this viewer: its arming ends, it starts no further run, and its run stops before its next target. It waits
// until the journal has the end of the run, or ctx ends. Other viewers go on.
func (o *Operator) Hangup(ctx context.Context, why backend.Safe) error {
	o.mu.Lock()
	o.ended = true
	o.mu.Unlock()
	if r := o.control.Current(); r != nil && o.owns(r.plan()) {
		r.Leave(why)
		select {
		case <-r.Done():
		case <-ctx.Done():
		}
	}
	return o.Disarm(ctx)
}
