package alerts

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"sandglass/backend"
)

// Whatever changes, counting the changes gives what counting all members gives.
func TestCountingChangesEqualsCountingAll(t *testing.T) {
	states := []AlertState{StateFiring, StateHeld, StatePending, StateEnded}
	at := func(r *rand.Rand) time.Time { return time.Unix(1e9+int64(r.IntN(8)), 0) }
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 7))
		make := func(i int) *record {
			return newFinding(record{
				Key:   backend.Key{Kind: backend.KindWorkspace, Source: "s", Parent: backend.MustID(fmt.Sprint("p", i/3)), ID: backend.MustID(fmt.Sprintf("%02d", i))},
				State: states[r.IntN(4)],
			}, finding{
				Active: at(r), Since: at(r), Confirmed: at(r), Bounds: Bounds{Latest: at(r)},
				Session: backend.MustID(fmt.Sprint("p", r.IntN(5))), Provider: backend.Clean([]string{"", "a", "b"}[r.IntN(3)], 9), Tenant: backend.Clean([]string{"", "t"}[r.IntN(2)], 9),
			})
		}
		present := map[int]*record{}
		var members []*record
		c := tally(nil)
		for step := range 300 {
			var changes []change
			for i := range 40 {
				was := present[i]
				switch x := r.IntN(30); {
				case x == 0 && was != nil:
					delete(present, i)
					changes = append(changes, change{was, nil})
				case x < 3:
					n := make(i)
					present[i] = n
					changes = append(changes, change{was, n})
				}
			}
			slices.SortFunc(changes, func(a, b change) int { return a.key().Compare(b.key()) })
			members = merged(members, changes)
			before := c
			held := reflect.ValueOf(before.live.sessions).Len()
			c = c.with(changes, members)
			if len(before.live.sessions) != held {
				t.Fatal("the count before was changed")
			}
			want := tally(members)
			if len(members) > 0 && c.total(members) != want.total(members) || c.ended != want.ended || c.live.n != want.live.n {
				t.Fatalf("seed %d step %d: by changes\n%+v, want\n%+v", seed, step, c.total(members), want.total(members))
			}
			for _, s := range states[:3] {
				if a, b := c.of(s), want.of(s); a.n != b.n || a.oldest != b.oldest || !a.since.at.Equal(b.since.at) {
					t.Fatalf("seed %d step %d: %s by changes %+v, want %+v", seed, step, s, a, b)
				}
			}
		}
	}
}
