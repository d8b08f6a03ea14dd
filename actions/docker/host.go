package docker

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"sandglass/backend/hostfs"
)

// deleted ends the root of a mount in the kernel's table when the directory that is mounted was removed.
const deleted = "//deleted"

// host is the machine that this program runs on, which may be the engine's or not.
type host struct{ proc string }

// view is a container's own mount table, as this machine's kernel tells it.
type view struct {
	mounts hostfs.Mounts
	root   string // the container's root directory, through its first process
}

// view reads the mount table of a container; false when its first process is not one of this machine, or not to be
// looked into. That the process is the container's shows in its control group, which carries the full id.
func (h host) view(b *containerInfo) (view, bool) {
	if b.pid <= 0 {
		return view{}, false
	}
	dir := filepath.Join(h.proc, strconv.Itoa(b.pid))
	groups, err := os.ReadFile(filepath.Join(dir, "cgroup")) // #nosec G304 -- a number below /proc
	if err != nil || !strings.Contains(string(groups), b.id) {
		return view{}, false
	}
	table, err := os.ReadFile(filepath.Join(dir, "mountinfo")) // #nosec G304 -- a number below /proc
	if err != nil {
		return view{}, false
	}
	mounts, err := hostfs.ParseMounts(table)
	if err != nil || len(mounts) == 0 {
		return view{}, false
	}
	return view{mounts, filepath.Join(dir, "root")}, true
}

// unlinked reports whether the mount that holds a path of the container is of a directory that was removed since.
func (v view) unlinked(p string) bool {
	m, ok := v.mounts.At(p)
	return ok && m.Point != "/" && strings.HasSuffix(m.Root, deleted)
}

// settled reports whether asking the engine for a path of the container changes nothing and shows what the container
// itself sees. Before the engine looks at a path it mounts all mounts of the container again, by their configured
// sources, and makes the directory of a bind mount on the host when it is missing (seen with Engine 20.10.24).
func (h host) settled(b *containerInfo, p string) bool {
	v, local := h.view(b)
	for _, m := range b.mounts {
		switch m.kind {
		case "volume":
		case "bind":
			if !local || v.unlinked(m.dest) {
				return false
			}
			inside, err := os.Stat(filepath.Join(v.root, m.dest))
			if err != nil {
				return false
			}
			outside, err := os.Stat(m.source)
			if err != nil || !os.SameFile(inside, outside) {
				return false
			}
		default: // in memory, or a mount that the engine does not mount again: it would show the directory below it
			if c, ok := b.covering(p); ok && c == m {
				return false
			}
		}
	}
	return true
}
