package subjects

import (
	"iter"
	"slices"
	"strings"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// Work is what sandboxes and sessions carry out: executions and jobs in one table, what waits first.
func Work() *Set[backend.Worker] { return workSet("work", backend.WorkKinds()...) }

// workSet is what lists of work show.
func workSet(list string, kinds ...backend.Kind) *Set[backend.Worker] {
	return &Set[backend.Worker]{
		Kind:   list,
		Rows:   func(s *fleet.State, _ *alerts.Board) iter.Seq[backend.Worker] { return workOf(s, kinds) },
		Key:    func(r backend.Worker) backend.Key { return r.EntityMeta().Key },
		ByName: func(a, b backend.Worker) int { return comparePaths(a.EntityMeta().Key, b.EntityMeta().Key) },
		Text: func(r backend.Worker) string {
			w, k := r.AsWork(), r.EntityMeta().Key
			return k.Safe().String() + " " + string(k.Kind) + " " + w.Reported.String() + " " + w.Command.String() + " " + w.Error.String() + " " +
				w.Sandbox.Safe().String() + " " + w.Session.Safe().String() + " " + k.Source
		},
		Named:       func(r backend.Worker, c *views.Snapshot) string { return sandboxOf(r, c).String() },
		Labels:      workLabels,
		Stale:       func(r backend.Worker, c *views.Snapshot) bool { return c.Stale(r.EntityMeta()) },
		DefaultSort: "state",
		Columns:     workColumns(kinds),
	}
}

func workOf(s *fleet.State, kinds []backend.Kind) iter.Seq[backend.Worker] {
	return func(yield func(backend.Worker) bool) {
		for _, k := range kinds {
			rows := s.Rows(k)
			for i := range rows.Len() {
				if !yield(rows.Entity(i).(backend.Worker)) {
					return
				}
			}
		}
	}
}

// workColumns are the columns of a list of work. That of one kind begins with the id.
func workColumns(kinds []backend.Kind) []Column[backend.Worker] {
	type row = backend.Worker
	id := idColumn(Column[row]{Name: "id", Title: "ID", Help: "its id", Min: 10, Ideal: 16, Flex: 1, Priority: 10, Where: Extra},
		theme.Normal, func(r row) backend.ID { return r.EntityMeta().Key.ID })
	kind := Column[row]{Name: "kind", Title: "KIND", Help: "execution, or job: runs in the background", Min: 4, Ideal: 9, Priority: 3,
		Cell: func(r row, _ *views.Snapshot) Cell { return kindOfWork(r) },
		Sort: func(r row, _ *views.Snapshot) SortKey { return sortText(string(r.EntityMeta().Key.Kind)) }}
	first, last := []Column[row]{}, []Column[row]{kind, id}
	if len(kinds) == 1 {
		id.Name, id.Title, id.Priority, id.Where = string(kinds[0]), strings.ToUpper(kinds[0].Spec().Name), 0, Everywhere
		first, last = []Column[row]{id}, nil
	}
	text := func(c Column[row], get func(*backend.Work) backend.Safe) Column[row] {
		return textColumn(c, theme.Normal, func(r row) backend.Safe { return get(r.AsWork()) })
	}
	return slices.Concat(first, []Column[row]{
		{Name: "sandbox", Title: "SANDBOX", Help: "the sandbox it runs in, by name where it has one", Min: 12, Ideal: 20, Flex: 1, Priority: 1, IDs: true,
			Cell: func(r row, c *views.Snapshot) Cell { return shown(sandboxOf(r, c)) },
			Sort: func(r row, c *views.Snapshot) SortKey { return sortText(sandboxOf(r, c).String()) }},
		{Name: "state", Title: "STATE", Help: "the platform's own word; in this order what waits comes first, the longest wait at the top, then what runs, then what failed",
			Min: 9, Ideal: 11, Priority: 0, Descending: true,
			Cell: func(r row, _ *views.Snapshot) Cell { return workCell(r.AsWork()) },
			Sort: func(r row, _ *views.Snapshot) SortKey { return workOrder(r.AsWork()) }},
		text(Column[row]{Name: "class", Title: "CLASS", Help: "what that word means: queued, running, succeeded, failed, cancelled or unknown",
			Min: 9, Ideal: 9, Priority: 9, Where: Extra}, func(w *backend.Work) backend.Safe { return plain(string(w.Class)) }),
		narrow(boundsColumn(Column[row]{Name: "since", Title: "SINCE", Help: "time in this state: ≥ 4m at least", Min: 5, Ideal: 6, Priority: 1}, sinceOf)),
		wide(boundsColumn(Column[row]{Name: "queued", Title: "QUEUED", Help: "how long it has waited to begin: ≥ 4m at least; where the platform dates it, time since it was queued",
			Min: 5, Ideal: 6, Priority: 2}, queuedOf)),
		wide(boundsColumn(Column[row]{Name: "started", Title: "STARTED", Help: "time since it began", Min: 5, Ideal: 7, Priority: 2},
			func(w *backend.Work) (backend.Bounds, bool) { return w.Started(), w.StartedAt.IsNotApplicable() })),
		wide(boundsColumn(Column[row]{Name: "ended", Title: "ENDED", Help: "time since it was over", Min: 5, Ideal: 6, Priority: 3},
			func(w *backend.Work) (backend.Bounds, bool) { return w.Ended(), w.EndedAt.IsNotApplicable() })),
		numColumn(Column[row]{Name: "exit", Title: "EXIT", Help: "its exit code", Min: 4, Ideal: 4, Priority: 2},
			func(r row) SortKey { return sortNum(r.AsWork().ExitCode) },
			func(r row) string { return kit.Number(r.AsWork().ExitCode.Or(0)) },
			func(r row) bool { return r.AsWork().ExitCode.IsNotApplicable() }),
		text(Column[row]{Name: "command", Title: "COMMAND", Help: "what runs", Min: 16, Ideal: 40, Flex: 4, Priority: 1},
			func(w *backend.Work) backend.Safe { return w.Command }),
		textColumn(Column[row]{Name: "origin", Title: "ORIGIN", Help: "nudge: signals a Hub's driver; driver: is that driver; else the platform's type of what is no command, such as write_files",
			Min: 6, Ideal: 7, Priority: 4, Needed: anyOrigin}, theme.Normal, originOf),
		textColumn(Column[row]{Name: "type", Title: "TYPE", Help: "what is requested, in the platform's word", Min: 5, Ideal: 11, Priority: 9, Where: Extra},
			theme.Normal, typeOf),
		text(Column[row]{Name: "error", Title: "ERROR", Help: "why the platform says that it failed", Min: 12, Ideal: 24, Flex: 2, Priority: 5},
			func(w *backend.Work) backend.Safe { return w.Error }),
		idColumn(Column[row]{Name: "session", Title: "SESSION", Help: "the session it belongs to", Min: 14, Ideal: 21, Priority: 4},
			theme.Normal, func(r row) backend.ID { return r.AsWork().Session }),
		idColumn(Column[row]{Name: "sandbox-id", Title: "SANDBOX ID", Help: "the whole id of that sandbox", Min: 12, Ideal: 16, Priority: 11, Where: Extra},
			theme.Normal, func(r row) backend.ID { return r.AsWork().Sandbox }),
		sourceColumn(func(r row) string { return r.EntityMeta().Key.Source }, 7),
	}, last, []Column[row]{readColumn(func(r row) *backend.Meta { return r.EntityMeta() }, 8)})
}

// shortKind is how much of a kind is shown where there is little room: exec.
const shortKind = 4

// kindOfWork is the kind of a piece of work, in a short form where there is little room.
func kindOfWork(r backend.Worker) Cell {
	k := r.EntityMeta().Key.Kind
	c := Cell{Text: plain(string(k))}
	if len(k) > shortKind {
		c.Short = plain(string(k[:shortKind]))
	}
	return c
}

func shown(s backend.Safe) Cell { return text(s, theme.Normal) }

// sandboxOf is the name of the sandbox that a piece of work runs in, or its id.
func sandboxOf(r backend.Worker, c *views.Snapshot) backend.Safe {
	if b := boxOfWork(r, c); b != nil {
		return sandboxName(b)
	}
	return r.AsWork().Sandbox.Safe()
}

// boxOfWork is the sandbox that a piece of work runs in; nil: it names none that is listed.
func boxOfWork(r backend.Worker, c *views.Snapshot) *backend.Sandbox {
	id := r.AsWork().Sandbox
	if id.IsZero() {
		return nil
	}
	if b := c.State.Sandbox(backend.Key{Kind: backend.KindSandbox, Source: r.EntityMeta().Key.Source, ID: id}); b != nil {
		return b
	}
	return c.State.SandboxNamed(id, backend.Safe{})
}

// originOf is what a piece of work is besides a command, as the command and the platform's type tell.
func originOf(r backend.Worker) backend.Safe {
	w := r.AsWork()
	switch kind := typeOf(r); {
	case w.Nudge:
		return backend.Text("nudge")
	case w.Driver:
		return backend.Text("driver")
	case kind.String() != "exec":
		return kind
	}
	return backend.Safe{}
}

// anyOrigin reports whether something that is carried out is more than a command.
func anyOrigin(c *views.Snapshot) bool {
	for r := range workOf(c.State, backend.WorkKinds()) {
		if !originOf(r).IsEmpty() {
			return true
		}
	}
	return false
}

// queuedOf is since when work waits. Once it began, only a time that the platform gave is worth telling.
func queuedOf(w *backend.Work) (backend.Bounds, bool) {
	if w.Class != backend.WorkQueued && w.Class != backend.WorkUnknown && !w.QueuedAt.IsKnown() {
		return backend.Bounds{}, true
	}
	return w.Queued(), w.QueuedAt.IsNotApplicable()
}

// sinceOf is since when work is in its state.
func sinceOf(w *backend.Work) (backend.Bounds, bool) {
	switch {
	case w.Class.Ended():
		return w.Ended(), false
	case w.Class == backend.WorkRunning:
		return w.Started(), false
	}
	return w.Queued(), false
}

// boundsColumn shows how long ago something happened of which two bounds are known.
//
//go:noinline
func boundsColumn(c Column[backend.Worker], get func(*backend.Work) (b backend.Bounds, notApplicable bool)) Column[backend.Worker] {
	key := func(r backend.Worker, s *views.Snapshot) SortKey {
		b, _ := get(r.AsWork())
		at := b.Latest
		if at.IsZero() {
			at = b.Earliest
		}
		return SortKey{Num: s.Now.Sub(at).Seconds(), Unknown: at.IsZero()}
	}
	c.Align, c.Sort = Right, key
	c.Measure = func(r backend.Worker, s *views.Snapshot) (float64, bool) { return measured(key(r, s)) }
	c.Cell = func(r backend.Worker, s *views.Snapshot) Cell {
		b, notApplicable := get(r.AsWork())
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

// workOrder sorts what needs eyes first when descending: what waits, the longest wait first; what runs; what failed, and
// what is over, the newest first.
func workOrder(w *backend.Work) SortKey {
	const rank = 1e11 // more than any time in seconds
	n := rank * float64(slices.Index([]backend.WorkClass{backend.WorkSucceeded, backend.WorkCancelled, backend.WorkFailed, backend.WorkRunning,
		backend.WorkUnknown, backend.WorkQueued}, w.Class))
	b, _ := sinceOf(w)
	at := b.Latest
	if at.IsZero() {
		at = b.Earliest
	}
	switch {
	case at.IsZero():
	case w.Class.Ended():
		n += float64(at.Unix())
	default:
		n -= float64(at.Unix())
	}
	return SortKey{Num: n, Text: w.Reported.String()}
}
