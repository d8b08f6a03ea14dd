package docker

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"

	"sandglass/backend"
	"sandglass/backend/hostfs"
)

// TestFiguresFromTheKernel: of a container of this machine the engine is asked for no sample; of another one it is.
func TestFiguresFromTheKernel(t *testing.T) {
	id := strings.Repeat("c", 64)
	for name, c := range map[string]struct {
		inGroup string
		asked   bool
		mem     int64
	}{"of this machine": {id, false, 7000}, "of another machine": {strings.Repeat("d", 64), true, 4000}} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.add(&fakeContainer{id: id, name: "x", usage: 5000})
			s, clock := f.source(nil)
			dir := t.TempDir()
			for file, text := range map[string]string{"12725/cgroup": "0::/docker/" + c.inGroup + "\n", "fs/cgroup/docker/" + c.inGroup + "/cpu.stat": "usage_usec 5000000\n",
				"fs/cgroup/docker/" + c.inGroup + "/memory.current": "9000\n", "fs/cgroup/docker/" + c.inGroup + "/memory.stat": "inactive_file 2000\n",
				"fs/cgroup/docker/" + c.inGroup + "/pids.current": "4\n"} {
				writeFile(t, filepath.Join(dir, file), text)
			}
			s.kills = kernelKills{proc: hostfs.Proc{Root: dir}, sys: dir, log: filepath.Join(dir, "kmsg"), now: s.deps.Now}
			s.Attend(backend.Attention{Visible: []backend.Key{s.key(backend.MustID(id))}})
			u := find(t, measured(t, s), id).Usage.Or(backend.Usage{})
			if u.Mem.Or(0) != c.mem || u.CPU.IsKnown() {
				t.Errorf("%+v", u)
			}
			if asked := countOf(f.taken(), "/stats") > 0; asked != c.asked {
				t.Errorf("the engine was asked: %v", asked)
			}
			if c.asked {
				return
			}
			writeFile(t, filepath.Join(dir, "fs/cgroup/docker/"+id+"/cpu.stat"), "usage_usec 10000000\n")
			clock.Add(10 * time.Second)
			u = find(t, measured(t, s), id).Usage.Or(backend.Usage{})
			if cpu := u.CPU.Or(-1); cpu < 0.45 || cpu > 0.55 || u.PIDs.Or(0) != 4 || countOf(f.taken(), "/stats") > 0 {
				t.Errorf("%+v: 5 seconds of processor time in 10", u)
			}
		})
	}
}

func writeFile(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestRealKernelCountsWhatTheEngineTells: the kernel's counters are those that the engine answers.
func TestRealKernelCountsWhatTheEngineTells(t *testing.T) {
	onEngines(t, func(t *testing.T, w *workshop) {
		id := w.container("counted", container.Config{Cmd: []string{"sleep", "1000"}}, container.HostConfig{})
		s := realSource(t, w.Host)
		until(t, s, id, "inspected", func(b *backend.Sandbox) bool { return b.StartedAt.IsKnown() && b.Class == backend.SandboxRunning })
		pid := s.entries[id].ins.place.PID
		before := s.kernelSample(pid, id)
		if before == nil {
			w.Missing("the control groups of its containers cannot be read: not on this machine, or not all controllers")
		}
		eng, err := s.connected(t.Context())
		w.do("connect", err)
		told, err := eng.stats(t.Context(), id)
		w.do("stats", err)
		after := s.kernelSample(pid, id)
		if after == nil || told == nil {
			t.Fatalf("%+v, %+v", after, told)
		}
		if before.cpu.Or(-1) > told.cpu.Or(0) || told.cpu.Or(0) > after.cpu.Or(0) {
			t.Errorf("processor time %v, the engine's %v, then %v", before.cpu, told.cpu, after.cpu)
		}
		if n, is := after.mem.Or(0), told.mem.Or(0); n <= 0 || n > is+1<<20 || after.pids.Or(0) != 1 {
			t.Errorf("%+v, the engine tells %+v", after, told)
		}
	})
}
