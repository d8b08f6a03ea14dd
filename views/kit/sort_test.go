package kit

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Sorting by digits gives the same order as comparing, for numbers of either sign, texts that begin alike, what is
// unknown, and rows that came later; there and back again.
func TestSortingIsAsComparing(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := 1 + r.IntN(700)
		orders := func() []Order {
			out := make([]Order, 2*n)
			for i := range out {
				switch r.IntN(5) {
				case 0:
					out[i] = Order{Unknown: true}
				case 1:
					out[i].Num = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -1.5, 2e9, -2e-9}[r.IntN(7)]
				case 2:
					out[i].Text = fmt.Sprintf("cloudflare-%c", 'a'+r.IntN(3))
				default:
					out[i] = Order{Num: float64(r.IntN(4)), Text: string(rune('a' + r.IntN(3)))}
				}
			}
			return out
		}
		first := orders()
		by := func(list []Order) func(int) Order { return func(i int) Order { return list[i] } }
		table := NewTable(Rules[int, int]{Key: func(i int) int { return i }, Compare: cmp.Compare[int], Order: by(first)})
		table.Replace(n, func(yield func(int) bool) {
			for i := range n {
				if !yield(i) {
					return
				}
			}
		})
		var later []Change[int, int]
		for i := n; i < 2*n; i += 1 + r.IntN(9) {
			later = append(later, Change[int, int]{Key: i, Row: i})
		}
		for i := 0; i < n; i += 1 + r.IntN(9) {
			later = append(later, Change[int, int]{Key: i, Gone: true})
		}
		table.Apply(later)
		for turn := range 4 {
			table.SetOrder(by(orders()), turn%2 == 1, turn == 2)
			if turn == 3 {
				table.SetOrder(nil, false, seed%2 == 1)
			}
			if !slices.IsSortedFunc(table.all, table.compare) {
				t.Fatalf("seed %d, turn %d: not in order", seed, turn)
			}
			if len(table.items.held) != len(table.all) || len(table.shown) != len(table.all) {
				t.Fatalf("seed %d, turn %d: %d rows of %d, %d shown", seed, turn, len(table.all), len(table.items.held), len(table.shown))
			}
			seen := map[int]bool{}
			for _, it := range table.all {
				key := table.rules.Key(it.row)
				if seen[key] || table.items.find(key) != it {
					t.Fatalf("seed %d, turn %d: row %d is there twice or not at all", seed, turn, key)
				}
				seen[key] = true
			}
		}
	}
}

// Keys of one hash are found, and taken out, apart from each other.
func TestIndexKeepsKeysOfOneHashApart(t *testing.T) {
	x := newIndex(func(n int) int { return n }, 0)
	items := []*item[int, int]{{row: 1}, {row: 2}, {row: 3}}
	for _, it := range items { // as if their hashes were one
		it.next, x.held[0] = x.held[0], it
	}
	for _, gone := range []int{1, 2, 0} {
		h := uint64(0)
		x.unlink(h, items[gone])
		for it, at := 0, x.held[h]; at != nil; it, at = it+1, at.next {
			if at == items[gone] || it > 3 {
				t.Fatalf("%d is still held", gone)
			}
		}
	}
	if len(x.held) != 0 {
		t.Errorf("%d hashes are held of nothing", len(x.held))
	}
}
