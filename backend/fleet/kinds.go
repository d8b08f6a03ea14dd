package fleet

import (
	"sort"

	"sandglass/backend"
)

// kinds is the table of the kinds that have entities: where a Reading lists them, and which Table of a State has them. A
// new kind adds its line here.
var kinds = [...]entityKind{
	newKind(backend.KindWorkspace, func(r *backend.Reading) *[]*backend.Workspace { return &r.Workspaces }, func(s *State) *Table[backend.Workspace, *backend.Workspace] { return &s.Workspaces }),
	newKind(backend.KindSession, func(r *backend.Reading) *[]*backend.Session { return &r.Sessions }, func(s *State) *Table[backend.Session, *backend.Session] { return &s.Sessions }),
	newKind(backend.KindSandbox, func(r *backend.Reading) *[]*backend.Sandbox { return &r.Sandboxes }, func(s *State) *Table[backend.Sandbox, *backend.Sandbox] { return &s.Sandboxes }),
	newKind(backend.KindExecution, func(r *backend.Reading) *[]*backend.Execution { return &r.Executions }, func(s *State) *Table[backend.Execution, *backend.Execution] { return &s.Executions }),
	newKind(backend.KindJob, func(r *backend.Reading) *[]*backend.Job { return &r.Jobs }, func(s *State) *Table[backend.Job, *backend.Job] { return &s.Jobs }),
	newKind(backend.KindTmpdir, func(r *backend.Reading) *[]*backend.Tmpdir { return &r.Tmpdirs }, func(s *State) *Table[backend.Tmpdir, *backend.Tmpdir] { return &s.Tmpdirs }),
	newKind(backend.KindHost, func(r *backend.Reading) *[]*backend.Host { return &r.Hosts }, func(s *State) *Table[backend.Host, *backend.Host] { return &s.Hosts }),
	newKind(backend.KindRef, func(r *backend.Reading) *[]*backend.Ref { return &r.Refs }, func(s *State) *Table[backend.Ref, *backend.Ref] { return &s.Refs }),
}

// entityKind is one line of the table.
type entityKind struct {
	kind    backend.Kind
	rows    func(*State) Rows
	sort    func(*backend.Reading)
	add     func(*backend.Reading, backend.Entity)
	put     func(*State, []backend.Entity) // those of its kind
	staging func() staging
}

func newKind[T any, P interface {
	*T
	backend.Entity
}](kind backend.Kind, in func(*backend.Reading) *[]P, of func(*State) *Table[T, P]) entityKind {
	return entityKind{
		kind: kind,
		rows: func(s *State) Rows { return of(s) },
		sort: func(r *backend.Reading) { *in(r) = sortRows(*in(r)) },
		add:  func(r *backend.Reading, e backend.Entity) { *in(r) = append(*in(r), e.(P)) },
		put: func(s *State, all []backend.Entity) {
			var rows []P
			for _, e := range all {
				if row, ours := e.(P); ours {
					rows = append(rows, row)
				}
			}
			*of(s) = of(s).with(rows, nil)
		},
		staging: func() staging {
			return &stagingTable[T, P]{spec: kind.Spec(), in: in, of: of, put: map[backend.Key]P{}, gone: map[backend.Key]bool{}, missed: map[backend.Key]bool{}}
		},
	}
}

// Rows is a Table of any kind.
type Rows interface {
	Len() int
	// Entity returns the i-th entity in key order.
	Entity(i int) backend.Entity
	// Find returns the entity with that key, nil when there is none.
	Find(k backend.Key) backend.Entity
}

// CountOf is how many entities of a kind are known of a source.
func (s *State) CountOf(kind backend.Kind, source string) int {
	rows := s.Rows(kind)
	from := func(behind bool) int {
		return sort.Search(rows.Len(), func(i int) bool {
			x := rows.Entity(i).EntityMeta().Key.Source
			return x > source || !behind && x == source
		})
	}
	return from(true) - from(false)
}

// Rows returns the entities of a kind. A kind that has none, such as a source, has an empty Table.
func (s *State) Rows(kind backend.Kind) Rows {
	for i := range kinds {
		if kinds[i].kind == kind {
			return kinds[i].rows(s)
		}
	}
	return &Table[backend.Session, *backend.Session]{}
}

// Entity looks up any entity, nil when there is none.
func (s *State) Entity(k backend.Key) backend.Entity { return s.Rows(k.Kind).Find(k) }

// Including is a State that shows more entities: such as left, or cannot be read now, as they were read last.
func (s *State) Including(all ...backend.Entity) *State {
	if len(all) == 0 {
		return s
	}
	c := *s
	for i := range kinds {
		kinds[i].put(&c, all)
	}
	return &c
}

// Add puts an entity into a reading's list of its kind.
func Add(r *backend.Reading, e backend.Entity) {
	for i := range kinds {
		if kinds[i].kind == e.EntityMeta().Key.Kind {
			kinds[i].add(r, e)
		}
	}
}

// sortReading brings every list of a reading into the order of the tables. It runs where the reading was made, so
// that the one goroutine that builds States need not.
func sortReading(r *backend.Reading) {
	for i := range kinds {
		kinds[i].sort(r)
	}
}
