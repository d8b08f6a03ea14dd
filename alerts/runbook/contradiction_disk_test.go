package runbook

import (
	"strings"
	"testing"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestADiskWithoutSpaceComesFirst: the page asks to make room, in a session where one runs, and for a probe or repair only afterwards.
func TestADiskWithoutSpaceComesFirst(t *testing.T) {
	t.Parallel()
	failed := func(kind backend.FailureKind, what backend.Literal, evidence ...backend.Safe) backend.Verdict {
		return backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: kind, At: now, What: backend.Text(what), Evidence: evidence, Unrepaired: now}
	}
	full := backend.Text(backend.RepairFull + "the bridge answered 502: no space left on device")
	for name, c := range map[string]struct {
		v               backend.Verdict
		where, then     string
		conclusion, not string
	}{
		"nothing begins":        {failed(backend.FailNoSpace, "commands begin neither way: ENOSPC"), "by your application. Its streamed", "sandglass probe b", "commands begin neither way: ENOSPC", "sandglass repair"},
		"a session begins":      {failed(backend.FailNoSpace, backend.RootEntered+": its disk is full"), "In a new session of your application", "sandglass probe b", "its disk is full", "sandglass repair"},
		"a repair had no space": {failed(backend.FailWorkDirMissing, "/workspace is missing", full), "In a new session of your application", "sandglass repair b", "no space was left for the repair", "sandglass probe"},
	} {
		b := workersBox(nil, c.v)
		w := world{sandboxes: []*backend.Sandbox{b}, board: saidOf(b, alerts.StateFiring, "reported running, but its disk has no space left")}
		d := w.diagnose("contradiction", b.Key)
		first, rest := d.Do[0].String(), ""
		for _, l := range d.Do[1:] {
			rest += l.String() + "\n"
		}
		if !strings.HasPrefix(first, "Make room on its disk") || !strings.Contains(first, c.where) || !strings.Contains(rest, c.then) || !strings.Contains(d.Conclusion.String(), c.conclusion) || strings.Contains(rest, c.not) {
			t.Errorf("%s: %s", name, steps(&d))
		}
		if d.Mark("disk") != Confirmed {
			t.Errorf("%s: the question is %s", name, d.Mark("disk"))
		}
	}
	b := workersBox(nil, failed(backend.FailWorkDirMissing, "/workspace is missing"))
	w := world{sandboxes: []*backend.Sandbox{b}, board: saidOf(b, alerts.StateFiring, "reported running, but its working directory is missing")}
	if d := w.diagnose("contradiction", b.Key); d.is("disk") || strings.Contains(d.Do[0].String(), "room") {
		t.Errorf("of another fault: %s", steps(&d))
	}
}
