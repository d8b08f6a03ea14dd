package cloudflare

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"

	"sandglass/backend"
	"sandglass/backend/cloudflare/bridge"
)

const (
	bridgeEvery = 10 * time.Second
	openEvery   = 10 * time.Minute // the request without a key
)

// worker is the bridge Worker, of which only routes are asked that start no container.
type worker struct {
	client  *bridge.Client
	boxes   map[string]bridge.Box // of the operator routes, by sandbox id
	by      map[string]string     // sandbox id by the id or name of its container
	clashes []string              // in what the operator routes contradict themselves
	next    time.Time
	roundAt time.Time // when it was last asked
	opened  time.Time // when it was last asked without a key
	open    backend.Value[bool]
	refuses backend.Safe // why nothing may be changed through it; empty: nothing speaks against it
	silent  error        // why it does not tell which routes it has; nil: it did
	pool    backend.Value[bridge.Pool]
	poolAt  time.Time
	listAt  time.Time // when the operator routes last answered; zero: never
	wholeAt time.Time // when they last listed all sandboxes; zero: never
	errs    [3]error  // of the newest round
	failed  int       // rounds in a row in which it did not answer as it should
}

// The passive reads of a bridge.
const (
	readHealth = iota
	readPool
	readBoxes
)

var reads = [3]string{"health", "pool", "operator routes"}

func newWorker(o *Options, deps backend.Deps) (*worker, error) {
	c, err := bridge.New(bridge.Site{URL: o.BridgeURL, Key: o.Bridge, Ops: o.OpsPrefix}, deps)
	if err != nil {
		return nil, err
	}
	return &worker{client: c, by: map[string]string{}}, nil
}

// bridgeID is the sandbox id of the bridge for an instance and who names it, zero: not known. The configuration and references name
// sandboxes of Workers that give their own ids to objects.
func (s *Source) bridgeID(b *box) (backend.ID, backend.NamedBy) {
	raw, by := "", backend.NamedByRoutes
	if w := s.bridge; w != nil {
		raw = cmp.Or(w.by[b.id.Raw()], w.by[b.name])
	}
	switch {
	case raw != "":
	case slices.Contains(s.opt.Sandboxes, b.name):
		raw, by = b.name, backend.NamedByConfig
	case s.named[b.name].ref != nil:
		raw, by = b.name, backend.NamedByRef
	}
	id, err := backend.NewID(raw)
	if err != nil {
		return backend.ID{}, ""
	}
	return id, by
}

// readBridge asks the passive routes of the bridge, if they are due.
func (p *poll) readBridge() {
	w := p.s.bridge
	if w == nil {
		return
	}
	if p.now.Before(w.next) {
		return
	}
	w.next, w.roundAt = p.now.Add(sooner(bridgeEvery)), p.now
	ok, missing, err := w.client.Health(p.ctx)
	if err == nil && !ok {
		err = errors.New("its Worker lacks a binding: " + backend.Join(missing, ", ").String())
	}
	w.errs[readHealth] = err
	pool, err := w.client.Pool(p.ctx)
	if w.errs[readPool] = err; err == nil {
		w.pool, w.poolAt = backend.Known(pool), p.now
	}
	if w.failed++; w.errs[readHealth] == nil && w.errs[readPool] == nil {
		w.failed = 0
	}
	if w.client.HasOps() {
		all, whole, err := w.client.Boxes(p.ctx)
		if err == nil && !whole {
			err = backend.Errorf(backend.ErrInvalid, p.routesList(), "the list is not whole; the rest is shown as it was")
		}
		if w.errs[readBoxes] = err; len(all) > 0 || err == nil {
			w.take(all, err == nil, p.now)
		}
	}
	if p.now.Sub(w.opened) >= openEvery {
		w.opened, w.open = p.now, w.client.Open(p.ctx)
		f, err := w.client.Features(p.ctx)
		if w.silent = err; err == nil {
			w.refuses = f.Refusal()
		}
	}
}

// answers reports whether there is a bridge that answered in its newest round.
func (w *worker) answers() bool {
	return w != nil && (w.errs[readHealth] == nil || w.errs[readPool] == nil)
}

// take takes over what the operator routes list.
func (w *worker) take(all []bridge.Box, whole bool, now time.Time) {
	if w.listAt = now; whole {
		w.wholeAt = now
	}
	was := w.boxes
	if whole {
		was = nil
	}
	w.boxes, w.by, w.clashes = claims(was, all)
}

// bridgeWords says what the bridge does not answer, and whether it answers anybody.
func (p *poll) bridgeWords() {
	s, w := p.s, p.s.bridge
	if w == nil {
		return
	}
	for i, err := range w.errs {
		if err == nil {
			continue
		}
		where, what := s.opt.BridgeURL, err.Error()
		var e *backend.Error
		if errors.As(err, &e) {
			where, what = e.Where, e.Err.Error()
		}
		if backend.KindOf(err) == backend.ErrUnauthorised {
			what += "; check the key of the bridge (" + s.opt.Bridge.Origin() + ")"
		}
		p.problem(backend.Key{}, backend.KindOf(err), where, "bridge, "+reads[i]+": "+what)
		p.r.Unseen = p.r.Unseen || i == readBoxes || backend.KindOf(err) == backend.ErrUnauthorised
		p.r.Degraded = cmp.Or(p.r.Degraded, backend.Textf("the bridge does not answer as it should (%s): %s", backend.Clean(reads[i], maxWord), p.clean(what, 200)))
	}
	p.clashing()
	p.strangeStates()
	p.muteBridge()
	if p.r.Refuses = w.refuses; !w.refuses.IsEmpty() {
		p.r.Notes = append(p.r.Notes, w.refuses)
	}
	if w.silent != nil && w.answers() {
		what := w.silent.Error()
		var e *backend.Error
		if errors.As(w.silent, &e) {
			what = e.Said()
		}
		p.note("the bridge does not tell which routes it has, so that nothing is done through it: %s", p.clean(what, 200))
	}
	if w.open.Or(false) {
		p.r.Notes = append(p.r.Notes, backend.Text(bridge.OpenWarning))
		p.r.Exposed = backend.Text(bridge.OpenWarning)
	}
	if pool, known := w.pool.Get(); known && w.errs[readPool] == nil {
		p.r.Pools = append(p.r.Pools, backend.Pool{ID: backend.MustID("bridge"), Name: backend.Text("bridge pool"), Used: backend.Known(pool.Total),
			Limit: pool.Most, At: w.poolAt})
		if named := p.named(); pool.Assigned > named && w.wholeAt.IsZero() {
			p.note("the bridge has %s in use and lists none of its sandboxes; ids that are known: %d. Name more in sandboxes, read references that name them, or add operator routes",
				backend.Counted(pool.Assigned, "container", "containers"), named)
		}
	}
	p.r.Load = p.r.Load.Plus(w.client.TakeLoad())
}

// muteBridge says that the bridge does not answer. A key that it refuses is an answer, and told as what cannot be read.
func (p *poll) muteBridge() {
	w := p.s.bridge
	if w.failed == 0 {
		return
	}
	m := backend.FailingService{What: backend.Text(backend.BridgeFailing), Tries: w.failed}
	if w.answers() {
		m.What = backend.Text(backend.BridgeFailing + " as it should")
	}
	err := cmp.Or(w.errs[readHealth], w.errs[readPool])
	if backend.KindOf(err) == backend.ErrUnauthorised {
		return
	}
	m.Why = p.clean(err.Error(), 300)
	p.r.Failing = m
}

// named counts the sandboxes of the bridge that are shown.
func (p *poll) named() (n int) {
	for _, b := range p.r.Sandboxes {
		if !b.BridgeID.IsZero() {
			n++
		}
	}
	return n
}

// known lists the sandboxes that are known by their sandbox id alone. whole says that the account's list was read to its end.
func (p *poll) known(taken map[backend.ID]bool, whole bool) {
	ids := slices.Clone(p.s.opt.Sandboxes)
	if w := p.s.bridge; w != nil {
		ids = slices.AppendSeq(ids, maps.Keys(w.boxes))
	}
	ids = slices.AppendSeq(ids, maps.Keys(p.s.named))
	slices.Sort(ids)
	for _, raw := range slices.Compact(ids) {
		id, err := backend.NewID(raw)
		if err != nil || taken[id] {
			continue
		}
		p.r.Sandboxes = append(p.r.Sandboxes, p.alone(id, raw, whole))
	}
}

// alone is a sandbox of which no instance is known. Without operator routes nothing tells whether a container runs for it.
func (p *poll) alone(id backend.ID, raw string, whole bool) *backend.Sandbox {
	b := &backend.Sandbox{Name: id.Safe(), Provider: backend.Text("cloudflare"), IsSandbox: true, Class: backend.SandboxUnknown}
	b.Key = backend.Key{Kind: backend.KindSandbox, Source: p.s.deps.ID, ID: id}
	b.BridgeID, b.ReadAt = id, p.now
	b.CreatedAt, b.StartedAt, b.FinishedAt = backend.NotApplicable[time.Time](), backend.Unknown[time.Time](), backend.Unknown[time.Time]()
	b.OOMKilled, b.RestartCount = backend.Unknown[bool](), backend.NotApplicable[int]()
	b.Health, b.HealthChecks, b.StartPeriod = backend.NotApplicable[backend.Safe](), backend.NotApplicable[backend.HealthChecks](), backend.NotApplicable[time.Duration]()
	b.MemLimit, b.Log, b.Usage = backend.NotApplicable[int64](), backend.NotApplicable[backend.LogTail](), backend.NotApplicable[backend.Usage]()
	b.ExitCode = backend.NotApplicable[int]()
	w := p.s.bridge
	var x bridge.Box
	told := false
	if w != nil {
		x, told = w.boxes[raw]
	}
	if !told {
		b.Unlisted, b.NamedBy = true, backend.NamedByConfig
		b.Labels = []backend.Field{{Name: backend.Text("known by"), Value: backend.Text("configuration")}}
		if m := p.s.named[raw]; m.ref != nil && !slices.Contains(p.s.opt.Sandboxes, raw) {
			b.NamedBy, b.Labels = backend.NamedByRef, []backend.Field{m.label()}
		}
		if w != nil && !w.wholeAt.IsZero() {
			b.Labels = append(b.Labels, backend.Field{Name: backend.Text("operator routes"), Value: backend.Text("do not list it")})
		}
		return b
	}
	b.ReadAt, b.NamedBy = w.listAt, backend.NamedByRoutes
	b.Labels = sleeps([]backend.Field{{Name: backend.Text("known by"), Value: backend.Text("operator routes")}}, x.SleepAfter)
	b.Reported, b.ObjectClass = p.clean(x.State, maxWord), p.clean(x.Class, maxName)
	if container, err := backend.NewID(cmp.Or(x.Instance, x.Container)); err == nil {
		b.Container = container
	}
	if b.Class = objectClass(&x); b.Class.Ended() && !x.Changed.IsZero() {
		b.FinishedAt = backend.Known(x.Changed)
	}
	if b.Doubt = p.doubt(&x, whole); !b.Doubt.IsEmpty() {
		b.Class = backend.SandboxUnknown
	}
	if code, known := x.Exit.Get(); known && b.Class.Ended() {
		b.ExitCode = backend.Known(code)
	}
	return b
}

// doubt says what speaks against operator routes that say that a sandbox runs: their word may be older than the death of its container.
func (p *poll) doubt(x *bridge.Box, whole bool) backend.Safe {
	runs, _ := x.Runs()
	for _, b := range p.s.boxes {
		runs = runs && b.id.Raw() != x.Instance && (b.name == "" || b.name != x.Container)
	}
	switch {
	case !runs:
		return backend.Safe{}
	case whole:
		return backend.Text("the account lists no such instance")
	}
	return backend.Text("the account's list was not read to its end")
}

// objectClass is the meaning of the word of a sandbox's object. Its word may be older than the death of the container.
func objectClass(b *bridge.Box) backend.SandboxClass {
	switch b.State {
	case "running":
		return backend.SandboxCreated
	case "healthy":
		return backend.SandboxRunning
	case "stopping":
		return backend.SandboxRemoving
	case "stopped":
		return backend.SandboxExited
	case "stopped_with_code":
		if b.Exit.Or(0) != 0 {
			return backend.SandboxDead
		}
		return backend.SandboxExited
	}
	return backend.SandboxUnknown
}

// bridgeRoutes lists what is asked of the bridge.
func (s *Source) bridgeRoutes() []backend.Route {
	var out []backend.Route
	get := func(call bridge.Call, why string) {
		out = append(out, backend.Route{Verb: "GET", Target: s.opt.BridgeURL + call.Path, Why: why + "; starts no container"})
	}
	get(bridge.Health(), "bindings of the bridge Worker, every "+backend.Age(bridgeEvery))
	get(bridge.Stats(), "containers of its pool; now and then without the key, to see whether it is open")
	get(bridge.Schema(), "which routes it has, every "+backend.Age(openEvery))
	if s.opt.OpsPrefix != "" {
		get(bridge.Ops{Prefix: s.opt.OpsPrefix}.List(""), "its sandboxes, by your own operator routes")
	}
	return out
}
