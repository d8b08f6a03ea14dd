package alerts

import (
	"slices"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// Engine evaluates rules. It holds no state of its own: everything that it remembers is in the Board.
type Engine struct {
	rules       []Rule
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
	t := e.begin(prev, st)
	for _, r := range e.rules {
		t.evaluate(r)
	}
	return t.finish()
}

// turn is one evaluation.
type turn struct {
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
	gone    map[backend.Key]backend.Safe
	series  []backend.Series
	moved   map[string]bool // sources whose gap changed
	catchUp map[string]bool // sources all of whose subjects are looked at, since changes were missed
	homed   bool            // some source was read for the first time: homes that were not known may be now
	refold  map[string]bool // sources whose held alerts fold differently than before
	// regrouped holds the subjects of the rule at hand whose findings changed their group.
	regrouped map[backend.Key]bool
	events    []backend.Event
	marked    bool     // the State reports changes
	differs   bool     // some alert is not the one of prev
	spare     []change // for the next rule, to be written over
}

func (e *Engine) begin(prev *Board, st *fleet.State) *turn {
	old := &memory{}
	if prev != nil && prev.memory != nil {
		old = prev.memory
	}
	t := &turn{e: e, prev: prev, old: old, st: st, gone: map[backend.Key]backend.Safe{}, changed: map[backend.Kind][]backend.Key{}, found: map[backend.Kind][]backend.Entity{}}
	clk := old.clock.next(st, old.resume)
	t.next = &memory{clock: clk, watching: old.watching, orders: old.orders, rules: make(map[string]*ledger, len(e.rules)), folds: map[string]string{}}
	if t.next.watching.IsZero() {
		t.next.watching = clk.Steady
	}
	t.rebuild = clk.JumpDrift != old.clock.JumpDrift && prev != nil
	t.env = Env{State: st, Now: clk.Steady, Watching: t.next.watching, clock: clk,
		prints: map[string]string{}, homes: map[backend.Series]string{}}
	t.deltas()
	t.env.changed = func(kind backend.Kind) ([]backend.Entity, bool) {
		if t.all || t.rebuild || len(t.catchUp) > 0 || len(t.moved) > 0 {
			return nil, true
		}
		return t.entities(kind), false
	}
	t.causes()
	t.gaps()
	t.marked = t.noteChanges()
	t.reconfigured()
	return t
}

// causes normalises what the workspaces that are looked at say, in the order in which the rules will ask for it.
func (t *turn) causes() {
	texts := min(len(t.changed[backend.KindWorkspace]), 1<<14)
	if t.all { // most of what fails can have a text of its own
		texts = min(t.st.Workspaces.Len(), 1<<14)
	}
	t.env.causes = causes{list: make([]cause, 0, texts), at: make(map[string]int, texts)}
	t.spare = make([]change, 0, texts)
	say := func(w *backend.Workspace) {
		if !w.LastError.IsEmpty() {
			t.env.Cause(w.LastError)
		}
	}
	if t.all {
		for w := range t.st.Workspaces.All() {
			say(w)
		}
		return
	}
	for _, e := range t.entities(backend.KindWorkspace) {
		if w, ok := e.(*backend.Workspace); ok {
			say(w)
		}
	}
}

// deltas collects what changed since the Board before; without complete knowledge of that everything is looked at.
func (t *turn) deltas() {
	deltas := []fleet.Delta{t.st.Delta}
	switch {
	case t.prev == nil || t.old.resume != nil || t.old.clock.Steady.IsZero() || t.st.Number < t.prev.Number:
		t.all, t.full = true, true
	case t.st.Number != t.prev.Number+1:
		var complete bool
		if deltas, complete = t.st.ChangesSince(t.prev.Number); !complete {
			t.all, t.full = true, true
			deltas = []fleet.Delta{t.st.Delta}
		}
	}
	for _, d := range deltas {
		for _, k := range d.Changed {
			t.changed[k.Kind] = append(t.changed[k.Kind], k)
		}
		for _, g := range d.Gone {
			t.gone[g.Key] = g.Why
		}
		t.series = append(t.series, d.Series...)
	}
}

// gaps finds out which sources' subjects cannot be judged now.
func (t *turn) gaps() {
	t.next.gaps = make(map[string]gap, len(t.st.Sources))
	t.env.gaps = t.next.gaps
	t.next.unknown, t.next.missed, t.next.silent = map[string]bool{}, map[string]bool{}, map[string]string{}
	t.moved, t.catchUp = map[string]bool{}, map[string]bool{}
	for _, h := range t.st.Sources {
		g, is := t.gapOf(h)
		was, had := t.old.gaps[h.Key.Source]
		if is {
			t.next.gaps[h.Key.Source] = g
		}
		if h.WorkspacesUnknown {
			t.next.unknown[h.Key.Source] = true
		}
		t.homed = t.homed || was.Starting && !g.Starting
		if silent := silence(h); silent != "" {
			t.next.silent[h.Key.Source] = silent
		}
		if is != had || g != was || h.WorkspacesUnknown != t.old.unknown[h.Key.Source] || t.next.silent[h.Key.Source] != t.old.silent[h.Key.Source] {
			t.moved[h.Key.Source] = true
		}
		if t.old.missed[h.Key.Source] {
			if is || h.WorkspacesUnknown {
				t.next.missed[h.Key.Source] = true
			} else {
				t.catchUp[h.Key.Source] = true
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

func (t *turn) gapOf(h *fleet.SourceHealth) (gap, bool) {
	id := backend.Clean(h.Key.Source, 80)
	switch {
	case h.Status == fleet.StatusStarting:
		return gap{Outcome: NoData, Why: backend.Textf("%s has not been read yet", id), Starting: true}, true
	case h.Status == fleet.StatusDown:
		why := backend.Textf("%s is down", id)
		if !h.Error.IsEmpty() {
			why = backend.Textf("%s is down: %s", id, backend.Clean(h.Error.String(), 160))
		}
		return gap{Outcome: SourceError, Why: why}, true
	case h.Status == fleet.StatusAbsent:
		return gap{Outcome: NoData, Why: backend.Textf("%s is not there", id)}, true
	case !h.LastOK.IsZero() && h.Interval > 0 && t.env.Now.Sub(t.env.Ours(h.LastOK)) > 2*h.Interval+h.Deadline:
		return gap{Outcome: SourceError, Why: backend.Textf("%s has not answered for two intervals", id)}, true
	}
	return gap{}, false
}

// gapFor is the reason for which a subject cannot be judged, if there is one.
func (t *turn) gapFor(k backend.Key, m *backend.Meta) (gap, bool) {
	if g, ok := t.next.gaps[k.Source]; ok {
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
		if t.next.unknown[k.Source] {
			return gap{Outcome: NoData, Why: backend.Textf("%s cannot tell whether its workspaces exist", backend.Clean(k.Source, 80))}, true
		}
	}
	return gap{}, false
}

// evaluate runs one rule and puts its new ledger into the next memory.
func (t *turn) evaluate(r Rule) {
	m := r.Meta()
	l := t.old.rules[m.Name]
	if l == nil {
		l = &ledger{}
	}
	dueKeys, due := l.due.take(t.env.Now)
	w := &work{turn: t, rule: r, meta: m, old: l, settling: t.settling(m), finder: finder{rs: l.records}, changes: t.spare[:0]}
	late := w.due(dueKeys)
	w.depart(late)
	if s, ok := r.(SubjectRule); ok {
		w.subjects(s, late)
	}
	if s, ok := r.(SeriesRule); ok {
		w.countedSubjects(s, late)
	}
	if f, ok := r.(FleetRule); ok {
		w.fleetWide(f)
	}
	var byFleet []change
	if w.records != nil {
		byFleet = slices.Clone(w.changes[w.applied:])
	}
	w.changes = sortChanges(w.changes)
	n := &ledger{groups: w.regroup(), buckets: w.buckets, flaps: w.flaps}
	n.records = w.after(byFleet)
	n.due = due.with(w.changes)
	t.spare = w.changes
	t.next.rules[m.Name] = n
	if m.Folds {
		t.foldUnder(n)
	}
}

// settling reports whether a rule's counts cannot be complete yet because the program was restarted.
func (t *turn) settling(m *Meta) bool {
	at := t.next.clock.ResumedAt
	return !at.IsZero() && t.env.Now.Sub(at) < m.Window
}
