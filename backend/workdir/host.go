package workdir

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sandglass/backend/hostfs"
)

// deleted ends the root of a mount in the kernel's table when the directory that is mounted was removed.
const deleted = "//deleted"

// maxLinks bounds how many links lead from one to the next.
const maxLinks = 8

// Host is the machine that this program runs on, which may be the engine's or not.
type Host struct {
	Proc string // /proc
	// Passive says that no person asked: nothing is looked at that another machine may have to answer.
	Passive bool
}

// view is a container's own mount table, as this machine's kernel tells it.
type view struct {
	mounts hostfs.Mounts
	root   string // the container's root directory, through its first process
}

// Local reports whether this machine's kernel shows the container's mounts.
func (h Host) Local(c *Container) bool {
	_, local := h.view(c)
	return local
}

// Settled reports whether asking the engine for a path of the container changes nothing and shows what the container sees.
func (h Host) Settled(c *Container, p string) bool {
	v, local := h.view(c)
	return h.settled(c, v, local, p)
}

// process is the directory of the container's first process; false when that process is not one of this machine, or not to be
// looked into. That the process is the container's shows in its control group, which carries the full id.
func (h Host) process(c *Container) (string, bool) {
	if c.PID <= 0 {
		return "", false
	}
	dir := filepath.Join(h.Proc, strconv.Itoa(c.PID))
	groups, err := os.ReadFile(filepath.Join(dir, "cgroup")) // #nosec G304 -- a number below /proc
	return dir, err == nil && strings.Contains(string(groups), c.ID)
}

// view reads the mount table of a container.
func (h Host) view(c *Container) (view, bool) {
	dir, local := h.process(c)
	if !local || !c.shared() {
		return view{}, false
	}
	table, err := os.ReadFile(filepath.Join(dir, "mountinfo")) // #nosec G304 -- a number below /proc
	if err != nil {
		return view{}, false
	}
	mounts, err := hostfs.ParseMounts(table)
	if _, whole := mounts.At("/"); err != nil || !whole { // of a process with a root of its own
		return view{}, false
	}
	return view{mounts, filepath.Join(dir, "root")}, true
}

// unlinked reports whether the mount that holds a path of the container is of a directory that was removed since.
func (v view) unlinked(p string) bool {
	m, ok := v.mounts.At(p)
	return ok && m.Point != "/" && strings.HasSuffix(m.Root, deleted)
}

// Gone are the mounts of a running container that are mounted no more, and those whose directory was removed, as far as this
// machine's kernel shows them.
func (h Host) Gone(c *Container) (unmounted, removed []Mount) {
	v, local := h.view(c)
	for _, m := range c.Mounts {
		switch {
		case !local:
		case v.unmounted(m):
			unmounted = append(unmounted, m)
		case v.unlinked(m.Dest):
			removed = append(removed, m)
		}
	}
	return unmounted, removed
}

// lost reports whether the mount that should hold the container's working directory is no more.
func (v view) lost(c *Container) bool {
	m, held := c.Covering(c.Dir)
	return held && v.unmounted(m)
}

// unmounted reports whether a mount is no more. A mount point that a link leads to, or that is not to be seen, says nothing.
func (v view) unmounted(m Mount) bool {
	if Kernel(m.Dest) != "" || slices.ContainsFunc(v.mounts, func(x hostfs.Mount) bool { return x.Point == m.Dest }) {
		return false
	}
	info, err := v.lstat(m.Dest)
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir()
}

// settled reports whether asking the engine for a path of the container changes nothing and shows what the container
// itself sees. Before the engine looks at a path it mounts all mounts of the container again, by their configured
// sources, and makes the directory of a bind mount on the host when it is missing (seen with Engine 20.10.24).
func (h Host) settled(c *Container, v view, local bool, p string) bool {
	if !c.shared() || Kernel(p) != "" {
		return false
	}
	for _, m := range c.Mounts {
		switch m.Kind {
		case "volume":
			if local && h.Passive && !v.near(m.Dest) {
				return false
			}
		case "bind":
			if !local || h.Passive && !v.near(m.Dest) || v.unlinked(m.Dest) {
				return false
			}
			inside, err := os.Stat(filepath.Join(v.root, m.Dest))
			if err != nil {
				return false
			}
			outside, err := os.Stat(m.Source)
			if err != nil || !os.SameFile(inside, outside) {
				return false
			}
		default: // in memory, or a mount that the engine does not mount again: it would show the directory below it
			if at, ok := c.Covering(p); ok && at == m {
				return false
			}
		}
	}
	return true
}

// near reports whether only this machine answers for a path of the container.
func (v view) near(p string) bool {
	m, ok := v.mounts.At(p)
	return ok && hostfs.LocalFilesystem(m.FSType)
}

// lookItself looks at a path as the container's first process sees it. It follows no link but the last ones, and enters no file system
// of another machine.
func (v view) lookItself(p string) Root {
	if v.root == "" {
		return Root{State: Unseen}
	}
	out, at := Root{}, p
	passed := []string{p}
	for range maxLinks {
		info, err := v.lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist) && out.Target != "":
			out.State = Dangling
			return out
		case errors.Is(err, fs.ErrNotExist):
			return Root{State: Missing}
		case err != nil:
			out.State = Unseen
			return out
		case info.IsDir() && out.Target != "":
			out.State, out.Mode = Link, info.Mode()
			return out
		case info.IsDir():
			return Root{State: There, Mode: info.Mode()}
		case info.Mode()&fs.ModeSymlink == 0:
			out.State, out.Mode = Other, info.Mode()
			return out
		}
		to, err := os.Readlink(filepath.Join(v.root, at))
		if err != nil {
			return Root{State: Unseen}
		}
		if !path.IsAbs(to) {
			to = path.Join(path.Dir(at), to)
		}
		at = path.Clean(to)
		out.Target = at
		if slices.Contains(passed, at) {
			out.State, out.Loop = Dangling, true
			return out
		}
		passed = append(passed, at)
	}
	return Root{State: Unseen}
}

var errUnseen = errors.New("not to be seen")

// lstat describes a path none of whose parents is a link, which might lead out of the container, or lies on a file system of
// another machine.
func (v view) lstat(p string) (fs.FileInfo, error) {
	info, err := v.stat("/")
	if err != nil {
		return nil, errUnseen
	}
	at := "/"
	for name := range strings.SplitSeq(strings.Trim(p, "/"), "/") {
		switch {
		case info.Mode().IsRegular():
			return info, nil // a file where a directory should be
		case !info.IsDir():
			return nil, errUnseen
		}
		at = path.Join(at, name)
		if !v.near(at) {
			return nil, errUnseen
		}
		if info, err = v.stat(at); err != nil {
			if _, gone := v.stat("/"); gone != nil { // the process has ended, and with it every path
				return nil, errUnseen
			}
			return nil, err
		}
	}
	return info, nil
}

// stat describes a path whose parents are directories.
func (v view) stat(p string) (fs.FileInfo, error) {
	if p == "/" {
		return os.Lstat(v.root + "/.") // the root is a link of the kernel's
	}
	return os.Lstat(filepath.Join(v.root, p))
}
