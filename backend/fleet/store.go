package fleet

import (
	"cmp"
	"slices"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// store merges readings into States. It belongs to one goroutine.
type store struct {
	longest time.Duration
	reach   backend.Reach // copied into every State
	number  uint64

	kinds          []staging // in the order of the table
	windows        Windows
	confirmed      map[confirmation]time.Time
	log            *changeLog
	bySession      map[backend.ID][]*backend.Sandbox
	byName         map[backend.ID]*backend.Sandbox
	agents         *agentIndex
	registry       *registryJoins
	elsewhere      []labelledElsewhere
	observes       bool // something was observed of a sandbox
	versionTracker *versionTracker
	placeIndex     *placeIndex
	providerCounts *providerCounts
	daySeries      *daySeries
	day            Day
	memoryHistory  MemoryHistory
	earlier        *Earlier

	sessions  *stagingTable[backend.Session, *backend.Session] // one of kinds
	held      map[backend.Key]heldEntity
	holding   map[holding]sourceHolding
	blind     map[string]bool      // sources that cannot tell whether their workspaces exist
	forgotten map[backend.Key]bool // replaced, never changed
	ended     map[backend.Key]bool // replaced, never changed

	changed  []backend.Key
	gone     []Departure
	replaced []EarlierReading
	series   []backend.Series
	statuses []statusChange // of the reading that is applied
	events   []backend.Event
}

// confirmation is one kind of entity of one source.
type confirmation struct {
	source string
	kind   backend.Kind
}

func newStore(longest time.Duration) *store {
	s := &store{
		longest:        longest,
		earlier:        &Earlier{},
		confirmed:      map[confirmation]time.Time{},
		versionTracker: newVersionTracker(),
		placeIndex:     newPlaceIndex(),
		providerCounts: newProviderCounts(),
		daySeries:      newDaySeries(),
		held:           map[backend.Key]heldEntity{},
		holding:        map[holding]sourceHolding{},
		blind:          map[string]bool{},
	}
	for i := range kinds {
		s.kinds = append(s.kinds, kinds[i].staging())
		switch t := s.kinds[i].(type) {
		case *stagingTable[backend.Session, *backend.Session]:
			s.sessions = t
			t.swapped = func(old, x *backend.Session) { delete(s.held, cmp.Or(x, old).Key) }
		case *stagingTable[backend.Sandbox, *backend.Sandbox]:
			t.swapped = func(old, b *backend.Sandbox) { delete(s.held, cmp.Or(b, old).Key) }
		case *stagingTable[backend.Workspace, *backend.Workspace]:
			t.swapped = func(old, w *backend.Workspace) {
				delete(s.held, cmp.Or(w, old).Key)
				s.placeIndex.update(cmp.Or(w, old).Key, placesOfWorkspace(old), placesOfWorkspace(w))
				s.providerCounts.update(old, w)
				if old != nil && w != nil && old.Provider != w.Provider && !w.ProviderID.IsZero() {
					s.placeIndex.touched = true // who an id is of says which sandbox it names
				}
			}
		case *stagingTable[backend.Ref, *backend.Ref]:
			t.swapped = func(old, r *backend.Ref) {
				delete(s.held, cmp.Or(r, old).Key)
				s.placeIndex.update(cmp.Or(r, old).Key, placesOfRef(old), placesOfRef(r))
			}
		}
	}
	return s
}

// of is the staging of a kind, nil where the kind has no entities.
func (s *store) of(kind backend.Kind) staging {
	for i := range kinds {
		if kinds[i].kind == kind {
			return s.kinds[i]
		}
	}
	return nil
}

// apply merges one reading into the next State.
func (s *store) apply(r *backend.Reading) {
	for _, t := range s.kinds {
		t.merge(r, s)
	}
	for _, m := range r.Stale {
		s.markStale(m)
	}
	for _, k := range r.Ended {
		s.noteEnd(k)
		why := endedWhy(k.Kind, r.Kind)
		if b := s.sandboxes().get(k); b != nil && b.Unlisted {
			why = backend.Text("nothing names it any more")
		}
		s.drop(k, why, r.At)
	}
	s.closeScopes(r)
	s.dropParts(r.Source, r.At)
	if counts := append(slices.Clip(r.Counts), kills(r.Events)...); len(counts) > 0 {
		var changed []backend.Series
		s.windows, changed = s.windows.with(counts, r.At.Add(-WindowSpan))
		s.series = append(s.series, changed...)
		s.daySeries.addCounts(counts, r.At)
	}
	s.memoryHistory = s.memoryHistory.with(r.Memory, r.At)
	s.events = append(s.events, r.Events...)
	s.tellStatuses(r)
}

// endedWhy is what the owner of an entity says of its end: an engine, or the control plane of a platform of cloud sandboxes, tells of a
// sandbox and not of its session.
func endedWhy(k backend.Kind, source string) backend.Safe {
	switch {
	case k != backend.KindSandbox:
		return backend.Text("its owner says that it ended")
	case source != "" && source != "docker":
		return backend.Text("its control plane says that it is gone")
	}
	return backend.Text("its engine says that it was removed")
}

// kills counts the sandboxes that ran out of memory, as events tell.
func kills(events []backend.Event) []backend.Count {
	var out []backend.Count
	for i := range events {
		if e := &events[i]; e.Name == "oom" && e.Subject.Kind == backend.KindSandbox {
			out = append(out, backend.Count{Series: backend.Series{Source: e.Source, Name: backend.MetricLimitKills, Sandbox: e.Subject.ID}, At: e.At, N: 1})
		}
	}
	return out
}

// markStale marks an entity and what is part of it.
func (s *store) markStale(m backend.StaleMark) {
	t := s.of(m.Key.Kind)
	if t == nil {
		return
	}
	t.stale(m.Key, m.Why, s)
	for _, part := range m.Key.Kind.Spec().Parts() {
		t := s.of(part.Kind)
		for _, k := range t.partsOf(m.Key) {
			t.stale(k, m.Why, s)
		}
	}
}

func (s *store) drop(k backend.Key, why backend.Safe, at time.Time) {
	if t := s.of(k.Kind); t != nil {
		t.drop(k, why, at, s)
	}
}

// closeScopes concludes what complete scopes do not name.
func (s *store) closeScopes(r *backend.Reading) {
	for _, c := range append(slices.Clone(r.Scopes), r.Confirmed...) {
		if c.Complete && (c.Parent.IsZero() || c.Kind == backend.KindTmpdir) { // a source of scratch directories reads one host
			s.confirmed[confirmation{r.Source, c.Kind}] = r.SoAt()
		}
	}
	spared := make(map[backend.Key]bool, len(r.Stale))
	for _, m := range r.Stale {
		spared[m.Key] = true
	}
	s.blind[r.Source] = r.WorkspacesUnknown
	s.spareLost(r, spared)
	s.spareEmptied(r, spared)
	for k := range s.held {
		spared[k] = true
	}
	for _, c := range r.Scopes {
		if t := s.of(c.Kind); t != nil && c.Complete {
			t.absent(r, c, spared, s)
		}
	}
}

// dropParts ends what was part of a subject that ended in this reading.
func (s *store) dropParts(source string, at time.Time) {
	for i := 0; i < len(s.gone); i++ { // parts may have parts
		d := s.gone[i]
		if d.Key.Source != source {
			continue
		}
		spec := d.Key.Kind.Spec()
		for _, part := range spec.Parts() {
			for _, k := range s.of(part.Kind).partsOf(d.Key) {
				s.drop(k, backend.Clean("its "+spec.Name+" ended", 60), at)
			}
		}
	}
}

// build publishes the next State.
func (s *store) build(wall time.Time, mono time.Duration, health []*SourceHealth) *State {
	s.number++
	s.earlier = s.earlier.with(s.replaced, s.gone)
	touched := slices.Clone(s.changed)
	for _, d := range s.gone {
		touched = append(touched, d.Key)
	}
	touched = unique(touched)
	s.observeVersions(touched, wall)
	s.updateDay(touched, wall, health)
	st := &State{
		Number: s.number, Wall: wall, Mono: mono, LongestOperation: s.longest, Reach: s.reach, Sources: health, Earlier: s.earlier,
		Delta: Delta{Changed: unique(s.changed), Gone: s.gone, Series: s.series}, Events: s.events,
	}
	named := s.agents == nil
	for i, t := range s.kinds {
		moved := t.publish(st)
		named = named || moved && (kinds[i].kind == backend.KindSandbox || kinds[i].kind == backend.KindRef)
		if moved && kinds[i].kind == backend.KindSandbox {
			s.bySession, s.byName = indexBySession(st.Sandboxes), indexByName(st.Sandboxes)
			s.observes = observesAny(st.Sandboxes)
			s.placeIndex.touched = true
		}
	}
	if s.placeIndex.touched {
		s.elsewhere, s.registry, s.placeIndex.touched = s.placeIndex.elsewhere(s.byName), s.placeIndex.joins(st), false
	}
	st.Windows, st.Day, st.MemoryHistory, st.sandboxes = s.windows, s.day, s.memoryHistory, s.bySession
	st.byName, st.elsewhere, st.registry = s.byName, s.elsewhere, s.registry
	if named {
		s.agents = indexAgents(st)
	}
	st.agents = s.agents
	observes := s.observes
	st.observes = &observes
	st.forgotten, st.ended = s.forgotten, s.ended
	st.running, st.sharing, st.providers = s.versionTracker.counts(), s.placeIndex.publish(), s.providerCounts.publish()
	st.confirmed = make(map[confirmation]time.Time, len(s.confirmed))
	for k, v := range s.confirmed {
		st.confirmed[k] = v
	}
	s.log = s.log.with(st.Delta, s.number)
	st.history = s.log
	s.changed, s.gone, s.replaced, s.series, s.events = nil, nil, nil, nil, nil
	return st
}

func unique(keys []backend.Key) []backend.Key {
	if len(keys) < 2 {
		return keys
	}
	stable.Sort(keys, backend.Key.Compare)
	return slices.Compact(keys)
}

func indexBySession(t Table[backend.Sandbox, *backend.Sandbox]) map[backend.ID][]*backend.Sandbox {
	by := make(map[backend.ID][]*backend.Sandbox)
	for b := range t.All() {
		if !b.Session.IsZero() {
			by[b.Session] = append(by[b.Session], b)
		}
	}
	return by
}
