package fleet

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"sandglass/backend"
)

// The order that compares bytes close at hand is the order of the keys, whatever the keys share.
func TestOrderOfKeys(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 9))
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	id := func(raw string) (id backend.ID) {
		if raw != "" {
			id, _ = backend.NewID(raw)
		}
		return id
	}
	worlds := map[string]func() backend.Key{
		"sessions": func() backend.Key {
			return backend.Key{Kind: backend.KindSession, Source: "a", ID: id(pick("session-1", "session-10", "session-1\x00", "session-2", "s", "session-00000000000001", "session-00000000000000"))}
		},
		"workspaces": func() backend.Key {
			return backend.Key{Kind: backend.KindWorkspace, Source: "a", Parent: id(pick("session-1", "session-12", "session-1234567890", "session-1234567891")), ID: id(pick("a", "b", "repo", "repo2"))}
		},
		"one parent": func() backend.Key {
			return backend.Key{Kind: backend.KindWorkspace, Source: "a", Parent: id("p"), ID: id(pick("\xff", "\x00", "\x00\x00", "a"))}
		},
		"sources": func() backend.Key {
			return backend.Key{Kind: backend.KindSession, Source: pick("a", "b", "ab"), ID: id(pick("x", "y", "z"))}
		},
		"no parent": func() backend.Key {
			return backend.Key{Kind: backend.KindWorkspace, Source: "a", Parent: id(pick("", "b", "bb")), ID: id(pick("x", "y"))}
		},
	}
	for name, key := range worlds {
		for n := 1; n < 60; n++ {
			keys := make([]backend.Key, n)
			for i := range keys {
				keys[i] = key()
			}
			want := make([]int32, n)
			for i := range want {
				want[i] = int32(i)
			}
			slices.SortStableFunc(want, func(a, b int32) int { return keys[a].Compare(keys[b]) })
			got := orderOfKeys(keys)
			for i := range got {
				if got[i].row != want[i] {
					t.Fatalf("%s: row %d is %v, want %v", name, i, keys[got[i].row], keys[want[i]])
				}
				if i > 0 && got[i].prefix != got[i-1].prefix && keys[got[i].row] == keys[got[i-1].row] {
					t.Fatalf("%s: rows of one key %v have different prefixes", name, keys[got[i].row])
				}
			}
		}
	}
}

// 50,000 workspaces of 16,667 sessions in the order of their creation.
func BenchmarkSortReading(b *testing.B) {
	random := rand.New(rand.NewPCG(7, 9))
	var rows []*backend.Workspace
	for len(rows) < 50_000 {
		parent := fmt.Sprintf("%016x-session", random.Uint64())
		for i := range 3 {
			w := &backend.Workspace{}
			w.Key.Kind, w.Key.Source = backend.KindWorkspace, "eu"
			w.Key.Parent, _ = backend.NewID(parent)
			w.Key.ID, _ = backend.NewID(fmt.Sprint("repo", i))
			rows = append(rows, w)
		}
	}
	for b.Loop() {
		sortRows(rows)
	}
}
