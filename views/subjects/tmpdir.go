package subjects

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// Tmpdirs are scratch directories on hosts.
func Tmpdirs() *Set[*backend.Tmpdir] {
	type row = *backend.Tmpdir
	return &Set[row]{
		Kind: "tmpdirs",
		Rows: func(s *fleet.State, _ *alerts.Board) iter.Seq[row] { return s.Tmpdirs.All() },
		Key:  func(t row) backend.Key { return t.Key },
		Text: func(t row) string {
			return t.Path.String() + " " + t.Owner.String() + " " + t.Key.Parent.Safe().String() + " " + t.Key.Source
		},
		Stale:       func(t row, c *views.Snapshot) bool { return c.Stale(&t.Meta) },
		DefaultSort: "size",
		Columns: []Column[row]{
			{Name: "path", Title: "DIRECTORY", Help: "the directory's path; its last part where there is little room",
				Min: 18, Ideal: 30, Flex: 4, Priority: 0,
				Cell: func(t row, _ *views.Snapshot) Cell { return pathCell(t.Path) },
				Sort: func(t row, _ *views.Snapshot) SortKey { return sortText(t.Path.String()) }},
			{Name: "held", Title: "HELD BY", Help: "processes that use something inside it",
				Min: 9, Ideal: 22, Flex: 2, Priority: 1,
				Cell: func(t row, _ *views.Snapshot) Cell { return holdersCell(t) },
				Sort: func(t row, _ *views.Snapshot) SortKey {
					h, ok := t.Holders.Get()
					return SortKey{Num: float64(len(h)), Unknown: !ok}
				},
				Measure: func(t row, _ *views.Snapshot) (float64, bool) {
					h, ok := t.Holders.Get()
					return float64(len(h)), ok
				}},
			idColumn(Column[row]{Name: "host", Title: "HOST", Help: "the machine it is on", Min: 8, Ideal: 14, Priority: 5},
				theme.Normal, func(t row) backend.ID { return t.Key.Parent }),
			sourceColumn(func(t row) string { return t.Key.Source }, 7),
			textColumn(Column[row]{Name: "owner", Title: "OWNER", Help: "the user that owns it", Min: 6, Ideal: 10, Priority: 6},
				theme.Normal, func(t row) backend.Safe { return t.Owner }),
			textColumn(Column[row]{Name: "mode", Title: "MODE", Help: "its permissions", Min: 10, Ideal: 10, Priority: 8, Where: Extra},
				theme.Dim, func(t row) backend.Safe { return t.Mode }),
			lowerBound(numColumn(Column[row]{Name: "entries", Title: "ENTRIES", Help: "files and directories inside", Min: 8, Ideal: 9, Priority: 4},
				func(t row) SortKey { return sortNum(t.Entries) },
				func(t row) string { return kit.Number(t.Entries.Or(0)) }, nil)),
			lowerBound(numColumn(Column[row]{Name: "size", Title: "SIZE", Help: "allocated bytes", Min: 7, Ideal: 8, Priority: 1},
				func(t row) SortKey { return sortNum(t.Bytes) },
				func(t row) string { return backend.Bytes(t.Bytes.Or(0)) }, nil)),
			ageColumn(Column[row]{Name: "born", Title: "BORN", Help: "time since it was made", Min: 4, Ideal: 5, Priority: 7, Where: WideOnly},
				func(t row) backend.Value[time.Time] { return t.Born }),
			ageColumn(Column[row]{Name: "age", Title: "CHANGED", Brief: "AGE", Help: "age of the newest change anywhere in the tree", Min: 4, Ideal: 7, Priority: 0},
				func(t row) backend.Value[time.Time] { return t.Newest }),
			readColumn(func(t row) *backend.Meta { return &t.Meta }, 3),
		},
	}
}

// lowerBound marks numbers of a walk that stopped at its bound.
func lowerBound(c Column[*backend.Tmpdir]) Column[*backend.Tmpdir] {
	exact := c.Cell
	c.Cell = func(t *backend.Tmpdir, x *views.Snapshot) Cell {
		cell := exact(t, x)
		if t.Cut && cell.Tone != theme.Dim {
			cell.Text = plain("≥" + cell.Text.String())
		}
		return cell
	}
	return c
}

// pathCell keeps the end of a path that does not fit: the beginning is the same for all.
func pathCell(p backend.Safe) Cell {
	c := text(p, theme.Normal)
	if i := strings.LastIndexByte(p.String(), '/'); i > 0 {
		c.Short = plain("…" + p.String()[i:])
	}
	return c
}

func holdersCell(t *backend.Tmpdir) Cell {
	h, ok := t.Holders.Get()
	switch {
	case !ok:
		return Cell{Text: plain(fmt.Sprintf("unknown: %d unreadable", t.Unreadable)), Short: backend.Text("unknown"),
			Tone: theme.Dim, Mark: theme.MarkUnknown}
	case len(h) == 0:
		return Cell{Text: backend.Text("nobody"), Tone: theme.Normal, Mark: theme.MarkIdle}
	}
	c := Cell{Text: plain(fmt.Sprintf("%s %d", h[0].Command, h[0].PID)), Tone: theme.Normal, Mark: theme.MarkGood}
	if len(h) > 1 {
		c.Text = plain(fmt.Sprintf("%s, %d more", c.Text, len(h)-1))
	}
	c.Short = plain(strconv.Itoa(len(h)) + " held")
	return c
}
