package subjects

import (
	"cmp"
	"iter"
	"slices"
	"sort"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// worker is an entity that is a piece of work: an execution, a job.
type worker interface {
	backend.Entity
	Queued() backend.Bounds
	Started() backend.Bounds
	Ended() backend.Bounds
}

// workSet is what lists of work show; more are columns of the kind's own, behind the command.
func workSet[R worker](kind backend.Kind, rows func(*fleet.State) iter.Seq[R], work func(R) *backend.Work, more ...Column[R]) *Set[R] {
	meta := func(r R) *backend.Meta { return r.EntityMeta() }
	id := idColumn(Column[R]{Name: string(kind), Title: strings.ToUpper(kind.Spec().Name), Help: "its id", Min: 10, Ideal: 16, Flex: 1, Priority: 0},
		theme.Normal, func(r R) backend.ID { return meta(r).Key.ID })
	columns := []Column[R]{
		id,
		{Name: "state", Title: "STATE", Help: "the platform's own word", Min: 9, Ideal: 11, Priority: 0, Descending: true,
			Cell: func(r R, _ *views.Snapshot) Cell { return workCell(work(r)) },
			Sort: func(r R, _ *views.Snapshot) SortKey {
				return SortKey{Num: workRank(work(r).Class), Text: work(r).Reported.String()}
			}},
		textColumn(Column[R]{Name: "class", Title: "CLASS", Help: "what that word means: queued, running, succeeded, failed, cancelled or unknown",
			Min: 9, Ideal: 9, Priority: 9, Where: Extra}, theme.Dim, func(r R) backend.Safe { return plain(string(work(r).Class)) }),
		textColumn(Column[R]{Name: "command", Title: "COMMAND", Help: "what runs", Min: 16, Ideal: 40, Flex: 4, Priority: 1},
			theme.Normal, func(r R) backend.Safe { return work(r).Command }),
	}
	columns = append(columns, more...)
	columns = append(columns,
		textColumn(Column[R]{Name: "error", Title: "ERROR", Help: "why the platform says that it failed", Min: 12, Ideal: 24, Flex: 2, Priority: 4},
			theme.Normal, func(r R) backend.Safe { return work(r).Error }),
		idColumn(Column[R]{Name: "sandbox", Title: "SANDBOX", Help: "the sandbox it runs in", Min: 12, Ideal: 16, Flex: 1, Priority: 3},
			theme.Normal, func(r R) backend.ID { return work(r).Sandbox }),
		idColumn(Column[R]{Name: "session", Title: "SESSION", Help: "the session it belongs to", Min: 12, Ideal: 16, Priority: 6},
			theme.Normal, func(r R) backend.ID { return work(r).Session }),
		sourceColumn(func(r R) string { return meta(r).Key.Source }, 7),
		numColumn(Column[R]{Name: "exit", Title: "EXIT", Help: "its exit code", Min: 4, Ideal: 4, Priority: 2},
			func(r R) SortKey { return sortNum(work(r).ExitCode) },
			func(r R) string { return kit.Number(work(r).ExitCode.Or(0)) },
			func(r R) bool { return work(r).ExitCode.IsNotApplicable() }),
		boundsColumn(Column[R]{Name: "queued", Title: "QUEUED", Help: "time since it was queued: ≥ 40m at least, ≤ 3h at most", Min: 5, Ideal: 6, Priority: 5},
			func(r R) (backend.Bounds, bool) { return r.Queued(), work(r).QueuedAt.IsNotApplicable() }),
		boundsColumn(Column[R]{Name: "started", Title: "STARTED", Help: "time since it began", Min: 5, Ideal: 7, Priority: 2},
			func(r R) (backend.Bounds, bool) { return r.Started(), work(r).StartedAt.IsNotApplicable() }),
		boundsColumn(Column[R]{Name: "ended", Title: "ENDED", Help: "time since it was over", Min: 5, Ideal: 6, Priority: 3},
			func(r R) (backend.Bounds, bool) { return r.Ended(), work(r).EndedAt.IsNotApplicable() }),
		readColumn(meta, 8))
	return &Set[R]{
		Kind: kind.Spec().List,
		Rows: func(s *fleet.State, _ *alerts.Board) iter.Seq[R] { return rows(s) },
		Key:  func(r R) backend.Key { return meta(r).Key },
		Text: func(r R) string {
			w := work(r)
			return meta(r).Key.Safe().String() + " " + w.Reported.String() + " " + w.Command.String() + " " + w.Error.String() + " " +
				w.Session.Safe().String() + " " + meta(r).Key.Source
		},
		Stale:       func(r R, c *views.Snapshot) bool { return c.Stale(meta(r)) },
		DefaultSort: "state",
		Columns:     columns,
	}
}

// boundsColumn shows how long ago something happened of which two bounds are known.
func boundsColumn[R any](c Column[R], get func(R) (b backend.Bounds, notApplicable bool)) Column[R] {
	key := func(r R, s *views.Snapshot) SortKey {
		b, _ := get(r)
		at := b.Latest
		if at.IsZero() {
			at = b.Earliest
		}
		return SortKey{Num: s.Now.Sub(at).Seconds(), Unknown: at.IsZero()}
	}
	c.Align, c.Sort = Right, key
	c.Measure = func(r R, s *views.Snapshot) (float64, bool) { return measured(key(r, s)) }
	c.Cell = func(r R, s *views.Snapshot) Cell {
		b, notApplicable := get(r)
		if b == (backend.Bounds{}) {
			return absent(notApplicable)
		}
		return Cell{Text: plain(span(b.Earliest, b.Latest, s.Now))}
	}
	return c
}

// workCell shows the platform's word for the state of a piece of work.
func workCell(w *backend.Work) Cell {
	c := Cell{Text: w.Reported}
	if w.Reported.IsEmpty() {
		c = Unknown()
	}
	switch w.Class {
	case backend.WorkQueued:
		c.Mark = theme.MarkIdle
	case backend.WorkRunning:
		c.Mark = theme.MarkBusy
	case backend.WorkSucceeded:
		c.Mark, c.Tone = theme.MarkGood, theme.Good
	case backend.WorkFailed:
		c.Mark, c.Tone = theme.MarkBad, theme.Bad
	case backend.WorkCancelled:
		c.Mark, c.Tone = theme.MarkIdle, theme.Dim
	case backend.WorkUnknown:
		c.Mark, c.Tone = theme.MarkUnknown, theme.Dim
	}
	return c
}

// workRank sorts what needs eyes first when descending.
func workRank(c backend.WorkClass) float64 {
	return float64(slices.Index([]backend.WorkClass{backend.WorkSucceeded, backend.WorkCancelled, backend.WorkQueued, backend.WorkRunning,
		backend.WorkUnknown, backend.WorkFailed}, c))
}

// work writes everything about a piece of work.
func (w *writer) work(e worker, x *backend.Work, kind backend.Safe) {
	m := e.EntityMeta()
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
	if x.Nudge {
		w.Field("nudge", normal("signals the driver to connect again"), dim("  success proves only that it signalled"))
	}
	w.text("error", x.Error)
	if code, ok := x.ExitCode.Get(); ok {
		w.Field("exit", normal(kit.Number(code)))
	} else if x.Class.Ended() && !x.ExitCode.IsNotApplicable() {
		w.Field("exit", dim("unknown"))
	}
	w.happened("queued", e.Queued(), x.QueuedAt)
	w.happened("started", e.Started(), x.StartedAt)
	w.happened("ended", e.Ended(), x.EndedAt)
	w.read(m)
	w.naming(m.Key)
	w.doable(m.Key)
	w.Head("Joined")
	w.parent(e)
	if owner, _ := backend.Owner(e); owner.Kind != backend.KindSession {
		w.owner(m.Key.Source, x.Session)
	} else if !x.Sandbox.IsZero() {
		w.sandboxNamed(x.Sandbox)
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

// mostParts is how many parts of one kind are listed.
const mostParts = 8

// parts lists the work that belongs to a sandbox or a session, what changed last first.
func (w *writer) parts(of backend.Key) {
	var kinds []backend.Kind
	parts := map[backend.Kind][]backend.Entity{}
	for e := range partsOf(w.f.State, of) {
		k := e.EntityMeta().Key.Kind
		if parts[k] == nil {
			kinds = append(kinds, k)
		}
		parts[k] = append(parts[k], e)
	}
	for _, k := range kinds {
		all := parts[k]
		slices.SortStableFunc(all, func(a, b backend.Entity) int { return cmp.Compare(b.EntityMeta().Rev, a.EntityMeta().Rev) })
		for i, e := range all[:min(len(all), mostParts)] {
			w.to(e.EntityMeta().Key)
			w.Field(label(i+1, k.Spec().Plural), kindOf(k).row(w, e)...)
		}
		if more := len(all) - mostParts; more > 0 {
			w.Field("", dim("and "+kit.Number(more)+" more"))
		}
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
func (w *writer) workRow(m *backend.Meta, x *backend.Work) []kit.Span {
	spans := []kit.Span{normal(m.Key.ID.Safe().String() + "  "), w.state(workCell(x)), dim("  " + x.Command.String())}
	if !x.Error.IsEmpty() {
		spans = append(spans, normal("  "+x.Error.String()))
	}
	return spans
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
