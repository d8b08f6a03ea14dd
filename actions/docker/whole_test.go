package docker

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"

	"sandglass/actions"
	"sandglass/actions/audit"
	"sandglass/backend"
	"sandglass/backend/backendtest/enginetest"
	"sandglass/backend/fleet"
	"sandglass/demo"
)

// control is the whole way from an intent to a verified outcome: a fleet that polls the engine, a journal on disk, and a
// Control between them.
type control struct {
	common   *actions.Control
	operator *actions.Operator
	t        *testing.T
	fleet    *fleet.Fleet
	mu       sync.Mutex
	subs     map[chan struct{}]struct{}
}

func (c *control) Snapshot() actions.Snapshot { return actions.Snapshot{State: c.fleet.State()} }

func (c *control) Subscribe() (<-chan struct{}, func()) {
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

func (c *control) changed(*fleet.State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for ch := range c.subs {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

func (c *control) Reread(k backend.Key) { c.fleet.Reread(k) }
func (c *control) Wake(source string)   { c.fleet.Wake(source) }

func (c *control) Attend([]backend.Key) {}

// control starts polling and arms.
func (y *engineFixture) control() *control {
	y.T.Helper()
	p := y.place()
	began := time.Now()
	c := &control{t: y.T, subs: map[chan struct{}]struct{}{}}
	c.fleet = fleet.New(fleet.Options{Now: time.Now, Mono: func() time.Duration { return time.Since(began) }, Spawn: backend.NewSpawner(nil), OnState: c.changed})
	c.fleet.Add(p.src, backend.SourceConfig{Kind: "docker", Interval: 500 * time.Millisecond, Deadline: time.Minute})
	journal, err := audit.New(audit.Options{Dir: y.T.TempDir(), Origin: audit.Origin{Host: backend.Text("bastion")}})
	if err != nil {
		y.T.Fatal(err)
	}
	var can []actions.Ability
	for _, s := range specs() {
		can = append(can, actions.Ability{Source: "docker-local", SourceKind: "docker", Spec: s, Part: p.parts[s.Verb]})
	}
	c.common = actions.NewControl(actions.Options{Environment: "test", StateDir: y.T.TempDir(), Abilities: can, Feed: c, Journal: journal,
		Now: time.Now, Spawn: backend.NewSpawner(nil)})
	c.operator = c.common.As(actions.Person{Who: audit.Who{User: backend.Text("mara"), Host: backend.Text("bastion")}}, actions.Everything())
	ctx, cancel := context.WithCancel(y.T.Context())
	over := make(chan struct{})
	go func() { defer close(over); c.fleet.Run(ctx) }()
	y.T.Cleanup(func() { cancel(); <-over })
	if _, err := c.operator.Arm(y.T.Context(), time.Hour, backend.Safe{}, backend.Text("incident 7")); err != nil {
		y.T.Fatal(err)
	}
	return c
}

// carry plans, types what the plan wants, and waits until the run is over.
func (c *control) carry(v actions.Verb, ids ...string) (*actions.Plan, actions.Progress) {
	c.t.Helper()
	in := actions.Intent{Verb: v, Source: "docker-local", Reason: backend.Text("incident 7")}
	for _, id := range ids {
		in.Keys = append(in.Keys, key(id))
	}
	changed, stop := c.Subscribe()
	defer stop()
	for listed := false; !listed; {
		s := c.fleet.State()
		if listed = s != nil && !slices.ContainsFunc(in.Keys, func(k backend.Key) bool { return s.Sandbox(k) == nil }); !listed {
			<-changed
		}
	}
	plan, err := c.operator.Plan(c.t.Context(), in)
	if err != nil {
		c.t.Fatal(err)
	}
	drawn := time.Now()
	typing := actions.NewConfirming(plan, drawn)
	typing.Drawn(drawn)
	at := drawn.Add(time.Second)
	confirmed, ok := typing.Press(at)
	if !ok {
		if confirmed, _, err = typing.Enter(plan.Wants(), in, at); err != nil {
			c.t.Fatalf("%s: %v; left out %+v, refused %+v", v, err, plan.Excluded, plan.Refusals)
		}
	}
	if err := c.operator.Start(c.t.Context(), confirmed); err != nil {
		c.t.Fatal(err)
	}
	run := c.common.Current()
	<-run.Done()
	return plan, run.Progress()
}

func (c *control) verified(v actions.Verb, id string) *actions.Plan {
	c.t.Helper()
	plan, p := c.carry(v, id)
	if p.Overall() != actions.ResultVerified {
		c.t.Errorf("%s: %s; %+v", v, p.Summary(), p.Lines)
	}
	return plan
}

func TestRealEngineFromIntentToVerified(t *testing.T) { onEngines(t, realEngineFromIntentToVerified) }

func realEngineFromIntentToVerified(t *testing.T, y *engineFixture) {
	id := y.Container("whole", container.Config{Image: y.full(), WorkingDir: "/home/ws"}, container.HostConfig{})
	c := y.control()
	c.verified(actions.Pause, id)
	c.verified(actions.Resume, id)
	if plan := c.verified(actions.Restart, id); plan.Gesture != actions.GestureYes || len(plan.Targets[0].Loses) == 0 {
		t.Errorf("restart: gesture %d, loses %v", plan.Gesture, plan.Targets[0].Loses)
	}
	c.verified(actions.Stop, id)
	c.verified(actions.Start, id)
	y.inside(id, "rmdir", "/home/ws")
	if plan := c.verified(actions.Repair, id); plan.Gesture != actions.GestureYes {
		t.Errorf("repair is confirmed by gesture %d", plan.Gesture)
	}
	if plan := c.verified(actions.Destroy, id); plan.Gesture != actions.GestureName || !strings.HasPrefix(y.Run+"whole", plan.Short) {
		t.Errorf("destroy is confirmed by gesture %d, %q", plan.Gesture, plan.Short)
	}
}

func TestDemoFromIntentToVerified(t *testing.T) {
	d, err := demo.Start(t.Context(), demo.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	y := &engineFixture{&enginetest.Engine{T: t, Host: demoHost(t, d)}, "sandglass.session"}
	var orphan string
	for b := range y.place().state().Sandboxes.All() {
		if _, checked := b.Health.Get(); b.IsSandbox && b.Class == backend.SandboxRunning && !checked {
			orphan = b.Key.ID.Raw()
		}
	}
	y.control().verified(actions.Destroy, orphan)
}
