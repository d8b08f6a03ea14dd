package fleet

import (
	"testing"

	"sandglass/backend"
)

// A source of scratch directories lists those of its host: such a list is complete although it has a parent.
func TestAListOfOneHostsScratchDirectoriesIsComplete(t *testing.T) {
	for _, complete := range []bool{true, false} {
		f := newListFleet("tmp")
		at := backend.Instant{Wall: t0}
		r := &backend.Reading{Source: "tmp", At: t0, Scopes: []backend.Scope{{Kind: backend.KindTmpdir, Parent: backend.MustID("build-7"), Complete: complete}}}
		s := f.folder.Fold([]backend.Answer{{Source: "tmp", Reading: r, Started: at, Ended: at}}, at)
		if got := s.LastCompleteList("tmp", backend.KindTmpdir); got.Equal(t0) != complete {
			t.Errorf("complete %t: read at %v", complete, got)
		}
	}
}
