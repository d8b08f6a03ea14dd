package browse

import (
	"fmt"
	"strings"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/subjects"
	"sandglass/views/theme"
)

// Widths at which the layout changes, in cells.
const (
	wideColumns  = 100 // columns that a narrow screen folds into one stand apart
	extraColumns = 180 // columns of `-o wide` are offered too
	besideFrom   = 160 // the pane stands beside the table
)

// gutter is what stands left of the first column: cursor and mark.
const gutter = 3

// Render draws the screen.
func (l *List[R]) Render(w, h int, f *views.Frame) kit.Block {
	l.sync(f)
	l.look, l.width, l.ruled = f.Theme, w, false
	var strip []string
	if l.cfg.Strip != nil {
		strip = l.cfg.Strip(f, w)
	}
	if len(strip) > h/2 {
		strip = nil // rows first
	}
	h -= len(strip)
	l.drawn = drawn{above: len(strip)}
	body := l.body(w, h, f)
	if len(strip) == 0 {
		return body
	}
	return kit.Stack(kit.NewBlock(w, len(strip), strip), body)
}

// Need is the number of lines the screen could use.
func (l *List[R]) Need(w int, f *views.Frame) int {
	l.sync(f)
	n := 1 + l.table.Len() + l.heads() + len(l.topRows(l.table.Len()))
	if l.cfg.Strip != nil {
		n += len(l.cfg.Strip(f, w))
	}
	if l.cfg.Pane != nil && w < besideFrom && !l.wide {
		n += 10
	}
	return n
}

func (l *List[R]) body(w, h int, f *views.Frame) kit.Block {
	switch {
	case l.table.Len() == 0:
		l.visible = nil
		return l.empty(w, h, f)
	case l.wide:
		return l.rows(w, h)
	case l.cfg.Pane == nil && w >= besideFrom && h >= paneFrom:
		left := max(wideColumns+10, w*62/100)
		return kit.Beside(f.Theme, l.rows(left, h), l.details(w-left-3, h, f))
	case l.cfg.Pane == nil:
		return l.withRest(w, h, f)
	case w >= besideFrom:
		left := max(wideColumns+10, w*62/100)
		return kit.Beside(f.Theme, l.left(left, h, f), l.pane(w-left-3, h, f, Beside))
	}
	// The split does not depend on the row under the cursor, so that nothing jumps when it moves.
	th := min(1+l.table.Len()+l.heads()+len(l.topRows(h)), max(4, min(h*55/100, max(7, h-leastPane))))
	if h-th < 4 {
		return l.rows(w, h)
	}
	table := l.rows(w, th)
	note := ""
	if l.first > 0 {
		note = fmt.Sprintf("%s above ↑  ", kit.Number(l.first))
	}
	if below := l.table.Len() - l.first - len(l.visible); below > 0 {
		note += fmt.Sprintf("%s more ↓", kit.Number(below))
	}
	note, l.ruled = strings.TrimSpace(note), true
	rule := kit.NewBlock(w, 1, []string{kit.RuleWith(f.Theme, w, theme.Strong, note)})
	return kit.Stack(table, rule, l.pane(w, h-th-1, f, Below))
}

// leastPane is how many lines a pane below a table and its rule get before a long table gets more than seven.
const leastPane = 12

// paneFrom is the height from which a wide table without a pane of its own has the details of its row beside it.
const paneFrom = 40

// details is what is known about the row under the cursor, as far as it fits.
func (l *List[R]) details(w, h int, f *views.Frame) kit.Block {
	_, key, ok := l.table.Cursor()
	if !ok {
		return kit.NewBlock(w, h, nil)
	}
	doc, _ := subjects.Doc(key, f)
	lines := doc.Layout(f.Theme, w)
	if more := len(lines) - h; more > 0 {
		lines = append(lines[:h-1], kit.NewLine(f.Theme, w).End(theme.Dim, kit.Count(more+1, "more line: enter ", "more lines: enter ")).String())
	}
	return kit.NewBlock(w, h, lines)
}

// leastBeneath is how many lines what stands beneath a table must have to be worth its rule.
const leastBeneath = 8

// left is the table and, where that is short, what stands beneath it. Where the split is depends on the number of rows
// alone, so that nothing jumps when the cursor moves.
func (l *List[R]) left(w, h int, f *views.Frame) kit.Block {
	th := min(2+l.table.Len()+l.heads()+len(l.topRows(h)), max(4, h*55/100))
	row, ok := l.Selected()
	if l.cfg.Beneath == nil || h-th-1 < leastBeneath || !ok {
		return l.rows(w, h)
	}
	table := l.rows(w, th)
	room := h - th - 1
	return kit.Stack(table, kit.NewBlock(w, 1, []string{kit.Rule(f.Theme, w)}), kit.NewBlock(w, room, l.cfg.Beneath(f, row, w, room)))
}

func (l *List[R]) pane(w, h int, f *views.Frame, room Room) kit.Block {
	row, ok := l.Selected()
	if !ok {
		doc := &kit.Doc{}
		if l.cfg.Gone != nil {
			doc = l.cfg.Gone(f, l.last, l.lost)
		}
		doc.Line(kit.Span{Tone: theme.Dim, Text: "The row under the cursor is gone: move the cursor."})
		return kit.NewBlock(w, h, doc.Layout(f.Theme, w))
	}
	doc := l.cfg.Pane(f, row, room)
	lines, more := doc.Fit(f.Theme, w, h)
	if more > 0 && room == Below {
		doc = l.cfg.Pane(f, row, Tight)
		lines, more = doc.Fit(f.Theme, w, h)
	}
	if more > 0 && h > 1 {
		lines, more = doc.Fit(f.Theme, w, h-1)
		lines = append(lines, kit.NewLine(f.Theme, w).End(theme.Dim, kit.Count(more, "more line: enter ", "more lines: enter ")).String())
	}
	return kit.NewBlock(w, h, lines)
}

// placed are the rows in sight and the places of the columns.
type placed[R any] struct {
	top, rows   []kit.Row[R]
	each, above int
	slots       []slot
}

// rows draws the table: a head line and the visible rows.
func (l *List[R]) rows(w, h int) kit.Block { return l.drawRows(w, h, l.place(w, h)) }

func (l *List[R]) drawRows(w, h int, p placed[R]) kit.Block {
	t, slots := l.look, p.slots
	l.shown, l.slotted = l.shown[:0], slots
	for _, s := range slots {
		l.shown = append(l.shown, s.Column)
	}
	lines := make([]string, 0, h)
	l.drawn.width, l.drawn.rows = w, l.drawn.rows[:0]
	l.first, l.visible = p.above, l.visible[:0:0]
	add := func(line string, k backend.Key) {
		lines, l.drawn.rows = append(lines, line), append(l.drawn.rows, k)
	}
	add(head(t, w, slots, l.sort, l.reverse), backend.Key{})
	put := func(r kit.Row[R]) backend.Key {
		k := l.cfg.Set.Key(r.Row)
		l.visible = append(l.visible, k)
		add(l.row(t, w, slots, r), k)
		return k
	}
	for _, r := range p.top {
		if k := put(r); p.each > 1 {
			add(l.vitals(t, w, k), k)
		}
	}
	last := ""
	for i, r := range p.rows {
		if l.groups.by != "" {
			if group := l.groupOf(r.Row); i == 0 || group != last {
				add(l.groupHead(t, w, group), backend.Key{})
				last = group
			}
		}
		above := l.above(r.Row)
		for _, spans := range above[max(0, len(above)-max(0, h-len(lines)-1)):] {
			add(kit.NewLine(t, w).Gap(gutter).PutSpans(spans...).String(), backend.Key{})
		}
		put(r)
	}
	return kit.NewBlock(w, h, lines)
}

// place finds the rows in sight and gives columns their places: no more than these rows need, and nothing to a column in which all
// of them say the same, as long as a flexible column lacks room.
func (l *List[R]) place(w, h int) (p placed[R]) {
	p.top, p.each, p.rows, p.above = l.window(h - 1)
	cols := make([]column, len(l.cfg.Set.Columns))
	local, said := l.cur.Snapshot().Local(), l.ask()
	for i := range cols {
		c := &l.cfg.Set.Columns[i]
		hidden := !l.offered(i, w) || !l.chosen[c.Name] && i != l.sort && said[i].needless
		cols[i] = column{kit.Column{Title: c.Title, Brief: c.Brief, Right: c.Align == subjects.Right, Min: c.Min, Ideal: max(c.Ideal, said[i].wanted),
			Flex: c.Flex, Priority: c.Priority, Hidden: hidden}, c.Follows}
		if local && c.Local > 0 && !said[i].urgent {
			cols[i].Priority, cols[i].Hidden = c.Local, c.Needed != nil && hidden
		}
		if on, chosen := l.chosen[c.Name]; chosen || i == l.sort {
			cols[i].Priority, cols[i].Hidden = min(c.Priority, 1), chosen && !on
		}
	}
	var of [][]cell
	for _, rows := range [][]kit.Row[R]{p.top, p.rows} {
		for _, r := range rows {
			cells := l.cellsOf(r.Row)
			for i := range cols {
				if !cols[i].Hidden {
					l.cell(r.Row, cells, i)
				}
			}
			of = append(of, cells)
		}
	}
	p.slots = slots(cols, of, l.sort, w, local)
	return p
}

func (l *List[R]) row(t *theme.Theme, w int, slots []slot, r kit.Row[R]) string {
	line := kit.NewLine(t, w)
	if r.OnCursor {
		line.OnCursor()
	}
	l.cur.Row = r.Row
	stale := l.cur.Stale()
	muted := l.cur.Muted() || stale
	line.Gap(1)
	if r.OnCursor {
		line.Put(theme.Accent, "›")
	} else {
		line.Gap(1)
	}
	switch {
	case r.Marked:
		line.Put(theme.Accent, "*")
	case stale:
		line.Put(theme.Warn, t.Mark(theme.MarkHeld))
	case l.pinned.pins.Place(l.cfg.Set.Key(r.Row)) >= 0:
		line.Put(theme.Accent, "^")
	case l.steady.fresh[l.cfg.Set.Key(r.Row)]:
		line.Put(theme.Accent, "+")
	case l.cfg.Under != nil && l.natural() && l.cfg.Under(l.cur.Snapshot(), r.Row):
		line.Put(theme.Dim, "└")
	}
	cells := l.cellsOf(r.Row)
	for _, s := range slots {
		line.PadTo(s.X)
		drawCell(line, t, l.cell(r.Row, cells, s.Column), s, muted)
	}
	return line.String()
}

// empty says why there are no rows and what is waited for.
func (l *List[R]) empty(w, h int, f *views.Frame) kit.Block {
	doc := &kit.Doc{}
	doc.Blank()
	switch {
	case l.table.Total() > 0:
		doc.Line(kit.Span{Tone: theme.Strong, Text: fmt.Sprintf("No row matches  %s", l.filterIn)})
		doc.Line(kit.Span{Tone: theme.Dim, Text: kit.Count(l.table.Total(), "row is hidden.", "rows are hidden.") + " esc clears the filter."})
	case Waiting(f):
		Connecting(doc, f)
	case l.cfg.Nothing != nil:
		doc = l.cfg.Nothing(f)
	default:
		doc.Line(kit.Span{Tone: theme.Strong, Text: "Nothing to show"})
	}
	return kit.NewBlock(w, h, doc.Layout(f.Theme, w))
}

// Waiting reports whether no source has answered yet.
func Waiting(f *views.Frame) bool {
	for _, h := range f.State.Sources {
		if !h.LastOK.IsZero() || h.Status == fleet.StatusAbsent {
			return false
		}
	}
	return true
}

// Connecting lists the sources that have not answered yet and what each is waiting for.
func Connecting(doc *kit.Doc, f *views.Frame) {
	doc.Line(kit.Span{Tone: theme.Strong, Text: "Waiting for the first reading"})
	doc.Blank()
	if len(f.State.Sources) == 0 {
		doc.Field("", kit.Span{Tone: theme.Dim, Text: "no source has been started yet"})
	}
	for _, h := range f.State.Sources {
		c := subjects.StatusCell(h.Status)
		spans := []kit.Span{{Tone: c.Tone, Text: f.Theme.Mark(c.Mark) + " " + c.Text.String()}}
		if !h.Error.IsEmpty() {
			spans = append(spans, kit.Span{Tone: theme.Normal, Text: ": " + h.Error.String()})
		}
		if wait := h.NextPoll.Sub(f.Now); !h.Answers() && wait > 0 {
			spans = append(spans, kit.Span{Tone: theme.Dim, Text: ", next try in " + backend.Age(wait)})
		}
		doc.Field(h.Key.Source, spans...)
	}
}
