package examine

import (
	"testing"

	"sandglass/backend"
)

// A framework's own words for workspaces are no fault of the source; a machine's state that its engine does not document is one.
func TestAHealthySourceWithItsOwnWordsIsHealthy(t *testing.T) {
	for of, want := range map[backend.Kind]int{backend.KindWorkspace: 0, backend.KindSandbox: 1} {
		x := &examination{Report: &Report{}}
		x.States = []State{{Of: of, Reported: backend.Text("open"), Count: 752}}
		if got := x.exitCode(true, nil); got != want {
			t.Errorf("a %s that is open: exit code %d, want %d", of, got, want)
		}
	}
}
