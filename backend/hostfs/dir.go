//go:build unix

package hostfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// Dir is an open directory. It stays the same directory whatever happens to its path.
type Dir struct {
	f    *os.File
	path string
	stat Stat
}

// OpenDir opens a directory by its path. It follows links in the path, because the configuration names them.
// Path then gives the path without links.
func OpenDir(path string) (*Dir, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	fd, err := unix.Open(real, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	d := &Dir{f: os.NewFile(uintptr(fd), real), path: real}
	if d.stat, err = statOpen(fd); err != nil {
		_ = d.Close() // the error of interest is the one above
		return nil, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	return d, nil
}

// Path is the absolute path without links at the time of opening.
func (d *Dir) Path() string { return d.path }

// Stat is the directory itself.
func (d *Dir) Stat() Stat { return d.stat }

// Close releases the descriptor.
func (d *Dir) Close() error { return d.f.Close() }

func (d *Dir) fd() int { return int(d.f.Fd()) }

// FD is the open descriptor, valid until Close.
func (d *Dir) FD() int { return d.fd() }

// Lookup is what a name in the directory stands for, without following a link.
func (d *Dir) Lookup(name string) (Stat, error) {
	st, err := statAt(d.fd(), name)
	if err != nil {
		return Stat{}, &os.PathError{Op: "stat", Path: filepath.Join(d.path, name), Err: err}
	}
	return st, nil
}

// StatAt is what a name in the open directory stands for, without following a link.
func StatAt(dir int, name string) (Stat, error) { return statAt(dir, name) }

// StatFD is the object that an open descriptor stands for.
func StatFD(fd int) (Stat, error) { return statOpen(fd) }

// openTrusted opens a file for reading, never through a link and never waiting for the other end of a pipe.
func openTrusted(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
}

// List gives the entries whose names match, without following links, in the order of the directory. After
// limit matches it returns them with an error, so that one directory cannot fill the memory. It leaves out names that
// vanish meanwhile. Any other failure of one name makes the list incomplete, which is an error.
func (d *Dir) List(ctx context.Context, match func(name string) bool, limit int) ([]Entry, error) {
	if _, err := d.f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	var out []Entry
	var failed error
	for {
		names, err := d.f.Readdirnames(256)
		for _, n := range names {
			if !match(n) {
				continue
			}
			st, serr := statAt(d.fd(), n)
			if errors.Is(serr, unix.ENOENT) {
				continue
			}
			if serr != nil {
				failed = &os.PathError{Op: "stat", Path: filepath.Join(d.path, n), Err: serr}
				continue
			}
			if len(out) >= limit {
				return out, fmt.Errorf("more than %d directories match", limit)
			}
			out = append(out, Entry{Name: n, Stat: st})
		}
		if errors.Is(err, io.EOF) {
			return out, failed
		}
		if err != nil {
			return out, err
		}
		if err := ctx.Err(); err != nil {
			return out, err
		}
	}
}

// Writable reports whether the account may create and remove entries: write and search permission on the directory and
// search permission on everything above it. decided is false where an access list or unknown groups decide. A file
// system mounted read-only is not looked at; see Filesystem.
func (d *Dir) Writable(a Account) (ok, decided bool, err error) {
	if a.Self {
		err := unix.Faccessat(d.fd(), ".", unix.W_OK|unix.X_OK, unix.AT_EACCESS)
		switch {
		case err == nil:
			return true, true, nil
		case errors.Is(err, unix.EACCES), errors.Is(err, unix.EROFS):
			return false, true, nil
		}
		return false, false, err
	}
	if a.UID == 0 {
		return true, true, nil
	}
	acl, err := d.hasACL()
	if err != nil || acl {
		return false, false, err
	}
	if ok, decided = permits(d.stat, a, 0o3); !decided || !ok {
		return ok, decided, nil
	}
	for p := filepath.Dir(d.path); ; p = filepath.Dir(p) {
		up, err := OpenDir(p)
		if errors.Is(err, unix.EACCES) {
			return false, false, nil
		}
		if err != nil {
			return false, false, err
		}
		acl, err := up.hasACL()
		_ = up.Close() // opened for reading
		if err != nil || acl {
			return false, false, err
		}
		if ok, decided = permits(up.stat, a, 0o1); !decided || !ok || p == "/" {
			return ok, decided, nil
		}
	}
}

// permits applies the mode the way the kernel does: the owner's bits for the owner, else the group's for members, else
// the others'.
func permits(s Stat, a Account, want uint32) (ok, decided bool) {
	bits := uint32(s.Mode.Perm())
	switch {
	case a.UID == s.UID:
		return bits>>6&want == want, true
	case !a.GroupsKnown && bits>>3&want == want != (bits&want == want):
		return false, false
	case a.GroupsKnown && slices.Contains(a.Groups, s.GID):
		return bits>>3&want == want, true
	}
	return bits&want == want, true
}
