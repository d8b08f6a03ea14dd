package fleet

import (
	"iter"
	"reflect"
	"sort"
	"time"

	"sandglass/backend"
)

// staging is the working copy of the entities of one kind: the published table and what the readings since want to change.
type staging interface {
	// merge takes over what a reading brought of the kind.
	merge(r *backend.Reading, s *store)
	// absent concludes what a complete scope does not name.
	absent(r *backend.Reading, scope backend.Scope, spared map[backend.Key]bool, s *store)
	stale(k backend.Key, why backend.Safe, s *store)
	drop(k backend.Key, why backend.Safe, at time.Time, s *store)
	// lacks walks what a reading does not name of a scope.
	lacks(r *backend.Reading, scope backend.Scope) iter.Seq[backend.Entity]
	// leaving reports whether one complete list did not name an entity, and whether it is gone.
	leaving(k backend.Key) (missed, gone bool)
	// keep forgets that a list did not name an entity.
	keep(k backend.Key)
	// present counts a source's entities that the newest list named.
	present(source string) int
	// partsOf lists the entities that are part of a subject.
	partsOf(k backend.Key) []backend.Key
	// before is an entity as the newest State has it, after as the next State will have it; nil where it is not there.
	before(k backend.Key) backend.Entity
	after(k backend.Key) backend.Entity
	// publish puts the table into a State; it reports whether the table changed.
	publish(*State) bool
}

// stagingTable is the staging of one type of entity.
type stagingTable[T any, P interface {
	*T
	backend.Entity
}] struct {
	spec  *backend.SubjectKind
	in    func(*backend.Reading) *[]P
	of    func(*State) *Table[T, P]
	table Table[T, P]
	put   map[backend.Key]P
	gone  map[backend.Key]bool
	// missed holds entities that one complete list did not name; a second one ends them.
	missed map[backend.Key]bool
	// swapped is called with every entity that comes, changes or goes: the one before and the one after, nil where there
	// is none. It may be nil.
	swapped func(old, e P)
	// left and right are where same compares: a reading of 100,000 entities must not allocate a copy of each.
	left, right T
}

func (t *stagingTable[T, P]) get(k backend.Key) P {
	if t.gone[k] {
		return nil
	}
	if p, ok := t.put[k]; ok {
		return p
	}
	return t.table.Get(k)
}

func (t *stagingTable[T, P]) before(k backend.Key) backend.Entity { return orNil(t.table.Get(k)) }
func (t *stagingTable[T, P]) after(k backend.Key) backend.Entity  { return orNil(t.get(k)) }

// merge takes the entities that a reading brought, sorted by key. An entity that equals what is known keeps its place.
// Where the reading covers the whole kind, an equal entity does not even get a new read time, unless it has one of its own.
func (t *stagingTable[T, P]) merge(r *backend.Reading, s *store) {
	in, whole := *t.in(r), r.Whole(t.spec.Kind)
	find := t.finder(len(in))
	confirmed := s.confirmed[confirmation{r.Source, t.spec.Kind}]
	for _, e := range in {
		m := e.EntityMeta()
		own := !m.ReadAt.IsZero()
		if !own {
			m.ReadAt = r.At
		}
		if len(t.missed) > 0 {
			delete(t.missed, m.Key)
		}
		old := find(e)
		switch {
		case old != nil && (old == e || t.same(old, e)):
			if of := old.EntityMeta(); whole && !of.Stale && !(own && m.ReadAt.After(of.ReadAt)) {
				continue
			}
			t.put[m.Key] = t.adopt(e, old, old.EntityMeta().Rev, r.At, confirmed)
		default:
			next := t.adopt(e, old, s.number+1, r.At, confirmed)
			t.put[m.Key] = next
			if t.spec.Happened != nil {
				if x, ok := t.spec.Happened(next, orNil(old)); ok {
					s.events = append(s.events, x)
				}
			}
			if old != nil && t.spec.Tells {
				s.noteStatus(old, next)
			}
			delete(t.gone, m.Key)
			s.changed = append(s.changed, m.Key)
			if old != nil && t.table.Len() <= MostEarlier {
				s.replaced = append(s.replaced, EarlierReading{old, r.At})
			}
			if t.swapped != nil {
				t.swapped(old, e)
			}
		}
	}
}

// finder returns a look-up for entities that are asked for in the order of their keys: a walk along the table when
// many are asked for, a search for each when they are few.
func (t *stagingTable[T, P]) finder(n int) func(P) P {
	if len(t.put) > 0 || len(t.gone) > 0 || n*16 < t.table.Len() {
		return func(e P) P { return t.get(e.EntityMeta().Key) }
	}
	rest := t.table.rows
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

// adopt fills in what the fleet knows of an entity. An entity that was published before is copied, never changed.
// confirmed is when all of the kind was last confirmed before this reading.
func (t *stagingTable[T, P]) adopt(e, old P, rev uint64, at, confirmed time.Time) P {
	if e.EntityMeta().Rev != 0 {
		c := *e
		e = &c
		e.EntityMeta().ReadAt = at
	}
	m := e.EntityMeta()
	m.Rev, m.FirstSeen, m.History, m.Stale, m.StaleWhy = rev, at, nil, false, backend.Safe{}
	if t.spec.Carry != nil {
		t.spec.Forget(e)
		t.spec.Carry(e, orNil(old), backend.Bounds{Earliest: lastRead(old, confirmed), Latest: at})
	}
	word := e.StatusWord()
	if old != nil {
		m.FirstSeen, m.History = old.EntityMeta().FirstSeen, old.EntityMeta().History
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

// lastRead is when an entity was last read or confirmed before it took a new value. For a new entity it is when all of its
// kind was last confirmed: it was not there then.
func lastRead[T any, P interface {
	*T
	backend.Entity
}](old P, confirmed time.Time) time.Time {
	if old == nil {
		return confirmed
	}
	m := old.EntityMeta()
	if !m.Stale && confirmed.After(m.ReadAt) {
		return confirmed
	}
	return m.ReadAt
}

// same reports whether two entities say the same, apart from read times and the fleet's own fields.
func (t *stagingTable[T, P]) same(a, b P) bool {
	if a.EntityMeta().Stale {
		return false
	}
	t.left, t.right = *a, *b
	for _, e := range [...]P{&t.left, &t.right} {
		m := e.EntityMeta()
		m.ReadAt, m.Rev, m.FirstSeen, m.History, m.Stale, m.StaleWhy = time.Time{}, 0, time.Time{}, nil, false, backend.Safe{}
		if t.spec.Forget != nil {
			t.spec.Forget(e)
		}
	}
	return reflect.DeepEqual(&t.left, &t.right)
}

// stale marks an entity whose newest reading failed.
func (t *stagingTable[T, P]) stale(k backend.Key, why backend.Safe, s *store) {
	old := t.get(k)
	if old == nil || old.EntityMeta().Stale && old.EntityMeta().StaleWhy == why {
		return
	}
	c := *old
	m := P(&c).EntityMeta()
	m.Stale, m.StaleWhy, m.Rev = true, why, s.number+1
	t.put[k] = &c
	s.changed = append(s.changed, k)
}

// drop ends an entity.
func (t *stagingTable[T, P]) drop(k backend.Key, why backend.Safe, at time.Time, s *store) {
	old := t.get(k)
	if old == nil {
		return
	}
	t.gone[k] = true
	delete(t.put, k)
	delete(t.missed, k)
	s.gone = append(s.gone, Departure{Key: k, Last: old, Why: why, At: at})
	if t.swapped != nil {
		t.swapped(old, nil)
	}
}

func (t *stagingTable[T, P]) partsOf(k backend.Key) []backend.Key {
	var parts []backend.Key
	for e := range t.table.Of(t.spec.Kind, k.Source, k.ID) {
		if owner, _ := backend.Owner(e); owner == k {
			parts = append(parts, e.EntityMeta().Key)
		}
	}
	return parts
}

// absent marks what a complete scope does not name; it ends when the next complete one does not name it either. Spared
// entities were not read at all, so that their absence says nothing.
func (t *stagingTable[T, P]) absent(r *backend.Reading, scope backend.Scope, spared map[backend.Key]bool, s *store) {
	for e := range t.leftOut(r, scope) {
		k := e.EntityMeta().Key
		if t.gone[k] || spared[k] || t.ownerSpared(e, spared) {
			continue
		}
		if t.missed[k] {
			t.drop(k, backend.Text("absent from two complete lists"), r.At, s)
			s.gone[len(s.gone)-1].Absent = true
			continue
		}
		t.missed[k] = true
		t.stale(k, backend.Text("absent from the newest list"), s)
	}
}

func (t *stagingTable[T, P]) lacks(r *backend.Reading, scope backend.Scope) iter.Seq[backend.Entity] {
	return func(yield func(backend.Entity) bool) {
		for e := range t.leftOut(r, scope) {
			if !yield(e) {
				return
			}
		}
	}
}

func (t *stagingTable[T, P]) leaving(k backend.Key) (missed, gone bool) {
	return t.missed[k], t.gone[k]
}

func (t *stagingTable[T, P]) keep(k backend.Key) { delete(t.missed, k) }

func (t *stagingTable[T, P]) present(source string) int {
	all := t.table
	first := sort.Search(all.Len(), func(i int) bool { return all.At(i).EntityMeta().Key.Source >= source })
	n := sort.Search(all.Len()-first, func(i int) bool { return all.At(first+i).EntityMeta().Key.Source > source })
	for _, known := range []map[backend.Key]bool{t.gone, t.missed} {
		for k := range known {
			if k.Source == source {
				n--
			}
		}
	}
	return n
}

// leftOut walks the entities of a scope that a reading does not name.
func (t *stagingTable[T, P]) leftOut(r *backend.Reading, scope backend.Scope) iter.Seq[P] {
	return func(yield func(P) bool) {
		named := *t.in(r) // sorted by key
		rows := t.table.All()
		if !scope.Parent.IsZero() {
			rows = t.table.Of(t.spec.Kind, r.Source, scope.Parent)
			first := backend.Key{Kind: t.spec.Kind, Source: r.Source, Parent: scope.Parent}
			named = named[sort.Search(len(named), func(i int) bool { return named[i].EntityMeta().Key.Compare(first) >= 0 }):]
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
			if !yield(e) {
				return
			}
		}
	}
}

func (t *stagingTable[T, P]) ownerSpared(e P, spared map[backend.Key]bool) bool {
	if !t.spec.PartOfParent || len(spared) == 0 {
		return false
	}
	owner, _ := backend.Owner(e)
	return spared[owner]
}

// publish puts the changes into a new table.
func (t *stagingTable[T, P]) publish(st *State) bool {
	moved := len(t.put) > 0 || len(t.gone) > 0
	if moved {
		rows := make([]P, 0, len(t.put))
		for _, e := range t.put {
			rows = append(rows, e)
		}
		t.table = t.table.with(rows, t.gone)
		t.put, t.gone = emptied(t.put), emptied(t.gone)
	}
	*t.of(st) = t.table
	return moved
}

// emptied returns an empty map: m itself, unless it grew large. A cleared map keeps its memory.
func emptied[K comparable, V any](m map[K]V) map[K]V {
	if len(m) > 1024 {
		return map[K]V{}
	}
	clear(m)
	return m
}
