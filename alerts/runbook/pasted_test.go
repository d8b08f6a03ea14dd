package runbook

import (
	"strings"
	"testing"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestCommandsThatThisRunCanTake: a printed command has the flags of this run, and none is named that its sources refuse.
func TestCommandsThatThisRunCanTake(t *testing.T) {
	w := world{workspaces: []*backend.Workspace{broken("s1", "box", backend.ClassFailed, "ENOSPC: no space left on device, write", provider("docker"))}}
	first := func(w world, flags string) string {
		st := w.state()
		st.Reach.Flags = flags
		d := Diagnose("1", st, &alerts.Board{}, wsKey("s1", "box"))
		if len(d.Do) == 0 {
			t.Fatalf("no step: %s", d.Conclusion)
		}
		return d.Do[0].String()
	}
	if got := first(w, ""); !strings.HasPrefix(got, "Make room. List leftovers: sandglass clean --dry-run.") {
		t.Errorf("without flags: %q", got)
	}
	if got := first(w, "--config d.toml"); !strings.HasPrefix(got, "Make room. List leftovers: sandglass --config d.toml clean --dry-run.") {
		t.Errorf("with flags: %q", got)
	}
	w.without = []string{"host-a"}
	if got := first(w, ""); !strings.HasPrefix(got, "Make room. On the agents' host, df -h and df -i show what is full.") {
		t.Errorf("without a source of scratch directories: %q", got)
	}
}
