package alerts

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"sandglass/backend"
)

// TestAClaimHoldsForAllProcesses of a state directory, as long as it says, also over a file that a crash tore.
func TestAClaimHoldsForAllProcesses(t *testing.T) {
	dir, now := t.TempDir(), time.Date(2026, 4, 4, 1, 0, 0, 0, time.UTC)
	one, other := &StateStore{dir: dir}, &StateStore{dir: dir}
	for i, c := range []struct {
		by    *StateStore
		name  string
		after time.Duration
		want  bool
	}{
		{one, "a", 0, true}, {other, "a", time.Second, false}, {other, "b", time.Second, true}, {one, "a", 5*time.Minute - 1, false}, {other, "a", 5 * time.Minute, true},
		{one, "a", 6 * time.Minute, false}, {one, "a", -time.Hour, true},
	} {
		if got, _ := c.by.Claim(c.name, now.Add(c.after), 5*time.Minute); got != c.want {
			t.Errorf("claim %d of %s after %v: %v", i, c.name, c.after, got)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, claimsFile), []byte(`{"a":`), 0o600); err != nil {
		t.Fatal(err)
	}
	first, _ := one.Claim("a", now, time.Minute)
	second, last := other.Claim("a", now.Add(time.Second), time.Minute)
	if !first || second || !last.Equal(now) {
		t.Errorf("a torn file is not begun again: %v, %v, %v", first, second, last)
	}
}

// TestWhatAClaimFoundIsTold to the other processes of a state directory: not before it is found, not for long, and never what an
// earlier claim found.
func TestWhatAClaimFoundIsTold(t *testing.T) {
	dir, now := t.TempDir(), time.Date(2026, 4, 4, 1, 0, 0, 0, time.UTC)
	one, other := &StateStore{dir: dir}, &StateStore{dir: dir}
	told := func(after time.Duration, want string) {
		t.Helper()
		if v, known := other.Told("a", now.Add(after)); known != (want != "") || v.What.String() != want {
			t.Errorf("after %v: %q, want %q", after, v.What, want)
		}
	}
	found := backend.Verdict{Plane: backend.PlaneList, Outcome: backend.OutcomeFailed, Kind: backend.FailMountGone, What: backend.Text("its mount is gone"), At: now}
	one.Tell("a", now, found) // nobody claimed it
	told(0, "")
	one.Claim("a", now, 5*time.Minute)
	told(0, "")
	one.Tell("a", now.Add(time.Second), found)
	told(time.Second, "its mount is gone")
	other.Claim("b", now.Add(time.Minute), 5*time.Minute)
	told(time.Minute, "its mount is gone")
	told(-time.Minute, "")
	told(foundFor, "")
	one.Claim("a", now.Add(6*time.Minute), 5*time.Minute)
	told(6*time.Minute, "")
}
