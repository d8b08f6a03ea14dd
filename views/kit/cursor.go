package kit

import (
	"slices"
)

// Cursor returns the row under the cursor; ok is false when the cursor is on nothing.
func (t *Table[K, R]) Cursor() (row R, key K, ok bool) {
	if i := t.index(); i >= 0 {
		return t.shown[i].row, t.rules.Key(t.shown[i].row), true
	}
	return row, key, false
}

// Index is the cursor's place among the shown rows, -1 when it is on nothing.
func (t *Table[K, R]) Index() int { return t.index() }

func (t *Table[K, R]) index() int {
	if !t.hasKey {
		return -1
	}
	it := t.items.find(t.cursor)
	if it == nil || !it.shown {
		return -1
	}
	if t.at < len(t.shown) && t.at >= 0 && t.shown[t.at] == it {
		return t.at
	}
	return slices.Index(t.shown, it)
}

// placeCursor keeps the cursor's row at its height on the screen after the order changed. It puts the cursor on the first
// row of a table that never had one. A table that shows its first row keeps showing it while the cursor's row stays
// visible, so that new rows at the top are seen.
func (t *Table[K, R]) placeCursor() {
	if !t.hasKey {
		if len(t.shown) > 0 {
			t.cursor, t.hasKey, t.at, t.top = t.rules.Key(t.shown[0].row), true, 0, 0
		}
		return
	}
	if i := t.index(); i >= 0 {
		if t.top > 0 || i >= t.height {
			t.top += i - t.at
		}
		t.at = i
	}
	t.scroll()
}

// scroll keeps the window inside the rows, and the cursor inside the window when it is on a row.
func (t *Table[K, R]) scroll() {
	if i := t.index(); i >= 0 && t.height > 0 {
		t.top = max(min(t.top, i), i-t.height+1)
	}
	t.top = max(0, min(t.top, len(t.shown)-t.height))
}

// Move moves the cursor by n rows. If its row is gone, the move starts where the row was.
func (t *Table[K, R]) Move(n int) {
	i := t.index()
	switch {
	case i >= 0:
		i += n
	case n > 0:
		i = t.at + n - 1
	default:
		i = t.at + n
	}
	t.moveTo(i)
}

// Page moves the cursor by n screens.
func (t *Table[K, R]) Page(n int) {
	step := n * max(1, t.height-1)
	t.top += step
	t.Move(step)
}

// First and Last move the cursor to the ends.
func (t *Table[K, R]) First() { t.moveTo(0) }

// Last moves the cursor to the last row.
func (t *Table[K, R]) Last() { t.moveTo(len(t.shown) - 1) }

func (t *Table[K, R]) moveTo(i int) {
	if len(t.shown) == 0 {
		return
	}
	i = max(0, min(i, len(t.shown)-1))
	t.cursor, t.hasKey, t.at = t.rules.Key(t.shown[i].row), true, i
	t.scroll()
}

// Seek puts the cursor on the row with that key and reports whether it is shown.
func (t *Table[K, R]) Seek(k K) bool {
	it := t.items.find(k)
	if it == nil || !it.shown {
		return false
	}
	t.moveTo(slices.Index(t.shown, it))
	return true
}

// ToggleMark marks the row under the cursor or takes its mark off.
func (t *Table[K, R]) ToggleMark() {
	i := t.index()
	if i < 0 {
		return
	}
	k := t.rules.Key(t.shown[i].row)
	if _, marked := t.marks[k]; marked {
		delete(t.marks, k)
		return
	}
	t.marks[k] = struct{}{}
}

// ClearMarks takes all marks off and reports whether there were any.
func (t *Table[K, R]) ClearMarks() bool {
	had := len(t.marks) > 0
	clear(t.marks)
	return had
}

// MarkedKeys returns the keys of the marked rows that are shown, in order, and of those that are not, in any order.
func (t *Table[K, R]) MarkedKeys() (shown, hidden []K) {
	if len(t.marks) == 0 {
		return nil, nil
	}
	seen := make(map[K]bool, len(t.marks))
	for _, it := range t.shown {
		k := t.rules.Key(it.row)
		if _, ok := t.marks[k]; ok {
			shown = append(shown, k)
			seen[k] = true
		}
	}
	for k := range t.marks {
		if !seen[k] {
			hidden = append(hidden, k)
		}
	}
	return shown, hidden
}

// Marked returns the marked rows that are shown, in order, and how many marked ones are hidden.
func (t *Table[K, R]) Marked() (rows []R, hidden int) {
	if len(t.marks) == 0 {
		return nil, 0
	}
	for _, it := range t.shown {
		if _, ok := t.marks[t.rules.Key(it.row)]; ok {
			rows = append(rows, it.row)
		}
	}
	return rows, len(t.marks) - len(rows)
}

// Row is a visible row.
type Row[R any] struct {
	Row      R
	OnCursor bool
	Marked   bool
}

// Top returns the first n rows, wherever the window is.
func (t *Table[K, R]) Top(n int) (rows []Row[R]) {
	cursor := t.index()
	for i, it := range t.shown[:max(0, min(n, len(t.shown)))] {
		_, marked := t.marks[t.rules.Key(it.row)]
		rows = append(rows, Row[R]{Row: it.row, OnCursor: i == cursor, Marked: marked})
	}
	return rows
}

// Has reports whether there is a row with that key, shown or not.
func (t *Table[K, R]) Has(k K) bool { return t.items.find(k) != nil }

// Window returns the rows that are visible in height lines, and how many lie above and below.
func (t *Table[K, R]) Window(height int) (rows []Row[R], above, below int) {
	t.height = max(height, 0)
	t.scroll()
	end := min(t.top+t.height, len(t.shown))
	cursor := t.index()
	for i := t.top; i < end; i++ {
		it := t.shown[i]
		_, marked := t.marks[t.rules.Key(it.row)]
		rows = append(rows, Row[R]{Row: it.row, OnCursor: i == cursor, Marked: marked})
	}
	return rows, t.top, len(t.shown) - end
}
