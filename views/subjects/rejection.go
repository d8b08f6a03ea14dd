package subjects

import (
	"iter"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// Rejections are the commands that guards refused within the last hour, by session, workspace, first word and metacharacter.
func Rejections() *Set[views.Rejection] {
	type row = views.Rejection
	id := func(c Column[row], get func(row) backend.ID) Column[row] { return idColumn(c, theme.Normal, get) }
	word := func(c Column[row], get func(row) backend.Safe) Column[row] { return textColumn(c, theme.Normal, get) }
	age := func(c Column[row], get func(row) time.Time) Column[row] {
		return ageColumn(c, func(r row) backend.Value[time.Time] { return backend.Known(get(r)) })
	}
	num := func(c Column[row], get func(row) float64) Column[row] {
		return numColumn(c, func(r row) SortKey { return SortKey{Num: get(r)} }, func(r row) string { return kit.Number(int64(get(r))) }, nil)
	}
	suppressed := num(Column[row]{Name: "suppressed", Title: "SUPPRESSED", Brief: "SUPPR", Help: "lines behind rollups; + where there may be more", Min: 6, Ideal: 10, Priority: 1},
		func(r row) float64 { return r.Suppressed })
	count := suppressed.Cell
	suppressed.Cell = func(r row, c *views.Snapshot) Cell {
		cell := count(r, c)
		if r.LowerBound {
			cell.Text = backend.Textf("%s+", cell.Text)
		}
		return cell
	}
	return &Set[row]{
		Kind: "rejections",
		Rows: func(s *fleet.State, _ *alerts.Board) iter.Seq[row] { return views.RejectionRows(s) },
		Key:  func(r row) backend.Key { return r.Key },
		Text: func(r row) string {
			return r.Session.Safe().String() + " " + r.Workspace.Safe().String() + " " + r.Word.String() + " " + r.First.String() + " " + r.Key.Source
		},
		JSON:        func(r row, _ *views.Snapshot) ([]byte, error) { return views.JSON(r) },
		DefaultSort: "rate",
		Columns: []Column[row]{
			{Name: "session", Title: "SESSION", Help: "whose command it was; ? where the lines name none and fit no one session alone", Min: 12, Ideal: 20, Flex: 1, Priority: 0,
				Cell: rejectedSession, Sort: func(r row, _ *views.Snapshot) SortKey {
					return SortKey{Text: r.Session.Raw(), Unknown: r.Session.IsZero()}
				}},
			id(Column[row]{Name: "workspace", Title: "WORKSPACE", Help: "in which workspace", Min: 9, Ideal: 14, Priority: 1}, func(r row) backend.ID { return r.Workspace }),
			word(Column[row]{Name: "word", Title: "WORD", Help: "the first word of the command", Min: 6, Ideal: 10, Priority: 0}, func(r row) backend.Safe { return r.Word }),
			word(Column[row]{Name: "metacharacter", Title: "METACHARACTER", Brief: "META", Help: "what the guard refused", Min: 4, Ideal: 13, Priority: 2}, func(r row) backend.Safe { return r.Metacharacter }),
			num(Column[row]{Name: "lines", Title: "LINES", Help: "lines written in full", Min: 5, Ideal: 6, Priority: 0}, func(r row) float64 { return r.Lines }),
			suppressed,
			num(Column[row]{Name: "distinct", Title: "DISTINCT", Brief: "DIST", Help: "different first words of its session and workspace: many are probing, one is a loop", Min: 4, Ideal: 8, Priority: 3},
				func(r row) float64 { return float64(r.Distinct) }),
			numColumn(Column[row]{Name: "rate", Title: "RATE/S", Help: "rejected commands a second between the first and the last line, rollups counted, over at least a minute", Min: 6, Ideal: 7, Priority: 0},
				func(r row) SortKey { return SortKey{Num: r.Rate()} }, func(r row) string { return kit.Rate(r.Rate()) }, nil),
			numColumn(Column[row]{Name: "rollups", Title: "ROLLUPS", Brief: "ROLL", Help: "share of the rejected commands that only rollups count", Min: 5, Ideal: 7, Priority: 2},
				func(r row) SortKey { return SortKey{Num: r.RollupShare()} }, func(r row) string { return kit.Percent(r.RollupShare()) }, nil),
			age(Column[row]{Name: "first", Title: "FIRST", Help: "how long ago the first line was, as far back as the log is read", Min: 5, Ideal: 5, Priority: 3}, func(r row) time.Time { return r.FirstSeen }),
			age(Column[row]{Name: "last", Title: "LAST", Help: "how long ago the last line was", Min: 5, Ideal: 5, Priority: 1}, func(r row) time.Time { return r.LastSeen }),
			{Name: "line", Title: "FIRST LINE", Help: "the first line that was written in full", Min: 20, Ideal: 60, Flex: 4, Priority: 4, Where: Extra,
				Cell: firstLine, Sort: func(r row, _ *views.Snapshot) SortKey { return sortText(r.First.String()) }},
			sourceColumn(func(r row) string { return r.Key.Source }, 5),
		},
	}
}

func rejectedSession(r views.Rejection, _ *views.Snapshot) Cell {
	switch {
	case !r.Session.IsZero():
		return idOf(r.Session, theme.Strong)
	case r.Fits > 1:
		return Cell{Text: backend.Textf("? one of %d", r.Fits), Tone: theme.Dim}
	}
	return Cell{Text: backend.Text("?"), Tone: theme.Dim}
}

func firstLine(r views.Rejection, _ *views.Snapshot) Cell {
	switch {
	case !r.First.IsEmpty():
		return text(r.First.LogLine(backend.MaxTextRunes), theme.Normal)
	case r.Session.IsZero() && r.Lines == 0:
		return text(backend.Text("only rollups, which name no session and cannot be attributed"), theme.Dim)
	}
	return text(backend.Text("only rollups were read"), theme.Dim)
}

type rejectionKind struct{ base }

func (rejectionKind) listing() Listing { return Rejections().Listing() }

func (rejectionKind) name(k backend.Key, s *views.Snapshot) backend.Safe {
	if r, ok := views.FindRejection(s.State, k); ok {
		return r.Word
	}
	return k.Safe()
}

func (rejectionKind) title(k backend.Key, f *views.Frame) string {
	r, ok := views.FindRejection(f.State, k)
	switch {
	case !ok:
		return "rejected commands"
	case r.Session.IsZero():
		return "rejected commands, by " + r.Key.Source
	}
	return "rejected commands of session " + r.Session.Safe().String()
}

func (rejectionKind) page(backend.Key, *views.Frame) (incident, why string, trouble bool) {
	return "9", "This page covers rejected commands.", false
}

func (rejectionKind) related(k backend.Key, s *views.Snapshot, add func(backend.Key)) {
	if !k.Parent.IsZero() {
		ofSession(s.State, k.Parent, backend.ID{}, s.State.HomeOf(k.Source, k.Parent), add)
	}
}

func (rejectionKind) details(w *writer, k backend.Key) bool {
	r, ok := views.FindRejection(w.f.State, k)
	return ok && write(w, &r, w.rejection)
}
