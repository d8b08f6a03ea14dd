package hostfs

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// GroupUsage is what the kernel counts of the processes of one control group and of the groups below it.
type GroupUsage struct {
	CPU  time.Duration // processor time since the group was made
	Mem  int64         // bytes, without page cache that was not used lately
	PIDs int64         // processes and threads
}

// GroupUsage reads the counters of a container's control group. pid is a process of the container, id its full id, and sys is
// where sysfs is mounted. It is an error when the process is not of that container, or when one counter cannot be read. The files
// are those of docs.kernel.org/admin-guide/cgroup-v2 and cgroup-v1, also where a host has controllers of both versions.
func (p Proc) GroupUsage(sys string, pid int, id string) (GroupUsage, error) {
	groups, err := p.groupsOf(pid, id)
	if err != nil {
		return GroupUsage{}, err
	}
	top := filepath.Join(sys, "fs", "cgroup")
	cpu, err := groups.count(top, "cpuacct", "cpuacct.usage", "cpu.stat", "usage_usec")
	if err != nil {
		return GroupUsage{}, err
	}
	if groups["cpuacct"] == "" {
		cpu *= int64(time.Microsecond)
	}
	mem, err := groups.count(top, "memory", "memory.usage_in_bytes", "memory.current", "")
	if err != nil {
		return GroupUsage{}, err
	}
	cache, err := groups.inactive(top)
	if err != nil {
		return GroupUsage{}, err
	}
	if cache < mem {
		mem -= cache
	}
	pids, err := groups.count(top, "pids", "pids.current", "pids.current", "")
	return GroupUsage{CPU: time.Duration(cpu), Mem: mem, PIDs: pids}, err
}

// groups are a container's control groups: paths by the name of a controller of the first version, and by the empty name in the
// unified hierarchy.
type groups map[string]string

// groupsOf reads the control groups of a process up to the one that is named by the container's id: a process may be in one below.
func (p Proc) groupsOf(pid int, id string) (groups, error) {
	b, err := p.read(strconv.Itoa(pid), "cgroup")
	if err != nil {
		return nil, err
	}
	out := groups{}
	for line := range strings.Lines(string(b)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		if path, named := upTo(parts[2], id); named {
			for controller := range strings.SplitSeq(parts[1], ",") {
				out[controller] = path
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("process %d has no control group of %s: %w", pid, id, fs.ErrNotExist)
	}
	return out, nil
}

// upTo cuts a path after the element that holds an id. A path that leaves what this process sees of the hierarchy names nothing.
func upTo(path, id string) (string, bool) {
	parts := strings.Split(path, "/")
	at := slices.IndexFunc(parts, func(part string) bool { return id != "" && strings.Contains(part, id) })
	if at < 0 || slices.Contains(parts, "..") {
		return "", false
	}
	return strings.Join(parts[:at+1], "/"), true
}

// count reads one counter: a file of the controller of the first version, or a file of the unified hierarchy, which may have
// labels.
func (g groups) count(top, controller, first, unified, label string) (int64, error) {
	path := filepath.Join(top, g[""], unified)
	if at := g[controller]; at != "" {
		path, label = filepath.Join(top, controller, at, first), ""
	} else if g[""] == "" {
		return 0, fmt.Errorf("no control group counts %s: %w", controller, fs.ErrNotExist)
	}
	b, err := head(path)
	if err != nil {
		return 0, err
	}
	if label != "" {
		return labelledNumber(b, label)
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%s holds no count", path)
	}
	return n, nil
}

// inactive is the page cache that was not used lately.
func (g groups) inactive(top string) (int64, error) {
	path, label := filepath.Join(top, g[""], "memory.stat"), "inactive_file"
	if at := g["memory"]; at != "" {
		path, label = filepath.Join(top, "memory", at, "memory.stat"), "total_inactive_file"
	}
	b, err := head(path)
	if err != nil {
		return 0, err
	}
	return labelledNumber(b, label)
}
