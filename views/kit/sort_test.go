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
			table.SetOrder(by(orders()), turn%2 == 1)
			if turn == 3 {
				table.SetOrder(nil, false)
			}
			if !slices.IsSortedFunc(table.all, table.compare) {
				t.Fatalf("seed %d, turn %d: not in order", seed, turn)
			}
			if len(table.items) != len(table.all) || len(table.shown) != len(table.all) {
				t.Fatalf("seed %d, turn %d: %d rows of %d, %d shown", seed, turn, len(table.all), len(table.items), len(table.shown))
			}
			seen := map[int]bool{}
			for _, it := range table.all {
				if seen[it.key] || table.items[it.key] != it {
					t.Fatalf("seed %d, turn %d: row %d is there twice or not at all", seed, turn, it.key)
				}
				seen[it.key] = true
			}
		}
	}
}
