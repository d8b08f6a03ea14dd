package logs

import (
	"path/filepath"
	"testing"
	"time"
)

// TestFilesThatStopAreTold: of several files, the session whose own file has not grown since its newest line is named.
func TestFilesThatStopAreTold(t *testing.T) {
	r, dir := logDir(t)
	a, b := filepath.Join(dir, "a.log"), filepath.Join(dir, "b.log")
	appendTo(t, a, "")
	appendTo(t, b, "")
	r.poll(0)
	appendTo(t, a, rejected(t0, "a"))
	appendTo(t, b, rejected(t0, "b")+rejected(t0, "c"))
	r.poll(5 * time.Second)
	appendTo(t, b, rejected(t0, "c"))
	got := r.poll(5 * time.Second)
	if len(got.Stopped) != 2 || got.Stopped[0].Raw() != "a" || got.Stopped[1].Raw() != "c" {
		t.Errorf("stopped: %v, want a, whose file stands still, and c, whose line is the newest of its file", got.Stopped)
	}
	appendTo(t, a, rejected(t0, "d"))
	if got = r.poll(5 * time.Second); len(got.Stopped) != 2 || got.Stopped[0].Raw() != "c" {
		t.Errorf("stopped: %v, want c and d", got.Stopped)
	}
}
