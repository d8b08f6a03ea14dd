package kit

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// Within orders by group first, then as rows are ordered without groups.
func TestWithin(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	type row struct {
		group string
		o     Order
	}
	texts := []string{"", "a", "ab", "b", "\xff", "ä"}
	for range 2000 {
		reverse := r.IntN(2) == 0
		rows := make([]row, 2)
		for i := range rows {
			rows[i] = row{texts[r.IntN(3)], Order{Num: float64(r.IntN(3) - 1), Text: texts[r.IntN(len(texts))], Unknown: r.IntN(5) == 0}}
		}
		a, b := rows[0], rows[1]
		want := cmp.Compare(a.group, b.group)
		if want == 0 {
			inner := cmp.Or(cmp.Compare(a.o.Num, b.o.Num), cmp.Compare(a.o.Text, b.o.Text))
			if reverse {
				inner = -inner
			}
			switch {
			case a.o.Unknown && b.o.Unknown:
				inner = 0
			case a.o.Unknown:
				inner = 1
			case b.o.Unknown:
				inner = -1
			}
			want = inner
		}
		if got := cmp.Compare(a.o.Within(0, a.group, reverse).Text, b.o.Within(0, b.group, reverse).Text); got != want {
			t.Fatalf("%+v and %+v, reverse %v: %d, want %d", a, b, reverse, got, want)
		}
	}
	one, two := Order{}.Within(0, "z", false), Order{}.Within(1, "", false)
	if !slices.IsSortedFunc([]Order{one, two}, func(a, b Order) int { return cmp.Compare(a.Num, b.Num) }) {
		t.Error("rows without a group come first")
	}
}
