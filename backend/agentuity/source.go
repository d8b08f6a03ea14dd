package agentuity

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
)

const (
	inFlight   = 8   // requests at the same time
	sliceShare = 0.9 // of the interval that one poll uses, so that the next one starts in time
	pageSize   = 100 // the most that the platform gives
	// sweepShare is the part of the budget that reads executions, jobs and events, three requests for each sandbox.
	sweepShare = 0.6
	// firstSweep are so many seconds of that part that a first poll may use, for commands that poll once. These go on reading for
	// so long at most.
	firstSweep = 30 * time.Second
	// maxProblems bounds what one reading says about itself.
	maxProblems = 60
)

// Source polls the regions of one organisation and its Hub. Poll is called by one goroutine at a time; Attend runs beside it.
type Source struct {
	deps    backend.Deps
	opt     *Options
	profile *profile // nil: the key is not a profile's
	budget  *wire.Budget
	regions []*region
	api     *place // nil: not asked
	hub     hub
	sweep   *wire.Sweep
	backlog []backend.ID // sandboxes whose turn the poll before did not come to

	boxes    map[backend.ID]*box
	sessions map[backend.ID]*hubSession
	saidOf   map[backend.ID]saidJoin  // by session: which sandbox it has, as a log line says
	seen     map[string]time.Time     // when what the platform does not date was first seen, by kind and id
	used     map[string]bool          // of these, those that this process saw too
	readOf   map[backend.ID]time.Time // when executions, jobs and events of a sandbox were last read whole, by this or a former process
	swept    bool                     // each sandbox was read once
	formers  map[backend.ID][]string  // marks of the statuses of sandboxes that a former process saw
	recalled bool                     // those that no list names were taken up
	started  time.Time
	toldTo   time.Time // until when a former process told events
	newest   time.Time // the newest event that was told
	polls    int

	claims backend.Claims // nil: this process is alone

	mu       sync.Mutex
	asked    string
	alerting map[backend.ID]bool // sandboxes
	visible  map[backend.ID]bool
	reread   map[backend.ID]bool      // sandboxes to be read by their own route in the next poll
	watched  map[backend.ID]bool      // sessions that alert or are looked at
	reports  []backend.Report         // what logs say, newest last
	where    map[backend.ID]*region   // of several regions: which has a sandbox
	moved    map[backend.ID]*region   // which region another one named for a sandbox
	filesOf  map[backend.ID]filesSeen // what directories held when they were last found whole, by this or a former process
	hubAt    string                   // the base of the Hub
	load     load
}

// region is one region's sandbox service.
type region struct {
	name  string
	place *place
	// answers are of all routes about sandboxes.
	answers shares
	live    list
	full    list
	ended   []*list // by status
	// got are the pages that one poll read, finished the lists that came to their end in it.
	got        []*page
	finished   []*list
	liveBefore map[backend.ID]bool
	ok         time.Time
	err        *failure // of its newest list; nil: it answered
}

// box is one sandbox that is known.
type box struct {
	row
	region  *region
	readAt  time.Time
	since   time.Time // when its status was first seen
	woke    time.Time // when it was seen to become live after it slept, zero: not seen
	session backend.ID
	// joinedBy is what names its session, joinedLine that log line.
	joinedBy, joinedLine backend.Safe
	work                 work
	events               events
	views                views
	suspect              suspicion
	checks               []backend.Verdict // of this process, but for those of an action
	problem              *backend.Problem  // its newest reading failed
	barred               bool              // … because the platform refuses it, though not its list
	fails                int               // how many readings of its work failed in a row
	led                  bool              // a session that the Hub lists, or listed, told of its driver
	lost                 bool              // the newest full list left it out
	touched              bool
	hasRead              [3]bool   // executions, jobs, events: read in a turn that the budget cut short
	asked                time.Time // when its region and organisation were last asked for
	place                string    // what was answered then
	listed               filesSeen // when this process last listed its directory
	refusedAt            time.Time // since when its directory could not be listed, zero: it could
}

func newSource(o *Options, deps backend.Deps) (*Source, error) {
	if deps.Interval <= 0 {
		deps.Interval = 5 * time.Second
	}
	if deps.Cleaner == nil {
		deps.Cleaner = backend.NewCleaner()
	}
	s := &Source{deps: deps, opt: o, budget: wire.NewBudget(o.RequestsPerSec, deps.Now), boxes: map[backend.ID]*box{},
		sessions: map[backend.ID]*hubSession{}, saidOf: map[backend.ID]saidJoin{}, seen: map[string]time.Time{}, used: map[string]bool{}, moved: map[backend.ID]*region{}, filesOf: map[backend.ID]filesSeen{}, readOf: map[backend.ID]time.Time{}, formers: map[backend.ID][]string{}, reread: map[backend.ID]bool{}, started: deps.Now()}
	if o.CLIProfile != "" {
		name, file := profileFile(o.CLIProfile, o.CLIConfigDir, deps.Getenv)
		s.profile = &profile{name: name, file: file, now: deps.Now}
	}
	for _, name := range o.Regions {
		p, err := s.place(o.baseOf(name), s.budget)
		if err != nil {
			return nil, fmt.Errorf("agentuity source %s: %w", deps.ID, err)
		}
		p.org, p.asks = o.Org, "is "+p.base+" the sandbox service of a region? Check regions (codes are usc, use and usw) and url"
		s.regions = append(s.regions, newRegion(name, p, o.FullList.Std()))
	}
	if o.APIURL != "" {
		p, err := s.place(o.APIURL, s.budget)
		if err != nil {
			return nil, fmt.Errorf("agentuity source %s: %w", deps.ID, err)
		}
		p.asks = "does " + p.base + " know all regions? Check api_url; empty, it is not asked"
		s.api = p
	}
	if o.Hub && o.HubURL != "" {
		if err := s.joinHub(o.HubURL); err != nil {
			return nil, fmt.Errorf("agentuity source %s: %w", deps.ID, err)
		}
	}
	perSecond := o.RequestsPerSec * sweepShare / 3
	s.sweep = wire.NewSweep(wire.SweepLimits{Every: o.Sweep.Std(), Gap: deps.Interval * 9 / 10, Period: deps.Interval, PerSecond: perSecond,
		Hold: max(firstSweep, deps.Interval), AtOnce: inFlight}, deps.Now, rand.Float64) // #nosec G404 -- spreads work
	return s, nil
}

// place makes the client of one base. The key goes to that origin alone.
func (s *Source) place(base string, budget *wire.Budget) (*place, error) {
	cfg := wire.Config{Origins: []string{base}, Credential: s.opt.Read, Budget: budget}
	if s.profile != nil {
		cfg.Key = s.profile.key
	}
	c, err := wire.New(cfg, s.deps)
	if err != nil {
		return nil, err
	}
	return &place{source: s.deps.ID, client: c, base: trimSlash(base), budget: budget, header: http.Header{}}, nil
}

// ID is the source's id in the configuration.
func (s *Source) ID() string { return s.deps.ID }

// WithoutLogs says why the logs of its sandboxes are not read.
func (s *Source) WithoutLogs() backend.Safe {
	return backend.Text("Sandglass does not read what its sandboxes print, since the addresses of its streams are credentials: agentuity cloud sandbox job logs prints it")
}

// Close ends idle connections.
func (s *Source) Close() error {
	var errs []error
	for _, p := range s.places() {
		errs = append(errs, p.client.Close())
	}
	return errors.Join(errs...)
}

func (s *Source) places() []*place {
	var out []*place
	for _, r := range s.regions {
		out = append(out, r.place)
	}
	for _, p := range []*place{s.api, s.hub.place} {
		if p != nil {
			out = append(out, p)
		}
	}
	return out
}

// Attend remembers which sandboxes and sessions people and rules look at, and what logs say.
func (s *Source) Attend(a backend.Attention) {
	alerting, visible, watched := map[backend.ID]bool{}, map[backend.ID]bool{}, map[backend.ID]bool{}
	for to, keys := range map[*map[backend.ID]bool][]backend.Key{&alerting: a.Alerting, &visible: a.Visible} {
		for _, k := range keys {
			switch {
			case k.Kind == backend.KindSandbox:
				(*to)[k.ID] = true
			case k.Kind == backend.KindSession:
				watched[k.ID] = true
			case slices.Contains(k.Kind.Spec().Parents, backend.KindSandbox):
				(*to)[k.Parent] = true
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked, s.alerting, s.visible, s.watched = a.Asked, alerting, visible, watched
}

// Listen remembers what log lines say of sandboxes and their sessions.
func (s *Source) Listen(all []backend.Report) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reports = backend.KeepReports(s.reports, all, s.deps.Now())
}

// Claims has the lists of directories counted together with those of other processes.
func (s *Source) Claims(c backend.Claims) { s.claims = c }

// Resume goes on with what a former process saw first, and until when it told events.
func (s *Source) Resume(marks []backend.Bookmark) {
	for _, m := range marks {
		if len(m.Sizes) == 0 {
			continue
		}
		at := m.Sizes[len(m.Sizes)-1].At
		if m.File == markEvents {
			s.toldTo, s.newest = at, at
		} else if raw, is := strings.CutPrefix(m.File, markRead); is {
			if key, err := backend.NewID(raw); err == nil {
				s.readOf[key] = at
			}
		} else if rest, is := strings.CutPrefix(m.File, markSaid); is {
			s.recallJoin(rest, m.Sizes[0].At, at)
		} else if !s.recallFiles(m.File, m.Sizes[0]) {
			s.seen[m.File] = at
			s.former(m.File)
		}
	}
}

// Routes lists what is asked.
func (s *Source) Routes() []backend.Route {
	var out []backend.Route
	get := func(target, why string) {
		out = append(out, backend.Route{Verb: "GET", Target: target, Why: why})
	}
	hub := func(b, key string) {
		get(b+"/api/hub/sessions", "sessions of the Coder Hub, every 10s"+key)
		get(b+"/api/hub/session/{session}", "a session in doubt")
		get(b+"/api/hub/session/{session}/participants", "who drives it")
	}
	for _, r := range s.regions {
		b := r.place.base
		get(b+"/sandbox?limit=100", "live sandboxes, every 5 to 10s; all, the newest failed and the newest terminated, every "+s.opt.FullList.String())
		get(b+"/sandbox/status/{sandbox}", "status of sandboxes that alert, are on a screen or left the list")
		get(b+"/sandbox/{sandbox}", "where that differs from the list, or does not find it")
		for _, what := range []string{"executions", "jobs", "events"} {
			get(b+"/sandbox/sandboxes/{sandbox}/"+what, "of live sandboxes, every "+s.opt.Sweep.String()+" and on change; each poll where something is queued or alerts")
		}
		if s.opt.ListDirectory {
			get(b+"/fs/list/{sandbox}?path="+s.opt.Directory, "when its session or events say that it may be broken, at most every 5m for each sandbox; its side effects are not documented")
		}
	}
	if s.api != nil {
		get(s.api.base+"/cli/sandbox/{sandbox}", "where a sandbox is that its region refuses")
	}
	switch {
	case !s.opt.Hub:
	case s.hub.place != nil:
		hub(s.hub.place.base, "")
	default:
		get(s.regions[0].place.base+"/coder", "address of the Coder Hub")
		hub("{hub}", "; the key goes there only below "+joined(s.opt.HubHosts))
	}
	if s.profile != nil {
		out = append(out, backend.Route{Verb: "read", Target: s.profile.file, Why: "key of the CLI profile " + s.profile.name})
	}
	return out
}
