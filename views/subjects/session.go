package subjects

import (
	"iter"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/theme"
)

// Sessions are agent runs.
func Sessions() *Set[*backend.Session] {
	type row = *backend.Session
	return &Set[row]{
		Kind: "sessions",
		Rows: func(s *fleet.State, _ *alerts.Board) iter.Seq[row] { return s.Sessions.All() },
		Key:  func(s row) backend.Key { return s.Key },
		Text: func(s row) string {
			return s.Key.Safe().String() + " " + s.Status.String() + " " + s.Tenant.String() + " " + s.AnswerText.String() + " " + s.Key.Source
		},
		Stale: func(s row, c *views.Snapshot) bool { return c.Stale(&s.Meta) },
		Columns: []Column[row]{
			idColumn(Column[row]{Name: "session", Title: "SESSION", Help: "its id", Min: 12, Ideal: 24, Flex: 1, Priority: 0},
				theme.Normal, func(s row) backend.ID { return s.Key.ID }),
			{Name: "running", Title: "RUNNING", Help: "whether a run loop is active now", Min: 9, Ideal: 9, Priority: 0, Descending: true,
				Cell: func(s row, _ *views.Snapshot) Cell { return RunningCell(s) },
				Sort: func(s row, _ *views.Snapshot) SortKey {
					r, ok := s.Running.Get()
					k := SortKey{Unknown: !ok}
					if r {
						k.Num = 1
					}
					return k
				}},
			textColumn(Column[row]{Name: "status", Title: "STATUS", Help: "the list route's own word", Min: 8, Ideal: 10, Priority: 1},
				theme.Normal, func(s row) backend.Safe { return s.Status }),
			textColumn(Column[row]{Name: "answer", Title: "ANSWER", Help: "what its health route last answered", Min: 8, Ideal: 10, Priority: 2},
				theme.Normal, func(s row) backend.Safe { return plain(string(s.Answer)) }),
			textColumn(Column[row]{Name: "problem", Title: "PROBLEM", Help: "what is wrong with that answer", Min: 10, Ideal: 30, Flex: 2, Priority: 3},
				theme.Warn, func(s row) backend.Safe { return s.AnswerText }),
			textColumn(Column[row]{Name: "tenant", Title: "TENANT", Help: "whose run it is", Min: 8, Ideal: 12, Priority: 6},
				theme.Normal, func(s row) backend.Safe { return s.Tenant }),
			textColumn(Column[row]{Name: "version", Title: "VERSION", Help: "the framework's version, and the SDK's where it is known", Min: 7, Ideal: 9, Priority: 7, Where: WideOnly},
				theme.Dim, func(s row) backend.Safe { return s.Versions() }),
			sourceColumn(func(s row) string { return s.Key.Source }, 5),
			ageColumn(Column[row]{Name: "age", Title: "AGE", Help: "time since it started", Min: 4, Ideal: 5, Priority: 2},
				func(s row) backend.Value[time.Time] { return s.StartedAt }),
			readColumn(func(s row) *backend.Meta { return &s.Meta }, 4),
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
