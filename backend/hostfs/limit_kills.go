package hostfs

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// maxGroups bounds the control groups that LimitKills reads; a host has about ten at the top.
const maxGroups = 1000

// maxEventsFile bounds what is read of one memory.events file.
const maxEventsFile = 4096

// LimitKills is how many processes the kernel killed since boot because a control group reached its memory limit. It reads
// memory.events of the groups at the top of the unified hierarchy below sys, which count for all groups below them, also
// for those that are gone (docs.kernel.org/admin-guide/cgroup-v2, "Memory Interface Files"). oom_kill counts a kill for
// want of the host's memory too, so that no more count than the limit was reached, but where whole groups are killed. Of the
// first version of control groups it reads memory.oom_control and memory.failcnt of each group, which go with the group.
func LimitKills(sys string) (int64, error) {
	top := filepath.Join(sys, "fs", "cgroup")
	d, err := os.Open(top)
	if err != nil {
		return 0, err
	}
	defer func() { _ = d.Close() }() // opened for reading: nothing is lost
	entries, err := d.ReadDir(maxGroups)
	if err != nil {
		return 0, err
	}
	sum, read := limitKillsOf1(filepath.Join(top, "memory"))
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		b, err := head(filepath.Join(top, e.Name(), "memory.events"))
		if err != nil {
			continue // a group without the memory controller, or one that is gone
		}
		reached, err1 := labelledNumber(b, "oom")
		killed, err2 := labelledNumber(b, "oom_kill")
		if err1 != nil || err2 != nil {
			continue
		}
		read = true
		if whole, err := labelledNumber(b, "oom_group_kill"); err != nil || whole == 0 {
			killed = min(killed, reached)
		}
		sum += killed
	}
	if !read {
		return 0, fmt.Errorf("no control group below %s has memory.events or memory.oom_control: %w", top, fs.ErrNotExist)
	}
	return sum, nil
}

// limitKillsOf1 adds up the groups of a hierarchy of the first version (docs.kernel.org/admin-guide/cgroup-v1/memory). A group
// that never failed to charge did not reach its limit.
func limitKillsOf1(top string) (sum int64, read bool) {
	groups := 0
	_ = filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() || path == top {
			return nil // a group that is gone
		}
		if groups++; groups > maxGroups {
			return filepath.SkipAll
		}
		control, err1 := head(filepath.Join(path, "memory.oom_control"))
		failed, err2 := head(filepath.Join(path, "memory.failcnt"))
		if err1 != nil || err2 != nil {
			return nil
		}
		killed, err1 := labelledNumber(control, "oom_kill")
		reached, err2 := strconv.ParseInt(strings.TrimSpace(string(failed)), 10, 64)
		if err1 == nil && err2 == nil {
			sum, read = sum+min(killed, reached), true
		}
		return nil
	})
	return sum, read
}

func head(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading: nothing is lost
	return io.ReadAll(io.LimitReader(f, maxEventsFile))
}
