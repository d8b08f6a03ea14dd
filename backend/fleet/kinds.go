package fleet

import "sandglass/backend"

// Rows is a Table of any kind.
type Rows interface {
	Len() int
	// Entity returns the i-th entity in key order.
	Entity(i int) backend.Entity
	// Find returns the entity with that key, nil when there is none.
	Find(k backend.Key) backend.Entity
}

// tables says where a State keeps the entities of each kind. A new kind adds its line here.
var tables = [...]struct {
	kind backend.Kind
	of   func(*State) Rows
}{
	{backend.KindWorkspace, func(s *State) Rows { return &s.Workspaces }},
	{backend.KindSession, func(s *State) Rows { return &s.Sessions }},
	{backend.KindSandbox, func(s *State) Rows { return &s.Sandboxes }},
	{backend.KindExecution, func(s *State) Rows { return &s.Executions }},
	{backend.KindJob, func(s *State) Rows { return &s.Jobs }},
	{backend.KindTmpdir, func(s *State) Rows { return &s.Tmpdirs }},
	{backend.KindHost, func(s *State) Rows { return &s.Hosts }},
	{backend.KindRef, func(s *State) Rows { return &s.Refs }},
}

// Rows returns the entities of a kind. A kind that has none, such as a source, has an empty Table.
func (s *State) Rows(kind backend.Kind) Rows {
	for i := range tables {
		if tables[i].kind == kind {
			return tables[i].of(s)
		}
	}
	return &Table[backend.Session, *backend.Session]{}
}

// Entity looks up any entity, nil when there is none.
func (s *State) Entity(k backend.Key) backend.Entity { return s.Rows(k.Kind).Find(k) }
