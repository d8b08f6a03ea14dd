package alerts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandglass/backend"
	"sandglass/backend/backendtest"
)

// What one process observed is known to those that run beside it, and to those that come after it, whoever holds the state.
func TestVerdictsReachOtherProcesses(t *testing.T) {
	l := newLamp(t, Meta{})
	dir := t.TempDir()
	k := backend.Key{Kind: backend.KindSandbox, Source: "docker", ID: backend.MustID("b1")}
	holder := openStore(t, dir, l.engine)
	var heard []backend.Proof
	console := NewService(l.engine, ServiceOptions{Store: holder, ReadClock: func() ClockReading { return ClockReading{Wall: l.now} }, Observed: func(p backend.Proof) { heard = append(heard, p) }})
	beside := l.service(t, openStore(t, dir, l.engine), nil)
	vs := backendtest.Ran(false, backend.Text("commands do not run"), l.now).Verdicts
	beside.KeepVerdicts(k, vs)
	console.readAdded()
	console.readAdded()
	if len(heard) != 1 || heard[0].Sandbox != k || heard[0].Kept || len(heard[0].Verdicts) != 1 || heard[0].Verdicts[0].Kind != backend.FailWorkDirMissing {
		t.Errorf("beside: %+v", heard)
	}
	after := l.service(t, openStore(t, dir, l.engine), nil)
	if got := after.Proved()[k]; len(got) != 1 || got[0].What.String() != "commands do not run" {
		t.Errorf("after: %+v", got)
	}
	long := strings.Repeat("x", 400)
	for range 3000 {
		beside.KeepVerdicts(k, backendtest.Ran(true, backend.Clean(long, 400), l.now).Verdicts)
	}
	console.trim()
	if info, err := os.Stat(filepath.Join(dir, verdictsFile)); err != nil || info.Size() > verdictsSize {
		t.Errorf("%v %v", info, err)
	}
	if got := l.service(t, openStore(t, dir, l.engine), nil).Proved()[k]; len(got) != 1 {
		t.Errorf("after it was trimmed: %+v", got)
	}
}
