package scenario

import (
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
	number uint64
	asleep int // the step at which it is started again, 0: it runs
	fresh  bool
	dir    string // where a restart finds its state
	health map[string]*fleet.SourceHealth
	seen   map[backend.Key]backend.Entity
	counts []backend.Count
	events []backend.Event // of this step
	totals map[int]float64 // of counters, by their place
	delta  fleet.Delta

	told        *record
	checked     int
	differences []Difference
}

// begin makes the console know nothing, as a new process does.
func (y *player) begin() {
	y.number, y.fresh = 0, true
	y.health, y.seen = map[string]*fleet.SourceHealth{}, map[backend.Key]backend.Entity{}
	y.counts, y.totals, y.delta = nil, map[int]float64{}, fleet.Delta{}
	for _, s := range y.Sources {
		y.health[s.ID] = &fleet.SourceHealth{
			Key: backend.Key{Kind: backend.KindSource, Source: s.ID, ID: backend.MustID(s.ID)}, Kind: "scenario", About: s.About,
			Status: fleet.StatusStarting, Interval: y.interval, Deadline: y.interval,
		}
	}
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
	for i := range y.Sources {
		y.poll(&y.Sources[i], step)
	}
	y.conclude(step)
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
	y.conclude(step)
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

// poll reads one source.
func (y *player) poll(s *Source, step int) {
	h := *y.health[s.ID]
	y.health[s.ID] = &h
	h.LastTry = y.now
	if h.FirstTry.IsZero() {
		h.FirstTry = y.now
	}
	if o := y.outage(s, step); o != nil {
		h.Failures++
		if h.DownFrom.IsZero() {
			h.DownFrom = y.now
		}
		h.ErrorKind, h.Error = o.Kind, backend.Clean(o.Error, 200)
		if h.Error.IsEmpty() {
			h.Error = backend.Clean(string(o.Kind), 40)
		}
		h.Status = statusOf(&h, o.Kind)
		return
	}
	h.Failures, h.DownFrom, h.ErrorKind, h.Error = 0, time.Time{}, "", backend.Safe{}
	h.Status, h.LastOK, h.Inputs = fleet.StatusOK, y.now, s.Inputs
	if r, _ := registryWord(at(y.registry[s.ID], step)); r != h.Registry {
		h.Registry, h.RegistrySince = r, y.now
	}
	switch h.Registry {
	case backend.RegistryAllIdle, backend.RegistryNoRoute, backend.RegistryWrongPath:
		h.WorkspacesUnknown, h.Status = true, fleet.StatusDegraded
	case backend.RegistryNone, backend.RegistryAnswers:
		h.WorkspacesUnknown = false
	}
	y.read(s.ID)
	y.count(s.ID, step)
	y.happened(s.ID, step)
}

// read takes over what the world shows of a source.
func (y *player) read(source string) {
	for _, x := range y.world.things {
		if x.key.Source != source {
			continue
		}
		old := y.seen[x.key]
		switch {
		case !x.gone.IsEmpty():
			if old != nil {
				y.delta.Gone = append(y.delta.Gone, fleet.Departure{Key: x.key, Last: old, Why: x.gone, At: y.now})
				delete(y.seen, x.key)
			}
			continue
		case x.entity == nil && (old == nil || old.EntityMeta().Stale):
			continue
		case x.entity == nil:
			y.seen[x.key] = stale(old)
		default:
			first := y.now
			if old != nil {
				first = old.EntityMeta().FirstSeen
			}
			y.seen[x.key] = x.entity(backend.Meta{Key: x.key, ReadAt: y.now, FirstSeen: first, Rev: y.number + 1})
		}
		y.delta.Changed = append(y.delta.Changed, x.key)
	}
}

// count takes over what a source counted at a step.
func (y *player) count(source string, step int) {
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
		y.counts = append(y.counts, backend.Count{Series: c.series, At: y.now, N: n, Sample: backend.Clean(c.Sample, 400)})
		y.delta.Series = append(y.delta.Series, c.series)
	}
	old := y.now.Add(-fleet.WindowSpan - y.interval)
	y.counts = slices.DeleteFunc(y.counts, func(c backend.Count) bool { return c.At.Before(old) })
}

// conclude builds the State and evaluates it.
func (y *player) conclude(step int) {
	y.number++
	st := &fleet.State{
		Number: y.number, Wall: y.now, Mono: y.now.Sub(y.since), LongestOperation: y.LongestOperation.Std(), Delta: y.delta, Windows: fleet.NewWindows(y.counts...),
	}
	y.delta = fleet.Delta{}
	var ss []*backend.Session
	var ws []*backend.Workspace
	var bs []*backend.Sandbox
	var hs []*backend.Host
	var ts []*backend.Tmpdir
	var rs []*backend.Ref
	var xs []*backend.Execution
	var js []*backend.Job
	for _, e := range y.seen {
		switch e := e.(type) {
		case *backend.Session:
			ss = append(ss, e)
		case *backend.Workspace:
			ws = append(ws, e)
		case *backend.Sandbox:
			bs = append(bs, e)
		case *backend.Host:
			hs = append(hs, e)
		case *backend.Tmpdir:
			ts = append(ts, e)
		case *backend.Ref:
			rs = append(rs, e)
		case *backend.Execution:
			xs = append(xs, e)
		case *backend.Job:
			js = append(js, e)
		}
	}
	st.Sessions, st.Workspaces, st.Sandboxes = fleet.NewTable(ss...), fleet.NewTable(ws...), fleet.NewTable(bs...)
	st.Hosts, st.Tmpdirs, st.Refs = fleet.NewTable(hs...), fleet.NewTable(ts...), fleet.NewTable(rs...)
	st.Executions, st.Jobs = fleet.NewTable(xs...), fleet.NewTable(js...)
	st.Events, y.events = y.events, nil
	for _, s := range y.Sources {
		h := y.health[s.ID]
		st.Sources = append(st.Sources, h)
		if h.LastOK.IsZero() {
			continue
		}
		for _, in := range s.Inputs {
			if kind, _ := listedBy(in); kind != "" {
				st = st.WithListed(s.ID, kind, h.LastOK)
			}
		}
	}
	board, events := y.engine.Next(y.board, st)
	y.board = board
	y.told.note(time.Duration(step)*y.interval, board, events)
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
