package hostfs

import (
	"os"
	"path/filepath"
	"testing"
)

func TestLimitKillsAreThoseOfControlGroups(t *testing.T) {
	sys := t.TempDir()
	write := func(group, text string) {
		t.Helper()
		dir := filepath.Join(sys, "fs", "cgroup", group)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "memory.events"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := LimitKills(sys); err == nil {
		t.Error("without a hierarchy it is not known")
	}
	write("system.slice", "low 0\nhigh 0\nmax 40\noom 3\noom_kill 3\noom_group_kill 0\n")
	write("user.slice", "low 0\nhigh 0\nmax 0\noom 0\noom_kill 2\n") // for want of the host's memory
	write("kubepods.slice", "low 0\nhigh 0\nmax 7\noom 1\noom_kill 9\noom_group_kill 1\n")
	write("broken", "oom many\n")
	if n, err := LimitKills(sys); err != nil || n != 12 {
		t.Errorf("%d, %v", n, err)
	}
}
