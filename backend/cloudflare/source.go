package cloudflare

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
)

const (
	inFlight    = 4   // requests at the same time
	sliceShare  = 0.9 // of the interval that one poll uses, so that the next one starts in time
	maxProblems = 60  // what one reading says about itself
)

// Source polls the containers of one account. Poll is called by one goroutine at a time; Attend runs beside it.
type Source struct {
	deps        backend.Deps
	opt         *Options
	base        string // of the account
	accountFrom string // what names the account
	client      *wire.Client
	budget      *wire.Budget
	limits      limits
	bridge      *worker // nil: none is configured
	// analytics is nil where the configuration does not want it.
	analytics *analytics

	apps       map[string]*app // by id in one spelling
	listed     []string        // of the newest list of applications
	appsNext   time.Time
	appsAt     time.Time // zero: never listed
	appsWhole  bool
	appsSaid   string   // why the list of applications is not whole
	appsOther  int      // applications that the configuration leaves out
	appsErr    *failure // why it could not be read when it was last asked for
	namespaces namespaces
	boxes      map[backend.ID]*box    // by the id of the instance
	formers    map[string]former      // of instances that this process has not seen yet, by id
	formerApps map[string]application // of applications that this process has not read yet, by id in one spelling: what changes
	started    time.Time
	behind     bool // the poll before left lists unread

	named map[string]mention   // sandboxes that references name, by id, as of the newest poll
	alone map[backend.Key]bool // those of them of which nothing else is known

	mu       sync.Mutex
	alerting map[backend.ID]bool
	visible  map[backend.ID]bool
	mentions map[string]map[string]mention // by source, then by sandbox id
}

// app is one container application that is read.
type app struct {
	application
	lists [3]list
	// unlisted says that the platform does not list the instances of this application: it answered 400.
	unlisted bool
}

// box is one instance that is known.
type box struct {
	row
	app     *app
	key     backend.Key // under which it was last delivered
	readAt  time.Time
	since   time.Time // when it was in its state for certain
	asked   time.Time // when its own route was last asked
	problem *backend.Problem
	fresh   time.Time // when its container was seen to start again, on an empty disk; zero: it was not
	before  time.Time // when the container before that was last seen to run; zero: it was not
	ran     time.Time // when its container was last seen to run
}

func newSource(o *Options, deps backend.Deps) (*Source, error) {
	if deps.Interval <= 0 {
		deps.Interval = 5 * time.Second
	}
	if deps.Cleaner == nil {
		deps.Cleaner = backend.NewCleaner()
	}
	s := &Source{deps: deps, opt: o, budget: wire.NewBudget(o.RequestsPerSec, deps.Now), base: strings.TrimRight(o.URL, "/") + "/accounts/" + o.AccountID,
		apps: map[string]*app{}, boxes: map[backend.ID]*box{}, formers: map[string]former{}, formerApps: map[string]application{}, started: deps.Now()}
	var err error
	if s.client, err = wire.New(wire.Config{Origins: []string{o.URL}, Credential: o.Read, Budget: s.budget}, deps); err != nil {
		return nil, fmt.Errorf("cloudflare source %s: %w", deps.ID, err)
	}
	if o.Analytics {
		if s.analytics, err = newAnalytics(o, deps); err != nil {
			return nil, fmt.Errorf("cloudflare source %s: %w", deps.ID, err)
		}
	}
	if o.BridgeURL != "" {
		if s.bridge, err = newWorker(o, deps); err != nil {
			return nil, fmt.Errorf("cloudflare source %s: %w", deps.ID, err)
		}
	}
	return s, nil
}

// ID is the source's id in the configuration.
func (s *Source) ID() string { return s.deps.ID }

// WithoutLogs says why the logs of its sandboxes are not read.
func (s *Source) WithoutLogs() backend.Safe {
	return backend.Text("its bridge has no route for what a sandbox prints: npx wrangler tail shows what the Worker logs")
}

// Close ends idle connections.
func (s *Source) Close() error {
	err := s.client.Close()
	if s.bridge != nil {
		err = errors.Join(err, s.bridge.client.Close())
	}
	if s.analytics != nil {
		err = errors.Join(err, s.analytics.client.Close())
	}
	return err
}

// Attend remembers which sandboxes people and rules look at.
func (s *Source) Attend(a backend.Attention) {
	of := func(keys []backend.Key) map[backend.ID]bool {
		out := map[backend.ID]bool{}
		for _, k := range keys {
			if k.Kind == backend.KindSandbox {
				out[k.ID] = true
			}
		}
		return out
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.alerting, s.visible = of(a.Alerting), of(a.Visible)
}

// Bridge is the base of the bridge Worker, the path of its operator routes, and where its key is; an empty base: there is none.
// It is for what acts.
func (s *Source) Bridge() (base, ops string, key wire.Credential) {
	return strings.TrimRight(s.opt.BridgeURL, "/"), s.opt.OpsPrefix, s.opt.Bridge
}

// spread is a time near every, so that many consoles do not ask at the same moment.
func spread(every time.Duration) time.Duration {
	return every + time.Duration(rand.Float64()*float64(every)/10) // #nosec G404 -- spreads work
}

// sooner is a time a little shorter than every, so that the poll that falls on it finds due what is asked for so often.
func sooner(every time.Duration) time.Duration { return spread(every * 9 / 10) }

// Routes lists what is asked.
func (s *Source) Routes() []backend.Route {
	out := []backend.Route{
		{Verb: "GET", Target: s.base + "/containers/applications", Why: "applications, every " + s.opt.Inventory.String()},
		{Verb: "GET", Target: s.base + "/containers/applications/{application}/instances-v2?state=active", Why: "live instances, every " + s.opt.Inventory.String() +
			"; those that ended every " + backend.Age(endedEvery) + ", all of them every " + backend.Age(allEvery)},
		{Verb: "GET", Target: s.base + "/containers/applications/{application}/instances/{instance}", Why: "an instance that left the lists"},
		{Verb: "GET", Target: s.base + "/workers/durable_objects/namespaces", Why: "class and script of the Durable Objects, every " + backend.Age(namespacesEvery)},
	}
	if s.analytics != nil {
		out = append(out, s.analyticsRoute())
	}
	if s.bridge != nil {
		out = append(out, s.bridgeRoutes()...)
	}
	return out
}
