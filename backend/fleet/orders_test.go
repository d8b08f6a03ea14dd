package fleet

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"sandglass/backend"
)

// What an earlier list looked like never changes the order of this one: rows move, come, go and come twice.
func TestAnEarlierOrderChangesNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	row := func(n int) *backend.Session {
		return &backend.Session{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSession, Source: "s", ID: backend.MustID(fmt.Sprintf("id-%03d", n))}}}
	}
	var rows []*backend.Session
	for n := range 50 {
		rows = append(rows, row(n))
	}
	random.Shuffle(len(rows), func(a, b int) { rows[a], rows[b] = rows[b], rows[a] })
	var known orders
	reused := 0
	for turn := range 400 {
		switch i := random.IntN(len(rows)); turn % 8 {
		case 1:
			rows = append(rows, row(100+turn))
		case 3:
			rows = slices.Delete(slices.Clone(rows), i, i+1)
		case 4:
			rows[i], rows[0] = rows[0], rows[i]
		case 5:
			rows = append(rows, row(int(rows[i].Key.ID.Raw()[3]-'0'))) // perhaps a second of one key
		}
		if turn%8 == 6 { // each once again, in other places
			once := backend.Reading{Sessions: rows}
			sortReading(&once)
			rows = slices.Clone(once.Sessions)
			random.Shuffle(len(rows), func(a, b int) { rows[a], rows[b] = rows[b], rows[a] })
		}
		before := known.last[1]
		fresh, cached := backend.Reading{Sessions: slices.Clone(rows)}, backend.Reading{Sessions: slices.Clone(rows)}
		sortReading(&fresh)
		known.sort(&cached)
		if !slices.Equal(fresh.Sessions, cached.Sessions) {
			t.Fatalf("turn %d: another order", turn)
		}
		if len(before) > 0 && len(known.last[1]) > 0 && &before[0] == &known.last[1][0] {
			reused++
		}
	}
	if reused < 100 {
		t.Errorf("an earlier order was used %d times", reused)
	}
}
