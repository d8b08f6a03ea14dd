package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// Result is what became of one scenario.
type Result struct {
	File        string       `json:"file"`
	Scenario    string       `json:"scenario"`
	Case        string       `json:"case,omitempty"`
	Rules       []string     `json:"rules"`
	Checked     int          `json:"checked"` // expectations
	Differences []Difference `json:"differences,omitempty"`
}

// Difference is one thing that is not as expected.
type Difference struct {
	At   backend.Duration `json:"at"`
	Rule string           `json:"rule"`
	What string           `json:"what"`
	Want string           `json:"want"`
	Got  string           `json:"got"`
}

// Run plays every scenario of a file with the rules given, which know their thresholds. A scenario that names a rule or
// a subject that is not there, or whose expectations cannot all be evaluated, is an error.
func (f *File) Run(rules []alerts.Rule) ([]Result, error) {
	var out []Result
	var errs []error
	names := map[string]bool{}
	for i := range f.Scenarios {
		s := &f.Scenarios[i]
		if names[s.Name] {
			errs = append(errs, fmt.Errorf("%s: two scenarios have the name %q", f.Name, s.Name))
		}
		names[s.Name] = true
		r, err := s.Run(rules)
		if err != nil {
			for _, l := range strings.Split(err.Error(), "\n") {
				errs = append(errs, fmt.Errorf("%s: scenario %q: %s", f.Name, s.Name, l))
			}
			continue
		}
		r.File = f.Name
		out = append(out, r)
	}
	return out, errors.Join(errs...)
}

// Run plays one scenario.
func (s *Scenario) Run(rules []alerts.Rule) (Result, error) {
	var known []string
	var chosen []alerts.Rule
	for _, r := range rules {
		known = append(known, r.Meta().Name)
		if slices.Contains(s.Rules, r.Meta().Name) {
			chosen = append(chosen, r)
		}
	}
	p, err := makePlan(s, known)
	if err != nil {
		return Result{}, err
	}
	y := &player{plan: p, engine: alerts.NewEngine(chosen, "scenario"), world: newWorld(p), told: newRecord()}
	y.begin()
	for step := 0; step <= p.steps; step++ {
		if err := y.step(step); err != nil {
			return Result{}, err
		}
	}
	if want := len(s.Expect); y.checked != want {
		return Result{}, fmt.Errorf("%d of %d expectations were evaluated", y.checked, want)
	}
	return Result{Scenario: s.Name, Case: s.Case, Rules: s.Rules, Checked: y.checked, Differences: y.differences}, nil
}

// player is the console that watches the world of a scenario.
type player struct {
	*plan
	engine *alerts.Engine
	world  *world
	board  *alerts.Board

	now    time.Time
	since  time.Time // when this console was started
	asleep int       // the step at which it is started again, 0: it runs
	fresh  bool
	dir    string // where a restart finds its state
	folder *fleet.Folder
	totals map[int]float64 // of counters, by their place

	told        *record
	checked     int
	differences []Difference
}

// begin makes the console know nothing, as a new process does.
func (y *player) begin() {
	y.fresh, y.folder, y.totals = true, fleet.NewFolder(y.LongestOperation.Std()), map[int]float64{}
}

func (y *player) step(step int) error {
	y.now = y.Start.Add(time.Duration(step) * y.interval)
	y.world.advance(step, y.now)
	if step < y.watch || step < y.asleep {
		return nil
	}
	if y.fresh {
		if err := y.wake(step); err != nil {
			return err
		}
	}
	answers := make([]backend.Answer, 0, len(y.Sources))
	for i := range y.Sources {
		answers = append(answers, y.poll(&y.Sources[i], step))
	}
	y.conclude(step, answers)
	for _, e := range y.expect[step] {
		y.compare(step, e)
		y.checked++
	}
	if until := y.off[step]; until != 0 {
		return y.sleep(until)
	}
	return nil
}

// wake evaluates what a console sees before any source has answered, on top of what the one before left.
func (y *player) wake(step int) error {
	y.fresh, y.since = false, y.now
	if y.dir != "" {
		s, err := alerts.OpenStateStore(y.dir, y.engine)
		if err != nil {
			return err
		}
		l, err := s.Load(y.moment())
		if err := errors.Join(err, s.Close(), os.RemoveAll(y.dir)); err != nil {
			return err
		}
		y.board, y.dir = l.Board, ""
	}
	var sources []backend.Answer
	for _, s := range y.Sources {
		sources = append(sources, backend.Answer{Source: s.ID, Config: &backend.SourceConfig{Kind: "scenario", Interval: y.interval, Deadline: y.interval, About: s.About}})
	}
	y.conclude(step, sources)
	return nil
}

// sleep ends the console and leaves its state in a file.
func (y *player) sleep(until int) error {
	dir, err := os.MkdirTemp("", "sandglass-scenario-")
	if err != nil {
		return err
	}
	s, err := alerts.OpenStateStore(dir, y.engine)
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	saved, err := s.Save(y.board, y.moment())
	if err == nil && !saved {
		err = errors.New("the state could not be saved for the restart: another process has its lock")
	}
	if err := errors.Join(err, s.Close()); err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	y.dir, y.asleep = dir, until
	y.begin()
	return nil
}

func (y *player) moment() alerts.ClockReading {
	return alerts.ClockReading{Wall: y.now, Boot: "scenario", SinceBoot: y.now.Sub(y.Start) + time.Hour}
}

// poll is what one source answers.
func (y *player) poll(s *Source, step int) backend.Answer {
	now := y.instant()
	a := backend.Answer{Source: s.ID, Started: now, Ended: now, Next: y.now.Add(y.interval)}
	if o := y.outage(s, step); o != nil {
		a.Failure = &backend.Failure{Kind: o.Kind, Text: backend.Clean(cmp.Or(o.Error, string(o.Kind)), 200)}
		return a
	}
	r := &backend.Reading{Source: s.ID, Started: y.now, At: y.now, Inputs: s.Inputs, Counts: y.count(s.ID, step), Events: y.happened(s.ID, step)}
	r.Registry, _ = registryWord(at(y.registry[s.ID], step))
	switch r.Registry {
	case backend.RegistryAllIdle, backend.RegistryNoRoute, backend.RegistryWrongPath:
		r.WorkspacesUnknown = true
	case backend.RegistryNone, backend.RegistryAnswers:
	}
	for _, in := range s.Inputs {
		if kind, _ := listedBy(in); kind != "" {
			r.Scopes = append(r.Scopes, backend.Scope{Kind: kind, Complete: true})
		}
	}
	y.read(r)
	a.Reading = r
	return a
}

// read puts what the world shows of a source into its reading.
func (y *player) read(r *backend.Reading) {
	for _, x := range y.world.things {
		switch {
		case x.key.Source != r.Source:
		case x.gone:
			r.Ended = append(r.Ended, x.key)
		case x.entity == nil:
			r.Stale = append(r.Stale, backend.StaleMark{Key: x.key, Why: backend.Text("its newest reading failed")})
		default:
			add(r, x.entity(backend.Meta{Key: x.key, ReadAt: y.now}))
		}
	}
}

// add puts an entity into the list of its kind.
func add(r *backend.Reading, e backend.Entity) {
	switch e := e.(type) {
	case *backend.Session:
		r.Sessions = append(r.Sessions, e)
	case *backend.Workspace:
		r.Workspaces = append(r.Workspaces, e)
	case *backend.Sandbox:
		r.Sandboxes = append(r.Sandboxes, e)
	case *backend.Host:
		r.Hosts = append(r.Hosts, e)
	case *backend.Tmpdir:
		r.Tmpdirs = append(r.Tmpdirs, e)
	case *backend.Ref:
		r.Refs = append(r.Refs, e)
	case *backend.Execution:
		r.Executions = append(r.Executions, e)
	case *backend.Job:
		r.Jobs = append(r.Jobs, e)
	}
}

// count is what a source counted at a step.
func (y *player) count(source string, step int) (counts []backend.Count) {
	for i, c := range y.plan.count {
		if c.series.Source != source || step >= len(c.samples) || !c.samples[step].there {
			continue
		}
		n := c.samples[step].n
		if c.Counter != "" {
			before, had := y.totals[i]
			y.totals[i] = n
			switch {
			case !had:
				n = 0
			case n >= before:
				n -= before
			}
		}
		counts = append(counts, backend.Count{Series: c.series, At: y.now, N: n, Sample: backend.Clean(c.Sample, 400)})
	}
	return counts
}

// conclude folds what was answered and evaluates the State.
func (y *player) conclude(step int, answers []backend.Answer) {
	board, events := y.engine.Next(y.board, y.folder.Fold(answers, y.instant()))
	y.board = board
	y.told.note(time.Duration(step)*y.interval, board, events)
}

func (y *player) instant() backend.Instant {
	return backend.Instant{Wall: y.now, Mono: y.now.Sub(y.since)}
}

// listedBy is the kind of entity of which an input is the whole list, empty for an input that lists none; known is false
// for what is no input.
func listedBy(in backend.Input) (kind backend.Kind, known bool) {
	switch in {
	case backend.InputRegistry:
		return backend.KindWorkspace, true
	case backend.InputSessions:
		return backend.KindSession, true
	case backend.InputContainers:
		return backend.KindSandbox, true
	case backend.InputEvictions, backend.InputEvictionLogs, backend.InputRejections, backend.InputTmpdirs, backend.InputHost, backend.InputRefs:
		return "", true
	}
	return "", false
}
