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

// TestThoseThatWaitAreCountedApart: the numbers of an alert that fires are those of what fires; what only pending members have is in none.
func TestThoseThatWaitAreCountedApart(t *testing.T) {
	at := time.Unix(1e9, 0)
	one := func(id string, s AlertState, session, tenant string, ago time.Duration) *record {
		return newFinding(record{Key: backend.Key{Kind: backend.KindSandbox, Source: "s", ID: backend.MustID(id)}, State: s},
			finding{Active: at.Add(-ago), Since: at.Add(-ago), Confirmed: at.Add(-ago / 2), Session: backend.MustID(session), Tenant: backend.Clean(tenant, 9), Values: id})
	}
	members := []*record{one("a", StateFiring, "x", "t", time.Minute), one("b", StatePending, "x", "t", time.Hour), one("c", StatePending, "y", "u", time.Second), one("d", StateEnded, "z", "v", time.Hour)}
	c := tally(members)
	got := c.total(members)
	if got.state != StateFiring || got.count != 1 || got.pending != 2 || got.sessions != 1 || got.tenants != 1 || got.session.id.Raw() != "x" || got.tenant.String() != "t" || got.oldest != members[0] {
		t.Errorf("%+v", got)
	}
	if !got.active.Equal(at.Add(-time.Minute)) || !got.confirmed.Equal(at.Add(-30*time.Second)) || len(c.counted().by) != 1 || c.counted().by["a"] != 1 {
		t.Errorf("active %s, confirmed %s, values %v", got.active, got.confirmed, c.counted().by)
	}
	waits := members[1:3]
	c = tally(waits)
	if got = c.total(waits); got.state != StatePending || got.count != 2 || got.pending != 0 || got.sessions != 2 {
		t.Errorf("all pending: %+v", got)
	}
}
