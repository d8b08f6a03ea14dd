package docker

import (
	"context"
	"os"
	"strconv"
	"sync"
	"time"

	"sandglass/backend"
	"sandglass/backend/workdir"
	"sandglass/internal/stable"
)

// Source reads the containers of one engine. Poll is called by one goroutine at a time; Watch and Attend run beside
// it and touch only what mu guards.
type Source struct {
	opt  Options
	sel  selection
	deps backend.Deps
	dial func(address, backend.Deps) (engine, error) // newMoby; tests put a fake here

	// The rest is Poll's own.
	entries  map[string]*cachedContainer
	listed   time.Time // our time of the last list, zero: never
	answered bool      // an engine was there once: from then on its absence is a failure
	polls    int
	since    time.Time                   // until when a former process read events; zero: none did
	frozen   map[string]backend.Bookmark // by id: main processes that a former process saw frozen
	mask     *documentMasker
	kills    kernelKills

	mu  sync.Mutex
	eng engine // nil: not connected
	at  address
	api string
	// command is the client that reaches the engine from a shell.
	command string
	pend    pendingEvents
	attn    map[backend.ID]bool // containers that are looked at
	// alerting are containers that alert, known those that a former run listed.
	alerting, known []backend.ID
	// changed is the open watch's, nil without one.
	changed func()
	batch   sampleBatch
	check   *checker // its results are

	slots chan struct{}   // one for each request in flight
	life  context.Context // ends with Close, for what runs beside the polls
	end   context.CancelFunc
}

func newSource(o Options, sel selection, deps backend.Deps) *Source {
	if deps.Cleaner == nil {
		deps.Cleaner = backend.NewCleaner()
	}
	life, end := context.WithCancel(context.Background())
	s := &Source{life: life, end: end, slots: make(chan struct{}, inFlight), opt: o, sel: sel, deps: deps, kills: newKernelKills(deps.Now), entries: map[string]*cachedContainer{}, frozen: map[string]backend.Bookmark{}, mask: &documentMasker{c: deps.Cleaner, names: map[string]bool{}}, attn: map[backend.ID]bool{},
		dial: func(a address, d backend.Deps) (engine, error) { return newMoby(a, d) }}
	s.check = newChecker(o, deps, s.interval())
	return s
}

// ID is the source's id.
func (s *Source) ID() string { return s.deps.ID }

// Close ends idle connections to the engine and what samples are being taken.
func (s *Source) Close() error {
	s.end()
	s.drop()
	return nil
}

// Attend notes which containers are looked at; their figures are taken at every poll.
func (s *Source) Attend(a backend.Attention) {
	seen := make(map[backend.ID]bool, len(a.Alerting)+len(a.Visible))
	for _, keys := range [][]backend.Key{a.Alerting, a.Visible} {
		for _, k := range keys {
			if k.Kind == backend.KindSandbox && k.Source == s.deps.ID {
				seen[k.ID] = true
			}
		}
	}
	ids := func(keys []backend.Key) (out []backend.ID) {
		for _, k := range keys {
			if k.Kind == backend.KindSandbox && k.Source == s.deps.ID {
				out = append(out, k.ID)
			}
		}
		return out
	}
	alerting, known := ids(a.Alerting), ids(a.Listed)
	s.mu.Lock()
	s.attn, s.alerting, s.known = seen, alerting, known
	s.mu.Unlock()
}

// Routes lists what is asked of the engine.
func (s *Source) Routes() []backend.Route {
	target := "the first that answers: DOCKER_HOST, the current docker context, the usual sockets: "
	if places, err := (resolver{host: s.opt.Host, getenv: s.deps.Getenv, uid: os.Getuid()}).addresses(); err == nil {
		target = ""
		for i, a := range places {
			if i > 0 {
				target += " or "
			}
			target += a.url
		}
	}
	get := func(path, why string) backend.Route {
		return backend.Route{Verb: "GET", Target: target + path, Why: why}
	}
	routes := []backend.Route{
		{Verb: "HEAD", Target: target + "/_ping", Why: "API version, once per connection; GET where HEAD is refused"},
		get("/containers/json?all=1", "all containers, when something happened and every "+text(s.opt.Relist)),
		get("/containers/{id}/json", "a container that is new or changed"),
		get("/containers/{id}/logs?stdout=1&stderr=1&tail="+strconv.Itoa(s.opt.LogLines), "the end of a sandbox's log, once for each failure of it"),
		get("/containers/{id}/logs?stdout=1&stderr=1&timestamps=1&follow=1", "a container's log, while a person reads it"),
		get("/containers/{id}/stats?stream=false&one-shot=true", "one sample of CPU and memory: rows on a screen at each poll, other sandboxes every "+text(s.opt.StatsSweep)),
		get(`/volumes?filters={"driver":{"local":true}}`, "which directories of the host volumes use, for clean of scratch directories"),
		get("/events", "create, start, die, oom, pause, unpause, rename, destroy, health_status"),
	}
	if s.opt.WorkdirSweep > 0 {
		routes = append(routes, backend.Route{Verb: "HEAD", Target: target + "/containers/{id}/archive?path={path}",
			Why: "whether the working directory is there, every " + text(s.opt.WorkdirSweep) + ", at most 20 a second"})
	}
	if s.opt.FrozenAfter > 0 {
		routes = append(routes, get("/containers/{id}/top?ps_args="+workdir.PS, "whether a main process is frozen, where this machine does not show it, at most once in 5s; never of Podman, which runs ps inside the container"))
	}
	return routes
}

func text(d backend.Duration) string {
	b, err := d.MarshalText()
	if err != nil {
		return d.Std().String()
	}
	return string(b)
}

// interval is the time between polls, never zero.
func (s *Source) interval() time.Duration {
	if s.deps.Interval <= 0 {
		return 5 * time.Second
	}
	return s.deps.Interval
}

// deadline bounds one request, and leaves the rest of the poll half of its time.
func (s *Source) deadline(ctx context.Context) time.Duration {
	d := s.deps.Deadline
	if d <= 0 {
		d = 10 * time.Second
	}
	if end, ok := ctx.Deadline(); ok {
		d = min(d, max(time.Until(end)/2, 0)) // a context's deadline is the machine's own time, not deps.Now's
	}
	return d
}

// key is a container's key.
func (s *Source) key(id backend.ID) backend.Key {
	return backend.Key{Kind: backend.KindSandbox, Source: s.deps.ID, ID: id}
}

// clean makes drawable text.
func (s *Source) clean(raw string, limit int) backend.Safe { return s.deps.Cleaner.Clean(raw, limit) }

// sorted returns the entries in the order of their ids.
func (s *Source) sorted() []*cachedContainer {
	out := make([]*cachedContainer, 0, len(s.entries))
	for _, e := range s.entries {
		out = append(out, e)
	}
	stable.Sort(out, func(a, b *cachedContainer) int { return a.id.Compare(b.id) })
	return out
}
