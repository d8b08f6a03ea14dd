package runbook

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// TestADirectoryIsNoFaultOfARegion: the page of one of three sandboxes of a region whose root is missing has its own diagnosis and
// repair, and counts the others of the region that have theirs.
func TestADirectoryIsNoFaultOfARegion(t *testing.T) {
	w := world{}
	for i := range 8 {
		v := backend.Verdict{Plane: backend.PlaneList, Outcome: backend.OutcomeOK, At: before(time.Second)}
		if i < 3 {
			v.Outcome, v.Kind, v.What = backend.OutcomeFailed, backend.FailWorkDirMissing, backend.Text("/workspace is missing")
		}
		w.sessions = append(w.sessions, session(fmt.Sprint("s", i), true))
		w.sandboxes = append(w.sandboxes, box(fmt.Sprint("c", i), fmt.Sprint("s", i), func(b *backend.Sandbox) {
			b.Provider, b.Region, b.Reported, b.WorkDir = backend.Text("blaxel"), backend.Text("us-pdx-1"), backend.Text("DEPLOYED RUNNING"), backend.Text("/workspace")
			*b = *b.WithObserved([]backend.Verdict{v})
		}))
	}
	d := w.diagnose("contradiction", sbKey("c0"))
	want(t, d, map[string]Mark{"many": Confirmed})
	for _, c := range d.Checks {
		if c.Name == "many" && !strings.Contains(c.Fact.String(), "2 other sandboxes show the same: c1, c2; 5 others of region us-pdx-1 do not, observed the same way") {
			t.Error(c.Fact)
		}
	}
	if text := d.Conclusion.String(); strings.Contains(text, "region") || !strings.Contains(text, "Its working directory is missing") || len(d.Do) == 0 || strings.Contains(d.Do[0].String(), "vendor's support") {
		t.Errorf("%s: %v", text, d.Do)
	}
}

// TestSourcesThatAnswerDisproveThisMachine: where others answer, the page of sources that do not looks at what those share, and not at
// this machine first.
func TestSourcesThatAnswerDisproveThisMachine(t *testing.T) {
	all := []string{"helix-eu", "docker", "host-a", "app-log", "prom"}
	for name, c := range map[string]struct {
		down        []string
		fact, first string
	}{
		"two of them": {all[:2], "1 of 4 other sources do not answer either; 3 answer", "only those that fail share"},
		"all":         {all, "4 of 4 other sources do not answer either", "this machine"},
	} {
		d := world{down: c.down}.diagnose("source", sourceKeyOf("helix-eu"))
		for _, x := range d.Checks {
			if x.Name == "together" && x.Fact.String() != c.fact {
				t.Errorf("%s: %s", name, x.Fact)
			}
		}
		if d.Mark("together") != Confirmed || !strings.Contains(steps(&d), c.first) {
			t.Errorf("%s: %s", name, steps(&d))
		}
	}
}
