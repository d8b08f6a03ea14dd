package alerts

import (
	"cmp"
	"maps"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/internal/stable"
)

// Bounds of what is remembered of entities that are gone. Those that left last stay.
const (
	maxPast       = 1000 // sessions, workspaces and references together
	maxPastNumber = 2000 // sandboxes, and scratch directories, each: jobs come and go
	pastSpan      = 24 * time.Hour
)

// Past is what was last read of an entity which is in the State no more.
type Past struct {
	Entity backend.Entity // marked as old
	Left   time.Time      // when it left the State; zero: between two runs of Sandglass
	By     time.Time      // of one that left between two runs: when its source first answered without it; zero: not yet
	Why    backend.Safe
	Engine string // the container engine that it was read from
}

// Gone is between which two times it left its source; latest is zero where its source has not answered since.
func (p *Past) Gone() (earliest, latest time.Time) {
	if p.Left.IsZero() {
		return p.Entity.EntityMeta().ReadAt, p.By
	}
	return p.Left, p.Left
}

// Past is what is remembered of an entity, false when that is nothing. What a State has is asked of the State.
func (b *Board) Past(k backend.Key) (Past, bool) {
	if b == nil || b.memory == nil {
		return Past{}, false
	}
	p, ok := b.memory.past[k]
	return p, ok
}

// Shown is a State that shows what is remembered of sources that do not answer: what they listed last, marked as old.
func (b *Board) Shown(st *fleet.State) *fleet.State {
	if b == nil || b.memory == nil {
		return st
	}
	var all []backend.Entity
	for k := range b.memory.past {
		if e := b.LastOf(k, st); e != nil {
			all = append(all, e)
		}
	}
	return st.Including(all...)
}

// LastOf is what a source that does not answer listed last under a key, nil where that is not known, where the State has it,
// and where it had left before.
func (b *Board) LastOf(k backend.Key, st *fleet.State) backend.Entity {
	p, ok := b.Past(k)
	h := st.Source(k.Source)
	if !ok || !p.Left.IsZero() || !p.By.IsZero() || h == nil || h.Status != fleet.StatusDown && h.Status != fleet.StatusStarting || st.Entity(k) != nil {
		return nil
	}
	why := backend.Textf("%s is %s", backend.Clean(k.Source, 80), h.Status)
	if !h.Error.IsEmpty() {
		why = backend.Textf("%s: %s", why, h.Error)
	}
	return old(p.Entity, why)
}

// PastOf lists what is remembered of a kind, in the order of the keys.
func (b *Board) PastOf(kind backend.Kind) []Past {
	if b == nil || b.memory == nil {
		return nil
	}
	var out []Past
	for k, p := range b.memory.past {
		if k.Kind == kind {
			out = append(out, p)
		}
	}
	stable.Sort(out, func(a, b Past) int { return a.Entity.EntityMeta().Key.Compare(b.Entity.EntityMeta().Key) })
	return out
}

// remembers reports whether an entity of a kind is remembered after it left: what says how its files were kept, how its
// sandbox ended, and what people know by a name.
func remembers(kind backend.Kind) bool {
	return kind == backend.KindSession || kind == backend.KindWorkspace || kind == backend.KindRef || isMany(kind)
}

// isMany reports whether a kind has so many subjects that come and go that it is bounded by itself.
func isMany(kind backend.Kind) bool { return kind == backend.KindSandbox || kind == backend.KindTmpdir }

// remember carries on what is known of entities that left, and adds those that leave now.
func (ev *evaluation) remember(deltas []fleet.Delta) {
	ev.next.past, ev.next.proved = ev.old.past, ev.old.proved
	own := false
	change := func() {
		if !own {
			ev.next.past, own = maps.Clone(ev.old.past), true
		}
		if ev.next.past == nil {
			ev.next.past = map[backend.Key]Past{}
		}
	}
	for _, d := range deltas {
		for _, k := range d.Changed {
			if _, had := ev.next.past[k]; had {
				change()
				delete(ev.next.past, k)
			}
		}
		for _, g := range d.Gone {
			if g.Last == nil || !remembers(g.Key.Kind) {
				continue
			}
			change()
			at := g.At
			if at.IsZero() {
				at = ev.st.Wall
			}
			ev.next.past[g.Key] = Past{Entity: old(g.Last, g.Why), Left: at, Why: g.Why}
		}
	}
	for k, p := range ev.next.past {
		if h := ev.st.Source(k.Source); p.Left.IsZero() && p.By.IsZero() && h != nil && h.Status == fleet.StatusOK && !h.Unfinished {
			if _, is := p.Elsewhere(ev.st); is {
				continue
			}
			change()
			p.By = ev.st.Wall
			ev.next.past[k] = p
		}
	}
	if own {
		bounded(ev.next.past, ev.st.Wall)
	}
}

// old is a copy of an entity's last value, without its history and marked as old.
func old(e backend.Entity, why backend.Safe) backend.Entity {
	if why.IsEmpty() {
		why = backend.Text("it is not listed any more")
	}
	c := e.EntityMeta().Key.Kind.Spec().Copy(e)
	m := c.EntityMeta()
	m.Stale, m.StaleWhy = true, why
	return c
}

// bounded drops what left too long ago, and the oldest of too many.
func bounded(past map[backend.Key]Past, now time.Time) {
	type departure struct {
		key backend.Key
		at  time.Time
	}
	all := make([]departure, 0, len(past))
	for k, p := range past {
		at := p.Left
		if at.IsZero() {
			at = p.Entity.EntityMeta().ReadAt
		}
		if now.Sub(at) > pastSpan {
			delete(past, k)
		} else {
			all = append(all, departure{k, at})
		}
	}
	stable.Sort(all, func(a, b departure) int { return cmp.Or(b.at.Compare(a.at), a.key.Compare(b.key)) })
	kept := map[backend.Kind]int{}
	for _, d := range all {
		kind, most := backend.Kind(""), maxPast
		if isMany(d.key.Kind) {
			kind, most = d.key.Kind, maxPastNumber
		}
		if kept[kind]++; kept[kind] > most {
			delete(past, d.key)
		}
	}
}

// savedPast is an entity in the state file: one that left, or one that may have left when the file is read.
type savedPast struct {
	Left      time.Time          `json:"left,omitzero"`
	By        time.Time          `json:"by,omitzero"`
	Why       backend.Safe       `json:"why,omitzero"`
	Session   *backend.Session   `json:"session,omitempty"`
	Workspace *backend.Workspace `json:"workspace,omitempty"`
	Ref       *backend.Ref       `json:"ref,omitempty"`
	Sandbox   *backend.Sandbox   `json:"sandbox,omitempty"`
	Tmpdir    *backend.Tmpdir    `json:"tmpdir,omitempty"`
	Engine    string             `json:"engine,omitempty"`
}

func savePast(p Past) savedPast {
	s := savedPast{Left: p.Left, By: p.By, Why: p.Why, Engine: p.Engine}
	switch x := p.Entity.(type) {
	case *backend.Session:
		c := *x
		c.History, c.Raw = nil, backend.Safe{}
		s.Session = &c
	case *backend.Workspace:
		c := *x
		c.History, c.Extra, c.Raw = nil, nil, backend.Safe{}
		s.Workspace = &c
	case *backend.Ref:
		c := *x
		c.History, c.Raw = nil, backend.Safe{}
		s.Ref = &c
	case *backend.Sandbox:
		c := *x
		c.History, c.Raw, c.Mounts, c.Labels = nil, backend.Safe{}, nil, nil
		s.Sandbox = &c
	case *backend.Tmpdir:
		c := *x
		c.History, c.Raw = nil, backend.Safe{}
		c.Holders = backend.Unknown[[]backend.Holder]()
		s.Tmpdir = &c
	}
	return s
}

// savedPasts are what left, and what is there now as far as the bounds allow: what alerts are about comes first.
func (b *Board) savedPasts() []savedPast {
	var out []savedPast
	seen, count := map[backend.Key]bool{}, map[backend.Kind]int{}
	full := func(kind backend.Kind) bool {
		if isMany(kind) {
			return count[kind] >= maxPastNumber
		}
		return len(out)-count[backend.KindSandbox]-count[backend.KindTmpdir] >= 2*maxPast
	}
	add := func(e backend.Entity) {
		if e == nil || seen[e.EntityMeta().Key] || full(e.EntityMeta().Key.Kind) {
			return
		}
		seen[e.EntityMeta().Key] = true
		count[e.EntityMeta().Key.Kind]++
		out = append(out, savePast(Past{Entity: e, Engine: engineOf(b.state, e.EntityMeta().Key.Source)}))
	}
	for _, kind := range [...]backend.Kind{backend.KindWorkspace, backend.KindSession, backend.KindRef, backend.KindSandbox, backend.KindTmpdir} {
		past := b.PastOf(kind)
		for _, p := range past {
			out = append(out, savePast(p))
		}
		count[kind] += len(past)
	}
	if b.state == nil {
		return out
	}
	for _, a := range b.Alerts {
		for i := range a.Subjects {
			if k := a.Subjects[i].Key; remembers(k.Kind) {
				add(b.state.Entity(k))
			}
		}
	}
	for w := range b.state.Workspaces.All() {
		if full(backend.KindWorkspace) {
			break
		}
		add(w)
		if s := b.state.SessionOf(w); s != nil {
			add(s)
		}
	}
	for _, kind := range [...]backend.Kind{backend.KindRef, backend.KindSandbox, backend.KindTmpdir} {
		rows := b.state.Rows(kind)
		for i := 0; i < rows.Len() && !full(kind); i++ {
			add(rows.Entity(i))
		}
	}
	return out
}

// restorePast reads what savedPasts wrote. An entity that was there when the file was written left between the runs, if the
// State does not have it.
func restorePast(all []savedPast, now time.Time) map[backend.Key]Past {
	out := make(map[backend.Key]Past, len(all))
	for _, s := range all {
		var e backend.Entity
		switch {
		case s.Session != nil:
			e = s.Session
		case s.Workspace != nil:
			e = s.Workspace
		case s.Ref != nil:
			e = s.Ref
		case s.Sandbox != nil:
			e = s.Sandbox
		case s.Tmpdir != nil:
			e = s.Tmpdir
		default:
			continue
		}
		m := e.EntityMeta()
		if !remembers(m.Key.Kind) {
			continue
		}
		m.Stale = true
		if m.StaleWhy = s.Why; s.Why.IsEmpty() {
			m.StaleWhy = backend.Text("it was read before Sandglass started")
		}
		out[m.Key] = Past{Entity: e, Left: s.Left, By: s.By, Why: s.Why, Engine: s.Engine}
	}
	bounded(out, now)
	return out
}

// proofs are what was observed of the sandboxes that are there, at most maxPast: failures come first, then what a probe found,
// since checks without side effects are made again.
func (b *Board) proofs() []backend.Proof {
	if b.state == nil {
		return nil
	}
	var out []backend.Proof
	for x := range b.state.Sandboxes.All() {
		if o, ok := x.Observed.Get(); ok && len(o.Verdicts) > 0 {
			out = append(out, backend.Proof{Sandbox: x.Key, Verdicts: o.Verdicts})
		}
	}
	for k, vs := range b.memory.proved { // of sources that were not read yet
		if b.state.Sandbox(k) == nil {
			out = append(out, backend.Proof{Sandbox: k, Verdicts: vs})
		}
	}
	if len(out) > maxPast {
		stable.Sort(out, func(a, b backend.Proof) int {
			return cmp.Or(cmp.Compare(proofRank(a), proofRank(b)), a.Sandbox.Compare(b.Sandbox))
		})
		out = out[:maxPast]
	}
	stable.Sort(out, func(a, b backend.Proof) int { return a.Sandbox.Compare(b.Sandbox) })
	return out
}

func proofRank(p backend.Proof) int {
	rank := 2
	for i := range p.Verdicts {
		switch v := &p.Verdicts[i]; {
		case v.Outcome == backend.OutcomeFailed:
			return 0
		case !v.Passive:
			rank = 1
		}
	}
	return rank
}

func restoreProofs(all []backend.Proof) map[backend.Key][]backend.Verdict {
	out := make(map[backend.Key][]backend.Verdict, len(all))
	for _, p := range all {
		out[p.Sandbox] = p.Verdicts
	}
	return out
}
