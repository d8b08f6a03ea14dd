package subjects

import (
	"cmp"
	"iter"
	"slices"
	"sort"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/internal/stable"
	"sandglass/views"
	"sandglass/views/kit"
)

// work writes everything about a piece of work.
func (w *writer) work(e backend.Worker, kind backend.Safe) {
	m, x := e.EntityMeta(), e.AsWork()
	meaning := "  no class is known for it"
	switch {
	case x.Reported.String() == string(x.Class):
		meaning = ""
	case x.Class != backend.WorkUnknown && x.Class != "":
		meaning = "  that is: " + string(x.Class)
	}
	w.cell("state", workCell(x), dim(meaning))
	w.text("type", kind)
	w.text("command", x.Command)
	switch {
	case x.Nudge:
		w.Field("origin", normal("nudge: signals the driver to connect again"), dim("  success proves only that it signalled"))
	case x.Driver:
		w.Field("origin", normal("driver: leads the session for the Hub"), dim("  that it is reported running proves nothing"))
	}
	w.text("error", x.Error)
	if code, ok := x.ExitCode.Get(); ok {
		w.Field("exit", normal(kit.Number(code)))
	} else if x.Class.Ended() && !x.ExitCode.IsNotApplicable() {
		w.Field("exit", dim("unknown"))
	}
	w.happened("queued", x.Queued(), x.QueuedAt)
	w.happened("started", x.Started(), x.StartedAt)
	w.happened("ended", x.Ended(), x.EndedAt)
	w.read(m)
	w.doable(w.urgent(m.Key, nil))
	w.Head("Joined")
	w.parent(e)
	if owner, _ := backend.Owner(e); owner.Kind != backend.KindSession {
		w.owner(m.Key.Source, x.Session)
	} else if !x.Sandbox.IsZero() {
		w.sandboxNamed(x.Sandbox)
	}
	if k, owned := backend.Owner(e); owned {
		w.worksOf("Beside it, what waits first", m.Key, k)
	}
	w.history(m)
	w.extra("Other fields", x.Extra)
	w.raw(m)
}

// happened says when something happened: the platform's own time, or between which readings.
func (w *writer) happened(label string, b backend.Bounds, at backend.Value[time.Time]) {
	if b == (backend.Bounds{}) {
		w.at(label, at, "not yet")
		return
	}
	w.Field(label, normal(ago(b.Earliest, b.Latest, w.f.Now)))
}

// parent leads to what a subject is part of.
func (w *writer) parent(e backend.Entity) {
	k, ok := backend.Owner(e)
	if !ok {
		return
	}
	x := w.f.State.Entity(k)
	if x == nil {
		w.Field(noun(k.Kind), normal(k.Safe().String()), dim("  no source lists it"))
		return
	}
	w.to(k)
	w.Field(noun(k.Kind), kindOf(k.Kind).row(w, x)...)
}

// workIn lists the executions and jobs of a sandbox, or of a session and its sandboxes: what waits first.
func (w *writer) workIn(of ...backend.Key) {
	w.worksOf("Executions and jobs, what waits first", backend.Key{}, of...)
}

// worksOf lists executions and jobs under a head, but for one.
func (w *writer) worksOf(head string, but backend.Key, of ...backend.Key) {
	type piece struct {
		worker backend.Worker
		order  float64
	}
	var all []piece
	for _, k := range of {
		for e := range partsOf(w.f.State, k) {
			if x, ok := e.(backend.Worker); ok && e.EntityMeta().Key != but {
				all = append(all, piece{x, workOrder(x.AsWork()).Num})
			}
		}
	}
	if len(all) == 0 {
		return
	}
	stable.Sort(all, func(a, b piece) int { return cmp.Compare(b.order, a.order) })
	w.Head(head)
	for _, x := range all[:min(len(all), mostJoined)] {
		w.to(x.worker.EntityMeta().Key)
		w.Field(string(x.worker.EntityMeta().Key.Kind), w.workRow(x.worker)...)
	}
	if more := len(all) - mostJoined; more > 0 {
		w.Field("", dim("and "+kit.Number(more)+" more"))
	}
}

// partsOf walks what belongs to a sandbox or a session and to nothing smaller: the entities of the kinds that a sandbox can
// have.
func partsOf(st *fleet.State, of backend.Key) iter.Seq[backend.Entity] {
	return func(yield func(backend.Entity) bool) {
		for _, spec := range backend.SubjectKinds() {
			if !slices.Contains(spec.Parents, backend.KindSandbox) {
				continue
			}
			rows := st.Rows(spec.Kind)
			first := backend.Key{Kind: spec.Kind, Source: of.Source, Parent: of.ID}
			for i := sort.Search(rows.Len(), func(i int) bool { return rows.Entity(i).EntityMeta().Key.Compare(first) >= 0 }); i < rows.Len(); i++ {
				e := rows.Entity(i)
				if k := e.EntityMeta().Key; k.Source != of.Source || k.Parent != of.ID {
					break
				}
				if owner, ok := backend.Owner(e); ok && owner == of && !yield(e) {
					return
				}
			}
		}
	}
}

// workRow is one line about a piece of work.
func (w *writer) workRow(e backend.Worker) []kit.Span {
	x := e.AsWork()
	spans := []kit.Span{w.state(workCell(x))}
	if b, _ := sinceOf(x); b != (backend.Bounds{}) {
		spans = append(spans, normal("  "+span(b.Earliest, b.Latest, w.f.Now)))
	}
	if code, known := x.ExitCode.Get(); known {
		spans = append(spans, normal("  exit "+kit.Number(code)))
	}
	if x.Nudge || x.Driver {
		spans = append(spans, normal("  "+originOf(e).String()))
	}
	spans = append(spans, dim("  "+x.Command.String()))
	if !x.Error.IsEmpty() {
		spans = append(spans, normal("  "+x.Error.String()))
	}
	return append(spans, dim("  "+e.EntityMeta().Key.ID.Safe().String()))
}

// relatedWork adds what a piece of work is part of, and what belongs to that.
func relatedWork(k backend.Key, s *views.Snapshot, add func(backend.Key)) {
	if e := s.State.Entity(k); e != nil {
		if owner, ok := backend.Owner(e); ok {
			add(owner)
			kindOf(owner.Kind).related(owner, s, add)
		}
	}
}
