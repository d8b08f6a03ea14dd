package hostfs

import (
	"hash/maphash"
	"path"
	"path/filepath"
	"strings"
)

// foreignMounts searches the mount table of a process whose descriptors cannot be read.
func (f *processScan) foreignMounts(pid int, id string) {
	b, err := f.p.read(id, "mountinfo")
	if err != nil || f.texts[maphash.Bytes(f.seed, b)] {
		return // the process counts as unreadable already
	}
	f.texts[maphash.Bytes(f.seed, b)] = true
	if m, err := ParseMounts(b); err == nil {
		f.searchMounts(&table{mounts: m}, pid)
	}
}

// searchMounts finds mounts that show a target, or something inside it. pid is a process that sees the table, 0 for our
// own.
func (f *processScan) searchMounts(t *table, pid int) {
	for _, m := range t.mounts {
		f.mountedOn(t, m, pid)
		f.mountedFrom(t, m, pid)
		root, deleted := strings.CutSuffix(m.Root, "//deleted")
		i, ok := f.targetAt(devicePath{m.Dev, root})
		if _, same := f.byPlace[devicePath{m.Dev, root}]; !ok || deleted && same {
			continue // of the same place but unlinked: a predecessor of the target
		}
		u := mountUse(m, pid)
		u.Deleted = deleted
		f.add(i, u)
	}
}

// mountUse is the use that a mount makes of a target. For a mount in our own table it names its path instead of a process.
func mountUse(m Mount, pid int) Use {
	u := Use{PID: pid, How: HowMount}
	if pid == 0 {
		u.Command = "mounted at " + m.Point
	}
	return u
}

// mountedOn finds a target that something is mounted on or inside of, as the process sees it.
func (f *processScan) mountedOn(t *table, m Mount, pid int) {
	i, ok := 0, false
	if t.own {
		i, ok = f.targetOfPath(m.Point)
	}
	if !ok {
		up, found := f.mounts[m.Parent]
		if !found { // the table of a process that shows nothing else
			up.Mount, found = t.mounts.ByID(m.Parent)
		}
		if found {
			i, ok = f.targetAt(devicePath{up.Dev, up.Inside(m.Point)})
		}
	}
	if !ok {
		return
	}
	u := Use{PID: pid, How: HowPoint}
	if pid == 0 {
		u.Command = "at " + m.Point
	}
	f.add(i, u)
}

// mountedFrom finds targets that a mount uses although its root is another directory: the layers of an overlay, and the
// file or directory that is the source of a file system (an image without a loop device, a stacked file system).
func (f *processScan) mountedFrom(t *table, m Mount, pid int) {
	for _, p := range append([]string{m.Source}, m.Layers...) {
		if !path.IsAbs(p) || within(p, "/dev") {
			continue
		}
		u := mountUse(m, pid)
		for _, p := range f.pathsTo(p) {
			if i, ok := f.targetOfPath(p); ok {
				f.add(i, u)
			}
			if up, found := t.mounts.At(p); found {
				if i, ok := f.targetAt(devicePath{up.Dev, up.Inside(p)}); ok {
					f.add(i, u)
				}
			}
		}
	}
}

// pathsTo are a path and the path without links. It resolves links only on local file systems, so that it asks no other
// machine.
func (f *processScan) pathsTo(p string) []string {
	p = path.Clean(p)
	if out, known := f.paths[p]; known {
		return out
	}
	out := []string{p}
	if m, ok := f.own.mounts.At(p); ok && LocalFilesystem(m.FSType) {
		if real, err := filepath.EvalSymlinks(p); err == nil && real != p {
			out = append(out, real)
		}
	}
	f.paths[p] = out
	return out
}

// targetOfPath finds the target that contains a path of this process, or is that path.
func (f *processScan) targetOfPath(p string) (int, bool) {
	for ; p != "/" && p != "."; p = path.Dir(p) {
		if i, ok := f.byPath[p]; ok {
			return i, true
		}
	}
	return 0, false
}

// targetAt finds the target that contains a path inside a file system, or is that path.
func (f *processScan) targetAt(p devicePath) (int, bool) {
	for {
		if i, ok := f.byPlace[p]; ok {
			return i, true
		}
		up := path.Dir(p.path)
		if up == p.path {
			return 0, false
		}
		p.path = up
	}
}
