package subjects

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/internal/stable"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// Align is the side on which a cell's text stands.
type Align uint8

// The alignments.
const (
	Left Align = iota
	Right
)

// Cell is what one column shows of one row.
type Cell struct {
	Text backend.Safe
	// Short is shown where Text does not fit; empty: Text is cut.
	Short backend.Safe
	// Brief is shown where Short does not fit either; empty: Short is cut.
	Brief backend.Safe
	// Parts are those of a Text that lists them with spaces between: as many as fit are shown, and the others counted. Short
	// is shown where not even the first one fits.
	Parts []backend.Safe
	Tone  theme.Tone
	// Mark stands in front of a state's word.
	Mark theme.Mark
}

// Fitting is the longest form of a cell's text that fits into w cells, or else the shortest one.
func (c *Cell) Fitting(w int) string {
	s := c.Text.String()
	if kit.Width(s) > w {
		if some := fittingParts(c.Parts, w); some != "" {
			return some
		}
	}
	for _, shorter := range []backend.Safe{c.Short, c.Brief} {
		if kit.Width(s) > w && !shorter.IsEmpty() {
			s = shorter.String()
		}
	}
	return s
}

// fittingParts are the first of several parts, as many as fit into w cells together with the number of the others; empty: not
// even the first one does.
func fittingParts(parts []backend.Safe, w int) (fitting string) {
	list := ""
	for i, p := range parts {
		list += p.String()
		rest := ""
		if left := len(parts) - i - 1; left > 0 {
			rest = " +" + strconv.Itoa(left)
		}
		if kit.Width(list) > w {
			break
		}
		if kit.Width(list+rest) <= w {
			fitting = list + rest
		}
		list += " "
	}
	return fitting
}

// SortKey orders the rows of one column: numbers first by value, then texts; what is unknown comes last whichever way
// the column is sorted.
type SortKey struct {
	Num     float64
	Text    string
	Unknown bool
}

// Compare orders known values; unknown ones follow.
func (k SortKey) Compare(o SortKey) int {
	if k.Unknown != o.Unknown {
		if k.Unknown {
			return 1
		}
		return -1
	}
	if c := cmp.Compare(k.Num, o.Num); c != 0 {
		return c
	}
	return strings.Compare(k.Text, o.Text)
}

// Where says at which widths a column is offered at all.
type Where uint8

// The widths. Narrow columns stand in for several wide ones where there is no room; Extra ones are for `-o wide`, csv
// and very wide screens. NarrowOnly, WideScreens and Screens columns are not in reports.
const (
	Everywhere  Where = iota
	NarrowOnly        // only on screens too narrow for the WideOnly columns
	WideScreens       // only on screens with room
	WideOnly          // on screens with room, and in reports
	Extra             // `-o wide`, csv, and screens of 200 columns
	Screens           // on every screen, and in no report
	Reports           // `get` and csv; on no screen, which shows the same in another way
)

// Reported reports whether such columns are in reports.
func (w Where) Reported() bool { return w != NarrowOnly && w != WideScreens && w != Screens }

// Column is one column of rows R.
type Column[R any] struct {
	Name  string // the filter field and the csv header
	Title string // the heading
	Brief string // the heading where Title does not fit; empty: Title
	Help  string // one line for help and docs
	Align Align
	// Min and Ideal are widths in cells. Flex columns take what is left, in proportion.
	Min, Ideal, Flex int
	// Wanted is the ideal width in a State where that is more than Ideal. nil: it never is.
	Wanted func(*views.Snapshot) int
	IDs    bool // values that have to be told apart
	// Priority says which columns are dropped first where there is no room: the highest number first; 0 is never
	// dropped.
	Priority int
	Where    Where
	// Local is the priority, from 1, with which the column is offered at every width where containers are all that is watched;
	// 0: as elsewhere.
	Local int
	// Urgent says that the column keeps its Priority there too. nil: never.
	Urgent func(*views.Snapshot) bool
	// Needed reports whether the column has anything to say in a State; where it has not, its width goes to the others.
	// nil: always. Passing: it changes as time goes by, too.
	Needed  func(*views.Snapshot) bool
	Passing bool
	// Follows says that its values come some time after their rows: as long as some row can have one, it has its least width.
	Follows bool
	// Descending columns are sorted largest first when first chosen: ages of trouble, sizes, counts.
	Descending bool
	Cell       func(R, *views.Snapshot) Cell
	Sort       func(R, *views.Snapshot) SortKey
	// Measure gives the value behind the text for comparisons in filters: seconds, bytes, counts. nil: no number.
	Measure func(R, *views.Snapshot) (float64, bool)
}

// Set is everything there is to know about rows of one kind.
type Set[R any] struct {
	Kind    string // workspaces, sandboxes, …: the argument of `get`
	Columns []Column[R]
	// Rows walks the rows of a State and Board in their natural order.
	Rows func(*fleet.State, *alerts.Board) iter.Seq[R]
	// Of walks rows that need more than a State and Board: the past (Snapshot.Events), an order; nil: Rows does.
	Of  func(*views.Snapshot) iter.Seq[R]
	Key func(R) backend.Key
	// ByName compares rows by what people call them, whatever their source: the natural order of a table. nil: that of Rows.
	ByName func(a, b R) int
	// Text is what a filter's bare word is searched in.
	Text func(R) string
	// Named is searched too: names that only a State has. nil: none.
	Named func(R, *views.Snapshot) string
	// Labels are what a row can be grouped by besides its columns; nil: rows have none. Of two with one name the first counts.
	Labels func(R, *views.Snapshot) []backend.Field
	// Muted rows are dimmed: what is merely listed.
	Muted func(R) bool
	// Stale rows show values of an older reading, because newer ones failed. nil: none.
	Stale func(R, *views.Snapshot) bool
	// JSON writes a row for `-o json`; nil: the row as it is.
	JSON func(R, *views.Snapshot) ([]byte, error)
	// DefaultSort is the name of the column sorted by at first; empty: the natural order.
	DefaultSort string
}

// Column returns the position of the column with that name, -1 when there is none.
func (s *Set[R]) Column(name string) int {
	for i := range s.Columns {
		if s.Columns[i].Name == name {
			return i
		}
	}
	return -1
}

// All walks the rows of a moment in their natural order.
func (s *Set[R]) All(c *views.Snapshot) iter.Seq[R] {
	if s.Of != nil {
		return s.Of(c)
	}
	return s.Rows(c.State, c.Board)
}

// Compare is the order of rows by name and, where names are equal or there is no such order, by key.
func (s *Set[R]) Compare(a, b R) int {
	if s.ByName != nil {
		if c := s.ByName(a, b); c != 0 {
			return c
		}
	}
	return s.Key(a).Compare(s.Key(b))
}

// Natural lists the rows of a moment in the order in which a table shows equals: by name, or as All does.
func (s *Set[R]) Natural(c *views.Snapshot) []R {
	n := 0
	for range s.All(c) {
		n++
	}
	rows := make([]R, 0, n)
	for r := range s.All(c) {
		rows = append(rows, r)
	}
	if s.ByName != nil {
		stable.Sort(rows, s.Compare)
	}
	return rows
}

// Cursor adapts one row after another to filter.Row without allocating.
type Cursor[R any] struct {
	set *Set[R]
	ctx *views.Snapshot
	Row R
}

// NewCursor makes a Cursor; set its Row before use.
func (s *Set[R]) NewCursor(ctx *views.Snapshot) *Cursor[R] { return &Cursor[R]{set: s, ctx: ctx} }

// Snapshot is what the cells look at besides the row; SetSnapshot changes it.
func (c *Cursor[R]) Snapshot() *views.Snapshot { return c.ctx }

// SetSnapshot changes what the cells look at besides the row.
func (c *Cursor[R]) SetSnapshot(ctx *views.Snapshot) { c.ctx = ctx }

// Key is the row's key.
func (c *Cursor[R]) Key() backend.Key { return c.set.Key(c.Row) }

// Field returns the text of a column.
func (c *Cursor[R]) Field(name string) (string, bool) {
	i := c.set.Column(name)
	if i < 0 {
		return "", false
	}
	return c.ctx.Shown(c.set.Columns[i].Cell(c.Row, c.ctx).Text.String()), true
}

// Measure returns the number behind a column's text.
func (c *Cursor[R]) Measure(name string) (float64, bool) {
	i := c.set.Column(name)
	if i < 0 || c.set.Columns[i].Measure == nil {
		return 0, false
	}
	return c.set.Columns[i].Measure(c.Row, c.ctx)
}

// Text is what bare words are searched in.
func (c *Cursor[R]) Text() string {
	if c.set.Named != nil {
		return c.ctx.Shown(c.set.Text(c.Row)) + " " + c.ctx.Shown(c.set.Named(c.Row, c.ctx))
	}
	return c.ctx.Shown(c.set.Text(c.Row))
}

// Cell returns what the i-th column shows.
func (c *Cursor[R]) Cell(i int) Cell {
	cell := c.set.Columns[i].Cell(c.Row, c.ctx)
	if c.ctx.Hidden == nil {
		return cell
	}
	for _, s := range []*backend.Safe{&cell.Text, &cell.Short, &cell.Brief} {
		if text := s.String(); c.ctx.Shown(text) != text {
			*s = backend.Clean(c.ctx.Shown(text), backend.MaxTextRunes)
		}
	}
	cell.Parts = slices.Clone(cell.Parts)
	for i, p := range cell.Parts {
		cell.Parts[i] = backend.Clean(c.ctx.Shown(p.String()), backend.MaxTextRunes)
	}
	return cell
}

// SortKey returns the i-th column's sort key.
func (c *Cursor[R]) SortKey(i int) SortKey { return c.set.Columns[i].Sort(c.Row, c.ctx) }

// JSON writes the row for `-o json`.
func (c *Cursor[R]) JSON() ([]byte, error) {
	if c.set.JSON != nil {
		return c.set.JSON(c.Row, c.ctx)
	}
	return views.JSON(c.Row)
}

// Stale reports whether the row shows an older reading because newer ones failed.
func (c *Cursor[R]) Stale() bool { return c.set.Stale != nil && c.set.Stale(c.Row, c.ctx) }

// Muted reports whether the row is merely listed.
func (c *Cursor[R]) Muted() bool { return c.set.Muted != nil && c.set.Muted(c.Row) }
