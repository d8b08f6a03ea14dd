package fleet

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"sandglass/backend"
)

// Whatever comes, changes and goes, what is followed from the changes is what a walk through everything finds.
func TestChangesAreFollowed(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	id := func(kind string, n int) backend.ID {
		if i := rng.IntN(n + 2); i < n {
			return backend.MustID(fmt.Sprint(kind, i))
		}
		return backend.ID{}
	}
	s, shared := newStore(0), 0
	for round := range 400 {
		r := backend.Reading{Scopes: []backend.Scope{{Kind: backend.KindWorkspace, Complete: rng.IntN(3) > 0}, {Kind: backend.KindRef, Complete: rng.IntN(3) > 0}}}
		places := 1 + rng.IntN(40)
		for i := range 12 {
			session, name := fmt.Sprint("s", i/3), fmt.Sprint("w", i%3)
			if rng.IntN(4) > 0 {
				w := ws(session, name, "open")
				w.ProviderID, w.Namespace = id("box", places), id("ns", places)
				w.Provider = backend.Clean([]string{"", "local", "cloudflare"}[rng.IntN(3)], 20)
				r.Workspaces = append(r.Workspaces, w)
			}
			if rng.IntN(4) == 0 {
				x := &backend.Ref{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "h", Parent: backend.MustID(session), ID: backend.MustID(name)}},
					Session: backend.MustID(session)}
				x.Sandbox, x.Namespace = id("box", places), id("ns", places)
				r.Refs = append(r.Refs, x)
			}
		}
		if rng.IntN(5) == 0 {
			r.Ended = []backend.Key{wsKey("s0", "w0")}
		}
		st := step(s, t0.Add(time.Duration(round)*time.Second), r)
		walked := *st
		walked.sharing, walked.providers = nil, nil
		for _, p := range []string{"", "local", "cloudflare", "other"} {
			p := backend.Clean(p, 20)
			if got, want, again := st.OfProvider("h", p), walked.OfProvider("h", p), walked.Followed().OfProvider("h", p); got != want || again != want {
				t.Fatalf("round %d: %d workspaces of %q, made anew %d, want %d", round, got, p.String(), again, want)
			}
		}
		for _, within := range []bool{false, true} {
			got, want, again := placesText(st, within), placesText(&walked, within), placesText(walked.Followed(), within)
			if got != want || again != want {
				t.Fatalf("round %d, within %v:\n     got %s\nmade anew %s\n    want %s", round, within, got, again, want)
			}
			if got != "" {
				shared++
			}
		}
	}
	if shared < 100 {
		t.Fatalf("places were shared %d times only", shared)
	}
	end := backend.Reading{Scopes: []backend.Scope{whole(backend.KindWorkspace), whole(backend.KindRef)}}
	for i := range 12 { // their owners say that they ended
		session, name := backend.MustID(fmt.Sprint("s", i/3)), backend.MustID(fmt.Sprint("w", i%3))
		end.Ended = append(end.Ended, wsKey(session.Raw(), name.Raw()), backend.Key{Kind: backend.KindRef, Source: "h", Parent: session, ID: name})
	}
	step(s, t0.Add(1000*time.Second), end)
	if len(s.placeIndex.first)+len(s.placeIndex.more)+len(s.providerCounts.counts) > 0 {
		t.Errorf("what is gone still names %v and %v, and counts %v", s.placeIndex.first, s.placeIndex.more, s.providerCounts.counts)
	}
}

// Places that most have in common are not listed: the walk through all finds them.
func TestSharingOfMost(t *testing.T) {
	var r backend.Reading
	for i := range 2000 {
		w := ws(fmt.Sprint("s", i), "w", "open")
		w.Namespace = backend.MustID("everybody's")
		r.Workspaces = append(r.Workspaces, w)
	}
	st := step(newStore(0), t0, r)
	if st.sharing != nil {
		t.Errorf("%d workspaces are listed", len(st.sharing.workspaces))
	}
	n := 0
	for p := range st.Shared(st.HomeOf, false) {
		n += p.Sessions()
	}
	if n != MaxStorageUsers {
		t.Errorf("%d sessions share it, want %d", n, MaxStorageUsers)
	}
}
