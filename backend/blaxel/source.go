package blaxel

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"sandglass/backend"
	"sandglass/backend/blaxel/sandbox"
	"sandglass/backend/wire"
)

const (
	sliceShare  = 0.9 // of the interval that one poll uses, so that the next one starts in time
	maxProblems = 60  // what one reading says about itself
)

// Source polls the sandboxes of one workspace. Poll is called by one goroutine at a time; Attend runs beside it.
type Source struct {
	deps   backend.Deps
	opt    *Options
	login  *cliLogin // nil: the key is not that of the vendor's CLI
	client *wire.Client
	budget *wire.Budget

	boxes     map[backend.ID]*box   // by name
	formers   map[backend.ID]former // of sandboxes that this process has not seen yet
	sandboxes list[row]
	saved     list[savedSnapshot]
	snapshots map[string][]backend.Snapshot // by the name of the sandbox, the newest first
	started   time.Time
	barred    bar // why no previews are read

	gone       map[backend.ID]time.Time // what no list names, and when its own record said that it is no more
	unheard    map[backend.ID]unheard   // the same where it did not answer
	namedAsked int                      // own records that were asked so

	mu       sync.Mutex
	named    map[string]map[backend.ID]time.Time // by source: what references name, and when they were saved
	alerting map[backend.ID]bool
	visible  map[backend.ID]bool
	load     load
}

// savedSnapshot is one snapshot of the workspace and the sandbox that it was taken of.
type savedSnapshot struct {
	backend.Snapshot
	of string
}

// bar is a route that the key may not ask at all, or that the platform does not have.
type bar struct {
	until time.Time
	f     *failure
}

// box is one sandbox that is known.
type box struct {
	row
	readAt time.Time
	since  time.Time // when its two words were first seen
	// own is when its own record was last asked and read, previews the same.
	own, previews asked
	ownRow        row // of its own record
	shown         []backend.Preview
	fresh         time.Time // when it was seen to be another one of the same name; zero: it was not
	lost          bool      // a whole list does not name it
	alone         bool      // the same, or none ever named it, also where its own record said since that it is there
}

// asked is when a part of a sandbox was last asked for, and read, and why its newest reading failed.
type asked struct {
	at, read time.Time
	problem  *backend.Problem
}

func newSource(o *Options, login *cliLogin, deps backend.Deps) (*Source, error) {
	if deps.Interval <= 0 {
		deps.Interval = 5 * time.Second
	}
	if deps.Cleaner == nil {
		deps.Cleaner = backend.NewCleaner()
	}
	s := &Source{deps: deps, opt: o, login: login, budget: wire.NewBudget(o.RequestsPerSec, deps.Now), boxes: map[backend.ID]*box{}, formers: map[backend.ID]former{}, gone: map[backend.ID]time.Time{}, unheard: map[backend.ID]unheard{}, started: deps.Now(), load: load{sandboxes: -1}}
	cfg := wire.Config{Origins: []string{o.URL}, Credential: o.Read, Budget: s.budget}
	if login != nil {
		cfg.Key = login.key
	}
	var err error
	if s.client, err = wire.New(cfg, deps); err != nil {
		return nil, fmt.Errorf("blaxel source %s: %w", deps.ID, err)
	}
	return s, nil
}

// ID is the source's id in the configuration.
func (s *Source) ID() string { return s.deps.ID }

// WithoutLogs says why the logs of its sandboxes are not read.
func (s *Source) WithoutLogs() backend.Safe {
	return backend.Text("its logs are behind the sandbox's own API, which wakes and bills it, so Sandglass does not read them: bl connect sandbox NAME opens a shell")
}

// Close ends idle connections.
func (s *Source) Close() error { return s.client.Close() }

// Organisation is the workspace.
func (s *Source) Organisation() string { return s.opt.Workspace }

// Site is the workspace, for what acts on its sandboxes.
func (s *Source) Site() sandbox.Site {
	site := sandbox.Site{URL: s.opt.URL, Workspace: s.opt.Workspace, Version: s.opt.APIVersion, Hosts: s.opt.Hosts, Key: s.opt.Read}
	if s.login != nil {
		site.Login = s.login.key
	}
	return site
}

// Attend remembers which sandboxes people and rules look at.
func (s *Source) Attend(a backend.Attention) {
	of := func(keys []backend.Key) map[backend.ID]bool {
		out := map[backend.ID]bool{}
		for _, k := range keys {
			if k.Kind == backend.KindSandbox && k.Source == s.deps.ID {
				out[k.ID] = true
			}
		}
		return out
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.alerting, s.visible = of(a.Alerting), of(a.Visible)
}

// attended reports whether people or rules look at a sandbox.
func (s *Source) attended(id backend.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.alerting[id] || s.visible[id]
}

func (s *Source) key(id backend.ID) backend.Key {
	return backend.Key{Kind: backend.KindSandbox, Source: s.deps.ID, ID: id}
}

func (s *Source) decoder() *decoder {
	return &decoder{opt: s.opt, clean: s.client.Cleaner(), offset: s.client.Offset()}
}

// spread is a time near every, so that many consoles do not ask at the same moment.
func spread(every time.Duration) time.Duration {
	return every + time.Duration(rand.Float64()*float64(every)/10) // #nosec G404 -- spreads work
}

// Routes lists what is asked.
func (s *Source) Routes() []backend.Route {
	own := "every " + s.opt.Sweep.String() + ", sooner where a list leaves something open; none of these requests goes to a sandbox"
	return []backend.Route{
		{Verb: "GET", Target: s.opt.URL + "/sandboxes?showTerminated=true", Why: "sandboxes of the workspace, every " + s.opt.Inventory.String()},
		{Verb: "GET", Target: s.opt.URL + "/sandboxes/{name}", Why: "errors and events, " + own},
		{Verb: "GET", Target: s.opt.URL + "/sandboxes/{name}/previews", Why: "addresses on the internet, " + own},
		{Verb: "GET", Target: s.opt.URL + "/sandboxes/{name}/previews/{preview}/tokens", Why: "until when private previews can be opened"},
		{Verb: "GET", Target: s.opt.URL + "/snapshots", Why: "what could be restored, every " + backend.Age(snapshotsEvery)},
	}
}
