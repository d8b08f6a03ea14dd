package fleet

import (
	"testing"

	"sandglass/backend"
)

// TestAStoredReferenceNamesTheProvider: a health route names none, the reference does; what the registry names wins.
func TestAStoredReferenceNamesTheProvider(t *testing.T) {
	ref := func(session, name string) *backend.Ref {
		return &backend.Ref{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "r", Parent: backend.MustID(session), ID: backend.MustID(name)}}, Provider: backend.Text("cloudflare-filestore")}
	}
	s := &State{Sources: []*SourceHealth{{Key: backend.Key{Kind: backend.KindSource, Source: "h"}}, {Key: backend.Key{Kind: backend.KindSource, Source: "r"}}}}
	s.Refs = s.Refs.with([]*backend.Ref{ref("a", "fs"), ref("b", "fs")}, nil)
	silent, named, other := ws("a", "fs", "open"), ws("b", "fs", "open"), ws("c", "fs", "open")
	named.Provider = backend.Text("local-bash")
	for w, want := range map[*backend.Workspace]string{silent: "cloudflare-filestore", named: "local-bash", other: ""} {
		if got := s.WithStoredProvider(w).Provider.String(); got != want {
			t.Errorf("%s: %q, want %q", w.Key.Safe(), got, want)
		}
	}
	if !silent.Provider.IsEmpty() {
		t.Error("the registry's reading was changed")
	}
}
