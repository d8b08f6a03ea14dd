package kit

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"sandglass/internal/stable"
)

// Order is what a row is sorted by: by Num, then by Text; unknown values come last in either direction.
type Order struct {
	Num     float64
	Text    string
	Unknown bool
}

// Rules are how a Table treats its rows. Compare is the natural order of rows, which decides between equals; no two rows are
// equal in it.
type Rules[K comparable, R any] struct {
	Key     func(R) K
	Compare func(a, b R) int
	Order   func(R) Order // by the column in force; nil: natural order
	Match   func(R) bool  // nil: all
	Reverse bool
	Turned  bool // the natural order is turned round
}

// Table keeps rows in order and what the cursor and the marks are on. Cursor and marks are kept by key: a row that
// vanishes leaves the cursor on nothing, never on a neighbour. Changes cost what changed, not what there is.
type Table[K comparable, R any] struct {
	rules Rules[K, R]
	items index[K, R]
	store []item[K, R]  // the rows of the last complete list in their natural order, those that are gone since included
	later []*item[K, R] // rows that came after it
	moved bool          // some row of store has another place in the natural order than in store
	all   []*item[K, R] // every row, in order
	shown []*item[K, R] // those of them that match
	// seen is how many rows of all the filter in force has been asked about; the rest follows with Step.
	seen  int
	marks map[K]struct{}

	cursor  K
	hasKey  bool // cursor holds a key
	at      int  // where the cursor was last drawn, to go on from when its row is gone
	top     int
	height  int
	recheck int // where the round of second looks goes on
	spare   []*item[K, R]
	ranks   [2][]rank // to sort with
}

// item is a row. There are many: each field costs its size for every row that there is.
type item[K comparable, R any] struct {
	row    R
	hi, lo uint64 // the order as numbers
	text   string
	next   *item[K, R] // of index
	seq    int32       // position in the natural order, -1 when it came or changed its place later
	shown  bool
	moved  bool
	gone   bool
}

// rank is what most comparisons need, side by side in memory.
type rank struct {
	hi, lo uint64
	at     int // which row it is of
}

// NewTable makes an empty table.
func NewTable[K comparable, R any](rules Rules[K, R]) *Table[K, R] {
	return &Table[K, R]{rules: rules, items: newIndex(rules.Key, 0), marks: map[K]struct{}{}}
}

// Len is the number of rows that match, as far as the filter has got; Total that of all rows.
func (t *Table[K, R]) Len() int { return len(t.shown) }

// Total is the number of all rows.
func (t *Table[K, R]) Total() int { return len(t.all) }

// Each calls f with every row that matches, in order.
func (t *Table[K, R]) Each(f func(R)) {
	for _, it := range t.shown {
		f(it.row)
	}
}

// Pending reports whether the filter in force has not been asked about all rows yet.
func (t *Table[K, R]) Pending() bool { return t.seen < len(t.all) }

// slice is how many rows a filter is asked about at once: a few milliseconds' worth, so that keys are answered between.
const slice = 10_000

// SetOrder changes what rows are sorted by; turned turns the order of equals round too.
func (t *Table[K, R]) SetOrder(order func(R) Order, reverse, turned bool) {
	t.rules.Order, t.rules.Reverse, t.rules.Turned = order, reverse, turned
	t.sortAll()
	t.listMatching()
	t.placeCursor()
}

// SetMatch changes the filter. It is asked about the first rows at once and about the rest with Step; Pending says
// whether there is a rest.
func (t *Table[K, R]) SetMatch(match func(R) bool) {
	t.rules.Match = match
	t.shown, t.seen = t.shown[:0], 0
	for _, it := range t.all {
		it.shown = false
	}
	t.Step()
}

// Step goes on with a filter.
func (t *Table[K, R]) Step() {
	t.step(slice)
	t.placeCursor()
}

func (t *Table[K, R]) step(n int) {
	end := min(t.seen+n, len(t.all))
	for _, it := range t.all[t.seen:end] {
		if it.shown = t.rules.Match == nil || t.rules.Match(it.row); it.shown {
			t.shown = append(t.shown, it)
		}
	}
	t.seen = end
}

// Replace takes a new complete list of rows, in their natural order.
func (t *Table[K, R]) Replace(n int, rows func(yield func(R) bool)) {
	t.items = newIndex(t.rules.Key, n)
	t.store, t.later, t.moved = make([]item[K, R], 0, n), nil, false // one allocation for all
	rows(func(r R) bool {
		t.store = append(t.store, item[K, R]{row: r, seq: int32(len(t.store))})
		return true
	})
	for i := range t.store {
		t.items.add(&t.store[i])
	}
	t.all, t.shown, t.seen = make([]*item[K, R], 0, len(t.store)), t.shown[:0], 0
	t.sortAll()
	t.step(len(t.all))
	t.placeCursor()
}

// Change is a row that is new, changed or gone.
type Change[K comparable, R any] struct {
	Key  K
	Row  R
	Gone bool
}

// rechecked is how many unchanged rows are looked at again with every Apply: order and filter can depend on the time.
const rechecked = 2000

// Apply takes changes. Each costs one visit to its row, and one pass repairs the order. Some unchanged rows are filtered
// and ranked again, in turn.
func (t *Table[K, R]) Apply(changes []Change[K, R]) {
	t.step(len(t.all))
	var fresh []*item[K, R]
	var none R
	dirty := false
	look := func(it *item[K, R], renamed bool) {
		moved, changed := t.reevaluate(it)
		dirty = dirty || changed
		if (moved || renamed) && !it.moved {
			it.moved = true
			fresh = append(fresh, it)
		}
	}
	for _, c := range changes {
		it := t.items.find(c.Key)
		switch {
		case it == nil && c.Gone:
		case it == nil:
			it = &item[K, R]{row: c.Row, seq: -1, moved: true}
			t.items.add(it)
			t.later = append(t.later, it)
			t.rankRow(it)
			it.shown = t.rules.Match == nil || t.rules.Match(it.row)
			fresh = append(fresh, it)
		case c.Gone:
			t.items.remove(it)
			delete(t.marks, c.Key)
			it.gone, it.row, dirty = true, none, true
		default:
			renamed := t.rules.Compare(it.row, c.Row) != 0
			if it.row = c.Row; renamed {
				it.seq, t.moved = -1, true
			}
			look(it, renamed)
		}
	}
	for range min(rechecked, len(t.all)) {
		if t.recheck++; t.recheck >= len(t.all) {
			t.recheck = 0
		}
		if it := t.all[t.recheck]; !it.gone {
			look(it, false)
		}
	}
	if len(fresh) > 0 || dirty {
		t.merge(fresh)
	}
	t.placeCursor()
}

// reevaluate looks at a row again: moved says that it has to be put into its place, changed that it came or went.
func (t *Table[K, R]) reevaluate(it *item[K, R]) (moved, changed bool) {
	hi, lo, text, was := it.hi, it.lo, it.text, it.shown
	t.rankRow(it)
	it.shown = t.rules.Match == nil || t.rules.Match(it.row)
	return hi != it.hi || lo != it.lo || text != it.text, was != it.shown
}

// merge takes rows that left or moved out of the order and puts fresh ones in.
func (t *Table[K, R]) merge(fresh []*item[K, R]) {
	live := fresh[:0]
	for _, it := range fresh {
		if !it.gone {
			live = append(live, it)
		}
	}
	stable.Sort(live, t.compare)
	out := slices.Grow(t.spare[:0], len(t.all)+len(live))
	j := 0
	for _, it := range t.all {
		if it.gone || it.moved {
			continue
		}
		for j < len(live) && t.compare(live[j], it) < 0 {
			out = append(out, live[j])
			j++
		}
		out = append(out, it)
	}
	out = append(out, live[j:]...)
	for _, it := range live {
		it.moved = false
	}
	t.all, t.spare = out, t.all
	t.seen = len(t.all)
	t.listMatching()
}

// listMatching lists the rows that are known to match.
func (t *Table[K, R]) listMatching() {
	t.shown = t.shown[:0]
	for _, it := range t.all {
		if it.shown {
			t.shown = append(t.shown, it)
		}
	}
}

// headLen is how many bytes of a text are a part of the numbers.
const headLen = 8

// rankRow works out a row's place in the order.
func (t *Table[K, R]) rankRow(it *item[K, R]) {
	it.hi, it.lo, it.text = 0, 0, ""
	if t.rules.Order == nil {
		return
	}
	o := t.rules.Order(it.row)
	it.hi, it.text = sortable(o.Num), o.Text
	var head [headLen]byte
	copy(head[:], o.Text)
	it.lo = binary.BigEndian.Uint64(head[:])
	if t.rules.Reverse {
		it.hi, it.lo = ^it.hi, ^it.lo
	}
	if o.Unknown {
		it.hi, it.lo, it.text = math.MaxUint64, math.MaxUint64, ""
	}
}

// sortable maps a number to bits that order as it does; NaN comes first. The last two values are left for the unknown.
func sortable(f float64) uint64 {
	if f != f {
		return 0
	}
	b := math.Float64bits(f + 0) // -0 is 0
	if b>>63 == 1 {
		return ^b
	}
	return b | 1<<63
}

func (t *Table[K, R]) compare(a, b *item[K, R]) int {
	if a.hi != b.hi {
		return cmp.Compare(a.hi, b.hi)
	}
	if a.lo != b.lo {
		return cmp.Compare(a.lo, b.lo)
	}
	if c := strings.Compare(a.text, b.text); c != 0 {
		if t.rules.Reverse {
			return -c
		}
		return c
	}
	if t.rules.Turned {
		a, b = b, a
	}
	if a.seq >= 0 && b.seq >= 0 {
		return int(a.seq - b.seq)
	}
	return t.rules.Compare(a.row, b.row)
}
