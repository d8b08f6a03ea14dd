package hostfs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestGroupUsage: both versions of control groups, and what names no group of the container, is an error and no figure.
func TestGroupUsage(t *testing.T) {
	id := strings.Repeat("6", 64)
	whole := GroupUsage{CPU: 1500 * time.Microsecond, Mem: 7000, PIDs: 3}
	unified := func(group string) map[string]string {
		dir := "sys/fs/cgroup" + group + "/"
		return map[string]string{dir + "cpu.stat": "usage_usec 1500\nuser_usec 1\n", dir + "memory.current": "9000\n", dir + "memory.stat": "anon 1\ninactive_file 2000\n",
			dir + "pids.current": "3\n"}
	}
	first := func(group string) map[string]string {
		dir := "sys/fs/cgroup/"
		return map[string]string{dir + "cpuacct" + group + "/cpuacct.usage": "1500000\n", dir + "memory" + group + "/memory.usage_in_bytes": "9000\n",
			dir + "memory" + group + "/memory.stat": "inactive_file 1\ntotal_inactive_file 2000\n", dir + "pids" + group + "/pids.current": "3\n"}
	}
	scope := "/system.slice/docker-" + id + ".scope"
	for _, c := range []struct {
		name, cgroup string
		files        map[string]string
		without      string // a file that is missing
		fails        bool
	}{
		{"unified", "0::" + scope + "\n", unified(scope), "", false},
		{"first version", "9:name=systemd:/docker/" + id + "\n8:pids:/docker/" + id + "\n4:memory:/docker/" + id + "\n2:cpu,cpuacct:/docker/" + id + "\n0::/docker/" + id + "\n", first("/docker/" + id), "", false},
		{"a process in a group below", "0::" + scope + "/init.scope\n", unified(scope), "", false},
		{"another container", "0::/docker/" + strings.Repeat("7", 64) + "\n", unified("/docker/" + strings.Repeat("7", 64)), "", true},
		{"outside of what is seen", "0::/../docker/" + id + "\n", unified("/docker/" + id), "", true},
		{"no memory controller", "0::" + scope + "\n", unified(scope), "memory.current", true},
		{"no pids controller", "0::" + scope + "\n", unified(scope), "pids.current", true},
		{"a group that is gone", "0::" + scope + "\n", nil, "", true},
		{"garbage", "0::" + scope + "\n", map[string]string{"sys/fs/cgroup" + scope + "/cpu.stat": "usage_usec many\n"}, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range c.files {
				if c.without != "" && strings.HasSuffix(name, c.without) {
					continue
				}
				put(t, filepath.Join(dir, filepath.FromSlash(name)), text)
			}
			put(t, filepath.Join(dir, "proc", "41", "cgroup"), c.cgroup)
			got, err := Proc{Root: filepath.Join(dir, "proc")}.GroupUsage(filepath.Join(dir, "sys"), 41, id)
			if (err != nil) != c.fails || !c.fails && got != whole {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
