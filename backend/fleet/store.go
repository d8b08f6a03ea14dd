package fleet

import (
	"cmp"
	"slices"
	"time"

	"sandglass/backend"
)

// store merges readings into States. It belongs to one goroutine.
type store struct {
	longest time.Duration
	number  uint64

	sessions   *shelf[backend.Session, *backend.Session]
	workspaces *shelf[backend.Workspace, *backend.Workspace]
	sandboxes  *shelf[backend.Sandbox, *backend.Sandbox]
	tmpdirs    *shelf[backend.Tmpdir, *backend.Tmpdir]
	hosts      *shelf[backend.Host, *backend.Host]
	refs       *shelf[backend.Ref, *backend.Ref]
	windows    Windows
	confirmed  map[confirmation]time.Time
	log        *changeLog
	bySession  map[backend.ID][]*backend.Sandbox
	versions   *versions
	naming     *naming
	providers  *providers
	diary      *diary
	day        Day
	memories   Memories

	changed []backend.Key
	gone    []Departure
	series  []backend.Series
	events  []backend.Event
}

// confirmation is one kind of entity of one source.
type confirmation struct {
	source string
	kind   backend.Kind
}

func newStore(longest time.Duration) *store {
	s := &store{
		longest:    longest,
		sessions:   newShelf[backend.Session](backend.KindSession),
		workspaces: newShelf[backend.Workspace](backend.KindWorkspace),
		sandboxes:  newShelf[backend.Sandbox](backend.KindSandbox),
		tmpdirs:    newShelf[backend.Tmpdir](backend.KindTmpdir),
		hosts:      newShelf[backend.Host](backend.KindHost),
		refs:       newShelf[backend.Ref](backend.KindRef),
		confirmed:  map[confirmation]time.Time{},
		versions:   newVersions(),
		naming:     newNaming(),
		providers:  newProviders(),
		diary:      newDiary(),
	}
	s.workspaces.lost, s.workspaces.worked = lostSuccess, s.worked
	s.workspaces.swapped = func(old, w *backend.Workspace) {
		s.naming.saw(cmp.Or(w, old).Key, placesOfWorkspace(old), placesOfWorkspace(w))
		s.providers.saw(old, w)
	}
	s.refs.swapped = func(old, r *backend.Ref) {
		s.naming.saw(cmp.Or(r, old).Key, placesOfRef(old), placesOfRef(r))
	}
	return s
}

// clockWobble is how far a corrected time may move between two readings though nothing happened.
const clockWobble = time.Minute

// lostSuccess is the success that a workspace had when it was read before and does not know any more, zero when it knows
// it or a later one. A time that cannot be read is not lost.
func lostSuccess(w, old *backend.Workspace) time.Time {
	before, had := old.LastSuccessAt.Get()
	now, has := w.LastSuccessAt.Get()
	if had && (w.LastSuccessAt.IsNotApplicable() || has && before.Sub(now) > clockWobble) {
		return before
	}
	return time.Time{}
}

// apply merges one reading into the next State.
func (s *store) apply(r *backend.Reading) {
	n := s.number + 1
	whole := func(k backend.Kind) bool {
		return slices.ContainsFunc(r.Scopes, func(c backend.Scope) bool {
			return c.Kind == k && c.Complete && c.Parent.IsZero()
		})
	}
	s.sessions.merge(r.Sessions, n, r.At, whole(backend.KindSession), &s.changed)
	s.workspaces.merge(r.Workspaces, n, r.At, whole(backend.KindWorkspace), &s.changed)
	s.sandboxes.merge(r.Sandboxes, n, r.At, whole(backend.KindSandbox), &s.changed)
	s.tmpdirs.merge(r.Tmpdirs, n, r.At, whole(backend.KindTmpdir), &s.changed)
	s.hosts.merge(r.Hosts, n, r.At, whole(backend.KindHost), &s.changed)
	s.refs.merge(r.Refs, n, r.At, whole(backend.KindRef), &s.changed)
	for _, m := range r.Stale {
		s.markStale(m, n)
	}
	for _, k := range r.Ended {
		s.drop(k, backend.Text("its owner says that it ended"), r.At)
	}
	s.closeScopes(r, n)
	s.dropOrphans(r)
	if len(r.Counts) > 0 {
		var changed []backend.Series
		s.windows, changed = s.windows.with(r.Counts, r.At.Add(-WindowSpan))
		s.series = append(s.series, changed...)
		s.diary.counted(r.Counts, r.At)
	}
	s.memories = s.memories.with(r.Memory, r.At)
	s.events = append(s.events, r.Events...)
}

func (s *store) markStale(m backend.StaleMark, n uint64) {
	switch m.Key.Kind {
	case backend.KindSession:
		s.sessions.stale(m.Key, m.Why, n, &s.changed)
		for w := range s.workspaces.table.Of(backend.KindWorkspace, m.Key.Source, m.Key.ID) {
			s.workspaces.stale(w.Key, m.Why, n, &s.changed)
		}
	case backend.KindWorkspace:
		s.workspaces.stale(m.Key, m.Why, n, &s.changed)
	case backend.KindSandbox:
		s.sandboxes.stale(m.Key, m.Why, n, &s.changed)
	case backend.KindTmpdir:
		s.tmpdirs.stale(m.Key, m.Why, n, &s.changed)
	case backend.KindHost:
		s.hosts.stale(m.Key, m.Why, n, &s.changed)
	case backend.KindRef:
		s.refs.stale(m.Key, m.Why, n, &s.changed)
	case backend.KindExecution, backend.KindJob, backend.KindSource:
	}
}

func (s *store) drop(k backend.Key, why backend.Safe, at time.Time) {
	switch k.Kind {
	case backend.KindSession:
		s.sessions.drop(k, why, at, &s.gone)
	case backend.KindWorkspace:
		s.workspaces.drop(k, why, at, &s.gone)
	case backend.KindSandbox:
		s.sandboxes.drop(k, why, at, &s.gone)
	case backend.KindTmpdir:
		s.tmpdirs.drop(k, why, at, &s.gone)
	case backend.KindHost:
		s.hosts.drop(k, why, at, &s.gone)
	case backend.KindRef:
		s.refs.drop(k, why, at, &s.gone)
	case backend.KindExecution, backend.KindJob, backend.KindSource:
	}
}

// closeScopes concludes what complete scopes do not name.
func (s *store) closeScopes(r *backend.Reading, n uint64) {
	for _, c := range append(slices.Clone(r.Scopes), r.Confirmed...) {
		if c.Complete && c.Parent.IsZero() {
			s.confirmed[confirmation{r.Source, c.Kind}] = r.At
		}
	}
	spared := make(map[backend.Key]bool, len(r.Stale))
	for _, m := range r.Stale {
		spared[m.Key] = true
	}
	for _, c := range r.Scopes {
		if !c.Complete {
			continue
		}
		switch c.Kind {
		case backend.KindSession:
			s.sessions.absent(r, c, r.Sessions, spared, n, &s.changed, &s.gone)
		case backend.KindWorkspace:
			s.workspaces.absent(r, c, r.Workspaces, spared, n, &s.changed, &s.gone)
		case backend.KindSandbox:
			s.sandboxes.absent(r, c, r.Sandboxes, spared, n, &s.changed, &s.gone)
		case backend.KindTmpdir:
			s.tmpdirs.absent(r, c, r.Tmpdirs, spared, n, &s.changed, &s.gone)
		case backend.KindHost:
			s.hosts.absent(r, c, r.Hosts, spared, n, &s.changed, &s.gone)
		case backend.KindRef:
			s.refs.absent(r, c, r.Refs, spared, n, &s.changed, &s.gone)
		case backend.KindExecution, backend.KindJob, backend.KindSource:
		}
	}
}

// sortReading brings every list of a reading into the order of the tables. It runs where the reading was made, so
// that the one goroutine that builds States need not.
func sortReading(r *backend.Reading) {
	r.Sessions = sortRows[backend.Session](r.Sessions)
	r.Workspaces = sortRows[backend.Workspace](r.Workspaces)
	r.Sandboxes = sortRows[backend.Sandbox](r.Sandboxes)
	r.Tmpdirs = sortRows[backend.Tmpdir](r.Tmpdirs)
	r.Hosts = sortRows[backend.Host](r.Hosts)
	r.Refs = sortRows[backend.Ref](r.Refs)
}

// dropOrphans ends the workspaces of sessions that ended in this reading: what owned them is no more.
func (s *store) dropOrphans(r *backend.Reading) {
	for _, d := range slices.Clone(s.gone) {
		if d.Key.Kind != backend.KindSession || d.Key.Source != r.Source {
			continue
		}
		for w := range s.workspaces.table.Of(backend.KindWorkspace, d.Key.Source, d.Key.ID) {
			s.drop(w.Key, backend.Text("its session ended"), r.At)
		}
	}
}

// build publishes the next State.
func (s *store) build(wall time.Time, mono time.Duration, health []*SourceHealth) *State {
	s.number++
	s.observeVersions(wall)
	s.writeDay(wall, health)
	st := &State{
		Number: s.number, Wall: wall, Mono: mono, LongestOperation: s.longest, Sources: health,
		Delta: Delta{Changed: unique(s.changed), Gone: s.gone, Series: s.series}, Events: s.events,
	}
	st.Sessions, _ = s.sessions.publish()
	st.Workspaces, _ = s.workspaces.publish()
	var moved bool
	if st.Sandboxes, moved = s.sandboxes.publish(); moved {
		s.bySession = indexBySession(st.Sandboxes)
	}
	st.Tmpdirs, _ = s.tmpdirs.publish()
	st.Hosts, _ = s.hosts.publish()
	st.Refs, _ = s.refs.publish()
	st.Windows, st.Day, st.Memories, st.sandboxes = s.windows, s.day, s.memories, s.bySession
	st.running, st.sharing, st.providers = s.versions.counts(), s.naming.publish(), s.providers.publish()
	st.confirmed = make(map[confirmation]time.Time, len(s.confirmed))
	for k, v := range s.confirmed {
		st.confirmed[k] = v
	}
	s.log = s.log.with(st.Delta, s.number)
	st.history = s.log
	s.changed, s.gone, s.series, s.events = nil, nil, nil, nil
	return st
}

func unique(keys []backend.Key) []backend.Key {
	if len(keys) < 2 {
		return keys
	}
	slices.SortFunc(keys, backend.Key.Compare)
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
