package hostfs

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestLimitKillsOfGoneGroups: a group of the first version takes its counts with it, and the kernel's log keeps them.
func TestLimitKillsOfGoneGroups(t *testing.T) {
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
			t.Fatal(err)
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
	later := LimitKills{Sys: sys, Log: log} // another process
	if n, err := later.Count(9); err != nil || !later.Cut {
		t.Errorf("%d, %v, cut %v: the log does not begin with the boot", n, err, later.Cut)
	}
}
