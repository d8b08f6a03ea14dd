package docker

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sandglass/backend"
	"sandglass/backend/hostfs"
)

// killHost is the kernel of a machine: the counter of its kills and its log.
type killHost struct {
	t   *testing.T
	dir string
}

func (h *killHost) write(name, text string) {
	h.t.Helper()
	file := filepath.Join(h.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// line is a record of the kernel's log about a kill a moment ago.
func line(t *testing.T, ago time.Duration, id string) string {
	t.Helper()
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		t.Fatal(err)
	}
	at := max((time.Duration(now.Nano()) - ago).Microseconds(), 0)
	return fmt.Sprintf("6,1022,%d,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=c,mems_allowed=0,oom_memcg=/libpod_parent/libpod-%s,task_memcg=/libpod_parent/libpod-%s,task=tail,pid=9845,uid=0\n",
		at, id, id)
}

// Podman does not say that the kernel killed at a memory limit: the kernel's log does, or its counter at that second.
func TestKilledAtItsLimit(t *testing.T) {
	id, other := strings.Repeat("a", 64), strings.Repeat("b", 64)
	for _, c := range []struct {
		name    string
		runtime string
		log     func(t *testing.T) string // nil: not readable
		kills   int                       // by the counter, between the two polls
		dead    []string
		unseen  bool // the console began after the end
		want    backend.Value[bool]
	}{
		{"the log names it", "oci", func(t *testing.T) string { return line(t, time.Second, id) }, 1, []string{id}, false, backend.Known(true)},
		{"the log names it to a console that began later", "oci", func(t *testing.T) string { return line(t, time.Second, id) }, 0, []string{id}, true, backend.Known(true)},
		{"the log names another one", "oci", func(t *testing.T) string { return line(t, time.Hour, other) }, 1, []string{id}, false, backend.Known(false)},
		{"the counter rose at that second", "oci", nil, 1, []string{id}, false, backend.Known(true)},
		{"the counter did not rise", "oci", nil, 0, []string{id}, false, backend.Known(false)},
		{"two ended and one was killed", "oci", nil, 1, []string{id, other}, false, backend.Unknown[bool]()},
		{"nothing was watched", "oci", nil, 0, []string{id}, true, backend.Unknown[bool]()},
		{"Docker says no", "runc", nil, 1, []string{id}, false, backend.Known(false)},
		{"Docker says no and the log names it", "runc", func(t *testing.T) string { return line(t, time.Second, id) }, 1, []string{id}, false, backend.Known(true)},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, h := newFake(t), &killHost{t, t.TempDir()}
			s, clock := f.source(nil)
			s.kills = kernelKills{proc: hostfs.Proc{Root: h.dir}, sys: h.dir, log: filepath.Join(h.dir, "kmsg"), now: s.deps.Now}
			h.write("vmstat", "oom_kill 3\n")
			h.write("12725/cgroup", "0::/libpod_parent/libpod-"+id+"\n")
			for i, raw := range []string{id, other} {
				f.add(&fakeContainer{id: raw, name: fmt.Sprint("box-", i), labels: map[string]string{"sandglass.session": "s"}, memory: 8 << 20, runtime: c.runtime})
			}
			if !c.unseen {
				mustPoll(t, s)
			}
			clock.Add(time.Minute)
			h.write("vmstat", fmt.Sprintf("oom_kill %d\n", 3+c.kills))
			if c.log != nil {
				h.write("kmsg", "6,1,0,-;Linux version 6\n"+c.log(t))
			}
			end := time.Now() // by the engine's clock
			f.change(func() {
				for _, raw := range c.dead {
					f.containers[raw].state, f.containers[raw].status = "exited", "Exited (137)"
					f.containers[raw].stateJSON = fmt.Sprintf(`,"OOMKilled":false,"ExitCode":137,"StartedAt":%q,"FinishedAt":%q`, end.Add(-time.Minute).UTC().Format(time.RFC3339Nano), end.UTC().Format(time.RFC3339Nano))
				}
				if c.unseen {
					delete(f.containers, other)
				}
			})
			if b := find(t, mustPoll(t, s), id); b.OOMKilled != c.want {
				t.Errorf("killed at its limit: %+v, want %+v", b.OOMKilled, c.want)
			}
		})
	}
}
