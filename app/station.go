package app

import (
	"context"
	"sync"
	"time"

	"sandglass/actions"
	"sandglass/actions/audit"
	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/config"
)

// Station is one running Sandglass: it polls, evaluates and acts, with or without a screen. Open makes one; Close ends it.
type Station struct {
	app      *App
	Config   *config.Config
	Sources  []Source
	Rules    []alerts.Rule
	ReadOnly bool
	Fleet    *fleet.Fleet
	Alerts   *alerts.Service
	Feed     *ActionFeed
	// Control is what carries actions out. It is nil where the Station was opened only to look.
	Control *actions.Control
	// Asked is the id or name of the subject that a command asks about, empty: of all. It is read first.
	Asked string
	// StateDir is where state is kept between runs; empty: there is no place. Forgets says why alerts are not remembered.
	StateDir string
	Forgets  error
	// Journal is the audit journal of the state directory, nil where there can be none; NoJournal says why.
	Journal   *audit.Journal
	NoJournal error

	store   *alerts.StateStore
	frugal  *ownProcessors     // a quiet one runs on one processor; nil: it does not. Set before Start.
	onState func(*fleet.State) // sees every State after the alerts; nil: nothing does. Set before Start.
	problem func(error)
	started bool // the fleet ran, which closes its sources
	samples bool // figures are read as soon as a machine runs
	reloads *reloads
}

// StationOptions say what a Station is opened for.
type StationOptions struct {
	Config   *config.Config
	StateDir string // as given by --state-dir; empty: where the configuration or the environment says
	// Reach is how other commands look at the same sources.
	Reach backend.Reach
	// Stateless says that nothing of former runs is read and nothing is kept.
	Stateless bool
	ReadOnly  bool
	// Looks says that no Control is made.
	Looks bool
	// Problem is told when the state cannot be loaded or saved. It may be nil.
	Problem func(error)
}

// Open joins everything. It reads no source yet; Close must be called. An error is about the configuration.
func (a *App) Open(o StationOptions) (*Station, error) {
	sources, conditions, err := a.Build(o.Config)
	if err != nil {
		return nil, err
	}
	s := &Station{app: a, Config: o.Config, Sources: sources, Rules: conditions, ReadOnly: o.ReadOnly, problem: o.Problem}
	if s.problem == nil {
		s.problem = func(error) {}
	}
	engine := engineOf(o.Config, conditions)
	if !o.Stateless {
		s.remember(o.StateDir, engine)
		s.shareClaims()
	}
	s.Alerts = alerts.NewService(engine, alerts.ServiceOptions{Store: s.store, ReadClock: a.ReadClock, Problem: func(err error) { s.problem(err) },
		Journal:      s.ordersOf(func() audit.Who { return a.Who }),
		LongestOrder: o.Config.LongestOrder, Attention: s.attend, Observed: func(p backend.Proof) { s.Fleet.Learn(p) }})
	s.Fleet = fleet.New(fleet.Options{Now: a.Now, Mono: a.Mono, Spawn: a.Spawn, LongestOperation: o.Config.LongestOperation, Reach: o.Reach, OnState: s.observe})
	AddTo(s.Fleet, sources)
	s.Fleet.Resume(s.Alerts.Bookmarks())
	s.Fleet.Rejoin(s.Alerts.FormerSandboxes())
	for k, vs := range s.Alerts.Proved() {
		s.Fleet.Learn(backend.Proof{Sandbox: k, Verdicts: vs, Kept: true})
	}
	s.Feed = NewActionFeed(s.Fleet, s.Alerts)
	s.reloads = newReloads(s)
	if o.Looks {
		return s, nil
	}
	kept := s.StateDir
	if o.Stateless { // what the configuration lacks is said as of a run that keeps state
		kept, _ = o.Config.StateDirectory(o.StateDir, a.Getenv)
	}
	if s.Control, err = s.control(kept); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// flags are what a printed command needs to look at the same sources.
func (s *Station) flags() string { return s.Fleet.State().Reach.Flags }

func (s *Station) observe(st *fleet.State) {
	s.Alerts.Observe(st)
	if s.samples {
		s.sample(st)
	}
	if s.onState != nil {
		s.onState(st)
	}
}

// mostSampled bounds the machines whose figures are read while a command observes.
const mostSampled = 50

// sample has the figures of running machines read as if a viewer looked at them, once there are any.
func (s *Station) sample(st *fleet.State) {
	var keys []backend.Key
	for b := range st.Sandboxes.All() {
		if b.Judged() && b.Class == backend.SandboxRunning && len(keys) < mostSampled {
			keys = append(keys, b.Key)
		}
	}
	if len(keys) > 0 {
		s.samples = false
		s.Alerts.SetVisible("observing", keys)
	}
}

// remember opens the state directory and its journal. Without one the Station works and forgets.
func (s *Station) remember(given string, engine *alerts.Engine) {
	dir, err := s.Config.StateDirectory(given, s.app.Getenv)
	if err != nil {
		s.Forgets, s.NoJournal = err, err
		return
	}
	s.StateDir = dir
	s.Journal, s.NoJournal = s.app.journal(dir, s.Config.Digest)
	if s.store, s.Forgets = alerts.OpenStateStore(dir, engine); s.Forgets != nil {
		s.store = nil
		return
	}
	s.Forgets = s.NoJournal
}

// shareClaims has the sources keep to what all processes of the state directory did.
func (s *Station) shareClaims() {
	for i := range s.Sources {
		if c, is := s.Sources[i].Source.(backend.Claimer); is && s.store != nil {
			c.Claims(claims{s.store, s.app.Now})
		}
	}
}

// claims are those of a state directory.
type claims struct {
	store *alerts.StateStore
	now   func() time.Time
}

func (c claims) Claim(name string, every time.Duration) (due bool, last time.Time) {
	return c.store.Claim(name, c.now(), every)
}

func (c claims) Tell(name string, found backend.Verdict) { c.store.Tell(name, c.now(), found) }

func (c claims) Told(name string) (found backend.Verdict, known bool) {
	return c.store.Told(name, c.now())
}

// Operator makes the operator of one more viewer, who is the person at this program.
func (s *Station) Operator(may actions.Permissions) *actions.Operator {
	return s.Control.As(actions.Person{Who: s.app.Who, Shared: s.app.SharedAccount}, may)
}

// AddTo adds sources to a fleet.
func AddTo(f *fleet.Fleet, sources []Source) {
	for _, s := range sources {
		organisation := ""
		if of, is := s.Source.(backend.Owned); is {
			organisation = of.Organisation()
		}
		f.Add(s.Source, backend.SourceConfig{Organisation: organisation, Kind: s.Config.Kind, Interval: s.Config.Interval,
			Deadline: s.Config.Deadline, About: s.Config.About, Allowed: append([]string{}, s.Config.Actions...), Inputs: s.Inputs, Optional: s.Config.Optional})
	}
}

// Poll reads every source once. A source that hangs delays it until ctx ends and no longer.
func (s *Station) Poll(ctx context.Context) *fleet.State {
	s.attend(s.Alerts.Attention()) // of the run before
	return s.Fleet.PollOnce(ctx)
}

// Observe reads the sources at their own pace for a while, and until each has answered, until longest or ctx ends. The Station
// cannot read again.
func (s *Station) Observe(ctx context.Context, while, longest time.Duration) {
	s.started, s.samples = true, true
	s.attend(s.Alerts.Attention()) // of the run before
	s.Fleet.RunFor(ctx, while, longest)
}

// attend tells the sources where attention is.
func (s *Station) attend(at backend.Attention) {
	at.Asked = s.Asked
	s.Fleet.Attend(at)
}

// leaveWithin is how long the end waits for a source that does not return.
const leaveWithin = 3 * time.Second

// Start lets the Station run until ctx ends or stop is called, which waits for its parts for at most 3 s. With keep it also
// ends the grace periods of cleaned directories.
func (s *Station) Start(ctx context.Context, keep bool) (stop func()) {
	s.started = true
	ctx, cancel := context.WithCancel(ctx)
	parts := map[string]func(context.Context){"fleet": s.Fleet.Run, "alerts": s.Alerts.Run}
	if ks := s.keepers(); keep && len(ks) > 0 && s.Journal != nil {
		parts["grace periods"] = func(ctx context.Context) { s.keep(ctx, ks) }
	}
	if keep && s.StateDir != "" {
		parts["left sandboxes"] = s.removesLeft
	}
	if s.frugal != nil {
		parts["processors"] = s.boundProcessors
	}
	var running sync.WaitGroup
	for name, part := range parts {
		running.Add(1)
		s.app.Spawn.Go(name, func() {
			defer running.Done()
			part(ctx)
		})
	}
	return func() {
		cancel()
		done := make(chan struct{})
		s.app.Spawn.Go("leave", func() {
			running.Wait()
			close(done)
		})
		limit := time.NewTimer(leaveWithin)
		defer limit.Stop()
		select {
		case <-done:
		case <-limit.C:
		}
	}
}

// Forget lets the Station end as if it had never been opened: nothing of it is written to the state directory.
func (s *Station) Forget() {
	s.Alerts.Forget()
	if s.store != nil {
		s.store.Forget()
	}
}

// Close releases the sources and the state directory. Call it after stop.
func (s *Station) Close() {
	if !s.started {
		s.Fleet.Close()
	}
	s.Alerts.Close()
	if s.store != nil {
		if err := s.store.Close(); err != nil {
			s.problem(err)
		}
	}
}
