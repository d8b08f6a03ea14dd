package tmpdir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"sandglass/backend"
	"sandglass/backend/hostfs"
)

// Bounds of one removal.
const (
	openLevels = 64  // descriptors held; further up the way back leads through ".."
	batch      = 512 // names read at a time
	passes     = 4   // readings of one directory before a live writer is assumed
	mostNotes  = 10
	mostFailed = 10_000 // names that stay are remembered
)

// openChild opens a directory by its name in dir: in one step, below dir, through no link, across no mount. Without
// openat2 it refuses.
func openChild(dir int, name string) (int, hostfs.Stat, error) {
	how := unix.OpenHow{Flags: unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV}
	for tries := 0; ; tries++ {
		fd, err := unix.Openat2(dir, name, &how)
		if errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN) && tries < 8 {
			continue
		}
		if err != nil {
			return -1, hostfs.Stat{}, err
		}
		st, err := hostfs.StatFD(fd)
		if err != nil {
			_ = unix.Close(fd) // opened for reading
			return -1, hostfs.Stat{}, err
		}
		return fd, st, nil
	}
}

// dirLevel is a directory on the way down.
type dirLevel struct {
	f    *os.File // nil once closed to save descriptors
	stat hostfs.Stat
	name string // in the level above
	dirs []string
	// left counts what could not be removed in the present pass; a pass that leaves nothing and finds the directory
	// filled again is followed by another.
	left, pass int
	skip       map[string]bool // names that could not be removed: they are not tried again
	writable   bool            // made so already
	ended      bool            // read to its end in this pass
}

// removal removes one tree.
type removal struct {
	ctx     context.Context
	top     hostfs.Stat
	stack   []dirLevel
	removed int64
	freed   int64 // allocated by what lost its last name
	failed  int64
	first   error // the first failure
	where   []backend.Safe
	stop    error // the failure that is one too many
	root    int   // the directory that it is removed from
	name    string
	moved   bool // it does not have its name there any more

	// before lets tests do something just before a name is acted on.
	before func(dir int, name string)
}

// run removes the directory called name in dir and everything in it. Whatever cannot be removed stays, with everything
// above it, and is the error. It never leaves the tree: each directory is opened in one step from the one above and
// compared with what was listed there.
func (r *removal) run(dir int, name string) error {
	defer func() {
		for i := range r.stack {
			r.stack[i].close()
		}
	}()
	fd, st, err := openChild(dir, name)
	if err != nil {
		return failed("it cannot be opened", err)
	}
	if st.ID != r.top.ID || st.MountID != r.top.MountID {
		_ = unix.Close(fd) // opened for reading
		return changed("%s is another directory now", drawn(name))
	}
	r.root, r.name = dir, name
	r.push(fd, st, name)
	for len(r.stack) > 0 {
		if r.ctx.Err() != nil {
			return fmt.Errorf("stopped: %w", context.Cause(r.ctx))
		}
		if r.stop != nil {
			return failed("too much of it cannot be removed", r.first)
		}
		if err := r.step(dir); err != nil {
			return err
		}
		if r.moved {
			return changed("%s was renamed or moved away while it was being removed: what was left in it then stays, wherever it is now", drawn(name))
		}
	}
	if r.failed > 0 {
		return failed("not everything could be removed", r.first)
	}
	return nil
}

func (r *removal) push(fd int, st hostfs.Stat, name string) {
	r.stack = append(r.stack, dirLevel{f: os.NewFile(uintptr(fd), "directory"), stat: st, name: name})
	if n := len(r.stack) - 1 - openLevels; n > 0 {
		r.stack[n].close()
	}
}

func (l *dirLevel) close() {
	if l.f != nil {
		_ = l.f.Close() // opened for reading
		l.f = nil
	}
}

func (l *dirLevel) fd() int { return int(l.f.Fd()) }

// step enters the next sub-directory of the deepest level, reads more of it, or leaves it.
func (r *removal) step(dir int) error {
	l := &r.stack[len(r.stack)-1]
	switch {
	case len(l.dirs) > 0:
		name := l.dirs[len(l.dirs)-1]
		l.dirs = l.dirs[:len(l.dirs)-1]
		r.enter(l, name)
		return nil
	case !l.ended:
		return r.read(l)
	}
	return r.leave(dir)
}

// read removes the files among the next names, and remembers the directories.
func (r *removal) read(l *dirLevel) error {
	names, err := l.f.Readdirnames(batch)
	for _, n := range names {
		if r.moved {
			return nil
		}
		if r.ctx.Err() != nil {
			return fmt.Errorf("stopped: %w", context.Cause(r.ctx))
		}
		if !l.skip[n] {
			r.entry(l, n)
		}
	}
	switch {
	case errors.Is(err, io.EOF):
		l.ended = true
	case err != nil:
		r.fail(l, l.name, err)
		l.ended = true
	}
	return nil
}

// entry removes one name that is no directory.
func (r *removal) entry(l *dirLevel, name string) {
	st, err := hostfs.StatAt(l.fd(), name)
	if errors.Is(err, unix.ENOENT) {
		return
	}
	if err != nil {
		r.fail(l, name, err)
		return
	}
	if st.Mode.IsDir() {
		l.dirs = append(l.dirs, name)
		return
	}
	if r.before != nil {
		r.before(l.fd(), name)
	}
	switch err := r.unlink(l, name, 0); {
	case err == nil:
		r.removed++
		if st.Links <= 1 {
			r.freed += st.Bytes
		}
	case errors.Is(err, unix.ENOENT):
	case errors.Is(err, unix.EISDIR):
		l.dirs = append(l.dirs, name)
	default:
		r.fail(l, name, err)
	}
}

// errMoved: the tree has left its place, and what is in it belongs to whoever moved it.
var errMoved = errors.New("it was moved away")

// inPlace reports whether the tree still has its name. It is asked before each name that is removed: who renames the
// tree out of its place wants it back.
func (r *removal) inPlace() bool {
	if !r.moved {
		st, err := hostfs.StatAt(r.root, r.name)
		r.moved = err != nil || st.ID != r.top.ID
	}
	return !r.moved
}

// unlink removes one name in an open directory. Where the directory is closed to its own owner, as package caches leave
// theirs, it is opened first.
func (r *removal) unlink(l *dirLevel, name string, flags int) error {
	if !r.inPlace() {
		return errMoved
	}
	for {
		err := unix.Unlinkat(l.fd(), name, flags)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EACCES) && !l.writable:
			l.writable = true
			if unix.Fchmod(l.fd(), 0o700) == nil {
				continue
			}
		}
		return err
	}
}

// enter opens a sub-directory and makes sure that it is the one that its level lists. Whatever stands there instead is
// met again by the next pass.
func (r *removal) enter(l *dirLevel, name string) {
	listed, err := hostfs.StatAt(l.fd(), name)
	if errors.Is(err, unix.ENOENT) || err == nil && !listed.Mode.IsDir() {
		return
	}
	if r.before != nil {
		r.before(l.fd(), name)
	}
	var fd int
	var st hostfs.Stat
	if err == nil {
		fd, st, err = openChild(l.fd(), name)
	}
	switch {
	case err == nil:
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENOTDIR):
		return
	default:
		r.fail(l, name, err)
		return
	}
	if st.ID != listed.ID || st.MountID != r.top.MountID || st.ID.Dev != r.top.ID.Dev {
		_ = unix.Close(fd) // opened for reading
		if st.MountID != r.top.MountID || st.ID.Dev != r.top.ID.Dev {
			r.fail(l, name, unix.EXDEV)
		}
		return
	}
	r.push(fd, st, name)
}

// leave ends a directory that was read to its end: it is removed when it is empty, and read again when something was
// made in it meanwhile.
func (r *removal) leave(dir int) error {
	last := len(r.stack) - 1
	l := &r.stack[last]
	parent := dir
	var up *dirLevel
	if last > 0 {
		up = &r.stack[last-1]
		if err := r.climb(l, up); err != nil {
			return err
		}
		parent = up.fd()
	}
	if r.before != nil {
		r.before(parent, l.name)
	}
	var err error
	if up != nil {
		err = r.unlink(up, l.name, unix.AT_REMOVEDIR)
	} else if err = errMoved; r.inPlace() {
		err = unix.Unlinkat(parent, l.name, unix.AT_REMOVEDIR)
	}
	switch {
	case err == nil:
		r.removed++
		r.freed += l.stat.Bytes
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR): // another process removed it
		if up == nil {
			r.fail(nil, l.name, err)
		}
	case (errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST)) && l.left == 0 && l.pass < passes:
		if _, serr := l.f.Seek(0, io.SeekStart); serr == nil {
			l.pass, l.ended, l.left = l.pass+1, false, 0
			return nil
		}
		r.fail(up, l.name, err)
	case errors.Is(err, unix.ENOTEMPTY) && l.left > 0: // its reason was given inside
		up.leaveOut(l.name)
	default:
		r.fail(up, l.name, err)
	}
	l.close()
	r.stack = r.stack[:last]
	return nil
}

// climb opens the level above again where its descriptor was given up: ".." leads there, provided that it is still the
// same directory on the same mount.
func (r *removal) climb(l, up *dirLevel) error {
	if up.f != nil {
		return nil
	}
	fd, err := unix.Openat(l.fd(), "..", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return failed("the way back up is closed", err)
	}
	st, err := hostfs.StatFD(fd)
	if err != nil || st.ID != up.stat.ID || st.MountID != up.stat.MountID {
		_ = unix.Close(fd) // opened for reading
		return errors.New("a directory was moved away while it was being removed; nothing outside was touched")
	}
	// It is read from its beginning: what was done already is not there any more.
	up.f, up.ended, up.dirs = os.NewFile(uintptr(fd), "directory"), false, nil
	return nil
}

// leaveOut marks a name of the level as one that stays; the level of the top is nil.
func (l *dirLevel) leaveOut(name string) {
	if l == nil {
		return
	}
	if l.skip == nil {
		l.skip = map[string]bool{}
	}
	l.left++
	l.skip[name] = true
}

// fail notes what could not be removed.
func (r *removal) fail(l *dirLevel, name string, err error) {
	if errors.Is(err, errMoved) {
		return
	}
	l.leaveOut(name)
	r.failed++
	if r.first == nil {
		r.first = err
	}
	if r.failed > mostFailed {
		r.stop = err
	}
	if len(r.where) < mostNotes {
		r.where = append(r.where, backend.Textf("%s: %s", backend.Clean(name, 100), translate(err)))
	}
}

// notes are the first failures by name.
func (r *removal) notes() []backend.Safe {
	out := r.where
	if more := r.failed - int64(len(out)); more > 0 {
		out = append(out, backend.Textf("and %d more", more))
	}
	return out
}
