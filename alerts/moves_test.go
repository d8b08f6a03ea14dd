package alerts

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// TestAMoveIsKnownToLaterProcesses: seen by one process or between two of them, of a workspace and of a stored reference.
func TestAMoveIsKnownToLaterProcesses(t *testing.T) {
	e := NewEngine(nil, "test")
	session, name := backend.MustID("s1"), backend.MustID("box")
	state := func(n uint64, namespace, sandbox string) *fleet.State {
		w := pastWorkspace("s1")
		w.Provider, w.ProviderID = backend.Text("cloudflare-filestore"), backend.ID{}
		if namespace != "" {
			w.Namespace = backend.MustID(namespace)
		}
		r := &backend.Ref{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "refs", Parent: session, ID: name}, ReadAt: pastNow}, Session: session, Workspace: name}
		if sandbox != "" {
			r.Sandbox = backend.MustID(sandbox)
		}
		return &fleet.State{Number: n, Wall: pastNow.Add(time.Duration(n) * time.Minute), Mono: time.Duration(n) * time.Minute, Workspaces: fleet.NewTable(w), Refs: fleet.NewTable(r),
			Delta: fleet.Delta{Changed: []backend.Key{w.Key, r.Key}}}
	}
	for how, restart := range map[string]bool{"one process": false, "a process each": true} {
		var b *Board
		var told []string
		for n, at := range [][2]string{{"ns0", "sb1"}, {"ns0", "sb1"}, {"", ""}, {"ns0", "sb1"}, {"ns0-new", "sb1"}, {"ns0-new", "sb2"}, {"ns0-new", "sb2"}} {
			if restart && b != nil {
				data, err := encoded(b, ClockReading{Wall: pastNow.Add(time.Duration(n) * time.Minute)})
				if err != nil {
					t.Fatal(err)
				}
				l, err := e.decode(data, ClockReading{Wall: pastNow.Add(time.Duration(n) * time.Minute)})
				if err != nil {
					t.Fatal(err)
				}
				b = l.Board
			}
			var events []backend.Event
			b, events = e.Next(b, state(uint64(n+1), at[0], at[1]))
			for _, x := range events {
				if x.Name == EventStorage {
					told = append(told, x.Text.String())
				}
			}
			if got := len(b.MovesOf(session, name)); n < 4 && got != 0 || n == 4 && got != 1 || n > 4 && got != 2 {
				t.Fatalf("%s, reading %d: %d moves", how, n, got)
			}
		}
		// The reference names no provider, so that its other sandbox can be a new machine, which is daily life.
		if want := []string{"workspace s1/box keeps its files in namespace ns0-new; before it was ns0"}; !slices.Equal(told, want) {
			t.Errorf("%s: the timeline says %q", how, told)
		}
		moves := b.MovesOf(session, name)
		if m := moves[1]; m.Before.Raw() != "ns0" || m.Now.Raw() != "ns0-new" || m.Sandbox {
			t.Errorf("%s: %+v", how, m)
		}
		if m := moves[0]; m.Before.Raw() != "sb1" || m.Now.Raw() != "sb2" || !m.Sandbox || m.Key.Kind != backend.KindRef {
			t.Errorf("%s: %+v", how, m)
		}
		if len(b.MovesOf(backend.MustID("s2"), name)) != 0 {
			t.Error("another session has moves")
		}
	}
}

func TestMovesAreBounded(t *testing.T) {
	all := map[backend.Key]Move{}
	for i := range maxPast + 10 {
		k := backend.Key{Kind: backend.KindWorkspace, Source: "helix", Parent: backend.MustID(fmt.Sprint("s", i)), ID: backend.MustID("box")}
		all[k] = Move{Key: k, At: pastNow.Add(time.Duration(i) * time.Second)}
	}
	if n := len(boundedMoves(all, pastNow)); n != maxPast {
		t.Errorf("%d moves", n)
	}
	if n := len(boundedMoves(all, pastNow.Add(movesSpan+24*time.Hour))); n != 0 {
		t.Errorf("%d old moves", n)
	}
}

// TestAnotherObjectOfAFilestoreIsAnEvent: it holds other files. Another machine of a provider with machines is none.
func TestAnotherObjectOfAFilestoreIsAnEvent(t *testing.T) {
	for provider, want := range map[string]string{"cloudflare-filestore": "workspace s1/box keeps its files in object b; before it was a", "cloudflare-sandbox": ""} {
		w := pastWorkspace("s1")
		w.Provider = backend.Clean(provider, 60)
		m, is := moved(w.Key, storagePlace{sandbox: backend.MustID("a")}, storagePlace{sandbox: backend.MustID("b")}, pastNow)
		if got := m.told(w); !is || got.String() != want {
			t.Errorf("%s: %q", provider, got)
		}
	}
}
