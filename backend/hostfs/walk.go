//go:build unix

package hostfs

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Bounds of one walk besides the caller's.
const (
	openDirs   = 16      // descriptors held; further up the way back leads through ".."
	checkEvery = 256     // entries between two looks at the context
	maxLinked  = 1 << 17 // multiply linked files remembered, so that each is counted once
)

var errCrossed = errors.New("something is mounted there")

// otherFilesystem reports whether b is on another mount than a. Known mount ids decide. A directory with its own device (a
// btrfs subvolume) counts as another file system too. A file with its own device does not: overlay file systems give files
// the device of their layer.
func otherFilesystem(a, b Stat) bool {
	if a.MountID == 0 || b.MountID == 0 {
		return a.ID.Dev != b.ID.Dev
	}
	return a.MountID != b.MountID || b.Mode.IsDir() && a.ID.Dev != b.ID.Dev
}

// frame is a directory on the way down. names are its sub-directories still to enter, each ended by a NUL byte, which
// no name contains: one block of memory however many there are.
type frame struct {
	f     *os.File // nil once closed to save descriptors
	id    FileID
	names string
}

type walker struct {
	ctx     context.Context
	o       WalkOptions
	open    opener
	t       Tree
	stack   []frame
	pending int
	linked  map[FileID]struct{}
}

// Walk reads the tree under the directory called name in parent. It never follows a link, never enters a mount (a bind
// mount of the same file system included, where the system tells mounts apart), uses no recursion, at most 16
// descriptors, and memory for directory names and multiply linked files only. An error means that the directory itself
// could not be read: it does not exist (fs.ErrNotExist), is not a directory, is a mount point, or denies access.
func Walk(ctx context.Context, parent *Dir, name string, o WalkOptions) (Tree, error) {
	if o.MaxPending == 0 {
		o.MaxPending = DefaultPending
	}
	w := &walker{ctx: ctx, o: o, linked: map[FileID]struct{}{}}
	if w.o.child == nil {
		w.o.child = w.open.child
	}
	defer func() {
		for _, fr := range w.stack {
			closeFrame(&fr)
		}
	}()
	fd, err := w.o.child(parent.fd(), name, parent.stat)
	if err != nil {
		return Tree{}, &os.PathError{Op: "open", Path: name, Err: err}
	}
	if w.t.Top, err = statOpen(fd); err != nil {
		_ = unix.Close(fd) // opened for reading
		return Tree{}, &os.PathError{Op: "stat", Path: name, Err: err}
	}
	w.count(w.t.Top)
	w.t.Entries, w.t.Below = 0, time.Time{} // the top is not an entry of itself
	w.enter(fd, w.t.Top.ID)
	for len(w.stack) > 0 && w.t.Cut == CutNone {
		w.step()
	}
	return w.t, nil
}

// step enters the next sub-directory of the deepest directory, or leaves that one.
func (w *walker) step() {
	top := &w.stack[len(w.stack)-1]
	name, rest, more := strings.Cut(top.names, "\x00")
	if !more {
		w.leave()
		return
	}
	top.names = rest
	w.pending -= len(name) + 1
	if w.ctx.Err() != nil {
		w.t.Cut = CutDeadline
		return
	}
	fd, err := w.o.child(int(top.f.Fd()), name, w.t.Top)
	switch {
	case err == nil:
	case errors.Is(err, errCrossed):
		w.t.Mounts++
		return
	case vanished(err):
		return
	default:
		w.countUnreadable(err)
		return
	}
	st, err := statOpen(fd)
	if err != nil {
		_ = unix.Close(fd) // opened for reading
		w.countUnreadable(err)
		return
	}
	w.enter(fd, st.ID)
}

// enter reads one directory: counts its entries and remembers the names of its sub-directories.
func (w *walker) enter(fd int, id FileID) {
	f := os.NewFile(uintptr(fd), "directory")
	w.stack = append(w.stack, frame{f: f, id: id})
	if n := len(w.stack) - 1 - openDirs; n >= 0 {
		closeFrame(&w.stack[n])
	}
	var names strings.Builder
	for w.t.Cut == CutNone {
		batch, err := f.Readdirnames(checkEvery)
		if w.ctx.Err() != nil {
			w.t.Cut = CutDeadline
			break
		}
		for _, n := range batch {
			w.entry(fd, n, &names)
			if w.t.Cut != CutNone {
				break
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			w.countUnreadable(err)
			break
		}
	}
	w.stack[len(w.stack)-1].names = names.String()
}

func (w *walker) entry(dir int, name string, names *strings.Builder) {
	if w.o.MaxEntries > 0 && w.t.Entries >= w.o.MaxEntries {
		w.t.Cut = CutEntries
		return
	}
	st, err := statAt(dir, name)
	if vanished(err) {
		return
	}
	if err != nil {
		w.countUnreadable(err)
		return
	}
	if st.MountRoot || otherFilesystem(w.t.Top, st) {
		w.t.Mounts++
		return
	}
	w.count(st)
	if st.Mode&fs.ModeSocket != 0 {
		if len(w.t.Sockets) >= maxLinked {
			w.t.Cut = CutEntries
			return
		}
		if w.t.Sockets == nil {
			w.t.Sockets = map[string]bool{}
		}
		w.t.Sockets[name] = true
	}
	if !st.Mode.IsDir() {
		return
	}
	if w.pending += len(name) + 1; w.pending > w.o.MaxPending {
		w.t.Cut = CutNames
		return
	}
	names.WriteString(name)
	names.WriteByte(0)
}

func (w *walker) count(st Stat) {
	w.t.Entries++
	newest := st.Changed
	if w.o.Host.Recorded() {
		newest = time.Time{}
	}
	if st.Modified.After(newest) {
		if !w.o.Now.IsZero() && st.Modified.After(w.o.Now) {
			w.t.Future++
		} else {
			newest = st.Modified
		}
	}
	if newest.After(w.t.Newest) {
		w.t.Newest = newest
	}
	if newest.After(w.t.Below) {
		w.t.Below = newest
	}
	if w.o.Watch[st.ID] {
		w.t.Seen = append(w.t.Seen, st.ID)
	}
	if st.Links > 1 && !st.Mode.IsDir() {
		if _, twice := w.linked[st.ID]; twice {
			return
		}
		if len(w.linked) < maxLinked {
			w.linked[st.ID] = struct{}{}
		} else {
			w.t.BytesOver = true
		}
	}
	w.t.Bytes += st.Bytes
}

// leave goes back to the directory above. If its descriptor was closed to save descriptors, leave opens ".." and checks
// that it is still the same directory.
func (w *walker) leave() {
	last := len(w.stack) - 1
	child := &w.stack[last]
	defer func() {
		closeFrame(child)
		w.stack = w.stack[:last]
	}()
	if last == 0 || w.stack[last-1].f != nil {
		return
	}
	up := &w.stack[last-1]
	fd, err := unix.Openat(int(child.f.Fd()), "..", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		w.countUnreadable(err)
		w.t.Cut = CutMoved
		return
	}
	st, err := statOpen(fd)
	if err != nil || st.ID != up.id {
		_ = unix.Close(fd) // opened for reading
		w.t.Cut = CutMoved
		return
	}
	up.f = os.NewFile(uintptr(fd), "directory")
}

func (w *walker) countUnreadable(err error) {
	w.t.Unreadable++
	if w.t.Unread == nil {
		w.t.Unread = err
	}
}

// vanished reports whether the object vanished or changed its type between two looks, which is no failure.
func vanished(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR)
}

func closeFrame(fr *frame) {
	if fr.f != nil {
		_ = fr.f.Close() // opened for reading
		fr.f = nil
	}
}
