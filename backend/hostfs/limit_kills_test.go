package hostfs

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
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

// TestLimitKillsOfGoneGroups: a group of the first version takes its counts with it, and the kernel's log keeps them.
func TestLimitKillsOfGoneGroups(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has a kernel log")
	}
	sys := t.TempDir()
	dir := filepath.Join(sys, "fs", "cgroup", "memory", "docker")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n", "memory.failcnt": "0\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	log := filepath.Join(sys, "kmsg")
	up := func() int64 {
		b, err := os.ReadFile("/proc/uptime")
		if err != nil {
			t.Skip(err)
		}
		seconds, _, _ := strings.Cut(string(b), ".")
		n, err := strconv.ParseInt(seconds, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n * 1_000_000
	}()
	var text strings.Builder
	kill := func(micros int64, line string) {
		fmt.Fprintf(&text, "6,1,%d,-;%s\n", micros, line)
		if err := os.WriteFile(log, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l := LimitKills{Sys: sys, Log: log}
	if _, err := l.Count(0); err != nil || !l.Cut {
		t.Errorf("%v, cut %v: without the log, kills of groups that are gone are lost", err, l.Cut)
	}
	kill(1, "Memory cgroup out of memory: Killed process 41 (tail) total-vm:9kB")
	kill(2, "Out of memory: Killed process 42 (node) total-vm:9kB")
	if n, err := l.Count(2); err != nil || n != 1 || l.Cut {
		t.Errorf("%d, %v, cut %v", n, err, l.Cut)
	}
	kill(up+3_600_000_000, "Memory cgroup out of memory: Kill process 43 (tail) score 1900 or sacrifice child")
	if n, err := l.Count(3); err != nil || n != 2 || l.Cut {
		t.Errorf("%d, %v, cut %v: only what is new", n, err, l.Cut)
	}
	text.Reset()
	kill(up+7_200_000_000, "Memory cgroup out of memory: Killed process 44 (tail) total-vm:9kB")
	if n, err := l.Count(9); err != nil || !l.Cut {
		t.Errorf("%d, %v, cut %v: the log has lost lines in between", n, err, l.Cut)
	}
}
