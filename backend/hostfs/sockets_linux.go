package hostfs

import (
	"errors"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// A process that listens at a socket in a directory has no open file there: its descriptor leads to the socket, and only
// the list of its network namespace says which name that was bound to.

// boundSockets reads the names of the Unix sockets in the process's network namespace, once per namespace. A kernel without
// such sockets, or without such namespaces, lists none.
func (f *processScan) boundSockets(id string) error {
	ns, err := f.p.link(id, "ns", "net")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || f.nets[ns] {
		return err
	}
	b, err := f.p.read(id, "net", "unix")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	f.nets[ns] = true
	for ino, name := range parseUnix(string(b)) {
		f.sockets[ino] = name
	}
	return nil
}

// parseUnix reads a list of Unix sockets: those with a name in a file system, by inode. The kernel does not escape
// names. A name with a line break continues in the next line, which does not begin like an entry.
func parseUnix(text string) map[string]string {
	out := map[string]string{}
	last := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		// address: references protocol flags type state inode, then one blank and the name
		if head, rest, ok := strings.Cut(line, ": "); ok && len(head) >= 8 && strings.Trim(head, "0123456789abcdefABCDEF") == "" {
			last = ""
			for range 5 {
				_, rest, _ = strings.Cut(strings.TrimLeft(rest, " "), " ")
			}
			ino, name, named := strings.Cut(strings.TrimLeft(rest, " "), " ")
			if _, err := strconv.ParseUint(ino, 10, 64); err == nil && named && name != "" && name[0] != '@' {
				out[ino], last = name, ino
			}
		} else if last != "" {
			out[last] += "\n" + line
		}
	}
	return out
}

// socket notes a descriptor that leads to a Unix socket with a name, "socket:[inode]".
func (f *processScan) socket(t *table, pid int, text string) {
	ino, ok := strings.CutPrefix(text, "socket:[")
	if !ok {
		return
	}
	name, ok := f.sockets[strings.TrimSuffix(ino, "]")]
	if !ok {
		return
	}
	if path.IsAbs(name) && !strings.HasPrefix(name, "/proc/") && f.matchPath(t, path.Clean(name), 0, Use{PID: pid, How: HowSocket}) {
		return
	}
	// Bound by a relative name: the kernel does not keep the directory, and only a walk finds a socket of that name.
	base := path.Base(name)
	if _, known := f.out.Unlocated[base]; known {
		return
	}
	if len(f.out.Unlocated) >= maxUnplaced {
		f.out.Blind = "too many sockets whose place cannot be told"
		return
	}
	f.out.Unlocated[base] = Use{PID: pid, How: HowSocket, Command: f.command(pid), Since: f.started(pid)}
}
