package subjects

import (
	"iter"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/kit"
)

// Jobs are commands that run in the background of sandboxes and sessions.
func Jobs() *Set[*backend.Job] {
	return workSet(backend.KindJob, func(s *fleet.State) iter.Seq[*backend.Job] { return s.Jobs.All() },
		func(x *backend.Job) *backend.Work { return &x.Work })
}

type jobKind struct{ base }

func (jobKind) listing() Listing { return Jobs().Listing() }

func (jobKind) details(w *writer, k backend.Key) bool {
	return write(w, w.f.State.Jobs.Get(k), func(x *backend.Job) { w.work(x, &x.Work, backend.Safe{}) })
}

func (jobKind) row(w *writer, e backend.Entity) []kit.Span {
	x := e.(*backend.Job)
	return w.workRow(&x.Meta, &x.Work)
}

func (jobKind) related(k backend.Key, s *views.Snapshot, add func(backend.Key)) {
	relatedWork(k, s, add)
}

func (jobKind) remark(e backend.Entity) (what string, text backend.Safe) {
	return "the error of", e.(*backend.Job).Error
}
