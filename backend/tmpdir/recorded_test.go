package tmpdir

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/backend/hostfs"
)

// TestARecordedHostTellsNothingOfThisMachine reads memory, boot, room, ages and processes from the tree.
func TestARecordedHostTellsNothingOfThisMachine(t *testing.T) {
	tree, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := tree + "/tmp/helix-ws-abc123"
	backendtest.Write(t, dir+"/notes.md", "x")
	backendtest.Write(t, tree+"/filesystem", "bytes 1000\nbytes_free 400\ninodes 50\ninodes_free 20\n")
	backendtest.Write(t, tree+"/sys/fs/cgroup/a.slice/memory.events", "oom 2\noom_kill 2\n")
	backendtest.Write(t, tree+"/proc/21034/cmdline", "node\x00worker.js\x00")
	backendtest.Write(t, tree+"/proc/21034/stat", "21034 (node) S 1 1 1 0 -1 4194560 0")
	backendtest.Write(t, tree+"/proc/21034/maps", "")
	backendtest.Write(t, tree+"/proc/self/mountinfo", "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n")
	for at, to := range map[string]string{"self/ns/mnt": "mnt:[7]", "self/ns/pid": "pid:[4026531836]", "21034/ns/mnt": "mnt:[7]", "21034/cwd": dir, "21034/root": "/", "21034/fd/3": dir + "/notes.md"} {
		p := filepath.Join(tree, "proc", at)
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, p); err != nil {
			t.Fatal(err)
		}
	}
	s, c := make1(t, func(o *Options) { o.HostTree, o.Roots = tree, []string{tree + "/tmp"} })
	s.proc, s.limits = s.o.on().Proc(), hostfs.LimitKills{Sys: s.o.on().Sys()}
	for name, text := range map[string]string{"meminfo": "MemTotal: 2000 kB\nMemAvailable: 900 kB\n", "vmstat": "oom_kill 5\n", "stat": "btime 1700000000\n", "sys/kernel/hostname": "agents-1\n"} {
		backendtest.Write(t, tree+"/proc/"+name, text)
	}
	then := c.Now().Add(-9 * 24 * time.Hour).Truncate(time.Second)
	for _, p := range []string{dir + "/notes.md", dir} {
		if err := os.Chtimes(p, then, then); err != nil {
			t.Fatal(err)
		}
	}
	r := poll1(t, s)
	h, d := r.Hosts[0], only(t, r)
	if h.Name.String() != "agents-1" || h.MemTotal.Or(0) != 2000<<10 || h.OOMKills.Or(0) != 5 || h.LimitKills.Or(0) != 2 || h.BootedAt.Or(time.Time{}).Unix() != 1700000000 {
		t.Errorf("host %+v is not the tree's", h)
	}
	if x := h.Roots[0]; x.Bytes.Or(0) != 1000 || x.BytesFree.Or(0) != 400 || x.Inodes.Or(0) != 50 || x.InodesFree.Or(0) != 20 {
		t.Errorf("root %+v has not the tree's room", x)
	}
	if n := d.Newest.Or(time.Time{}); !n.Equal(then) || d.Born.IsKnown() {
		t.Errorf("newest change %v and birth %v, want %v and unknown: files of a recording are made by it", n, d.Born, then)
	}
	if runtime.GOOS == "linux" {
		if who := d.Holders.Or(nil); len(who) != 2 || who[0].PID != 21034 || who[0].Command.String() != "node worker.js" {
			t.Errorf("holders %+v, want the tree's process by its directory and its file", who)
		}
	}
}

// TestARecordedHostSpeaksForItsOwnDirectoriesOnly: a tree without processes must not make a directory elsewhere look unused.
func TestARecordedHostSpeaksForItsOwnDirectoriesOnly(t *testing.T) {
	for tree, want := range map[string]string{"/": "below /", "relative": "absolute path", "/recorded/tmp": "not below it", "/rec": "not below it"} {
		_, err := Kind().New(backendtest.Options[Options](func(o *Options) { o.HostTree, o.Roots = tree, []string{"/recorded/tmp"} }),
			backend.Deps{ID: "here", Interval: time.Minute, Now: time.Now, Cleaner: backend.NewCleaner(), Spawn: backend.NewSpawner(nil)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("host_tree %q: %v, want %q", tree, err, want)
		}
	}
}
