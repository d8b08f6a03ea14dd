package demo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// The host that the scratch directories are on. None of its figures is of the machine that runs the demo.
const (
	hostName      = "agents-eu-1"
	hostUptime    = 12*24*time.Hour + 7*time.Hour // at the start of the demo
	firstAgentPID = 21034
	pidStep       = 37
	clockTicks    = 100 // a second, of /proc/<pid>/stat
)

// writeHost writes what a Linux host shows in /proc and /sys (proc(5), docs.kernel.org/admin-guide/cgroup-v2) into the
// demo's directory, and the room of its file system.
func (f *fleet) writeHost() error {
	boot := f.start.Add(-hostUptime).Unix()
	files := map[string]string{
		"proc/meminfo":                   "MemTotal:       65806472 kB\nMemFree:         9341064 kB\nMemAvailable:   41230156 kB\n",
		"proc/vmstat":                    "nr_free_pages 2335266\noom_kill 0\n",
		"proc/stat":                      fmt.Sprintf("cpu  18734 0 9120 1203341 0 0 0 0 0 0\nbtime %d\nprocesses 183452\n", boot),
		"proc/pressure/memory":           "some avg10=0.12 avg60=0.09 avg300=0.08 total=9123411\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=120934\n",
		"proc/locks":                     "",
		"proc/swaps":                     "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n",
		"proc/sys/kernel/hostname":       hostName + "\n",
		"proc/sys/kernel/random/boot_id": "5f0c2c52-8a1d-4e0b-9f4e-3a1d7c6b2e90\n",
		"sys/fs/cgroup/agents.slice/memory.events": "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\noom_group_kill 0\n",
		"filesystem": "bytes 214748364800\nbytes_free 133143986176\ninodes 13107200\ninodes_free 12189732\n",
	}
	for name, body := range files {
		if err := f.writeHostFile(name, body); err != nil {
			return err
		}
	}
	return errors.Join(
		f.linkHostFile("/proc/self/mountinfo", "proc/self/mountinfo"), // directories are recognised by the mounts of this process
		f.linkHostFile("mnt:[4026531841]", "proc/self/ns/mnt"),
		f.linkHostFile("pid:[4026531836]", "proc/self/ns/pid"))
}

func (f *fleet) writeHostFile(name, body string) error {
	at := filepath.Join(f.root, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return fmt.Errorf("demo: host: %w", err)
	}
	if err := os.WriteFile(at, []byte(body), 0o600); err != nil {
		return fmt.Errorf("demo: host: %w", err)
	}
	return nil
}

func (f *fleet) linkHostFile(to, name string) error {
	at := filepath.Join(f.root, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return fmt.Errorf("demo: host: %w", err)
	}
	if err := os.Symlink(to, at); err != nil {
		return fmt.Errorf("demo: host: %w", err)
	}
	return nil
}

// writeAgent adds the process of an agent that works in a scratch directory and has one of its files open.
func (f *fleet) writeAgent(n int, began time.Time, dir, open string) error {
	pid := firstAgentPID + n*pidStep
	ticks := int64(began.Sub(f.start.Add(-hostUptime)).Seconds() * clockTicks)
	at := "proc/" + strconv.Itoa(pid) + "/"
	return errors.Join(
		f.writeHostFile(at+"cmdline", fmt.Sprintf("node\x00/srv/agents/worker.js\x00--slot\x00%d\x00", n+1)),
		f.writeHostFile(at+"stat", fmt.Sprintf("%d (node) S 1 %d %d 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 11 0 %d 0", pid, pid, pid, ticks)),
		f.writeHostFile(at+"maps", ""),
		f.linkHostFile("mnt:[4026531841]", at+"ns/mnt"),
		f.linkHostFile(dir, at+"cwd"),
		f.linkHostFile("/", at+"root"),
		f.linkHostFile(open, at+"fd/3"))
}
