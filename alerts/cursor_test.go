package alerts

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"sandglass/backend"
)

func TestFinderFindsWhatIsThere(t *testing.T) {
	key := func(i int) backend.Key {
		return backend.Key{Kind: backend.KindSession, Source: "s", ID: backend.MustID(fmt.Sprintf("%05d", i))}
	}
	for n := range 40 {
		var rs []*record
		for i := range n {
			rs = append(rs, &record{Key: key(3 * i)})
		}
		r := rand.New(rand.NewPCG(uint64(n), 1))
		f := recordCursor{rs: rs}
		for x := range 400 {
			i := x % (3*n + 2) // in order, and then anywhere
			if x > 200 {
				i = r.IntN(3*n + 2)
			}
			got := f.get(key(i))
			if want := i%3 == 0 && i/3 < n; (got != nil) != want || got != nil && got.Key != key(i) {
				t.Fatalf("of %d: %d gives %v", n, i, got)
			}
		}
	}
}
