package stable

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

type row struct{ rank, place int }

func TestSort(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		rows := make([]row, n)
		for i := range rows {
			rows[i] = row{random.IntN(n/3 + 1), i}
		}
		want := slices.Clone(rows)
		slices.SortStableFunc(want, func(a, b row) int { return cmp.Compare(a.rank, b.rank) })
		Sort(rows, func(a, b row) int { return cmp.Compare(a.rank, b.rank) })
		if !slices.Equal(rows, want) {
			t.Fatalf("%d rows: got %v, want %v", n, rows, want)
		}
	}
}

func TestOrderOfSortedRowsIsNil(t *testing.T) {
	if got := Order(4, func(a, b int) int { return a/2 - b/2 }); got != nil {
		t.Errorf("rows in order were sorted: %v", got)
	}
}
