package hostfs

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// maxGroups bounds the control groups that LimitKills reads; a host has about ten at the top.
const maxGroups = 1000

// maxGroupFile bounds what is read of one file of a control group; memory.stat, the largest, has about 2 kB.
const maxGroupFile = 16 << 10

// LimitKills counts the processes that the kernel killed since boot because a control group reached its memory limit. Below Sys,
// it reads memory.events of the groups at the top of the unified hierarchy, which count for all groups below them, also for
// those that are gone (docs.kernel.org/admin-guide/cgroup-v2, "Memory Interface Files"). Of the first version of control groups
// it reads memory.failcnt and memory.oom_control of each group, which go with the group: the kernel's log, where it may be
// read, tells the kills of those that are gone.
type LimitKills struct {
	Sys    string // where sysfs is mounted
	Log    string // the kernel's log
	Cut    bool   // kills of groups that are gone are not counted, as of the last pass
	read   bool
	readAt time.Time // of the log
	all    int64     // kills of the host at the last pass
	sum    int64
	groups map[string]int64 // groups with kills at the last pass, by path
}

// Count brings the number up to date. all is the host's number of kills: while it does not rise, no group is read again.
func (l *LimitKills) Count(all int64) (int64, error) {
	if l.read && l.all == all {
		return l.sum, nil
	}
	groups, first, err := limitKills(l.Sys)
	l.Cut = first
	if err != nil {
		return 0, err
	}
	var more int64
	for path, n := range groups {
		if before := l.groups[path]; before <= n {
			n -= before // else another group of the same name
		}
		more += n
	}
	if first {
		logged, whole := l.logged()
		l.Cut, more = !whole, max(more, logged)
	}
	l.sum += more
	l.read, l.all, l.groups = true, all, groups
	return l.sum, nil
}

// logged counts the kills that the log tells since it was last read. whole says that no line in between is lost.
func (l *LimitKills) logged() (n int64, whole bool) {
	log, err := ReadKernelLog(l.Log)
	if err != nil {
		return 0, false
	}
	for _, at := range log.Killed {
		if at.After(l.readAt) {
			n++
		}
	}
	whole = !log.Since.After(l.readAt) || l.readAt.IsZero() && log.Whole
	l.readAt = log.Read
	return n, whole
}

// limitKills reads the groups that have kills; first says that the first version of control groups counts memory.
func limitKills(sys string) (out map[string]int64, first bool, err error) {
	top := filepath.Join(sys, "fs", "cgroup")
	d, err := os.Open(top)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = d.Close() }() // opened for reading: nothing is lost
	entries, err := d.ReadDir(maxGroups)
	if err != nil {
		return nil, false, err
	}
	out, first = limitKillsOf1(filepath.Join(top, "memory"))
	read := first
	for _, e := range entries {
		path := filepath.Join(top, e.Name())
		if n, is := limitKillsOf2(path); e.IsDir() && is {
			read = true
			if n > 0 {
				out[path] = n
			}
		}
	}
	if !read {
		return nil, false, fmt.Errorf("no control group below %s has memory.events or memory.oom_control: %w", top, fs.ErrNotExist)
	}
	return out, first, nil
}

// limitKillsOf2 reads one group of the unified hierarchy. oom_kill counts a kill for want of the host's memory too, so that no
// more count than the limit was reached, but where whole groups are killed.
func limitKillsOf2(path string) (int64, bool) {
	b, err := head(filepath.Join(path, "memory.events"))
	if err != nil {
		return 0, false // a group without the memory controller, or one that is gone
	}
	reached, err1 := labelledNumber(b, "oom")
	killed, err2 := labelledNumber(b, "oom_kill")
	if err1 != nil || err2 != nil {
		return 0, false
	}
	if whole, err := labelledNumber(b, "oom_group_kill"); err != nil || whole == 0 {
		killed = min(killed, reached)
	}
	return killed, true
}

// limitKillsOf1 reads the groups of a hierarchy of the first version (docs.kernel.org/admin-guide/cgroup-v1/memory). A group
// that never failed to charge did not reach its limit.
func limitKillsOf1(top string) (out map[string]int64, read bool) {
	groups := 0
	out = map[string]int64{}
	_ = filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() || path == top {
			return nil // a group that is gone
		}
		if groups++; groups > maxGroups {
			return filepath.SkipAll
		}
		failed, err := head(filepath.Join(path, "memory.failcnt"))
		if err != nil {
			return nil
		}
		reached, err := strconv.ParseInt(strings.TrimSpace(string(failed)), 10, 64)
		if err != nil || reached == 0 && read {
			return nil
		}
		control, err := head(filepath.Join(path, "memory.oom_control"))
		if err != nil {
			return nil
		}
		if killed, err := labelledNumber(control, "oom_kill"); err == nil {
			read = true
			if n := min(killed, reached); n > 0 {
				out[path] = n
			}
		}
		return nil
	})
	return out, read
}

func head(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading: nothing is lost
	return io.ReadAll(io.LimitReader(f, maxGroupFile))
}

// InGroup reports whether a process is in a control group whose name holds a container's id.
func (p Proc) InGroup(pid int, id string) bool {
	b, err := p.read(strconv.Itoa(pid), "cgroup")
	return err == nil && id != "" && strings.Contains(string(b), id)
}

// GroupKills counts the processes that the kernel killed for want of memory in the control group of a process. sys is where
// sysfs is mounted.
func (p Proc) GroupKills(sys string, pid int) (int64, error) {
	b, err := p.read(strconv.Itoa(pid), "cgroup")
	if err != nil {
		return 0, err
	}
	top := filepath.Join(sys, "fs", "cgroup")
	for line := range strings.Lines(string(b)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(parts) != 3:
		case parts[1] == "memory":
			return groupKills(filepath.Join(top, "memory", parts[2], "memory.oom_control"))
		case parts[0] == "0" && parts[1] == "":
			if n, err := groupKills(filepath.Join(top, parts[2], "memory.events")); err == nil {
				return n, nil
			}
		}
	}
	return 0, fmt.Errorf("process %d has no control group that counts kills: %w", pid, fs.ErrNotExist)
}

func groupKills(path string) (int64, error) {
	b, err := head(path)
	if err != nil {
		return 0, err
	}
	return labelledNumber(b, "oom_kill")
}
