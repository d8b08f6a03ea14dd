package kit

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strings"
)

// Order is what a row is sorted by: by Num, then by Text; what is unknown comes last whichever way round.
type Order struct {
	Num     float64
	Text    string
	Unknown bool
}

// Rules are how a Table treats its rows. Compare is the natural order of keys, which decides between equals.
type Rules[K comparable, R any] struct {
	Key     func(R) K
	Compare func(a, b K) int
	Order   func(R) Order // by the column in force; nil: natural order
	Match   func(R) bool  // nil: all
	Reverse bool
}

// Table keeps rows in order and what the cursor and the marks are on. Cursor and marks are kept by key: a row that
// vanishes leaves the cursor on nothing, never on a neighbour. Changes cost what changed, not what there is.
type Table[K comparable, R any] struct {
	rules Rules[K, R]
	items map[K]*item[K, R]
	all   []*item[K, R] // every row, in no order
	shown []*item[K, R] // rows that match, in order
	marks map[K]struct{}

	cursor   K
	hasKey   bool // cursor holds a key
	at       int  // where the cursor was last drawn, to go on from when its row is gone
	top      int
	height   int
	recheck  int // where the round of second looks goes on
	scratch  []*item[K, R]
	orderNew []*item[K, R]
}

type item[K comparable, R any] struct {
	key    K
	row    R
	hi, lo uint64 // the order as numbers
	text   string
	seq    int // position in the natural order, -1 when it came later
	slot   int // position in all
	shown  bool
	moved  bool
	gone   bool
}

// NewTable makes an empty table.
func NewTable[K comparable, R any](rules Rules[K, R]) *Table[K, R] {
	return &Table[K, R]{rules: rules, items: map[K]*item[K, R]{}, marks: map[K]struct{}{}}
}

// Len is the number of rows that match; Total that of all rows.
func (t *Table[K, R]) Len() int { return len(t.shown) }

// Total is the number of all rows.
func (t *Table[K, R]) Total() int { return len(t.all) }

// SetRules changes filter or order. It looks at every row once.
func (t *Table[K, R]) SetRules(rules Rules[K, R]) {
	t.rules = rules
	t.shown = t.shown[:0]
	for _, it := range t.all {
		t.judge(it)
		if it.shown {
			t.shown = append(t.shown, it)
		}
	}
	t.sortShown()
	t.settle()
}

// Replace takes a new complete list of rows, in their natural order.
func (t *Table[K, R]) Replace(n int, rows func(yield func(R) bool)) {
	t.items = make(map[K]*item[K, R], n)
	t.all, t.shown = make([]*item[K, R], 0, n), t.shown[:0]
	store := make([]item[K, R], n) // one allocation for all
	rows(func(r R) bool {
		i := len(t.all)
		it := &item[K, R]{}
		if i < len(store) {
			it = &store[i]
		}
		it.key, it.row, it.seq, it.slot = t.rules.Key(r), r, i, i
		t.all = append(t.all, it)
		t.items[it.key] = it
		t.judge(it)
		if it.shown {
			t.shown = append(t.shown, it)
		}
		return true
	})
	t.sortShown()
	t.settle()
}

// Change is a row that is new, changed or gone.
type Change[K comparable, R any] struct {
	Key  K
	Row  R
	Gone bool
}

// rechecked is how many unchanged rows are looked at again with every Apply: order and filter can depend on the time.
const rechecked = 2000

// Apply takes changes. Each costs a look at its row; the order is repaired in one pass. Besides, some unchanged rows
// are judged again, in turn.
func (t *Table[K, R]) Apply(changes []Change[K, R]) {
	fresh := t.scratch[:0]
	dirty := false
	for _, c := range changes {
		it := t.items[c.Key]
		switch {
		case it == nil && c.Gone:
			continue
		case it == nil:
			it = &item[K, R]{key: c.Key, seq: -1, slot: len(t.all)}
			t.items[c.Key] = it
			t.all = append(t.all, it)
		case c.Gone:
			t.remove(it)
			dirty = dirty || it.shown
			continue
		}
		it.row = c.Row
		fresh, dirty = t.rejudge(it, fresh, dirty)
	}
	for range min(rechecked, len(t.all)) {
		t.recheck++
		if t.recheck >= len(t.all) {
			t.recheck = 0
		}
		fresh, dirty = t.rejudge(t.all[t.recheck], fresh, dirty)
	}
	if dirty || len(fresh) > 0 {
		t.merge(fresh)
	}
	for _, it := range fresh {
		it.moved = false
	}
	t.scratch = fresh[:0]
	t.settle()
}

// rejudge looks at a row again; it goes to fresh when it has to be put into its place.
func (t *Table[K, R]) rejudge(it *item[K, R], fresh []*item[K, R], dirty bool) ([]*item[K, R], bool) {
	hi, lo, text, was := it.hi, it.lo, it.text, it.shown
	t.judge(it)
	switch {
	case it.moved:
	case !was && it.shown:
		it.moved = true
		return append(fresh, it), dirty
	case was && !it.shown:
		return fresh, true
	case was && (hi != it.hi || lo != it.lo || text != it.text):
		it.moved = true
		return append(fresh, it), true
	}
	return fresh, dirty
}

func (t *Table[K, R]) remove(it *item[K, R]) {
	last := t.all[len(t.all)-1]
	t.all[it.slot], last.slot = last, it.slot
	t.all = t.all[:len(t.all)-1]
	delete(t.items, it.key)
	delete(t.marks, it.key)
	it.gone = true
}

// merge takes rows that left or moved out of the order and puts fresh ones in.
func (t *Table[K, R]) merge(fresh []*item[K, R]) {
	live := fresh[:0]
	for _, it := range fresh {
		if !it.gone && it.shown {
			live = append(live, it)
		}
	}
	slices.SortFunc(live, t.compare)
	out := slices.Grow(t.orderNew[:0], len(t.shown)+len(live))
	j := 0
	for _, it := range t.shown {
		if it.gone || it.moved || !it.shown {
			continue
		}
		for j < len(live) && t.compare(live[j], it) < 0 {
			out = append(out, live[j])
			j++
		}
		out = append(out, it)
	}
	out = append(out, live[j:]...)
	t.shown, t.orderNew = out, t.shown
}

func (t *Table[K, R]) judge(it *item[K, R]) {
	it.shown = t.rules.Match == nil || t.rules.Match(it.row)
	if !it.shown || t.rules.Order == nil {
		it.hi, it.lo, it.text = 0, 0, ""
		return
	}
	o := t.rules.Order(it.row)
	it.hi, it.lo, it.text = sortable(o.Num), 0, o.Text
	var head [8]byte
	copy(head[:], o.Text)
	it.lo = binary.BigEndian.Uint64(head[:])
	if t.rules.Reverse {
		it.hi = ^it.hi
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

func (t *Table[K, R]) sortShown() {
	slices.SortFunc(t.shown, t.compare)
}

func (t *Table[K, R]) compare(a, b *item[K, R]) int {
	if a.hi != b.hi {
		return cmp.Compare(a.hi, b.hi)
	}
	if a.lo != b.lo || a.text != b.text {
		c := cmp.Compare(a.lo, b.lo)
		if c == 0 {
			c = strings.Compare(a.text, b.text)
		}
		if t.rules.Reverse && a.hi != math.MaxUint64 {
			return -c
		}
		return c
	}
	if a.seq >= 0 && b.seq >= 0 {
		return a.seq - b.seq
	}
	return t.rules.Compare(a.key, b.key)
}
