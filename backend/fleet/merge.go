package fleet

import (
	"reflect"
	"time"

	"sandglass/backend"
)

// shelf is the working copy of one kind of entity: the published table and what the readings since want to change.
type shelf[T any, P interface {
	*T
	backend.Entity
}] struct {
	kind  backend.Kind
	table Table[T, P]
	put   map[backend.Key]P
	gone  map[backend.Key]bool
	// missed holds entities that one complete list did not name; a second one ends them.
	missed map[backend.Key]bool
	// lost finds what an entity forgot since it was read before; nil: nothing.
	lost func(e, old P) time.Time
	// worked is when an entity was last read without a failure, asked of the one that another replaces; nil: nobody knows.
	worked func(old P) time.Time
	// swapped is told of every entity that comes, changes or goes: the one before and the one after, nil when there is none;
	// nil: nobody wants to know.
	swapped func(old, e P)
}

func newShelf[T any, P interface {
	*T
	backend.Entity
}](kind backend.Kind) *shelf[T, P] {
	return &shelf[T, P]{kind: kind, put: map[backend.Key]P{}, gone: map[backend.Key]bool{}, missed: map[backend.Key]bool{}}
}

func (s *shelf[T, P]) get(k backend.Key) P {
	if s.gone[k] {
		return nil
	}
	if p, ok := s.put[k]; ok {
		return p
	}
	return s.table.Get(k)
}

// merge takes the entities that a reading brought, sorted by key. An entity that equals what is known keeps its
// place; whole says that the reading confirms everything of its kind at once, so that an equal one need not even carry
// a new read time.
func (s *shelf[T, P]) merge(in []P, number uint64, at time.Time, whole bool, changed *[]backend.Key) {
	find := s.finder(len(in))
	for _, e := range in {
		m := e.EntityMeta()
		if m.ReadAt.IsZero() {
			m.ReadAt = at
		}
		if len(s.missed) > 0 {
			delete(s.missed, m.Key)
		}
		old := find(e)
		switch {
		case old != nil && (old == e || same(old, e)):
			if whole && !old.EntityMeta().Stale {
				continue
			}
			s.put[m.Key] = s.adopt(e, old, old.EntityMeta().Rev, at)
		default:
			s.put[m.Key] = s.adopt(e, old, number, at)
			delete(s.gone, m.Key)
			*changed = append(*changed, m.Key)
			if s.swapped != nil {
				s.swapped(old, e)
			}
		}
	}
}

// finder returns a look-up for entities that are asked for in the order of their keys: a walk along the table when
// many are asked for, a search for each when they are few.
func (s *shelf[T, P]) finder(n int) func(P) P {
	if len(s.put) > 0 || len(s.gone) > 0 || n*16 < s.table.Len() {
		return func(e P) P { return s.get(e.EntityMeta().Key) }
	}
	rest := s.table.rows
	return func(e P) P {
		for len(rest) > 0 {
			if rest[0] == e { // the adapter gave what it gave before
				rest = rest[1:]
				return e
			}
			c := rest[0].EntityMeta().Key.Compare(e.EntityMeta().Key)
			if c == 0 {
				return rest[0]
			}
			if c > 0 {
				return nil
			}
			rest = rest[1:]
		}
		return nil
	}
}

// adopt fills in what the fleet knows of an entity. An entity that was published before is copied, never touched.
func (s *shelf[T, P]) adopt(e, old P, rev uint64, at time.Time) P {
	if e.EntityMeta().Rev != 0 {
		c := *e
		e = &c
		e.EntityMeta().ReadAt = at
	}
	m := e.EntityMeta()
	m.Rev, m.FirstSeen, m.History, m.LostSuccess, m.WorkedAt, m.Stale, m.StaleWhy = rev, at, nil, time.Time{}, time.Time{}, false, backend.Safe{}
	word := e.StatusWord()
	if old != nil {
		o := old.EntityMeta()
		m.FirstSeen, m.History, m.LostSuccess = o.FirstSeen, o.History, o.LostSuccess
		if s.lost != nil {
			if at := s.lost(e, old); !at.IsZero() {
				m.LostSuccess = at
			}
		}
		if s.worked != nil {
			m.WorkedAt = s.worked(old)
		}
		if word == old.StatusWord() {
			return e
		}
	}
	if !word.IsEmpty() {
		h := m.History
		if len(h) >= backend.MaxHistory {
			h = h[len(h)-backend.MaxHistory+1:]
		}
		m.History = append(append(make([]backend.StatusChange, 0, len(h)+1), h...), backend.StatusChange{Status: word, At: at})
	}
	return e
}

// same reports whether two entities say the same, read times and the fleet's own fields aside.
func same[T any, P interface {
	*T
	backend.Entity
}](a, b P) bool {
	x, y := *a, *b
	p, q := P(&x).EntityMeta(), P(&y).EntityMeta()
	if p.Stale {
		return false
	}
	blank(p)
	blank(q)
	return reflect.DeepEqual(x, y)
}

func blank(m *backend.Meta) {
	m.ReadAt, m.Rev, m.FirstSeen, m.History, m.LostSuccess, m.WorkedAt, m.Stale, m.StaleWhy = time.Time{}, 0, time.Time{}, nil, time.Time{}, time.Time{}, false, backend.Safe{}
}

// stale marks an entity whose newest reading failed.
func (s *shelf[T, P]) stale(k backend.Key, why backend.Safe, number uint64, changed *[]backend.Key) {
	old := s.get(k)
	if old == nil || old.EntityMeta().Stale && old.EntityMeta().StaleWhy == why {
		return
	}
	c := *old
	m := P(&c).EntityMeta()
	m.Stale, m.StaleWhy, m.Rev = true, why, number
	s.put[k] = &c
	*changed = append(*changed, k)
}

// drop ends an entity.
func (s *shelf[T, P]) drop(k backend.Key, why backend.Safe, at time.Time, gone *[]Departure) {
	old := s.get(k)
	if old == nil {
		return
	}
	s.gone[k] = true
	delete(s.put, k)
	delete(s.missed, k)
	*gone = append(*gone, Departure{Key: k, Last: old, Why: why, At: at})
	if s.swapped != nil {
		s.swapped(old, nil)
	}
}

// absent handles a complete scope: what it does not name is marked, and ends when the next complete one does not name
// it either. named is sorted by key; spared entities were not read at all, so that their absence says nothing.
func (s *shelf[T, P]) absent(r *backend.Reading, scope backend.Scope, named []P, spared map[backend.Key]bool,
	number uint64, changed *[]backend.Key, gone *[]Departure) {
	rows := s.table.All()
	if !scope.Parent.IsZero() {
		rows = s.table.Of(s.kind, r.Source, scope.Parent)
	}
	for e := range rows {
		if len(named) > 0 && named[0] == e {
			named = named[1:]
			continue
		}
		k := e.EntityMeta().Key
		if k.Source != r.Source {
			continue
		}
		for len(named) > 0 && named[0].EntityMeta().Key.Compare(k) < 0 {
			named = named[1:]
		}
		if len(named) > 0 && named[0].EntityMeta().Key == k {
			named = named[1:]
			continue
		}
		if s.gone[k] || spared[k] || spared[owner(k)] {
			continue
		}
		if s.missed[k] {
			s.drop(k, backend.Text("absent from two complete lists"), r.At, gone)
			continue
		}
		s.missed[k] = true
		s.stale(k, backend.Text("absent from the newest list"), number, changed)
	}
}

// owner is the key of the session that owns a workspace, the zero key for everything else.
func owner(k backend.Key) backend.Key {
	if k.Kind != backend.KindWorkspace {
		return backend.Key{}
	}
	return backend.Key{Kind: backend.KindSession, Source: k.Source, ID: k.Parent}
}

// publish puts the changes into a new table.
func (s *shelf[T, P]) publish() (Table[T, P], bool) {
	if len(s.put) == 0 && len(s.gone) == 0 {
		return s.table, false
	}
	rows := make([]P, 0, len(s.put))
	for _, e := range s.put {
		rows = append(rows, e)
	}
	s.table = s.table.with(rows, s.gone)
	clear(s.put)
	clear(s.gone)
	return s.table, true
}
