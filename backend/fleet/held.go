package fleet

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// heldFor is how long entities stay that a suspect answer left out, when nothing says what became of them.
const heldFor = 24 * time.Hour

// namedHeld is how many of the held entities a source's health names.
const namedHeld = 5

// heldEntity is an entity that a suspect answer left out: whether it ended is not known.
type heldEntity struct {
	since   time.Time
	machine bool // a sandbox of its session ran then
	left    int  // of a workspace: how many its registry named beside it
}

// Held are the entities of one kind that vanished suspiciously from what a source answers.
type Held struct {
	Kind  backend.Kind
	Count int
	Lost  int       // how many the answers left out, of how many
	Of    int       // that they had named before
	Since time.Time // of the first such answer
	Named []backend.Safe
}

// Word counts entities of the kind, with a verb in the number of the count.
func (h *Held) Word(n int, one, many string) backend.Safe {
	return backend.Clean(backend.Counted(n, h.Kind.Spec().Name+" "+one, h.Kind.Spec().Plural+" "+many), 60)
}

// Cause says what vanished.
func (h *Held) Cause() backend.Safe {
	if h.Kind == backend.KindWorkspace {
		return backend.Text("registries of running sessions lost their workspaces at once")
	}
	return backend.Textf("its list lost half or more of its %s at once", backend.Clean(h.Kind.Spec().Plural, 40))
}

// holding is one kind of held entities of one source.
type holding struct {
	source string
	kind   backend.Kind
}

// sourceHolding is what is known of the answers of one source that lost entities at once.
type sourceHolding struct {
	lost, of int
	since    time.Time
}

// wholeLists are the kinds whose complete list is suspect when it loses half or more at once, and which of them still matter:
// what was known to be over may vanish.
var wholeLists = [...]struct {
	kind  backend.Kind
	alive func(*store, backend.Entity) bool
}{
	{backend.KindSession, func(_ *store, e backend.Entity) bool { return e.(*backend.Session).MayRun() }},
	{backend.KindSandbox, func(_ *store, e backend.Entity) bool { return e.(*backend.Sandbox).Class == backend.SandboxRunning }},
	{backend.KindRef, func(s *store, e backend.Entity) bool { return s.mayRun(e.(*backend.Ref).Session) }},
}

// spareLost looks at what the complete lists of a reading leave out. If it is suspiciously much, all of it is held.
func (s *store) spareLost(r *backend.Reading, spared map[backend.Key]bool) {
	for _, l := range wholeLists {
		if r.Whole(l.kind) {
			s.spareList(r, l.kind, l.alive, spared)
		}
	}
}

func (s *store) spareList(r *backend.Reading, kind backend.Kind, alive func(*store, backend.Entity) bool, spared map[backend.Key]bool) {
	t := s.of(kind)
	var lost []backend.Key
	lives, fresh := false, 0
	for e := range t.lacks(r, backend.Scope{Kind: kind}) {
		k := e.EntityMeta().Key
		missed, gone := t.leaving(k)
		if _, held := s.held[k]; held || gone || spared[k] {
			continue
		}
		lost = append(lost, k)
		if !missed { // the list before named it
			fresh++
			lives = lives || alive(s, e)
		}
	}
	if !lives {
		return
	}
	before := t.present(r.Source)
	for _, k := range r.Ended { // the same list lost them, and their own word was heard at once
		if _, gone := t.leaving(k); gone && k.Kind == kind {
			before++
			fresh++
		}
	}
	for k := range s.held {
		if k.Source == r.Source && k.Kind == kind {
			before--
		}
	}
	if !backend.LostAtOnce(before, fresh) {
		return
	}
	why := backend.Textf("its list lost %d of %d %s at once: whether it ended is not known", fresh, before, backend.Clean(kind.Spec().Plural, 40))
	s.hold(r, lost, before, 0, why)
}

// hold keeps entities that a reading left out, marked as old.
func (s *store) hold(r *backend.Reading, lost []backend.Key, of, left int, why backend.Safe) {
	if len(lost) == 0 {
		return
	}
	id := holding{r.Source, lost[0].Kind}
	h := s.holding[id]
	if h.since.IsZero() {
		h.since = r.At
	}
	h.lost, h.of = h.lost+len(lost), h.of+of
	s.holding[id] = h
	for _, k := range lost {
		s.of(k.Kind).keep(k)
		session := k.ID
		if k.Kind != backend.KindSession {
			session = k.Parent
		}
		s.held[k] = heldEntity{r.At, s.runs(session), left}
		s.markStale(backend.StaleMark{Key: k, Why: why})
	}
}

// runs reports whether a sandbox of a session runs.
func (s *store) runs(session backend.ID) bool {
	return slices.ContainsFunc(s.bySession[session], func(b *backend.Sandbox) bool { return b.Class == backend.SandboxRunning })
}

// mayRun reports whether some source lists a session that may run. Where no source lists any, nothing says that it ended.
func (s *store) mayRun(session backend.ID) bool {
	listed := false
	for c := range s.confirmed {
		if c.kind != backend.KindSession {
			continue
		}
		listed = true
		if x := s.sessions.get(backend.Key{Kind: backend.KindSession, Source: c.source, ID: session}); x != nil && x.MayRun() {
			return true
		}
	}
	return !listed
}

// release ends held entities of which something says that they ended, and those that nothing was heard of for a day.
func (s *store) release(now time.Time) {
	if len(s.held) == 0 {
		return
	}
	for _, k := range stable.Sorted(maps.Keys(s.held), backend.Key.Compare) {
		h, held := s.held[k]
		if !held {
			continue // it ended with what it was part of
		}
		why := s.over(k, h)
		if why.IsEmpty() && now.Sub(h.since) > heldFor {
			why = backend.Text("nothing was heard of it for a day")
			s.forget(k)
		}
		if !why.IsEmpty() {
			s.drop(k, why, now)
			delete(s.held, k)
			s.dropParts(k.Source, now)
		}
	}
	for id := range s.holding {
		if !s.holds(id) {
			delete(s.holding, id)
		}
	}
}

// over is what says that a held entity ended: another source lists its session as over, or its sandboxes are gone. Empty:
// nothing does.
func (s *store) over(k backend.Key, h heldEntity) backend.Safe {
	switch {
	case k.Kind == backend.KindSession && s.elsewhereOver(k):
		return backend.Text("another source says that it ended")
	case k.Kind == backend.KindSession && h.machine && !s.runs(k.ID):
		return backend.Text("its sandboxes ended after its list left it out")
	case k.Kind == backend.KindWorkspace:
		return s.workspaceOver(k, h)
	case k.Kind == backend.KindRef && !s.mayRun(k.Parent):
		return backend.Text("its session ended")
	}
	return backend.Safe{}
}

// maxForgotten bounds the sessions of which is remembered that their end was never heard of.
const maxForgotten = 10_000

func (s *store) forget(k backend.Key) {
	if k.Kind == backend.KindSession && len(s.forgotten) < maxForgotten {
		s.forgotten = maps.Clone(s.forgotten) // States hold the one before
		if s.forgotten == nil {
			s.forgotten = map[backend.Key]bool{}
		}
		s.forgotten[k] = true
	}
}

// Forgotten reports whether a session left the State though nothing ever said that it ended.
func (s *State) Forgotten(k backend.Key) bool { return s.forgotten[k] && s.Session(k) == nil }

// noteEnd remembers that the owner of what was never read here says that it ended.
func (s *store) noteEnd(k backend.Key) {
	if t := s.of(k.Kind); t == nil || t.after(k) != nil || s.ended[k] || len(s.ended) >= maxForgotten {
		return
	}
	s.ended = maps.Clone(s.ended) // States hold the one before
	if s.ended == nil {
		s.ended = map[backend.Key]bool{}
	}
	s.ended[k] = true
}

// SaidToHaveEnded reports whether the owner of what no reading ever showed said that it ended.
func (s *State) SaidToHaveEnded(k backend.Key) bool { return s.ended[k] }

// elsewhereOver reports whether a source other than its own lists a session that does not run.
func (s *store) elsewhereOver(k backend.Key) bool {
	for c := range s.confirmed {
		if c.kind != backend.KindSession || c.source == k.Source {
			continue
		}
		x := s.sessions.get(backend.Key{Kind: backend.KindSession, Source: c.source, ID: k.ID})
		if x != nil && !x.Stale && !x.MayRun() {
			return true
		}
	}
	return false
}

func (s *store) holds(id holding) bool {
	for k := range s.held {
		if k.Source == id.source && k.Kind == id.kind {
			return true
		}
	}
	return false
}

// heldOf sums up what is held of a source, by kind; nil without any.
func (s *store) heldOf(source string) []Held {
	if len(s.held) == 0 {
		return nil
	}
	by := map[backend.Kind][]backend.Key{}
	for k := range s.held {
		if k.Source == source {
			by[k.Kind] = append(by[k.Kind], k)
		}
	}
	var out []Held
	for kind, keys := range by {
		stable.Sort(keys, backend.Key.Compare)
		l := s.holding[holding{source, kind}]
		h := Held{Kind: kind, Count: len(keys), Lost: l.lost, Of: l.of, Since: l.since}
		for _, k := range keys[:min(len(keys), namedHeld)] {
			h.Named = append(h.Named, k.Safe())
		}
		out = append(out, h)
	}
	stable.Sort(out, func(a, b Held) int { return cmp.Compare(a.Kind, b.Kind) })
	return out
}
