package subjects

import (
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/kit"
)

// Jobs are commands that run in the background of sandboxes and sessions.
func Jobs() *Set[backend.Worker] { return workSet("jobs", backend.KindJob) }

type jobKind struct{ base }

func (jobKind) name(k backend.Key, _ *views.Snapshot) backend.Safe { return k.ID.Safe() }

func (jobKind) listing() Listing { return Jobs().Listing() }

func (jobKind) details(w *writer, k backend.Key) bool {
	return write(w, w.f.State.Jobs.Get(k), func(x *backend.Job) { w.work(x, backend.Safe{}) })
}

func (jobKind) row(w *writer, e backend.Entity) []kit.Span {
	return w.workRow(e.(backend.Worker))
}

func (jobKind) related(k backend.Key, s *views.Snapshot, add func(backend.Key)) {
	relatedWork(k, s, add)
}

func (jobKind) remark(e backend.Entity) (what string, text backend.Safe) {
	return "the error of", e.(*backend.Job).Error
}
