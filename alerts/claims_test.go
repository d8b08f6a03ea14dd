package alerts

import (
	"os"
	"path/filepath"
	"testing"
	"time"
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
		if got := c.by.Claim(c.name, now.Add(c.after), 5*time.Minute); got != c.want {
			t.Errorf("claim %d of %s after %v: %v", i, c.name, c.after, got)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, claimsFile), []byte(`{"a":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if !one.Claim("a", now, time.Minute) || other.Claim("a", now, time.Minute) {
		t.Error("a torn file is not begun again")
	}
}
