// Package browse is the screen that shows one kind of rows as a table, with filter, order, cursor and marks. The
// screens configure it.
package browse

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/internal/stable"
	"sandglass/views"
	"sandglass/views/filter"
	"sandglass/views/keys"
	"sandglass/views/kit"
	"sandglass/views/subjects"
	"sandglass/views/theme"
)

// Room says where a pane stands, and so how much it can say.
type Room uint8

// The places of a pane.
const (
	Tight  Room = iota // below the table, where not everything fits
	Below              // below the table, where it does
	Beside             // beside the table
)

// Config says what a List shows.
type Config[R any] struct {
	Number int
	Name   string
	Set    *subjects.Set[R]
	// Kinds are those of the rows. With Follows, rows are entities and single changes of a State are applied; otherwise all
	// rows are read from every State, which is right for short lists.
	Kinds   []backend.Kind
	Follows bool
	// Strip draws lines above the table; nil: none.
	Strip func(f *views.Frame, w int) []string
	// Pane describes the row under the cursor in the room there is; nil: no pane.
	Pane func(f *views.Frame, row R, room Room) *kit.Doc
	// Gone describes a row that left the table while the cursor was on it; nil: one sentence does.
	Gone func(f *views.Frame, row R, at time.Time) *kit.Doc
	// Under reports whether a row belongs to the one above it; nil: none does.
	Under func(c *views.Snapshot, row R) bool
	// Above are lines above a row, where rows are in their own order; nil: there are none.
	Above func(c *views.Snapshot, row R) [][]kit.Span
	// Beneath fills the room below a short table that has its pane beside it, in at most h lines of w cells. nil: the
	// room stays empty.
	Beneath func(f *views.Frame, row R, w, h int) []string
	// Nothing says what it means that there are no rows; it is not asked while sources are still starting.
	Nothing func(f *views.Frame) *kit.Doc
	// Aside counts rows that the header does not count, with its words, such as "6 not watched"; nil: there is none.
	Aside func(f *views.Frame) string
	// Offered says where the screen can have rows; nil: everywhere.
	Offered func(f *views.Frame) bool
	// Steady keeps the natural order for a while after each key, so that nothing jumps under the cursor.
	Steady bool
	// History: the rows are the frame's Events. The program reads them only while such a screen is open.
	History bool
}

// List is a screen.
type List[R any] struct {
	cfg      Config[R]
	table    *kit.Table[backend.Key, R]
	cur      *subjects.Cursor[R]
	filter   filter.Filter
	filterIn string // as typed
	problem  *filter.Error
	sort     int // column, -1: natural order
	reverse  bool
	number   uint64
	board    *alerts.Board
	filled   bool
	settled  bool // the cursor stays on its row: the viewer used the screen. Until then it is on the first one
	last     R    // that the cursor was on
	lost     time.Time
	visible  []backend.Key
	first    int  // place of the first visible row
	width    int  // in cells, as it was last drawn
	ruled    bool // a rule says how many rows are out of sight
	slotted  []slot
	shown    []int // columns that are on the screen, to go round with Sort
	look     *theme.Theme
	steady   steady
	chosen   map[string]bool // columns that were switched on or off, by name
	wide     bool            // the table has the whole screen
	want     backend.Key     // the cursor goes to it as soon as it is there
	drawn    drawn
	groups   groups
	pinned   pinned
	asked    asked
	cells    cells
}

// New makes a List.
func New[R any](cfg Config[R]) *List[R] {
	l := &List[R]{cfg: cfg, sort: cfg.Set.Column(cfg.Set.DefaultSort)}
	if l.sort >= 0 {
		l.reverse = cfg.Set.Columns[l.sort].Descending
	}
	l.cur = cfg.Set.NewCursor(views.NewSnapshot(time.Time{}, nil, nil))
	l.table = kit.NewTable(kit.Rules[backend.Key, R]{Key: cfg.Set.Key, Compare: cfg.Set.Compare, Order: l.order(), Reverse: l.reverse})
	return l
}

// Number and Name identify the screen.
func (l *List[R]) Number() int { return l.cfg.Number }

// Name is the screen's name in the tab row.
func (l *List[R]) Name() string { return l.cfg.Name }

// Offered reports whether the screen can have rows.
func (l *List[R]) Offered(f *views.Frame) bool { return l.cfg.Offered == nil || l.cfg.Offered(f) }

// History reports whether the rows are the frame's Events.
func (l *List[R]) History() bool { return l.cfg.History }

// FilterText is the filter as it was typed.
func (l *List[R]) FilterText() string { return l.filterIn }

// FilterProblem says what is wrong with it, and at which character.
func (l *List[R]) FilterProblem() (what string, at int) {
	if l.problem == nil {
		return "", 0
	}
	return l.problem.Error(), l.problem.Position
}

// Visible are the keys of the rows on the screen.
func (l *List[R]) Visible() []backend.Key { return l.visible }

// Cursor is the key of the row under the cursor, the zero Key when it is on none.
func (l *List[R]) Cursor(f *views.Frame) backend.Key {
	l.sync(f)
	if _, key, ok := l.table.Cursor(); ok {
		return key
	}
	return backend.Key{}
}

// Marked are the keys of the marked rows, in order, and of those that the filter hides.
func (l *List[R]) Marked() (shown, hidden []backend.Key) {
	shown, hidden = l.table.MarkedKeys()
	stable.Sort(hidden, backend.Key.Compare)
	return shown, hidden
}

// Selected is the row under the cursor.
func (l *List[R]) Selected() (R, bool) {
	r, _, ok := l.table.Cursor()
	return r, ok
}

func (l *List[R]) order() func(R) kit.Order {
	if l.sort < 0 {
		return nil
	}
	order := l.cfg.Set.Columns[l.sort].Sort
	return func(row R) kit.Order { return kit.Order(order(row, l.cur.Snapshot())) }
}

// turned reports whether the natural order is turned round.
func (l *List[R]) turned() bool { return l.sort < 0 && l.reverse }

func (l *List[R]) match() func(R) bool {
	if l.filter.IsZero() {
		return nil
	}
	return func(row R) bool {
		l.cur.Row = row
		return l.filter.Match(l.cur) || l.pinned.pins.Place(l.cfg.Set.Key(row)) >= 0
	}
}

// Busy reports whether a filter is still being applied; Step goes on with it.
func (l *List[R]) Busy() bool { return l.table.Pending() }

// Step goes on with what Busy reports.
func (l *List[R]) Step() { l.table.Step() }

// sync brings the table to the frame's State. It costs what changed.
func (l *List[R]) sync(f *views.Frame) {
	if l.takePins(f) {
		l.cur.SetSnapshot(f.Snapshot)
		l.sortRows()
		l.table.SetMatch(l.match())
	}
	if l.filled && l.number == f.State.Number && l.board == f.Board && !l.steady.over(f.Now) {
		l.cur.SetSnapshot(f.Snapshot)
		return
	}
	l.cur.SetSnapshot(f.Snapshot)
	changes, complete := l.changes(f.State)
	if l.cfg.Steady {
		rows := arranged(&l.steady, l.cfg.Set.All(f.Snapshot), l.cfg.Set.Key, f.Now)
		l.table.Replace(len(rows), slices.Values(rows))
	} else if !l.filled || !complete {
		rows := l.cfg.Set.Natural(f.Snapshot)
		l.table.Replace(len(rows), slices.Values(rows))
	} else {
		l.table.Apply(changes)
	}
	l.filled, l.number, l.board = true, f.State.Number, f.Board
	if l.groups.by != "" && l.groups.moved(l.counted(), f.Now) {
		l.sortRows()
	}
	if l.want != (backend.Key{}) && l.table.Seek(l.want) {
		l.want, l.settled = backend.Key{}, true
	}
	if !l.settled {
		l.table.First()
	}
	if row, ok := l.Selected(); ok {
		l.last, l.lost = row, time.Time{}
	} else if l.lost.IsZero() {
		l.lost = f.Now
	}
}

func (l *List[R]) changes(s *fleet.State) ([]kit.Change[backend.Key, R], bool) {
	if !l.cfg.Follows {
		return nil, false
	}
	var deltas []fleet.Delta
	switch complete := false; {
	case s.Number < l.number:
		return nil, false
	case s.Number == l.number:
		return nil, true
	case s.Number == l.number+1:
		deltas = []fleet.Delta{s.Delta}
	default:
		if deltas, complete = s.ChangesSince(l.number); !complete {
			return nil, false
		}
	}
	var out []kit.Change[backend.Key, R]
	note := func(k backend.Key) {
		if slices.Contains(l.cfg.Kinds, k.Kind) {
			row, ok := s.Entity(k).(R)
			out = append(out, kit.Change[backend.Key, R]{Key: k, Row: row, Gone: !ok})
		}
	}
	for _, d := range deltas {
		for _, k := range d.Changed {
			note(k)
		}
		for _, g := range d.Gone {
			note(g.Key)
		}
	}
	return out, true
}

// Update handles an intent.
func (l *List[R]) Update(in keys.Intent, f *views.Frame) views.Outcome {
	l.sync(f)
	l.settled = l.settled || in.Action != keys.Focus
	if l.settled {
		l.want = backend.Key{}
	}
	if in.Action != keys.Focus {
		l.groups.hold(f.Now)
	}
	if l.cfg.Steady && in.Action != keys.Focus {
		l.steady.hold(f.Now)
	}
	switch in.Action {
	case keys.Up:
		l.table.Move(-1)
	case keys.Down:
		l.table.Move(1)
	case keys.PageUp:
		l.table.Page(-1)
	case keys.PageDown:
		l.table.Page(1)
	case keys.Top:
		l.table.First()
	case keys.Bottom:
		l.table.Last()
	case keys.Mark:
		l.table.ToggleMark()
	case keys.Sort:
		if in.Text != "" {
			return l.sortBy(in.Text)
		}
		l.nextSort()
	case keys.SortReverse:
		l.reverse = !l.reverse
		l.sortRows()
	case keys.Column:
		return l.toggle(in.Text)
	case keys.Group:
		return l.groupBy(in.Text)
	case keys.Wide:
		return l.toggleWide()
	case keys.SetFilter:
		l.setFilter(in.Text)
	case keys.Focus:
		return l.focus(in.Text, f)
	case keys.Back:
		if l.filterIn != "" {
			l.setFilter("")
		} else {
			l.table.ClearMarks()
		}
	case keys.Enter:
		if _, key, ok := l.table.Cursor(); ok {
			return views.Outcome{Open: key}
		}
		if l.table.Len() == 0 {
			return views.Outcome{Say: "there is no row here"}
		}
		return views.Outcome{Say: "the cursor is on no row: move it first"}
	case keys.Copy:
		return l.copy()
	case keys.None, keys.Quit, keys.Help, keys.Palette, keys.Screen, keys.Filter, keys.Redraw, keys.Suspend, keys.NextLink, keys.PrevLink,
		keys.Runbook, keys.NextPage, keys.PrevPage, keys.Acknowledge, keys.Unacknowledge, keys.Silence,
		keys.SilenceList, keys.Differs, keys.Expire, keys.Act, keys.Verbs, keys.Arm, keys.Disarm, keys.ShowRun, keys.NextWave, keys.Bundle, keys.Accept,
		keys.Cancel, keys.Complete, keys.LeaveEmpty, keys.CopyOf, keys.Jump, keys.SaveView, keys.OpenView, keys.ForgetView, keys.Time, keys.Theme, keys.Reload, keys.Mouse, keys.Pin:
	}
	return views.Outcome{}
}

func (l *List[R]) setFilter(text string) {
	l.filterIn = text
	parsed, err := filter.Parse(text, l.fields()...)
	l.problem, l.filter = nil, parsed // of a wrong one, what stands before the mistake
	errors.As(err, &l.problem)
	l.table.SetMatch(l.match())
}

// nextSort goes to the next column that is on the screen, and after the last one back to the natural order.
func (l *List[R]) nextSort() {
	next := -1
	if i := slices.Index(l.shown, l.sort); l.sort < 0 && len(l.shown) > 0 {
		next = l.shown[0]
	} else if i >= 0 && i+1 < len(l.shown) {
		next = l.shown[i+1]
	}
	l.sort, l.reverse = next, false
	if next >= 0 {
		l.reverse = l.cfg.Set.Columns[next].Descending
	}
	l.sortRows()
}

// focus opens the row with an id or name, or the only one of which it is a part.
func (l *List[R]) focus(id string, f *views.Frame) views.Outcome {
	var part backend.Key
	parts := 0
	l.cur.SetSnapshot(f.Snapshot)
	open := func(k backend.Key) views.Outcome {
		l.table.Seek(k)
		l.settled = true
		return views.Outcome{Open: k}
	}
	for row := range l.cfg.Set.All(f.Snapshot) {
		k := l.cfg.Set.Key(row)
		l.cur.Row = row
		name, _ := l.cur.Field(k.Kind.Spec().Name)
		if k.Path().Raw() == id || k.ID.Raw() == id || name == id {
			return open(k)
		}
		if strings.Contains(k.Path().Raw(), id) || name != "" && strings.Contains(name, id) {
			part, parts = k, parts+1
		}
	}
	if parts == 1 {
		return open(part)
	}
	return views.Outcome{}
}

func (l *List[R]) copy() views.Outcome {
	var ids []string
	rows, hidden := l.table.Marked()
	for _, r := range rows {
		ids = append(ids, l.cfg.Set.Key(r).Path().Raw())
	}
	if len(ids) == 0 {
		_, key, ok := l.table.Cursor()
		if !ok {
			return views.Outcome{Say: "the cursor is on no row: nothing copied"}
		}
		ids = []string{key.Path().Raw()}
	}
	say := fmt.Sprintf("%d ids sent to the clipboard", len(ids))
	if len(ids) == 1 {
		say = "id sent to the clipboard"
	}
	if hidden > 0 {
		say += "; " + kit.Count(hidden, "marked row is hidden by the filter and was left out", "marked rows are hidden by the filter and were left out")
	}
	return views.Outcome{Copy: strings.Join(ids, "\n"), Say: say}
}

// Status says where we are and in which order.
func (l *List[R]) Status(f *views.Frame, brief bool) string {
	l.sync(f)
	var parts []string
	if rows, hidden := l.table.Marked(); len(rows)+hidden > 0 {
		parts = append(parts, fmt.Sprintf("%d marked", len(rows)+hidden))
	}
	n, total := l.table.Len(), l.table.Total()
	switch {
	case total == 0:
	case l.table.Pending():
		parts = append(parts, fmt.Sprintf("%s of %s match so far", kit.Number(n), kit.Number(total)))
	case n < total:
		parts = append(parts, fmt.Sprintf("%s of %s match", kit.Number(n), kit.Number(total)))
	case len(l.visible) > 0 && len(l.visible) < n && !(brief && l.ruled):
		parts = append(parts, fmt.Sprintf("%s-%s of %s", kit.Number(l.first+1), kit.Number(l.first+len(l.visible)), kit.Number(n)))
	default:
		parts = append(parts, kit.Count(n, "row", "rows"))
	}
	if away := l.away(); away > 0 {
		parts = append(parts, kit.Number(away)+" pinned not there")
	}
	if fresh := len(l.steady.fresh); fresh > 0 {
		parts = append(parts, kit.Number(fresh)+" new")
	}
	if l.cfg.Aside != nil && n > 0 && n == total && l.width >= wideColumns {
		if text := l.cfg.Aside(f); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, ", ")
}
