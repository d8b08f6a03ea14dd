package subjects

import (
	"cmp"
	"iter"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// Sessions are agent runs.
func Sessions() *Set[*backend.Session] {
	type row = *backend.Session
	return &Set[row]{
		Kind:   "sessions",
		Rows:   func(s *fleet.State, _ *alerts.Board) iter.Seq[row] { return s.Sessions.All() },
		Key:    func(s row) backend.Key { return s.Key },
		ByName: func(a, b row) int { return comparePaths(a.Key, b.Key) },
		Text: func(s row) string {
			return s.Key.Safe().String() + " " + s.Status.String() + " " + s.Tenant.String() + " " + sessionProblem(s).String() + " " +
				hubOf(s).Label.String() + " " + s.Key.Source
		},
		Named:       func(s row, c *views.Snapshot) string { return sandboxesIn(s, c.State).String() },
		Labels:      sessionLabels,
		Stale:       func(s row, c *views.Snapshot) bool { return c.Stale(&s.Meta) },
		DefaultSort: "alert",
		Columns: []Column[row]{
			idColumn(Column[row]{Name: "session", Title: "SESSION", Help: "its id", Min: 14, Ideal: 24, Flex: 1, Priority: 0},
				theme.Normal, func(s row) backend.ID { return s.Key.ID }),
			{Name: "running", Title: "RUNNING", Help: "whether a run loop is active now", Min: 9, Ideal: 9, Priority: 6, Descending: true,
				Needed: toldApart,
				Cell:   func(s row, _ *views.Snapshot) Cell { return RunningCell(s) },
				Sort: func(s row, _ *views.Snapshot) SortKey {
					r, ok := s.Running.Get()
					k := SortKey{Unknown: !ok}
					if r {
						k.Num = 1
					}
					return k
				}},
			{Name: "status", Title: "STATUS", Help: "the list route's own word", Min: 10, Ideal: 14, Priority: 1,
				Cell: func(s row, _ *views.Snapshot) Cell { return sessionStatus(s) },
				Sort: func(s row, _ *views.Snapshot) SortKey { return sortText(s.Status.String()) }},
			{Name: "driver", Title: "DRIVER", Help: "of a Hub's session: since when a driver leads it, or for how long at least none did", Min: 9, Ideal: 14, Priority: 2, Descending: true,
				Needed: ofHub,
				Cell:   func(s row, c *views.Snapshot) Cell { return driverCell(s.Hub, c.Now) },
				Sort:   func(s row, c *views.Snapshot) SortKey { return driverOrder(s.Hub, c.Now) }},
			{Name: "sandbox", Title: "SANDBOX", Help: "its sandbox by name, or how many it has", Min: 12, Ideal: 20, Flex: 1, Priority: 4, IDs: true,
				Cell: func(s row, c *views.Snapshot) Cell { return shown(sandboxesIn(s, c.State)) },
				Sort: func(s row, c *views.Snapshot) SortKey { return sortText(sandboxesIn(s, c.State).String()) }},
			countColumn(Column[row]{Name: "workspaces", Title: "WORKSPACES", Brief: "WS", Help: "how many workspaces its registry lists", Min: 3, Ideal: 10, Priority: 5,
				Needed: func(c *views.Snapshot) bool { return c.State.Workspaces.Len() > 0 }}, workspacesIn),
			countColumn(Column[row]{Name: "work", Title: "WORK", Help: "its executions and jobs that wait or run", Min: 4, Ideal: 4, Priority: 6,
				Needed: func(c *views.Snapshot) bool { return c.State.Executions.Len()+c.State.Jobs.Len() > 0 }}, workOfSession),
			sessionAlerts(2),
			textColumn(Column[row]{Name: "answer", Title: "ANSWER", Help: "what its health route last answered", Min: 8, Ideal: 10, Priority: 7},
				theme.Normal, func(s row) backend.Safe { return plain(string(s.Answer)) }),
			{Name: "problem", Title: "PROBLEM", Help: "what is wrong with that answer, the last error that its Hub keeps, or else the cause of its worst alert", Min: 10, Ideal: 22, Flex: 2, Priority: 5, Needed: anyProblem, Wanted: errorWidth,
				Cell: problemCell,
				Sort: func(s row, c *views.Snapshot) SortKey { return sortText(problemCell(s, c).Text.String()) }},
			textColumn(Column[row]{Name: "label", Title: "LABEL", Help: "what its Hub calls it", Min: 10, Ideal: 20, Flex: 1, Priority: 8, Where: WideOnly},
				theme.Normal, func(s row) backend.Safe { return hubOf(s).Label }),
			numColumn(Column[row]{Name: "participants", Title: "PARTICIPANTS", Brief: "PART", Help: "connections to a Hub's session, its driver included", Min: 4, Ideal: 12, Priority: 9, Where: WideOnly},
				func(s row) SortKey {
					return SortKey{Num: float64(len(hubOf(s).Participants)), Unknown: hubOf(s).DriverAt.IsZero()}
				},
				func(s row) string { return kit.Number(len(s.Hub.Participants)) },
				func(s row) bool { return s.Hub == nil }),
			textColumn(Column[row]{Name: "tenant", Title: "TENANT", Help: "whose run it is", Min: 8, Ideal: 12, Priority: 6},
				theme.Normal, func(s row) backend.Safe { return s.Tenant }),
			textColumn(Column[row]{Name: "version", Title: "VERSION", Help: "the framework's version, and the SDK's where it is known", Min: 7, Ideal: 9, Priority: 7, Where: WideOnly},
				theme.Dim, func(s row) backend.Safe { return s.Versions() }),
			sourceColumn(func(s row) string { return s.Key.Source }, 7),
			ageColumn(Column[row]{Name: "age", Title: "AGE", Help: "time since it started", Min: 4, Ideal: 5, Priority: 3},
				func(s row) backend.Value[time.Time] { return s.StartedAt }),
			readColumn(func(s row) *backend.Meta { return &s.Meta }, 8),
		},
	}
}

// RunningCell is how it is shown whether a session runs.
func RunningCell(s *backend.Session) Cell {
	running, ok := s.Running.Get()
	switch {
	case !ok:
		return Cell{Text: backend.Text("unknown"), Tone: theme.Dim, Mark: theme.MarkUnknown}
	case running:
		return Cell{Text: backend.Text("running"), Tone: theme.Good, Mark: theme.MarkGood}
	}
	return Cell{Text: backend.Text("idle"), Tone: theme.Dim, Mark: theme.MarkIdle}
}

func (w *writer) session(s *backend.Session) {
	w.cell("running", RunningCell(s))
	w.text("status", s.Status)
	switch {
	case runsWithout(s):
		w.Field("health route", normal("404: it has no registry"))
	case s.Answer != backend.AnswerNone:
		w.Field("health route", normal(string(s.Answer)))
	}
	w.text("problem", s.AnswerText)
	w.tell(s.AnswerText)
	w.at("started", s.StartedAt, "")
	w.read(&s.Meta)
	w.doable(w.urgent(s.Key, func() {
		w.hub(s.Hub)
		w.text("tenant", s.Tenant)
		w.text("runtime", s.Runtime)
		w.running("version", s.Versions(), &s.Meta)
		w.text("branched from", s.BranchedFrom.Safe())
		w.text("workspace refs", backend.Join(s.WorkspaceRefs, ", "))
	}))
	w.Head("Joined")
	n := 0
	for x := range w.f.State.Workspaces.Of(backend.KindWorkspace, s.Key.Source, s.Key.ID) {
		if n++; n <= mostJoined {
			w.to(x.Key)
			w.Field(label(n, "workspace"), normal(x.Key.ID.Safe().String()+"  "),
				w.state(WorksCell(x, w.f.Snapshot)), dim("  "+x.LastError.String()))
		}
	}
	if n > mostJoined {
		w.Field("", dim("and "+kit.Number(n-mostJoined)+" more"))
	}
	work := []backend.Key{s.Key}
	if id := hubOf(s).Sandbox; !id.IsZero() && len(w.f.State.BoxesOf(s.Key.ID)) == 0 {
		w.sandboxNamed(id)
	} else {
		work = append(work, w.sandboxesOf(s.Key.ID)...)
	}
	w.joins(s)
	w.workIn(work...)
	w.history(&s.Meta)
	w.raw(&s.Meta)
}

// runsWithout reports whether a session is listed as running while its health route answers that it has no registry.
func runsWithout(s *backend.Session) bool {
	return s.ListedRunning.Or(false) && s.Answer == backend.AnswerIdle
}

type sessionKind struct{ base }

func (sessionKind) listing() Listing { return Sessions().Listing() }

func (sessionKind) details(w *writer, k backend.Key) bool {
	return write(w, w.f.State.Session(k), w.session) || w.sessionNamed(k)
}

// sessionNamed writes what is known of a session that no source lists or listed, and that a sandbox names; false: none does.
func (w *writer) sessionNamed(k backend.Key) bool {
	boxes := w.f.State.BoxesOf(k.ID)
	if _, was := w.f.Board.Past(k); was || len(boxes) == 0 {
		return false
	}
	w.Blank()
	by, line := joinOf(boxes[0], w.f.State)
	names := cmp.Or(boxes[0].JoinedBy.String(), "its sandbox")
	if !line.IsEmpty() {
		names = "a log line"
	}
	w.Line(kit.Span{Tone: theme.Strong, Text: "No source lists it; " + names + " names it"})
	w.doable(w.urgent(k, nil))
	w.Head("Joined")
	listed := w.sandboxesOf(k.ID)
	w.joinedBy(by, line)
	w.workIn(listed...)
	return true
}

func (sessionKind) page(k backend.Key, f *views.Frame) (incident, why string, trouble bool) {
	if !lists(f, k) {
		var failed []backend.Key
		for _, p := range f.Board.PastOf(backend.KindWorkspace) {
			if x := p.Entity.(*backend.Workspace); (k.Source == "" || x.Key.Source == k.Source) && x.Key.Parent == k.ID && x.Class == backend.ClassFailed {
				failed = append(failed, x.Key)
			}
		}
		switch {
		case len(failed) == 1:
			return "1", "Its workspace " + failed[0].ID.Safe().String() + " failed when it was read last.", true
		case len(failed) > 1:
			return "1", kit.Number(len(failed)) + " of its workspaces failed when they were read last.", true
		}
	}
	if s := f.State.Session(k); s != nil && runsWithout(s) {
		return "1", "It runs and its health route answers 404.", true
	}
	return "2", "Missing files show in no state.", false
}

// lists reports whether a registry lists workspaces of a session now.
func lists(f *views.Frame, session backend.Key) bool {
	for range f.State.Workspaces.Of(backend.KindWorkspace, session.Source, session.ID) {
		return true
	}
	return false
}

func (sessionKind) related(k backend.Key, s *views.Snapshot, add func(backend.Key)) {
	ofSession(s.State, k.ID, backend.ID{}, k.Source, add)
}

func (sessionKind) remark(e backend.Entity) (what string, text backend.Safe) {
	return "the answer for", e.(*backend.Session).AnswerText
}

func (sessionKind) row(w *writer, e backend.Entity) []kit.Span {
	s := e.(*backend.Session)
	spans := []kit.Span{normal(s.Key.ID.Safe().String() + "  "), w.state(RunningCell(s))}
	for _, t := range []backend.Safe{s.Status, s.Tenant, s.Versions()} {
		if !t.IsEmpty() && t != RunningCell(s).Text {
			spans = append(spans, dim("  "+t.String()))
		}
	}
	return spans
}
