package hostfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

func (f *processScan) descriptors(t *table, pid int, id string, own bool) error {
	name := f.p.path(id, "fd")
	if f.p.deny != nil {
		if err := f.p.deny(name); err != nil {
			return err
		}
	}
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }() // opened for reading
	for {
		names, err := d.Readdirnames(checkEvery)
		for _, n := range names {
			if lerr := f.addLink(t, pid, HowFD, name+"/"+n, own); lerr != nil && !errors.Is(lerr, fs.ErrNotExist) {
				return lerr
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if f.ctx.Err() != nil {
			return f.ctx.Err()
		}
	}
}

// addLink looks at what one of the kernel's links leads to. own is set for this process itself, whose open
// directories belong to its walks.
func (f *processScan) addLink(t *table, pid int, how UseKind, name string, own bool) error {
	if f.p.deny != nil {
		if err := f.p.deny(name); err != nil {
			return err
		}
	}
	text, err := os.Readlink(name)
	switch {
	case errors.Is(err, unix.ENAMETOOLONG): // the object is there; its path is longer than a page
	case errors.Is(err, fs.ErrNotExist) && how == HowExe:
		return nil // nothing is executed
	case err != nil:
		return err
	case !strings.HasPrefix(text, "/"):
		f.socket(t, pid, text)
		return nil // a pipe, a socket: no object of a file system
	}
	st, err := statCached(name)
	if err != nil {
		return err
	}
	if own && how == HowFD && st.Mode.IsDir() {
		return nil
	}
	use := Use{PID: pid, How: how, Deleted: st.Links == 0, Own: own}
	if use.Deleted && !f.counted[st.ID] && len(f.counted) < maxUnplaced {
		f.counted[st.ID], use.Bytes = true, st.Bytes
	}
	if i, ok := f.byID[st.ID]; ok {
		f.add(i, use)
		return nil
	}
	if use.Deleted {
		text = strings.TrimSuffix(text, " (deleted)")
	}
	if f.matchPath(t, text, st.MountID, use) || !f.devs[st.ID.Dev] {
		return nil
	}
	if len(f.out.Unplaced) >= maxUnplaced {
		f.out.Blind = "too many open files whose place cannot be told"
		return nil
	}
	use.Command, use.Since = f.command(pid), f.started(pid)
	f.out.Unplaced[st.ID] = use
	return nil
}

// matchPath adds the use to the target that contains the path, and reports whether the path's mount is known. The target
// itself is recognised by its identity: a deleted object with the target's own path was there before it.
func (f *processScan) matchPath(t *table, text string, mount uint64, u Use) (placed bool) {
	if text == "" {
		return false
	}
	m, ok := f.mountOf(t, text, mount)
	if !ok {
		return false
	}
	if m.own { // whatever is mounted inside the target counts as well
		for p := text; p != "/" && p != "."; p = path.Dir(p) {
			if i, ok := f.byPath[p]; ok {
				if !u.Deleted || p != text {
					f.add(i, u)
				}
				return true
			}
		}
	}
	at := devicePath{m.Dev, m.Inside(text)}
	i, ok := f.targetAt(at)
	if _, same := f.byPlace[at]; ok && !(same && u.Deleted) {
		f.add(i, u)
	}
	return true
}

// maps looks at the files that the process has mapped into its memory. The file shows their paths; the links of
// map_files, which show objects, need more rights than reading needs here.
func (f *processScan) maps(t *table, pid int, id string) error {
	b, err := f.p.read(id, "maps")
	if err != nil {
		return err
	}
	last := ""
	for line := range strings.Lines(string(b)) {
		// address permissions offset device inode, then blanks and the path
		i := strings.IndexByte(line, '/')
		if i < 0 || strings.TrimSuffix(line[i:], "\n") == last {
			continue
		}
		last = strings.TrimSuffix(line[i:], "\n")
		text, deleted := strings.CutSuffix(strings.ReplaceAll(last, `\012`, "\n"), " (deleted)")
		f.matchPath(t, text, 0, Use{PID: pid, How: HowMap, Deleted: deleted})
	}
	return nil
}
