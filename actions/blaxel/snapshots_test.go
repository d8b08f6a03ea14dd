package blaxel

import (
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// TestOnlyAReadySnapshotCouldRestore, and it comes first, however old it is; nothing is promised of a status that nobody knows.
func TestOnlyAReadySnapshotCouldRestore(t *testing.T) {
	of := func(name, status backend.Literal) backend.Snapshot {
		return backend.Snapshot{ID: backend.MustID(string(name)), Name: backend.Text(name), Status: backend.Text(status)}
	}
	failed, pending, odd, ready := of("a", "failed"), of("b", "PENDING"), of("c", "FROZEN"), of("d", "ready")
	for name, c := range map[string]struct {
		all  []backend.Snapshot
		want []string
	}{
		"none":          {nil, []string{"no snapshot of the workspace is of it"}},
		"ready":         {[]backend.Snapshot{ready}, []string{"snapshot d at a time that is not told (ready) could restore"}},
		"failed":        {[]backend.Snapshot{failed}, []string{"no snapshot of it is ready", "(failed) restores nothing"}},
		"not taken yet": {[]backend.Snapshot{pending, odd}, []string{"no snapshot of it is ready", "(PENDING) restores nothing yet", "(FROZEN) may restore"}},
		"the oldest":    {[]backend.Snapshot{failed, pending, odd, ready}, []string{"snapshot d", "snapshot a", "snapshot b", "1 more of it is not shown"}},
		"without words": {[]backend.Snapshot{of("e", "")}, []string{"no snapshot of it is ready", "(no status) may restore"}},
	} {
		var b backend.Sandbox
		b.SnapshotsAt, b.Snapshots = time.Unix(1, 0), c.all
		got := restores(&b)
		if len(got) != len(c.want) {
			t.Errorf("%s: %v", name, got)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(got[i].String(), want) {
				t.Errorf("%s: %s; want %s", name, got[i], want)
			}
		}
	}
}
