package actions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"sandglass/actions/audit"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// world is a registry of workspaces that answers, lies and changes as a test wants, read by a real fleet.
type world struct {
	t  *testing.T
	mu sync.Mutex

	entries  map[string]*entry
	down     bool
	concerns []Concern
	tornDown func()

	did     []string           // effects that happened, in order
	onDo    func(*entry) error // what an effect does instead of curing the entry
	onLook  func(string)       // runs at each re-check, before it
	journal *memoryJournal
	subs    map[chan struct{}]struct{}
	fleet   *fleet.Fleet
	dir     string
	attend  []backend.Key
}

type entry struct {
	name             string
	state            string
	lastErr          string
	provider         string
	attempt, success time.Time
}

const home = "helix-eu"

func newWorld(t *testing.T, names ...string) *world {
	w := &world{t: t, entries: map[string]*entry{}, journal: &memoryJournal{}, subs: map[chan struct{}]struct{}{}, dir: t.TempDir()}
	for _, n := range names {
		w.entries[n] = &entry{name: n, state: "failed", lastErr: "max_instances reached", attempt: time.Now().Add(-5 * time.Minute), success: time.Now().Add(-time.Hour)}
	}
	return w
}

// run polls the world until the test ends. It must be called inside the bubble.
func (w *world) run() {
	ctx, cancel := context.WithCancel(w.t.Context())
	began := time.Now()
	w.fleet = fleet.New(fleet.Options{Now: time.Now, Mono: func() time.Duration { return time.Since(began) }, Spawn: backend.NewSpawner(nil),
		LongestOperation: 5 * time.Minute, OnState: func(*fleet.State) { w.changed() }})
	w.fleet.Add(w, backend.SourceConfig{Kind: "helix", Interval: 2 * time.Second, Deadline: time.Second})
	done := make(chan struct{})
	go func() { defer close(done); w.fleet.Run(ctx) }()
	w.tornDown = func() { cancel(); <-done }
	time.Sleep(3 * time.Second)
}

func (w *world) end() { w.tornDown() }

func (w *world) ID() string { return home }

func (w *world) Poll(context.Context) (backend.Reading, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.down {
		return backend.Reading{}, errors.New("connection refused")
	}
	now := time.Now()
	r := backend.Reading{Schema: backend.ReadingSchema, Source: home, Kind: "helix", Started: now, At: now,
		Scopes: []backend.Scope{{Kind: backend.KindWorkspace, Complete: true}}, Inputs: []backend.Input{backend.InputRegistry}}
	for _, e := range w.entries {
		x := &backend.Workspace{Meta: backend.Meta{Key: key(e.name), ReadAt: now}, Named: true, Reported: backend.Clean(e.state, 40), WorkspaceFacts: backend.WorkspaceFacts{Provider: backend.Clean(e.provider, 40)},
			LastError: backend.Clean(e.lastErr, 200), LastAttemptAt: backend.Known(e.attempt), LastSuccessAt: backend.Known(e.success)}
		x.Class = backend.ClassHealthy
		switch e.state {
		case "failed":
			x.Class = backend.ClassFailed
		case "strange":
			x.Class = backend.ClassUnknown
		}
		r.Workspaces = append(r.Workspaces, x)
	}
	return r, nil
}

func key(name string) backend.Key {
	return backend.Key{Kind: backend.KindWorkspace, Source: home, Parent: backend.MustID("s1"), ID: backend.MustID(name)}
}

// Snapshot, Subscribe, Wake and Attend make the world a Feed.
func (w *world) Snapshot() Snapshot {
	w.mu.Lock()
	defer w.mu.Unlock()
	return Snapshot{State: w.fleet.State(), Concerns: slices.Clone(w.concerns)}
}

func (w *world) Subscribe() (<-chan struct{}, func()) {
	ch := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.subs[ch] = struct{}{}
	return ch, func() { w.mu.Lock(); defer w.mu.Unlock(); delete(w.subs, ch) }
}

func (w *world) changed() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for ch := range w.subs {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

func (w *world) Reread(k backend.Key)    { w.fleet.Wake(k.Source) } // the world is its own source
func (w *world) Wake(s string)           { w.fleet.Wake(s) }
func (w *world) Attend(ks []backend.Key) { w.mu.Lock(); defer w.mu.Unlock(); w.attend = ks }

// Look judges the State, as a reset does.
func (w *world) Look(_ context.Context, q Question) []Candidate {
	var out []Candidate
	for _, k := range q.Keys {
		if q.Again && w.onLook != nil {
			w.onLook(k.ID.Raw())
			time.Sleep(6 * time.Second) // the reading before it is too old now
		}
		c := Candidate{Key: k, Label: k.Safe(), Useless: true}
		x := w.Snapshot().State.Workspace(k)
		switch {
		case x == nil:
			c.Why = backend.Text("it is not listed any more")
		case x.Meta.Stale:
			c.Why = backend.Text("it could not be read")
		case x.Class != backend.ClassFailed:
			c.Why = backend.Textf("it is %s, not failed", x.Reported)
		default:
			success, _ := x.LastSuccessAt.Get()
			c.Identity = []Fact{{"id", k.Path().Raw()}, {"state", x.Reported.String()}, {"last success", success.UTC().Format(time.RFC3339Nano)}}
		}
		out = append(out, c)
	}
	return out
}

// Do is the effect: it cures the entry, unless the test says otherwise.
func (w *world) Do(_ context.Context, t Target, _ Params) (Done, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e := w.entries[t.Key.ID.Raw()]
	w.did = append(w.did, e.name)
	if w.onDo != nil {
		return Done{}, w.onDo(e)
	}
	cure(e)
	return Done{Text: backend.Text("204")}, nil
}

func (w *world) Close() error { return nil }

func cure(e *entry) {
	e.state, e.lastErr, e.attempt, e.success = "open", "", time.Now().Add(time.Millisecond), time.Now().Add(time.Millisecond)
}

// Verify is that of a reset.
func (w *world) Verify(t Target, issued time.Time, s *fleet.State) Verdict {
	x := s.Workspace(t.Key)
	if x == nil {
		return Verdict{ResultEnded, backend.Text("it ended")}
	}
	success, _ := x.LastSuccessAt.Get()
	attempt, _ := x.LastAttemptAt.Get()
	switch {
	case success.After(issued):
		return Verdict{ResultVerified, backend.Text("it succeeded")}
	case x.Class == backend.ClassFailed && attempt.After(issued):
		return Verdict{ResultFailedAgain, backend.Text("it failed again")}
	}
	return Verdict{ResultAccepted, backend.Text("no success yet")}
}

func (w *world) ability() Ability {
	return Ability{Source: home, SourceKind: "helix",
		Spec: Spec{Verb: Reset, Of: backend.KindWorkspace, Title: "reset", Effect: "opens it again", Gesture: GestureYes, Cap: CapAbsolute},
		Part: Part{Targets: w, Verifier: w, Open: func(context.Context) (Effect, error) { return w, nil }}}
}

func (w *world) options() Options {
	return Options{Environment: "test", StateDir: w.dir, Abilities: []Ability{w.ability()}, Feed: w, Journal: w.journal, Now: time.Now,
		Spawn: backend.NewSpawner(nil), Fingerprint: func(s backend.Safe) string { return s.String() }}
}

// me is the person at the first viewer of a Control.
var me = audit.Who{User: backend.Text("mara"), Host: backend.Text("bastion"), Viewer: backend.Text("1")}

// operator is the first viewer of a Control, who may do everything.
func operator(o Options) *Operator { return NewControl(o).As(Person{Who: me}, Everything()) }

func (w *world) intent(names ...string) Intent {
	in := Intent{Verb: Reset, Source: home, Reason: backend.Text("quota raised")}
	for _, n := range names {
		in.Keys = append(in.Keys, key(n))
	}
	return in
}

func (w *world) acted() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.did)
}

func (w *world) change(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

// armed makes a Control that may act.
func (w *world) armed() *Operator {
	c := operator(w.options())
	if _, err := c.Arm(w.t.Context(), time.Hour, backend.Safe{}, backend.Text("incident 7")); err != nil {
		w.t.Fatal(err)
	}
	return c
}

// start plans, confirms and starts.
func (w *world) start(c *Operator, in Intent) *Run {
	w.t.Helper()
	return begin(w.t, c, plan(w.t, c, in))
}

func plan(t *testing.T, c *Operator, in Intent) *Plan {
	t.Helper()
	p, err := c.Plan(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func confirmed(t *testing.T, p *Plan) Confirmed {
	t.Helper()
	ok, err := ConfirmDigest(p, p.Digest, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

// begin confirms a plan and starts it.
func begin(t *testing.T, c *Operator, p *Plan) *Run {
	t.Helper()
	r, err := c.start(t.Context(), confirmed(t, p))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func names(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("ws-%03d", i))
	}
	return out
}

// memoryJournal keeps records, and refuses from a given one on.
type memoryJournal struct {
	damage  error
	mu      sync.Mutex
	entries []audit.Entry
	lasting []audit.Durability // of the entries
	refuse  int                // refuses the n-th and later ones, 1 is the first; 0: none
	once    bool               // refuses the n-th alone
}

func (j *memoryJournal) Append(_ context.Context, e audit.Entry, d audit.Durability) (audit.Receipt, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.refuse > 0 && len(j.entries)+1 >= j.refuse {
		if j.once {
			j.refuse = 0
		}
		return audit.Receipt{}, errors.New("no space left on device")
	}
	j.entries, j.lasting = append(j.entries, e), append(j.lasting, d)
	return audit.Receipt{Seq: uint64(len(j.entries))}, nil
}

// AppendPaced counts as the journal of a file does.
func (j *memoryJournal) AppendPaced(ctx context.Context, e audit.Entry, d audit.Durability, p audit.Pace) (audit.Receipt, error) {
	j.mu.Lock()
	var at []time.Time
	for _, x := range j.entries {
		if x.Phase == audit.PhaseTargetIntent && x.Verb == e.Verb && x.Subjects[0].Source == p.Source && e.At.Sub(x.At) < p.Within {
			at = append(at, x.At)
		}
	}
	j.mu.Unlock()
	if len(at) >= p.Most {
		return audit.Receipt{}, &audit.TooSoonError{Wait: at[len(at)-p.Most].Add(p.Within).Sub(e.At)}
	}
	return j.Append(ctx, e, d)
}

func (j *memoryJournal) phases() []audit.Phase {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []audit.Phase
	for _, e := range j.entries {
		out = append(out, e.Phase)
	}
	return out
}

// Damage is what a check of the journal finds.
func (j *memoryJournal) Damage(context.Context) error { return j.damage }
