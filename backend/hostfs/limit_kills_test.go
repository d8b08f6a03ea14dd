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
	l := LimitKills{Sys: sys}
	if _, err := l.Count(0); err == nil {
		t.Error("without a hierarchy it is not known")
	}
	write("system.slice", "low 0\nhigh 0\nmax 40\noom 3\noom_kill 3\noom_group_kill 0\n")
	write("user.slice", "low 0\nhigh 0\nmax 0\noom 0\noom_kill 2\n") // for want of the host's memory
	write("kubepods.slice", "low 0\nhigh 0\nmax 7\noom 1\noom_kill 9\noom_group_kill 1\n")
	write("broken", "oom many\n")
	if n, err := l.Count(14); err != nil || n != 12 {
		t.Errorf("%d, %v", n, err)
	}
}

// TestLimitKillsOfTheFirstVersion: a group tells of its own kills only, and those of a group that never reached its limit are
// the host's.
func TestLimitKillsOfTheFirstVersion(t *testing.T) {
	sys := t.TempDir()
	write := func(group, control, failed string) {
		t.Helper()
		dir := filepath.Join(sys, "fs", "cgroup", "memory", group)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"memory.oom_control": control, "memory.failcnt": failed} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	write("docker", "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n", "0\n")
	l := LimitKills{Sys: sys}
	if n, err := l.Count(0); err != nil || n != 0 || !l.Cut {
		t.Errorf("%d, %v, cut %v: no kill is known to be none, and those of groups that are gone are not counted", n, err, l.Cut)
	}
	write("docker/c1", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n", "812\n")
	write("docker/c2", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n", "0\n")
	write("kubepods/burstable/p1", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n", "40\n")
	write("old", "oom_kill_disable 0\nunder_oom 0\n", "9\n") // kernels before 4.13 count no kills
	if n, err := l.Count(0); err != nil || n != 0 {
		t.Errorf("%d, %v: the groups are read again only when the host has more kills", n, err)
	}
	if n, err := l.Count(6); err != nil || n != 4 {
		t.Errorf("%d, %v", n, err)
	}
	if err := os.RemoveAll(filepath.Join(sys, "fs", "cgroup", "memory", "docker", "c1")); err != nil {
		t.Fatal(err)
	}
	write("docker/c3", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n", "9\n")
	if n, err := l.Count(7); err != nil || n != 5 {
		t.Errorf("%d, %v: the kills of a group that is gone still count", n, err)
	}
	write("docker/c3", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n", "9\n")
	if n, err := l.Count(9); err != nil || n != 7 {
		t.Errorf("%d, %v: a group's kills count once", n, err)
	}
}
