package fleet

import (
	"maps"
	"slices"
	"sort"
	"time"

	"sandglass/backend"
)

// heldFor is how long sessions stay that a suspect list left out, when nothing says what became of them.
const heldFor = 24 * time.Hour

// namedHeld is how many of the held sessions a source's health names.
const namedHeld = 5

// heldSession is a session that a suspect list left out: whether it ended is not known.
type heldSession struct {
	since   time.Time
	machine bool // a sandbox of it ran then
}

// HeldSessions are the sessions that vanished from a source's list when it lost half or more at once.
type HeldSessions struct {
	Count int
	Lost  int       // how many the list lost, of how many
	Of    int       // sessions that it had named before
	Since time.Time // of the first such list
	Named []backend.Safe
}

// sourceHolding is what is known of the list of one source that lost sessions at once.
type sourceHolding struct {
	lost, of int
	since    time.Time
}

// spareLost looks at the sessions that a complete list leaves out. If they are suspiciously many, all are held.
func (s *store) spareLost(r *backend.Reading, spared map[backend.Key]bool) {
	t := s.sessions
	var lost []backend.Key
	alive, fresh := false, 0
	for x := range t.leftOut(r, backend.Scope{Kind: backend.KindSession}) {
		k := x.Key
		if _, held := s.held[k]; held || t.gone[k] || spared[k] {
			continue
		}
		lost = append(lost, k)
		if !t.missed[k] { // the list before named it
			fresh++
			alive = alive || x.MayRun()
		}
	}
	if !alive {
		return
	}
	before := sessionsOf(t.table, r.Source)
	for _, k := range r.Ended { // the same list lost them, and their own word was heard at once
		if k.Kind == backend.KindSession && t.gone[k] {
			before++
			fresh++
		}
	}
	for _, known := range []map[backend.Key]bool{t.gone, t.missed} {
		for k := range known {
			if k.Source == r.Source {
				before--
			}
		}
	}
	for k := range s.held {
		if k.Source == r.Source {
			before--
		}
	}
	if !backend.LostAtOnce(before, fresh) {
		return
	}
	h := s.holding[r.Source]
	if h.since.IsZero() {
		h.since = r.At
	}
	h.lost, h.of = h.lost+len(lost), h.of+before
	s.holding[r.Source] = h
	why := backend.Textf("its list lost %d of %d sessions at once: whether it ended is not known", fresh, before)
	for _, k := range lost {
		delete(t.missed, k)
		s.held[k] = heldSession{r.At, s.runs(k.ID)}
		s.markStale(backend.StaleMark{Key: k, Why: why})
	}
}

// sessionsOf is the number of sessions of a source, which are neighbours.
func sessionsOf(t Table[backend.Session, *backend.Session], source string) int {
	first := sort.Search(t.Len(), func(i int) bool { return t.At(i).Key.Source >= source })
	return sort.Search(t.Len()-first, func(i int) bool { return t.At(first+i).Key.Source > source })
}

// runs reports whether a sandbox of a session runs.
func (s *store) runs(session backend.ID) bool {
	return slices.ContainsFunc(s.bySession[session], func(b *backend.Sandbox) bool { return b.Class == backend.SandboxRunning })
}

// release ends held sessions of which another source says that they ended: it lists the session as over, or their sandboxes
// are gone. It forgets those that nothing was heard of for a day.
func (s *store) release(now time.Time) {
	if len(s.held) == 0 {
		return
	}
	for _, k := range slices.SortedFunc(maps.Keys(s.held), backend.Key.Compare) {
		h := s.held[k]
		switch {
		case s.elsewhereOver(k):
			s.drop(k, backend.Text("another source says that it ended"), now)
		case h.machine && !s.runs(k.ID):
			s.drop(k, backend.Text("its sandboxes ended after its list left it out"), now)
		case now.Sub(h.since) > heldFor:
			s.drop(k, backend.Text("nothing was heard of it for a day"), now)
			s.forget(k)
		default:
			continue
		}
		s.dropParts(k.Source, now)
	}
	for source := range s.holding {
		if s.heldOf(source) == nil {
			delete(s.holding, source)
		}
	}
}

// maxForgotten bounds the sessions of which is remembered that their end was never heard of.
const maxForgotten = 10_000

func (s *store) forget(k backend.Key) {
	if len(s.forgotten) < maxForgotten {
		s.forgotten = maps.Clone(s.forgotten) // States hold the one before
		if s.forgotten == nil {
			s.forgotten = map[backend.Key]bool{}
		}
		s.forgotten[k] = true
	}
}

// Forgotten reports whether a session left the State though nothing ever said that it ended.
func (s *State) Forgotten(k backend.Key) bool { return s.forgotten[k] && s.Session(k) == nil }

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

// heldOf sums up the held sessions of a source, nil without any.
func (s *store) heldOf(source string) *HeldSessions {
	var keys []backend.Key
	for k := range s.held {
		if k.Source == source {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	slices.SortFunc(keys, backend.Key.Compare)
	h := s.holding[source]
	out := &HeldSessions{Count: len(keys), Lost: h.lost, Of: h.of, Since: h.since}
	for _, k := range keys[:min(len(keys), namedHeld)] {
		out.Named = append(out.Named, k.ID.Safe())
	}
	return out
}
