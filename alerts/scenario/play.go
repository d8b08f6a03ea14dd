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

// Result is the outcome of one scenario.
type Result struct {
	File        string       `json:"file"`
	Scenario    string       `json:"scenario"`
	Case        string       `json:"case,omitempty"`
	Rules       []string     `json:"rules"`
	Checked     int          `json:"checked"` // expectations
	Differences []Difference `json:"differences,omitempty"`
}

// Difference is one result that differs from its expectation.
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
func (s *Scenario) Run(rules []alerts.Rule) (Result, error) { return s.run(rules, nil) }

func (s *Scenario) run(rules []alerts.Rule, seen func(*fleet.State, *alerts.Board)) (Result, error) {
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
	y := &player{plan: p, engine: alerts.NewEngine(chosen, "scenario"), world: newWorld(p), history: newAlertHistory(), seen: seen}
	y.reset()
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

// player is a console without a screen that watches the simulated fleet of a scenario.
type player struct {
	*plan
	engine *alerts.Engine
	world  *world
	board  *alerts.Board

	now          time.Time
	since        time.Time // when this console was started
	stoppedUntil int       // the step at which it is started again, 0: it runs
	fresh        bool
	dir          string // where a restart finds its state
	folder       *fleet.Folder
	totals       map[int]float64 // of counters, by their place

	seen func(*fleet.State, *alerts.Board) // told of each pair, nil outside tests

	history     *alertHistory
	checked     int
	differences []Difference
}

// reset forgets all state, as a new process does.
func (p *player) reset() {
	p.fresh, p.folder, p.totals = true, fleet.NewFolder(p.LongestOperation.Std()), map[int]float64{}
}

func (p *player) step(step int) error {
	p.now = p.Start.Add(time.Duration(step) * p.interval)
	p.world.advance(step, p.now)
	if step < p.watch || step < p.stoppedUntil {
		return nil
	}
	if p.fresh {
		if err := p.start(step); err != nil {
			return err
		}
	}
	answers := make([]backend.Answer, 0, len(p.Sources))
	for i := range p.Sources {
		answers = append(answers, p.poll(&p.Sources[i], step))
	}
	p.evaluate(step, answers)
	for _, e := range p.expect[step] {
		p.compare(step, e)
		p.checked++
	}
	if until := p.off[step]; until != 0 {
		return p.stop(until)
	}
	return nil
}

// start loads the state that the console before saved, and evaluates once before any source has answered.
func (p *player) start(step int) error {
	p.fresh, p.since = false, p.now
	if p.dir != "" {
		s, err := alerts.OpenStateStore(p.dir, p.engine)
		if err != nil {
			return err
		}
		l, err := s.Load(p.clockReading())
		if err := errors.Join(err, s.Close(), os.RemoveAll(p.dir)); err != nil {
			return err
		}
		p.board, p.dir = l.Board, ""
	}
	var sources []backend.Answer
	for _, s := range p.Sources {
		sources = append(sources, backend.Answer{Source: s.ID, Config: &backend.SourceConfig{Kind: "scenario", Interval: p.interval, Deadline: p.interval, About: s.About, Optional: true}})
	}
	p.evaluate(step, sources)
	return nil
}

// stop ends the console and saves its state in a file.
func (p *player) stop(until int) error {
	dir, err := os.MkdirTemp("", "sandglass-scenario-")
	if err != nil {
		return err
	}
	s, err := alerts.OpenStateStore(dir, p.engine)
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	saved, err := s.Save(p.board, p.clockReading())
	if err == nil && !saved {
		err = errors.New("the state could not be saved for the restart: another process has its lock")
	}
	if err := errors.Join(err, s.Close()); err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	p.dir, p.stoppedUntil = dir, until
	p.reset()
	return nil
}

func (p *player) clockReading() alerts.ClockReading {
	return alerts.ClockReading{Wall: p.now, Boot: "scenario", SinceBoot: p.now.Sub(p.Start) + time.Hour}
}

// poll is what one source answers.
func (p *player) poll(s *Source, step int) backend.Answer {
	now := p.instant()
	a := backend.Answer{Source: s.ID, Started: now, Ended: now, Next: p.now.Add(p.interval)}
	if o := p.outage(s, step); o != nil {
		a.Failure = &backend.Failure{Kind: o.Kind, Text: backend.Clean(cmp.Or(o.Error, string(o.Kind)), 200)}
		return a
	}
	r := &backend.Reading{Source: s.ID, Started: p.now, At: p.now, Inputs: s.Inputs, Counts: append(p.count(s.ID, step), p.zeros(s)...), Events: p.eventsAt(s.ID, step), Reports: p.reportsAt(s.ID, step, p.now)}
	r.Registry, _ = registryWord(at(p.registry[s.ID], step))
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
	r.Memory = p.memoryAt(s.ID, step, p.now)
	s.put(r, time.Duration(step)*p.interval)
	p.read(r)
	a.Reading = r
	return a
}

// read copies a source's entities from the world into its reading.
func (p *player) read(r *backend.Reading) {
	for _, x := range p.world.entities {
		switch {
		case x.key.Source != r.Source:
		case x.gone:
			r.Ended = append(r.Ended, x.key)
		case x.entity == nil:
			r.Stale = append(r.Stale, backend.StaleMark{Key: x.key, Why: backend.Text("its newest reading failed")})
		default:
			fleet.Add(r, x.entity(backend.Meta{Key: x.key, ReadAt: p.now}))
		}
	}
}

// count is what a source counted at a step.
func (p *player) count(source string, step int) (counts []backend.Count) {
	for i, c := range p.plan.count {
		if c.series.Source != source || step >= len(c.samples) || !c.samples[step].there {
			continue
		}
		n := c.samples[step].n
		if c.Counter != "" {
			before, had := p.totals[i]
			p.totals[i] = n
			switch {
			case !had:
				n = 0
			case n >= before:
				n -= before
			}
		}
		counts = append(counts, backend.Count{Series: c.series, At: p.now, N: n, Sample: backend.Clean(c.Sample, 400)})
	}
	return counts
}

// zeros are what a real source counts of which the story tells nothing: a log is readable without a line that matches, and
// counters are flat.
func (p *player) zeros(s *Source) (counts []backend.Count) {
	var metrics []backend.Metric
	if slices.Contains(s.Inputs, backend.InputEvictions) {
		metrics = append(metrics, backend.MetricEvictions, backend.MetricEvictionRetries)
	}
	if slices.Contains(s.Inputs, backend.InputEvictionLogs) || slices.Contains(s.Inputs, backend.InputRejections) {
		metrics = append(metrics, backend.LogMetrics()...)
	}
	for _, m := range metrics {
		if !slices.ContainsFunc(p.plan.count, func(c countPlan) bool { return c.series.Source == s.ID && c.series.Name == m }) {
			counts = append(counts, backend.Count{Series: backend.Series{Source: s.ID, Name: m}, At: p.now})
		}
	}
	return counts
}

// evaluate folds the answers and runs the rules on the State.
func (p *player) evaluate(step int, answers []backend.Answer) {
	st := p.folder.Fold(answers, p.instant())
	board, events := p.engine.Next(p.board, st)
	p.board = board
	if p.seen != nil {
		p.seen(st, board)
	}
	p.history.note(time.Duration(step)*p.interval, board, events)
}

func (p *player) instant() backend.Instant {
	return backend.Instant{Wall: p.now, Mono: p.now.Sub(p.since)}
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
	case backend.InputPlatform, backend.InputCapacity, backend.InputEvictions, backend.InputEvictionLogs, backend.InputRejections, backend.InputTmpdirs, backend.InputHost, backend.InputRefs:
		return "", true
	}
	return "", false
}
