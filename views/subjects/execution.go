package subjects

import (
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/kit"
)

// Executions are what sandboxes and sessions carry out on request.
func Executions() *Set[backend.Worker] { return workSet("executions", backend.KindExecution) }

type executionKind struct{ base }

func (executionKind) name(k backend.Key, _ *views.Snapshot) backend.Safe { return k.ID.Safe() }

func (executionKind) listing() Listing { return Executions().Listing() }

func (executionKind) details(w *writer, k backend.Key) bool {
	return write(w, w.f.State.Executions.Get(k), func(x *backend.Execution) { w.work(x, x.Type) })
}

func (executionKind) row(w *writer, e backend.Entity) []kit.Span {
	return w.workRow(e.(backend.Worker))
}

func (executionKind) related(k backend.Key, s *views.Snapshot, add func(backend.Key)) {
	relatedWork(k, s, add)
}

func (executionKind) remark(e backend.Entity) (what string, text backend.Safe) {
	return "the error of", e.(*backend.Execution).Error
}

// typeOf is the platform's word for what an execution requests; empty for a job.
func typeOf(r backend.Worker) backend.Safe {
	if x, ok := r.(*backend.Execution); ok {
		return x.Type
	}
	return backend.Safe{}
}
