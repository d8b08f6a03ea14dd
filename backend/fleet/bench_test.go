package fleet

import (
	"fmt"
	"testing"
	"time"

	"sandglass/backend"
)

func bigReading(n, changed int) backend.Reading {
	r := backend.Reading{Scopes: []backend.Scope{whole(backend.KindWorkspace)}}
	for i := range n {
		state := "open"
		if i%100 == 0 && changed > 0 {
			state = fmt.Sprint("s", changed)
		}
		r.Workspaces = append(r.Workspaces, boxed(i, state))
	}
	return r
}

// boxed is a workspace with a sandbox of its own.
func boxed(i int, state string) *backend.Workspace {
	w := ws(fmt.Sprintf("session-%06d", i/4), fmt.Sprint("w", i%4), state)
	w.ProviderID = backend.MustID(fmt.Sprintf("sandbox-%06d", i))
	return w
}

// BenchmarkShared finds the places that several sessions use, of which there are none.
func BenchmarkShared(b *testing.B) {
	st := step(newStore(0), t0, bigReading(100_000, 0))
	b.ReportAllocs()
	for b.Loop() {
		for p := range st.Shared(st.HomeOf, true) {
			b.Fatalf("%v is shared", p)
		}
	}
}

// BenchmarkMerge merges a complete reading of a fleet in which one workspace of a hundred changed; the others are the
// entities of the reading before, as the adapters hand them over when nothing changed.
func BenchmarkMerge(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := newStore(0)
			base := bigReading(n, 0)
			step(s, t0, base)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i++
				b.StopTimer()
				r := base
				r.Workspaces = append([]*backend.Workspace(nil), base.Workspaces...)
				for j := 0; j < n; j += 100 {
					r.Workspaces[j] = boxed(j, fmt.Sprint("s", i))
				}
				b.StartTimer()
				step(s, t0.Add(time.Duration(i)*time.Second), r)
			}
		})
	}
}
