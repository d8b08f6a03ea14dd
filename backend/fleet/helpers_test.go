package fleet

import (
	"fmt"
	"testing"
	"time"

	"sandglass/backend"
)

var t0 = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func wsKey(session, name string) backend.Key {
	return backend.Key{Kind: backend.KindWorkspace, Source: "h", Parent: backend.MustID(session), ID: backend.MustID(name)}
}

func ws(session, name, state string) *backend.Workspace {
	return &backend.Workspace{Meta: backend.Meta{Key: wsKey(session, name)}, Reported: backend.Clean(state, 50)}
}

func sess(id string) *backend.Session {
	return &backend.Session{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSession, Source: "h", ID: backend.MustID(id)}}}
}

func whole(k backend.Kind) backend.Scope { return backend.Scope{Kind: k, Complete: true} }

// step applies a reading and builds the next State.
func step(s *store, at time.Time, r backend.Reading) *State {
	r.Source, r.At = "h", at
	sortReading(&r)
	s.apply(&r)
	return s.build(at, at.Sub(t0), nil)
}

func names(st *State) string {
	out := ""
	for w := range st.Workspaces.All() {
		mark := ""
		if w.Stale {
			mark = "~"
		}
		out += fmt.Sprintf("%s%s=%s ", mark, w.Key.Path().Raw(), w.Reported)
	}
	return out
}

func wantNames(t *testing.T, st *State, want string) {
	t.Helper()
	if got := names(st); got != want {
		t.Errorf("State %d holds %q, want %q", st.Number, got, want)
	}
}
