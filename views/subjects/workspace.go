package subjects

import (
	"iter"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/theme"
)

// Workspaces are the entries of the agent framework's registries.
func Workspaces() *Set[*backend.Workspace] {
	type row = *backend.Workspace
	return &Set[row]{
		Kind: "workspaces",
		Rows: func(s *fleet.State, _ *alerts.Board) iter.Seq[row] { return s.Workspaces.All() },
		Key:  func(w row) backend.Key { return w.Key },
		Text: func(w row) string {
			return w.Key.Safe().String() + " " + w.Reported.String() + " " + w.LastError.String() + " " +
				w.Provider.String() + " " + w.Key.Source
		},
		Stale:       func(w row, c *views.Snapshot) bool { return w.Unreadable || c.Stale(&w.Meta) },
		DefaultSort: "works",
		Columns: []Column[row]{
			{Name: "works", Title: "WORKS", Help: "concluded from the timestamps: failing, busy, working, unused or unknown",
				Min: 9, Ideal: 10, Priority: 0, Descending: true,
				Cell: func(w row, c *views.Snapshot) Cell { return ConditionCell(condition(w, c)) },
				Sort: func(w row, c *views.Snapshot) SortKey { return SortKey{Num: conditionRank(condition(w, c))} }},
			{Name: "state", Title: "STATE", Help: "the registry's own word",
				Min: 7, Ideal: 9, Priority: 3,
				Cell: func(w row, _ *views.Snapshot) Cell { return stateCell(w) },
				Sort: func(w row, _ *views.Snapshot) SortKey { return sortText(w.Reported.String()) }},
			idColumn(Column[row]{Name: "workspace", Title: "WORKSPACE", Help: "the name in its session's registry",
				Min: 10, Ideal: 14, Flex: 1, Priority: 0}, theme.Normal, func(w row) backend.ID { return w.Key.ID }),
			idColumn(Column[row]{Name: "session", Title: "SESSION", Help: "the session that owns it",
				Min: 14, Ideal: 16, Flex: 1, Priority: 1}, theme.Normal, func(w row) backend.ID { return w.Key.Parent }),
			{Name: "error", Title: "LAST ERROR", Help: "the cause the registry gives", Min: 16, Ideal: 42, Flex: 6, Priority: 2,
				Cell: func(w row, _ *views.Snapshot) Cell { return errorCell(w.LastError) },
				Sort: func(w row, _ *views.Snapshot) SortKey { return sortText(w.LastError.String()) }},
			sourceColumn(func(w row) string { return w.Key.Source }, 5),
			textColumn(Column[row]{Name: "provider", Title: "PROVIDER", Help: "who runs the sandbox behind it",
				Min: 18, Ideal: 18, Priority: 7, Where: WideOnly}, theme.Normal, func(w row) backend.Safe { return w.Provider }),
			alertColumn(func(w row) backend.Key { return w.Key }, 7),
			ageColumn(Column[row]{Name: "attempt", Title: "ATTEMPT", Brief: "TRY", Help: "age of the last attempt", Min: 4, Ideal: 7, Priority: 4},
				func(w row) backend.Value[time.Time] { return w.LastAttemptAt }),
			ageColumn(Column[row]{Name: "success", Title: "SUCCESS", Brief: "OK", Help: "age of the last success", Min: 4, Ideal: 7, Priority: 3},
				func(w row) backend.Value[time.Time] { return w.LastSuccessAt }),
			readColumn(func(w row) *backend.Meta { return &w.Meta }, 6),
			{Name: "version", Title: "VERSION", Help: "the framework's version in its session", Min: 7, Ideal: 7, Priority: 9, Where: Extra,
				Cell: func(w row, c *views.Snapshot) Cell { return text(versionOf(w, c), theme.Dim) },
				Sort: func(w row, c *views.Snapshot) SortKey { return sortText(versionOf(w, c).String()) }},
			idColumn(Column[row]{Name: "sandbox-id", Title: "SANDBOX ID", Help: "the id the provider was given",
				Min: 10, Ideal: 12, Priority: 8, Where: Extra}, theme.Normal, func(w row) backend.ID { return w.ProviderID }),
		},
	}
}

func ageColumn[R any](c Column[R], get func(R) backend.Value[time.Time]) Column[R] {
	c.Align, c.Descending = Right, false
	c.Cell = func(r R, x *views.Snapshot) Cell { return ageOf(get(r), x.Now, theme.Normal) }
	c.Sort = func(r R, x *views.Snapshot) SortKey { return sortAge(get(r), x.Now) }
	c.Measure = func(r R, x *views.Snapshot) (float64, bool) { return measured(sortAge(get(r), x.Now)) }
	return c
}

func condition(w *backend.Workspace, c *views.Snapshot) backend.Condition {
	return w.Condition(c.Now, c.State.LongestOperation)
}

// ConditionCell is how a workspace's condition is shown.
func ConditionCell(c backend.Condition) Cell {
	cell := Cell{Text: plain(string(c))}
	switch c {
	case backend.CondWorking:
		cell.Tone, cell.Mark = theme.Good, theme.MarkGood
	case backend.CondBusy:
		cell.Tone, cell.Mark = theme.Normal, theme.MarkBusy
	case backend.CondFailing:
		cell.Tone, cell.Mark = theme.Bad, theme.MarkBad
	case backend.CondUnused:
		cell.Tone, cell.Mark = theme.Dim, theme.MarkIdle
	case backend.CondUnknown:
		cell.Tone, cell.Mark = theme.Dim, theme.MarkUnknown
	}
	return cell
}

// conditionRank sorts what needs eyes first when descending.
func conditionRank(c backend.Condition) float64 {
	switch c {
	case backend.CondFailing:
		return 4
	case backend.CondUnknown:
		return 3
	case backend.CondBusy:
		return 2
	case backend.CondWorking:
		return 1
	case backend.CondUnused:
	}
	return 0
}

// errorCell leaves the names of the framework's two error types out where there is little room: the state says as much.
func errorCell(s backend.Safe) Cell {
	c := text(s, theme.Normal)
	if rest := BareError(s.String()); rest != s.String() {
		c.Short = plain(rest)
	}
	return c
}

// BareError is an error's text without the name of its type, which can stand behind a provider's name.
func BareError(s string) string {
	for _, name := range []string{"WorkspaceFailedError: ", "WorkspaceEvictedError: "} {
		if before, rest, ok := strings.Cut(s, name); ok && (before == "" || strings.HasSuffix(before, ": ")) {
			return before + rest
		}
	}
	return s
}

// stateCell shows the registry's word verbatim; only words with a known meaning are coloured.
func stateCell(w *backend.Workspace) Cell {
	c := text(w.Reported, theme.Normal)
	switch w.Class {
	case backend.ClassFailed:
		c.Tone = theme.Bad
	case backend.ClassEvicted:
		c.Tone = theme.Warn
	case backend.ClassHealthy, backend.ClassOpening:
	case backend.ClassClosed, backend.ClassUnknown:
		c.Tone = theme.Dim
	}
	return c
}

func versionOf(w *backend.Workspace, c *views.Snapshot) backend.Safe {
	if s := c.State.SessionOf(w); s != nil {
		return s.Versions()
	}
	return backend.Safe{}
}
