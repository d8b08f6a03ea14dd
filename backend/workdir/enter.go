package workdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Denial says why a container's user cannot enter its working directory.
type Denial struct {
	Path  string      // the directory that it cannot enter, the working directory or one above it
	Mode  fs.FileMode // of that directory
	Owner string      // "0:0"; empty: not known
	User  string      // as the configuration has it
}

// String says it as evidence: "/work has mode 0700 and owner 0:0".
func (d Denial) String() string {
	out := fmt.Sprintf("%s has mode %#o", d.Path, d.Mode.Perm())
	if d.Owner != "" {
		out += " and owner " + d.Owner
	}
	return out
}

// user is whom a command in a container runs as, with the numbers of this machine's kernel.
type user struct {
	uid    uint64
	groups []uint64
}

// Denied reports whether a container's user certainly cannot enter a working directory that is there, or make one that is missing.
func (h Host) Denied(c *Container, r Root) (Denial, bool) {
	name, _, _ := strings.Cut(c.User, ":")
	_, err := strconv.ParseUint(name, 10, 32)
	there := r.State == There || r.State == Link
	if c.Superuser() || !there && r.State != Missing && r.State != Dangling {
		return Denial{}, false
	}
	if there && err == nil && r.Mode.Perm()&0o111 == 0 {
		return Denial{Path: c.Dir, Mode: r.Mode, User: c.User}, true
	}
	v, local := h.view(c)
	if !local {
		return Denial{}, false
	}
	who, known := userOf(filepath.Dir(v.root), name)
	if !known {
		return Denial{}, false
	}
	dir := c.Dir
	if r.Target != "" {
		dir = r.Target
	}
	d, denied := v.denied(who, dir, !there)
	d.User = c.User
	return d, denied
}

// userOf is the user of a container's configuration, by its first process: that one runs as it, unless it began as another.
func userOf(process, name string) (user, bool) {
	ids, err := os.ReadFile(filepath.Join(process, "uid_map")) // #nosec G304 -- a number below /proc
	if err != nil || strings.Join(strings.Fields(string(ids)), " ") != "0 0 4294967295" {
		return user{}, false // numbers inside are others than here
	}
	status, err := os.ReadFile(filepath.Join(process, "status")) // #nosec G304 -- a number below /proc
	if err != nil {
		return user{}, false
	}
	uids, gids, groups := numbers(string(status), "Uid"), numbers(string(status), "Gid"), numbers(string(status), "Groups")
	if len(uids) != 4 || len(gids) != 4 || uids[0] == 0 || slices.Max(uids) != slices.Min(uids) || slices.Max(gids) != slices.Min(gids) {
		return user{}, false
	}
	if n, err := strconv.ParseUint(name, 10, 32); err == nil && n != uids[0] {
		return user{}, false
	}
	return user{uid: uids[0], groups: append(groups, gids[0])}, true
}

// numbers are those of one line of a status file of proc(5).
func numbers(status, name string) []uint64 {
	var out []uint64
	for line := range strings.Lines(status) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			for _, f := range strings.Fields(rest) {
				if n, err := strconv.ParseUint(f, 10, 64); err == nil {
					out = append(out, n)
				}
			}
		}
	}
	return out
}

// denied finds the first directory on a path that a user certainly cannot enter, or make the next one in where that is missing. An
// access control list can only give more rights within the mask, which is what the mode shows of the group.
func (v view) denied(who user, dir string, makes bool) (Denial, bool) {
	at, above := "/", Denial{}
	for name := range strings.SplitSeq(dir, "/") {
		at = path.Join(at, name)
		if !v.near(at) {
			return Denial{}, false
		}
		info, err := v.stat(at)
		if makes && errors.Is(err, fs.ErrNotExist) {
			return above, above.Path != ""
		}
		if err != nil || !info.IsDir() {
			return Denial{}, false
		}
		uid, gid, known := ownerOf(info)
		if !known {
			return Denial{}, false
		}
		d := Denial{Path: at, Mode: info.Mode(), Owner: fmt.Sprintf("%d:%d", uid, gid)}
		if who.lacks(0o1, info.Mode(), uid, gid) {
			return d, true
		}
		if above = (Denial{}); who.lacks(0o2, info.Mode(), uid, gid) {
			above = d
		}
	}
	return Denial{}, false
}

// lacks reports whether a user certainly lacks a right on what a user and a group own.
func (u user) lacks(right, mode fs.FileMode, uid, gid uint64) bool {
	if uid == u.uid {
		return mode&(right<<6) == 0
	}
	return mode&(right<<3) == 0 && (mode&right == 0 || slices.Contains(u.groups, gid))
}
