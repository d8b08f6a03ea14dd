package subjects

import (
	"iter"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// Executions are what sandboxes and sessions carry out on request.
func Executions() *Set[*backend.Execution] {
	type row = *backend.Execution
	return workSet(backend.KindExecution, func(s *fleet.State) iter.Seq[row] { return s.Executions.All() },
		func(x row) *backend.Work { return &x.Work },
		textColumn(Column[row]{Name: "type", Title: "TYPE", Help: "what is requested, in the platform's word", Min: 5, Ideal: 11, Priority: 5},
			theme.Normal, func(x row) backend.Safe { return x.Type }))
}

type executionKind struct{ base }

func (executionKind) listing() Listing { return Executions().Listing() }

func (executionKind) details(w *writer, k backend.Key) bool {
	return write(w, w.f.State.Executions.Get(k), func(x *backend.Execution) { w.work(x, &x.Work, x.Type) })
}

func (executionKind) row(w *writer, e backend.Entity) []kit.Span {
	x := e.(*backend.Execution)
	return w.workRow(&x.Meta, &x.Work)
}

func (executionKind) related(k backend.Key, s *views.Snapshot, add func(backend.Key)) {
	relatedWork(k, s, add)
}

func (executionKind) remark(e backend.Entity) (what string, text backend.Safe) {
	return "the error of", e.(*backend.Execution).Error
}
