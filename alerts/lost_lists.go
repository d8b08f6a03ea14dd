package alerts

import (
	"slices"
	"sort"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/internal/stable"
)

const (
	// lostWithin is how long ago a former process must have read a list at most for its loss to be one "at once".
	lostWithin = 15 * time.Minute
	// lostFor is how long a list that lost its entities between two processes stays suspect.
	lostFor = 24 * time.Hour
	// listedNames bounds the names that are kept of a list; those of a longer one are not asked for one by one.
	listedNames = 1000
)

// listMemory is what is kept of a source's list for the next process: a list that lost half or more between two runs is suspect
// as one that does so before our eyes.
type listMemory struct {
	Kind    backend.Kind `json:"kind,omitempty"`   // of what is listed; empty: sessions
	Engine  string       `json:"engine,omitempty"` // the container engine that it was read from
	Running int          `json:"running"`          // entities that may have run
	At      time.Time    `json:"at"`               // steady
	Lost    int          `json:"lost,omitempty"`
	// Names are those that may have run; of a list that lost them, those of which nothing says what became of them.
	Names []backend.ID `json:"names,omitempty"`
	Cut   bool         `json:"cut,omitempty"` // Names are not all
	// Left are sessions of Names that left a whole list within the last minutes; nothing says that they ended.
	Left []leftList `json:"left,omitempty"`
	// Full are sessions whose registry must not be empty while they run: it named several workspaces, or one in trouble.
	Full    []backend.ID `json:"full,omitempty"`
	Emptied []backend.ID `json:"emptied,omitempty"` // of Full: those whose registry is empty
	Since   time.Time    `json:"since,omitzero"`    // steady, when the first of Emptied was found
}

// leftList is a session that a list names no more.
type leftList struct {
	ID backend.ID `json:"id"`
	At time.Time  `json:"at"` // steady, when that was found
}

func (l *listMemory) kind() backend.Kind {
	if l.Kind == "" {
		return backend.KindSession
	}
	return l.Kind
}

// whole reports whether all that ran is known by name.
func (l *listMemory) whole() bool { return !l.Cut && len(l.Names) > 0 }

// missing counts what ran and is neither listed nor known to have ended, and keeps the names of these.
func (l *listMemory) missing(st *fleet.State, source string) int {
	if !l.whole() {
		first, end := spanOf(st.Rows(l.kind()), source)
		return l.Running - (end - first)
	}
	var left []backend.ID
	renamed, strange := l.renamed(st, source)
	for _, id := range l.Names {
		if k := (backend.Key{Kind: l.kind(), Source: source, ID: id}); st.Entity(k) == nil && !st.SaidToHaveEnded(k) && !renamed[id] {
			left = append(left, id)
		}
	}
	left = left[min(strange, len(left)):]
	if len(left) < len(l.Names) {
		l.Names = left
	}
	return len(left)
}

// renamed are the containers that are listed by the id of their sandbox now, since something joins the two; strange counts those that
// came without one, and may be any of the others: nothing joins them any more.
func (l *listMemory) renamed(st *fleet.State, source string) (by map[backend.ID]bool, strange int) {
	if l.kind() != backend.KindSandbox {
		return nil, 0
	}
	by = map[backend.ID]bool{}
	for b := range st.Sandboxes.All() {
		if b.Key.Source != source || !b.OfWorker() {
			continue
		}
		if !b.Container.IsZero() && b.Container != b.Key.ID {
			by[b.Container] = true
		}
		if b.Unattributed && !slices.Contains(l.Names, b.Key.ID) {
			strange++
		}
	}
	return by, strange
}

// listKinds are the kinds of which a list is remembered, and which of them matter.
var listKinds = [...]struct {
	kind  backend.Kind
	alive func(backend.Entity) bool
}{
	{backend.KindSession, func(e backend.Entity) bool { return e.(*backend.Session).MayRun() }},
	{backend.KindSandbox, func(e backend.Entity) bool { return e.(*backend.Sandbox).Class == backend.SandboxRunning }},
}

// lists compares the list of each source with what the process before read of it, and remembers it.
func (ev *evaluation) lists() {
	ev.next.lists, ev.next.ownLists = make(map[string]listMemory, len(ev.st.Sources)), make(map[string]bool, len(ev.st.Sources))
	ev.env.lists = ev.next.lists
	for _, h := range ev.st.Sources {
		ev.list(h)
	}
}

func (ev *evaluation) list(h *fleet.SourceHealth) {
	id := h.Key.Source
	was, known := ev.old.lists[id]
	if _, other := otherEngine(ev.st, id, was.Engine); other {
		was, known = listMemory{}, false // the list of one engine says nothing about that of another
	}
	own := ev.old.ownLists[id] && ev.old.resume == nil
	i := slices.IndexFunc(listKinds[:], func(l struct {
		kind  backend.Kind
		alive func(backend.Entity) bool
	}) bool {
		return !ev.st.LastCompleteList(id, l.kind).IsZero()
	})
	if i < 0 || h.Status == fleet.StatusDown {
		if known {
			ev.next.lists[id], ev.next.ownLists[id] = was, own
		}
		return
	}
	ev.next.ownLists[id] = true
	age := ev.env.Now.Sub(was.At)
	if known && (!own || was.Lost > 0) && was.kind() == listKinds[i].kind && age < lostFor {
		ran := len(was.Names)
		if !was.whole() {
			ran = was.Running
		}
		l := was
		switch lost := l.missing(ev.st, id); {
		case was.Lost > 0 && was.whole() && lost > 0, was.Lost > 0 && !was.whole() && backend.LostAtOnce(was.Running, lost),
			!own && was.Lost == 0 && age < lostWithin && backend.LostAtOnce(ran, lost):
			ev.moved[id] = ev.moved[id] || was.Lost != lost
			l.Lost = lost
			ev.next.lists[id] = l
			return
		}
		ev.moved[id] = ev.moved[id] || was.Lost > 0
	}
	if known && (!own || was.Lost > 0) && was.kind() == backend.KindSession && was.kind() == listKinds[i].kind {
		ev.ended = append(ev.ended, ev.endedBetween(&was, id)...)
	}
	if known && own && was.Lost == 0 && len(ev.changed[listKinds[i].kind]) == 0 && len(ev.gone) == 0 && !ev.all {
		was.At = ev.env.Now
		if was.Kind == backend.KindSession && (len(was.Emptied) > 0 || len(ev.changed[backend.KindWorkspace]) > 0) {
			ev.registries(&was, id)
		}
		ev.next.lists[id] = was
		return
	}
	l := listMemory{Kind: listKinds[i].kind, Engine: engineOf(ev.st, id), At: ev.env.Now, Full: was.Full, Emptied: was.Emptied, Since: was.Since}
	rows := ev.st.Rows(l.Kind)
	for i, end := spanOf(rows, id); i < end; i++ {
		if e := rows.Entity(i); listKindOf(l.Kind, e) {
			if l.Running++; len(l.Names) < listedNames {
				l.Names = append(l.Names, e.EntityMeta().Key.ID)
			} else {
				l.Cut = true
			}
		}
	}
	if l.Kind == backend.KindSession {
		ev.registries(&l, id)
		l.Left = ev.leftLists(&was, id, !own || len(ev.gone) > 0)
	}
	ev.next.lists[id] = l
}

// leftLists are the sessions that left a list within the last minutes, so that one which shrinks from run to run is suspect too.
func (ev *evaluation) leftLists(was *listMemory, source string, more bool) []leftList {
	unknown := func(id backend.ID) bool {
		k := backend.Key{Kind: backend.KindSession, Source: source, ID: id}
		return ev.st.Session(k) == nil && !ev.st.SaidToHaveEnded(k)
	}
	left := slices.DeleteFunc(slices.Clone(was.Left), func(l leftList) bool {
		return ev.env.Now.Sub(l.At) >= lostWithin || !unknown(l.ID)
	})
	if !more || !was.whole() || ev.env.Now.Sub(was.At) >= lostWithin {
		return left
	}
	for _, id := range was.Names {
		if len(left) < listedNames && unknown(id) && !slices.ContainsFunc(left, func(l leftList) bool { return l.ID == id }) {
			left = append(left, leftList{id, ev.env.Now})
		}
	}
	return left
}

// registries finds the sessions whose registry a former process found full, and that go on with an empty one.
func (ev *evaluation) registries(l *listMemory, source string) {
	before := l.Full
	l.Full, l.Emptied = nil, nil
	ws := ev.st.Workspaces
	at, _ := spanOf(&ws, source)
	for _, id := range l.Names { // both are sorted by session
		for at < ws.Len() && ws.At(at).Key.Source == source && ws.At(at).Key.Parent.Compare(id) < 0 {
			at++
		}
		n, troubled := 0, false
		for ; at < ws.Len() && ws.At(at).Key.Source == source && ws.At(at).Key.Parent == id; at++ {
			w := ws.At(at)
			n++
			troubled = troubled || w.Class == backend.ClassFailed || w.Class == backend.ClassEvicted || !w.LastError.IsEmpty()
		}
		if n > 1 || troubled {
			l.Full = append(l.Full, id)
		}
	}
	if !l.Since.IsZero() && ev.env.Now.Sub(l.Since) > lostFor {
		before = nil
	}
	for _, id := range before {
		k := backend.Key{Kind: backend.KindSession, Source: source, ID: id}
		if s := ev.st.Session(k); s == nil || !s.MayRun() || s.Answer == backend.AnswerIdle {
			continue // it ended, or its list lost it
		}
		if ev.withoutWorkspaces(k) {
			l.Emptied = append(l.Emptied, id)
		}
		if _, full := slices.BinarySearchFunc(l.Full, id, backend.ID.Compare); !full && ev.noWorkspaces(k) {
			l.Full = append(l.Full, id)
		}
	}
	stable.Sort(l.Full, backend.ID.Compare)
	switch {
	case len(l.Emptied) == 0:
		l.Since = time.Time{}
	case l.Since.IsZero():
		l.Since = ev.env.Now
	}
}

func (ev *evaluation) noWorkspaces(session backend.Key) bool {
	for range ev.st.Workspaces.Of(backend.KindWorkspace, session.Source, session.ID) {
		return false
	}
	return true
}

// withoutWorkspaces reports whether the registry of a session was read and is empty.
func (ev *evaluation) withoutWorkspaces(session backend.Key) bool {
	s := ev.st.Session(session)
	read := s.Answer == backend.AnswerOK || s.Answer == backend.AnswerNone && !ev.st.LastCompleteList(session.Source, backend.KindWorkspace).IsZero()
	return read && ev.noWorkspaces(session)
}

// EmptiedSince lists the sessions of a source whose registry a former run found full and that go on with an empty one.
func (e *Env) EmptiedSince(source string) (sessions []backend.ID, since time.Time) {
	l := e.lists[source]
	return l.Emptied, l.Since
}

func listKindOf(kind backend.Kind, e backend.Entity) bool {
	for _, l := range listKinds {
		if l.kind == kind {
			return l.alive(e)
		}
	}
	return false
}

// spanOf finds the entities of a source, which are neighbours.
func spanOf(rows fleet.Rows, source string) (first, end int) {
	first = sort.Search(rows.Len(), func(i int) bool { return rows.Entity(i).EntityMeta().Key.Source >= source })
	return first, first + sort.Search(rows.Len()-first, func(i int) bool { return rows.Entity(first+i).EntityMeta().Key.Source > source })
}

// LostSince reports how much a source's list lost since the last run, of how much, when that is suspiciously much.
func (e *Env) LostSince(source string) (lost, of int, is bool) {
	l := e.lists[source]
	return l.Lost, l.Running, l.Lost > 0
}

// ListKind is the kind of what a source lists.
func (e *Env) ListKind(source string) backend.Kind {
	l := e.lists[source]
	return l.kind()
}

// lostFromList is why nothing is known of a subject, or of its session: its list lost it between two runs.
func (re *ruleEvaluation) lostFromList(k backend.Key) (backend.Safe, bool) {
	lost, of, is := re.env.LostSince(k.Source)
	l := re.env.lists[k.Source]
	if k.Kind == backend.KindWorkspace {
		k = backend.Key{Kind: backend.KindSession, Source: k.Source, ID: k.Parent}
	}
	if !is || k.Kind != l.kind() || re.st.Entity(k) != nil || l.whole() && !slices.Contains(l.Names, k.ID) {
		return backend.Safe{}, false
	}
	return backend.Textf("the list of %s lost %d of %d %s since the last run: whether it ended is not known", backend.Clean(k.Source, 80), lost, of, backend.Clean(k.Kind.Spec().Plural, 40)), true
}

// emptyRegistry is why nothing is known of a workspace of which a former process read trouble: the registry of its session
// names none any more, and the session goes on.
func (re *ruleEvaluation) emptyRegistry(r *record) (backend.Safe, bool) {
	k := r.Key
	if k.Kind != backend.KindWorkspace || r.State != StateFiring && r.State != StateHeld && r.State != StatePending || re.evaluation.old.resume == nil && !re.evaluation.old.unread {
		return backend.Safe{}, false
	}
	owner := backend.Key{Kind: backend.KindSession, Source: k.Source, ID: k.Parent}
	s := re.st.Session(owner)
	if s == nil || !s.MayRun() || s.Answer == backend.AnswerIdle || !re.withoutWorkspaces(owner) || !r.Confirmed.IsZero() && re.env.Now.Sub(r.Confirmed) > lostFor {
		return backend.Safe{}, false
	}
	return backend.Text("the registry of its session is empty since the last run while the session runs: whether it ended is not known"), true
}

// Expected are what former processes found on the lists, which may have lost them since: sources ask for these by name.
func (b *Board) expected() []backend.Key {
	if b == nil || b.memory == nil || b.memory.resume == nil {
		return nil
	}
	var out []backend.Key
	for source, l := range b.memory.lists {
		age := b.memory.resume.steady.Sub(l.At)
		if l.whole() && (age < lostWithin || l.Lost > 0 && age < lostFor) {
			for _, id := range l.Names {
				out = append(out, backend.Key{Kind: l.kind(), Source: source, ID: id})
			}
		}
		for _, x := range l.Left {
			if b.memory.resume.steady.Sub(x.At) < lostWithin {
				out = append(out, backend.Key{Kind: l.kind(), Source: source, ID: x.ID})
			}
		}
	}
	stable.Sort(out, backend.Key.Compare)
	return out
}
