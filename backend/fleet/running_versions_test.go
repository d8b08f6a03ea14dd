package fleet

import (
	"fmt"
	"testing"

	"sandglass/backend"
)

func TestWhatRunsIsMaintained(t *testing.T) {
	s := newStore(0)
	wantRunning := func(st *State, want string) {
		t.Helper()
		got := ""
		for _, v := range st.Running("h", backend.KindSession) {
			got += fmt.Sprintf("%d×%s ", v.Running, v.Version)
		}
		if got != want {
			t.Errorf("State %d runs %q, want %q", st.Number, got, want)
		}
	}
	first := step(s, t0, onVersions("1.4.3", "1.4.2", "1.4.3", ""))
	wantRunning(first, "2×1.4.3 1×1.4.2 ")
	idle := onVersions("1.4.3", "1.4.3", "1.4.3", "")
	idle.Sessions[0].Running = backend.Known(false)
	wantRunning(step(s, t0, idle), "2×1.4.3 ")
	wantRunning(step(s, t0, backend.Reading{Ended: []backend.Key{idle.Sessions[1].Key}}), "1×1.4.3 ")
	wantRunning(step(s, t0, backend.Reading{}), "1×1.4.3 ")
	wantRunning(first, "2×1.4.3 1×1.4.2 ")
	if len(first.Running("h", backend.KindSandbox)) > 0 || len(first.Running("other", backend.KindSession)) > 0 {
		t.Error("what nobody states runs")
	}
}
