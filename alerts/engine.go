package alerts

import (
	"slices"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// Engine evaluates rules. It holds no state of its own: everything that it remembers is in the Board.
type Engine struct {
	rules       []Rule
	declared    map[string]*Meta // by name
	environment string
	config      string // digest of the configuration, empty: not told
	configName  string
}

// Option changes an Engine.
type Option func(*Engine)

// NewEngine makes an Engine. Rules are evaluated in the order given, except that rules whose findings fold others come
// first; their names must differ.
func NewEngine(rules []Rule, environment string, opts ...Option) *Engine {
	e := &Engine{environment: environment}
	for _, first := range []bool{true, false} {
		for _, r := range rules {
			if r.Meta().Folds == first {
				e.rules = append(e.rules, r)
			}
		}
	}
	e.declared = declared(e.rules)
	for _, o := range opts {
		o(e)
	}
	return e
}

// Rules lists what the engine evaluates.
func (e *Engine) Rules() []Rule { return e.rules }

// Next concludes the next Board from the one before (nil at the start) and a State. It is pure: the same two arguments
// give the same Board and events, and prev stays valid. States may be skipped; prev may come from a file.
func (e *Engine) Next(prev *Board, st *fleet.State) (*Board, []backend.Event) {
	ev := e.begin(prev, st)
	for _, r := range e.rules {
		ev.evaluate(r)
	}
	return ev.finish()
}

// evaluation makes one Board from one State.
type evaluation struct {
	e    *Engine
	env  Env
	prev *Board
	old  *memory
	next *memory
	st   *fleet.State

	all     bool // everything is looked at
	full    bool // … and what is missing from the State is gone
	rebuild bool // every alert is written anew, since the wall clock jumped
	changed map[backend.Kind][]backend.Key
	found   map[backend.Kind][]backend.Entity // of changed, looked up
	gone    map[backend.Key]fleet.Departure
	unseen  map[backend.Key]bool // sessions of gone whose end nothing told
	series  []backend.Series
	moved   map[string]bool // sources whose gap changed
	catchUp map[string]bool // sources all of whose subjects are looked at, since changes were missed
	homed   bool            // some source was read for the first time: homes that were not known may be now
	refold  map[string]bool // sources whose held alerts fold differently than before
	// regrouped holds the subjects of the rule at hand whose findings changed their group.
	regrouped map[backend.Key]bool
	events    []backend.Event
	ended     []backend.Event
	opening   bool      // the start goes on
	start     time.Time // steady time of the start that goes on or is just over; zero later
	marked    bool      // the State reports changes
	differs   bool      // some alert is not the one of prev
	spare     []change  // for the next rule, to be written over
	stand     []*stands // by rules whose alerts stand for lesser ones; nil: not collected yet
}

func (e *Engine) begin(prev *Board, st *fleet.State) *evaluation {
	old := &memory{}
	if prev != nil && prev.memory != nil {
		old = prev.memory
	}
	ev := &evaluation{e: e, prev: prev, old: old, st: st, gone: map[backend.Key]fleet.Departure{}, unseen: map[backend.Key]bool{}, changed: map[backend.Kind][]backend.Key{}, found: map[backend.Kind][]backend.Entity{}}
	clk := old.clock.next(st, old.resume)
	ev.next = &memory{clock: clk, watching: old.watching, orders: old.orders, rules: make(map[string]*ruleState, len(e.rules)), folds: map[string]string{}}
	if ev.next.watching.IsZero() {
		ev.next.watching = clk.Steady
	}
	ev.open()
	ev.rebuild = clk.JumpDrift != old.clock.JumpDrift && prev != nil
	ev.env = Env{State: st, Now: clk.Steady, Watching: ev.next.watching, clock: clk,
		prints: map[string]string{}, values: map[string]string{}, templates: old.templates, homes: map[backend.Series]string{}}
	if prev != nil {
		ev.env.prior = prev.state
	}
	ev.next.former, ev.env.former = old.former, old.former
	ev.deltas()
	ev.env.changed = func(kind backend.Kind) ([]backend.Entity, bool) {
		if ev.all || ev.rebuild || len(ev.catchUp) > 0 || len(ev.moved) > 0 {
			return nil, true
		}
		return ev.entities(kind), false
	}
	ev.causes()
	ev.env.mine(old.rules)
	ev.next.templates = ev.env.templates
	ev.gaps()
	ev.returns()
	ev.lists()
	ev.bookmarks()
	ev.marked = ev.noteChanges()
	ev.reconfigured()
	return ev
}

// causes normalises what the workspaces that are looked at say, in the order in which the rules will ask for it.
func (ev *evaluation) causes() {
	texts := min(len(ev.changed[backend.KindWorkspace]), 1<<14)
	if ev.all { // most of what fails can have a text of its own
		texts = min(ev.st.Workspaces.Len(), 1<<14)
	}
	ev.env.causes = causes{list: make([]causeText, 0, texts), at: make(map[string]int, texts)}
	ev.spare = make([]change, 0, texts)
	say := func(w *backend.Workspace) {
		if !w.LastError.IsEmpty() {
			ev.env.Cause(w.LastError)
		}
	}
	if ev.all {
		for w := range ev.st.Workspaces.All() {
			say(w)
		}
		return
	}
	for _, e := range ev.entities(backend.KindWorkspace) {
		if w, ok := e.(*backend.Workspace); ok {
			say(w)
		}
	}
}

// deltas collects what changed since the Board before; without complete knowledge of that everything is looked at.
func (ev *evaluation) deltas() {
	deltas := []fleet.Delta{ev.st.Delta}
	switch {
	case ev.prev == nil || ev.old.resume != nil || ev.old.clock.Steady.IsZero() || ev.st.Number < ev.prev.Number:
		ev.all, ev.full = true, true
	case ev.st.Number != ev.prev.Number+1:
		var complete bool
		if deltas, complete = ev.st.ChangesSince(ev.prev.Number); !complete {
			ev.all, ev.full = true, true
			deltas = []fleet.Delta{ev.st.Delta}
		}
	}
	ev.all = ev.all || ev.old.reconsider
	for _, d := range deltas {
		for _, k := range d.Changed {
			ev.changed[k.Kind] = append(ev.changed[k.Kind], k)
		}
		for _, g := range d.Gone {
			ev.gone[g.Key] = g
			if ev.endUnseen(&g) {
				ev.unseen[g.Key] = true
			}
		}
		ev.series = append(ev.series, d.Series...)
	}
	ev.rememberMoves(deltas)
	ev.remember(deltas)
	ev.env.past, ev.env.was = ev.next.past, ev.old.past
	for _, e := range ev.st.Events { // a process that was killed inside a sandbox may change nothing that is read of it
		ev.changed[e.Subject.Kind] = append(ev.changed[e.Subject.Kind], e.Subject)
	}
	for _, k := range ev.changed[backend.KindWorkspace] { // a registry that calls a workspace ready contradicts a container that is down
		for _, b := range ev.st.SandboxesOf(k.Parent) {
			if b.Class != backend.SandboxRunning {
				ev.changed[backend.KindSandbox] = append(ev.changed[backend.KindSandbox], b.Key)
			}
		}
	}
	for _, k := range ev.changed[backend.KindSession] { // whether a session runs decides about its workspaces and sandboxes
		for _, b := range ev.st.BoxesOf(k.ID) {
			ev.changed[backend.KindSandbox] = append(ev.changed[backend.KindSandbox], b.Key)
		}
		for w := range ev.st.Workspaces.Of(backend.KindWorkspace, k.Source, k.ID) {
			ev.changed[backend.KindWorkspace] = append(ev.changed[backend.KindWorkspace], w.Key)
		}
	}
	ev.related()
	for _, s := range ev.series {
		if m := s.Name; !s.Session.IsZero() && (m == backend.MetricSDKExec || m == backend.MetricExecDone || m == backend.MetricSDKFiles || m == backend.MetricSDKMissing) { // what an SDK met tells of its sandbox
			for _, b := range ev.st.BoxesOf(s.Session) {
				ev.changed[backend.KindSandbox] = append(ev.changed[backend.KindSandbox], b.Key)
			}
		}
		if s.Name == backend.MetricLimitKills && !s.Sandbox.IsZero() {
			for _, h := range ev.st.Sources {
				ev.changed[backend.KindSandbox] = append(ev.changed[backend.KindSandbox], backend.Key{Kind: backend.KindSandbox, Source: h.Key.Source, ID: s.Sandbox})
			}
		}
	}
}

// related adds the sandboxes of which something changed that is told elsewhere: their executions and jobs, the sessions of a hub,
// and what log lines say of them.
func (ev *evaluation) related() {
	add := func(source string, id backend.ID) {
		ev.changed[backend.KindSandbox] = append(ev.changed[backend.KindSandbox], backend.Key{Kind: backend.KindSandbox, Source: source, ID: id})
	}
	for _, kind := range []backend.Kind{backend.KindExecution, backend.KindJob} {
		for _, k := range ev.changed[kind] {
			add(k.Source, k.Parent)
		}
	}
	for _, k := range ev.changed[backend.KindSession] {
		if s := ev.st.Session(k); s != nil && s.Hub != nil && !s.Hub.Sandbox.IsZero() {
			add(k.Source, s.Hub.Sandbox)
		}
	}
	for _, h := range ev.st.Sources {
		if len(h.Reports) == 0 || ev.env.prior != nil && sameReports(h, ev.env.prior.Source(h.Key.Source)) {
			continue
		}
		for _, x := range h.Reports {
			if x.Kind == backend.ReportCommandGood { // which alone changes no verdict
				continue
			}
			for _, o := range ev.st.Sources {
				if !x.Sandbox.IsZero() && h.ReportsOn(o.Key.Source) {
					add(o.Key.Source, x.Sandbox)
				}
			}
			if x.Session.IsZero() {
				continue
			}
			for _, b := range ev.st.SandboxesOf(x.Session) {
				add(b.Key.Source, b.Key.ID)
			}
			if x.Kind.Belief() {
				for _, b := range ev.st.SandboxesOfState(x.Session) {
					add(b.Key.Source, b.Key.ID)
				}
			}
		}
	}
}

// sameReports reports whether log lines said nothing new.
func sameReports(h, before *fleet.SourceHealth) bool {
	return before != nil && len(before.Reports) > 0 && h.Reports[len(h.Reports)-1] == before.Reports[len(before.Reports)-1] && len(h.Reports) == len(before.Reports)
}

// gaps finds out which sources' subjects cannot be judged now.
func (ev *evaluation) gaps() {
	ev.next.gaps = make(map[string]gap, len(ev.st.Sources))
	ev.env.gaps = ev.next.gaps
	ev.next.unknown, ev.next.missed, ev.next.silent = map[string]bool{}, map[string]bool{}, map[string]string{}
	ev.moved, ev.catchUp = map[string]bool{}, map[string]bool{}
	for _, h := range ev.st.Sources {
		g, is := ev.gapOf(h)
		was, had := ev.old.gaps[h.Key.Source]
		if is {
			ev.next.gaps[h.Key.Source] = g
		}
		if h.WorkspacesUnknown {
			ev.next.unknown[h.Key.Source] = true
		}
		ev.homed = ev.homed || was.Starting && !g.Starting
		if silent := silence(h); silent != "" {
			ev.next.silent[h.Key.Source] = silent
		}
		if is != had || g != was || h.WorkspacesUnknown != ev.old.unknown[h.Key.Source] || ev.next.silent[h.Key.Source] != ev.old.silent[h.Key.Source] {
			ev.moved[h.Key.Source] = true
		}
		if ev.old.missed[h.Key.Source] {
			if is || h.WorkspacesUnknown {
				ev.next.missed[h.Key.Source] = true
			} else {
				ev.catchUp[h.Key.Source] = true
			}
		}
	}
}

// silence names the inputs that a source which answers does not deliver though it could, and why.
func silence(h *fleet.SourceHealth) string {
	text := ""
	for _, m := range h.Missing {
		if !h.Delivers(m.Input) {
			text += string(m.Input) + ": " + m.Why.String() + "\n"
		}
	}
	return text
}

func (ev *evaluation) gapOf(h *fleet.SourceHealth) (gap, bool) {
	id, since := backend.Clean(h.Key.Source, 80), ev.env.Ours(h.LastOK)
	switch {
	case h.Status == fleet.StatusStarting:
		return gap{Outcome: NoData, Why: backend.Textf("%s has not been read yet", id), Starting: true}, true
	case h.Status == fleet.StatusDown:
		why := backend.Textf("%s is down", id)
		if !h.Error.IsEmpty() {
			why = backend.Textf("%s is down: %s", id, backend.Clean(h.Error.String(), 160))
		}
		return gap{Outcome: SourceError, Since: since, Why: why}, true
	case h.Status == fleet.StatusAbsent:
		return gap{Outcome: NoData, Since: since, Why: backend.Textf("%s is not there", id)}, true
	case h.Copied():
		data := ev.env.Ours(h.DataAt())
		return gap{Outcome: SourceError, Since: data, Why: backend.Textf("%s serves a copy: its data is of %s", id, ev.env.Clock(data))}, true
	case !h.LastOK.IsZero() && h.Interval > 0 && ev.env.Now.Sub(ev.env.Ours(h.LastOK)) > 2*h.Interval+h.Deadline:
		return gap{Outcome: SourceError, Since: since, Why: backend.Textf("%s has not been read for two intervals", id)}, true
	}
	return gap{}, false
}

// gapFor is the reason for which a subject cannot be judged, if there is one.
func (ev *evaluation) gapFor(k backend.Key, m *backend.Meta) (gap, bool) {
	if g, ok := ev.next.gaps[k.Source]; ok {
		return g, true
	}
	if m == nil {
		return gap{}, false
	}
	if m.Stale {
		why := m.StaleWhy
		if why.IsEmpty() {
			why = backend.Text("its newest reading failed")
		}
		return gap{Outcome: SourceError, Why: why}, true
	}
	if k.Kind == backend.KindWorkspace {
		if ev.next.unknown[k.Source] {
			return gap{Outcome: NoData, Why: backend.Textf("%s cannot tell whether its workspaces exist", backend.Clean(k.Source, 80))}, true
		}
	}
	return gap{}, false
}

// evaluate runs one rule and puts its new state into the next memory.
func (ev *evaluation) evaluate(r Rule) {
	m := r.Meta()
	l := ev.old.rules[m.Name]
	if l == nil {
		l = &ruleState{}
	}
	dueKeys, due := l.due.take(ev.env.Now)
	re := &ruleEvaluation{evaluation: ev, rule: r, meta: m, old: l, settling: ev.settling(m), cursor: recordCursor{rs: l.records}, changes: ev.spare[:0], apart: l.apart}
	late := re.due(dueKeys)
	re.depart(late)
	if s, ok := r.(SubjectRule); ok {
		re.subjects(s, late)
	}
	if s, ok := r.(SeriesRule); ok {
		re.countedSubjects(s, late)
	}
	if f, ok := r.(FleetRule); ok {
		re.fleetWide(f)
	}
	var byFleet []change
	if re.records != nil {
		byFleet = slices.Clone(re.changes[re.applied:])
	}
	re.changes = sortChanges(re.changes)
	n := &ruleState{groups: re.regroup(), buckets: re.buckets, flaps: re.flaps}
	n.apart = re.stillApart(n.groups)
	n.records = re.after(byFleet)
	n.due = due.with(re.changes)
	ev.spare = re.changes
	ev.next.rules[m.Name] = n
	if m.Folds {
		ev.foldUnder(n)
	}
}

// settling reports whether a rule's counts cannot be complete yet because the program was restarted.
func (ev *evaluation) settling(m *Meta) bool {
	at := ev.next.clock.ResumedAt
	return !at.IsZero() && ev.env.Now.Sub(at) < m.Window
}
