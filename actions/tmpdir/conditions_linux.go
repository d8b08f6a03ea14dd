package tmpdir

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sandglass/backend"
	"sandglass/backend/hostfs"
)

// condition is one line of the written list. check answers why it does not hold; empty: it holds. What cannot be read
// does not hold.
type condition struct {
	name string
	rule string // the line of docs/backends/tmpdir.md
	// again says that the condition must hold once more before what was set aside is removed.
	again bool
	check func(*subject) backend.Safe
}

// conditions is the written list, cheapest first. All must hold; the first that does not is the reason people see.
func conditions() []condition {
	return []condition{
		{"root", "it is directly below a configured root, whose path has no symbolic link", true, inRoot},
		{"there", "it is the directory that was listed: same device, same inode, no link, no file", true, isThere},
		{"name", "its name matches `pattern`, and leaves room for the name in quarantine", false, hasName},
		{"owner", "it belongs to `agent_user` (default: the user that runs Sandglass, or who called sudo)", true, hasOwner},
		{"mode", "neither its group nor others may write to it", true, isClosed},
		{"mount", "it is on the same mount as its root, and is not a mount point", true, onMount},
		{"local", "it is on a local disk file system or in memory: users on other machines are not visible", true, isLocal},
		{"rename", "the root is writable for us, and its sticky bit does not forbid the rename", true, canRename},
		{"mounts inside", "no readable mount table of a process has a mount on it or in it, or of anything in it elsewhere, also as an overlay's layer", true, noMounts},
		{"holders", "no process uses it or anything in it, by device and inode: working directory, root, executable, open or mapped file, bound socket", true, noHolders},
		{"kernel", "nothing in it backs a loop device or is swap space", true, noKernel},
		{"processes", "every process shows what it uses; one that does not may use it", true, allShown},
		{"containers", "it is not, and is not inside or above, the bind source of a container in any state, or the `device` of a volume of the driver `local`, used or not", true, noBind},
		{"engines", "every container and volume is known: each docker source answers with a complete list (an unconfigured one may find no engine), and one reads each existing socket of `engine_sockets`", true, func(s *subject) backend.Safe { return s.w.engine }},
		{"refs", "no persisted ref and no workspace names it", true, noRef},
		{"whole tree", "its whole tree was read", true, wholeTree},
		{"unplaced", "no open file of unknown path, and no socket bound under a relative name, may be in it", true, noUnplaced},
		{"locks", "no file lock is held on it or on anything in it", true, noLocks},
		{"age", "its newest change is older than `clean_older_than` or the requested age, at least 10m", false, oldEnough},
		{"lifetime", "where persisted refs cannot all be read, that change is also older than `session_lifetime`", false, outlived},
		{"settled", "nothing in it changed after it was quarantined", true, settled},
	}
}

// failing returns the first condition that does not hold; ok: all do.
func (s *subject) failing() (c condition, why backend.Safe, ok bool) {
	for _, c := range conditions() {
		if s.w.purge && !c.again {
			continue
		}
		if why := c.check(s); !why.IsEmpty() {
			return c, why, false
		}
	}
	return condition{}, backend.Safe{}, true
}

func inRoot(s *subject) backend.Safe {
	switch {
	case s.path == "":
		return backend.Clean(s.err.Error(), 300)
	case s.root == nil:
		return backend.Textf("%s is not a configured root, or is reached through a symbolic link: write the root's own path into roots", drawn(filepath.Dir(s.path)))
	case s.root.dir == nil:
		return noRoot(filepath.Dir(s.path), s.root.err)
	}
	return backend.Safe{}
}

// noRoot says why a root cannot be opened.
func noRoot(path string, err error) backend.Safe {
	switch {
	case errors.Is(err, unix.ELOOP):
		return backend.Textf("%s is reached through a symbolic link: write the root's own path into roots", drawn(path))
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM):
		return backend.Text("this kernel has no openat2 (Linux 5.6), or a filter forbids it: without it nothing is removed, because links and mounts could be exchanged meanwhile")
	}
	return backend.Textf("%s cannot be opened: %s", drawn(path), translate(err))
}

func isThere(s *subject) backend.Safe {
	switch {
	case errors.Is(s.err, fs.ErrNotExist) && s.w.purge:
		return backend.Text("nothing of it waits: it was removed or put back")
	case errors.Is(s.err, fs.ErrNotExist):
		return backend.Text("it is gone")
	case s.err != nil:
		return backend.Clean(s.err.Error(), 300)
	case !s.stat.Mode.IsDir():
		return backend.Textf("it is not a directory but %s", kindOf(s.stat.Mode))
	case s.stat.ID != s.id:
		return backend.Text("it was removed and made again since it was listed")
	}
	return backend.Safe{}
}

func kindOf(m fs.FileMode) backend.Safe {
	if m&fs.ModeSymlink != 0 {
		return backend.Text("a symbolic link")
	}
	return backend.Text("a file")
}

func hasName(s *subject) backend.Safe {
	base := filepath.Base(s.path)
	if ok, err := path.Match(s.w.t.scratch.Pattern, base); err != nil || !ok {
		return backend.Textf("its name does not match %s", backend.Clean(s.w.t.scratch.Pattern, 100))
	}
	if _, err := s.w.t.record(s, s.w.now, planDigits, true).Name(); err != nil {
		return backend.Textf("%s: %d bytes leave no room for the record that it gets while it waits; remove it by hand", backend.Clean(err.Error(), 100), len(base))
	}
	return backend.Safe{}
}

func hasOwner(s *subject) backend.Safe {
	if s.stat.UID == s.w.t.owner {
		return backend.Safe{}
	}
	return backend.Textf("it belongs to %s, not to %s; the option agent_user says whose directories these are", s.w.userName(s.stat.UID), s.w.userName(s.w.t.owner))
}

func isClosed(s *subject) backend.Safe {
	if s.stat.Mode.Perm()&0o022 == 0 {
		return backend.Safe{}
	}
	return backend.Textf("others can write to it (mode %04o), so other users may have put files there", s.stat.Mode.Perm())
}

func onMount(s *subject) backend.Safe {
	switch top := s.root.dir.Stat(); {
	case s.stat.MountID == 0 || top.MountID == 0:
		return backend.Text("this kernel does not tell mounts apart (Linux 5.8 does)")
	case s.stat.MountRoot:
		return backend.Text("something is mounted on it")
	case s.stat.MountID != top.MountID || s.stat.ID.Dev != top.ID.Dev:
		return backend.Text("it is on another mount or file system than its root")
	}
	return backend.Safe{}
}

// isLocal knows the file systems that only this kernel writes to. What is not among them may be shared.
func isLocal(s *subject) backend.Safe {
	m, ok := s.w.table.ByID(s.stat.MountID)
	if !ok {
		return backend.Text("its file system is unknown")
	}
	if hostfs.LocalFilesystem(m.FSType) {
		return backend.Safe{}
	}
	return backend.Textf("it is on %s, which other machines may use too; their use cannot be seen from here", backend.Clean(m.FSType, 40))
}

func canRename(s *subject) backend.Safe {
	t, top := s.w.t, s.root.dir.Stat()
	if s.root.fs.ReadOnly {
		return backend.Textf("%s is mounted read-only", drawn(filepath.Dir(s.path)))
	}
	if t.self == 0 {
		return backend.Safe{}
	}
	ok, _, err := s.root.dir.Writable(hostfs.Account{Self: true})
	switch {
	case err != nil:
		return backend.Clean("whether its root is writable is not known: "+err.Error(), 300)
	case !ok:
		return backend.Textf("%s may not write to %s", s.w.userName(t.self), drawn(filepath.Dir(s.path)))
	case top.Mode&fs.ModeSticky != 0 && s.stat.UID != t.self && top.UID != t.self:
		return backend.Textf("only its owner and root may rename it (sticky bit of %s)", drawn(filepath.Dir(s.path)))
	}
	return backend.Safe{}
}

func noMounts(s *subject) backend.Safe {
	for _, u := range s.uses {
		who := backend.Textf("of process %d, %s", u.PID, s.w.t.clean(u.Command))
		if u.PID == 0 {
			who = backend.Textf("of this process, %s", s.w.t.clean(u.Command))
		}
		switch u.How {
		case hostfs.HowPoint:
			return backend.Textf("something is mounted on it or in it, in the mount table %s", who)
		case hostfs.HowMount:
			return backend.Textf("it or something in it is mounted elsewhere, in the mount table %s", who)
		case hostfs.HowCwd, hostfs.HowRoot, hostfs.HowExe, hostfs.HowFD, hostfs.HowMap, hostfs.HowSocket:
		}
	}
	return backend.Safe{}
}

func noHolders(s *subject) backend.Safe {
	if len(s.uses) == 0 {
		return backend.Safe{}
	}
	more := backend.Safe{}
	if n := len(s.uses) - 1; n > 0 {
		more = backend.Textf(", and %s", backend.Counted(n, "more use", "more uses"))
	}
	return backend.Textf("in use by %s%s", holder(s.w.t, s.uses[0], s.w.now), more)
}

// holder is a process that uses something, with what it keeps.
func holder(t *tool, u hostfs.Use, now time.Time) backend.Safe {
	how := string(u.How)
	if u.Deleted {
		how = "a deleted file"
		if u.Bytes > 0 {
			how += " of " + backend.Bytes(u.Bytes)
		}
	}
	since := ""
	if !u.Since.IsZero() && now.After(u.Since) {
		since = ", running for " + backend.Age(now.Sub(u.Since))
	}
	return backend.Textf("process %d (%s%s): %s", u.PID, t.clean(u.Command), backend.Clean(since, 60), backend.Clean(how, 60))
}

func allShown(s *subject) backend.Safe {
	switch u := s.w.users; {
	case u.Blind != "":
		return backend.Clean("who uses it is not known: "+u.Blind, 300)
	default:
		if closed := s.w.closed(); len(closed) > 0 {
			return backend.Textf("%d of %s unreadable, any of which may use it%s", u.Unreadable, backend.Counted(u.Processes, "process", "processes"), s.w.t.first(closed))
		}
	}
	return backend.Safe{}
}

// closed are the unreadable processes that nothing says to be harmless; more than hostfs.MaxClosed are never all named.
func (w *hostSnapshot) closed() []hostfs.Use {
	u := w.users
	if u.Unreadable > len(u.Closed) {
		return append(u.Closed[:len(u.Closed):len(u.Closed)], hostfs.Use{})
	}
	return slices.DeleteFunc(slices.Clone(u.Closed), w.isHarmless)
}

// isHarmless reports whether the policy names an unreadable process: process 1 by its executable, another by its unit. Only
// process 1's command line is trusted, since root alone decides what that is.
func (w *hostSnapshot) isHarmless(u hostfs.Use) bool {
	for name := range strings.Lines(w.harmless) {
		name = strings.TrimSuffix(name, "\n")
		if name != "" && (u.PID == 1 && u.Program == name || u.Unit == name) {
			return true
		}
	}
	return false
}

// first names one of the processes that show nothing.
func (t *tool) first(closed []hostfs.Use) backend.Safe {
	if len(closed) == 0 {
		return backend.Safe{}
	}
	return backend.Textf(" (first: process %d, %s)", closed[0].PID, t.clean(closed[0].Command))
}

func noRef(s *subject) backend.Safe {
	return s.w.refs.naming(filepath.Base(s.path))
}

func wholeTree(s *subject) backend.Safe {
	tree, err := s.walk()
	switch {
	case err != nil:
		return backend.Textf("it cannot be read: %s", translate(err))
	case tree.Top.ID != s.stat.ID:
		return backend.Text("it was removed and made again while it was read")
	case tree.Mounts > 0:
		return backend.Textf("%s in it", backend.Counted(tree.Mounts, "mount point is", "mount points are"))
	case tree.Unreadable > 0:
		return backend.Textf("%s in it cannot be read (%s), so its last change is unknown", backend.Counted(tree.Unreadable, "place", "places"), translate(tree.Unread))
	case tree.Cut == hostfs.CutDeadline:
		return backend.Textf("it was not read to its end in time (%s so far)", entries(tree.Entries))
	case !tree.Whole():
		return backend.Textf("it was not read to its end: %s", backend.Clean(string(tree.Cut), 40))
	}
	return backend.Safe{}
}

func noUnplaced(s *subject) backend.Safe {
	for id, u := range s.w.users.Unplaced {
		if s.saw(id) {
			return backend.Textf("in use by %s", holder(s.w.t, u, s.w.now))
		}
	}
	for name, u := range s.w.users.Unlocated {
		if s.tree.Sockets[name] {
			return backend.Textf("a socket in it may be that of %s", holder(s.w.t, u, s.w.now))
		}
	}
	return backend.Safe{}
}

func noLocks(s *subject) backend.Safe {
	if s.w.noLock != nil {
		return backend.Clean("which files are locked is not known: "+s.w.noLock.Error(), 300)
	}
	for _, l := range s.w.locks {
		if !s.lockHere(l) || l.Ino != s.stat.ID.Ino && !s.saw(hostfs.FileID{Dev: s.stat.ID.Dev, Ino: l.Ino}) {
			continue
		}
		if l.PID > 0 {
			return backend.Textf("process %d holds a lock (%s) in it", l.PID, backend.Clean(l.Kind, 20))
		}
		return backend.Textf("a process holds a lock (%s) in it", backend.Clean(l.Kind, 20))
	}
	return backend.Safe{}
}

func oldEnough(s *subject) backend.Safe {
	if s.w.older < LeastAge {
		return backend.Textf("an age of %s is too short: a directory in use may not change for minutes; ask for at least %s", backend.Age(s.w.older), backend.Age(LeastAge))
	}
	return s.unchangedFor(s.w.older, "the age that was asked for")
}

func outlived(s *subject) backend.Safe {
	if s.w.refs.known.IsEmpty() {
		return backend.Safe{}
	}
	life := s.w.t.o.SessionLifetime.Std()
	if life <= 0 {
		return backend.Text("session_lifetime is not set")
	}
	if why := s.unchangedFor(life, "session_lifetime"); !why.IsEmpty() {
		return backend.Textf("%s, and a paused session may come back for it (%s)", why, s.w.refs.known)
	}
	return backend.Safe{}
}

// unchangedFor says that the newest change is not older than d.
func (s *subject) unchangedFor(d time.Duration, what backend.Literal) backend.Safe {
	age := s.w.now.Sub(s.newest())
	switch {
	case age < 0:
		return backend.Textf("something in it changed at %s, which is later than now: one of the clocks is wrong", backend.Clean(s.newest().UTC().Format(time.RFC3339), 40))
	case age <= d:
		return backend.Textf("something in it changed %s ago, and %s is %s", backend.Age(age), backend.Text(what), backend.Age(d))
	}
	return backend.Safe{}
}

// settled compares the tree with the time of the rename, apart from the time of change of the top, which the rename
// itself moved. The whole tree was read before.
func settled(s *subject) backend.Safe {
	if s.wait == nil || s.wait.Begun {
		return backend.Safe{}
	}
	newest := s.tree.Below
	if m := s.stat.Modified; m.After(newest) && !m.After(s.w.now) {
		newest = m
	}
	if !newest.Before(s.wait.Moved) {
		return backend.Textf("something in it changed at %s, after it was quarantined: it is still in use; undo puts it back", backend.Clean(newest.UTC().Format("15:04:05 UTC"), 20))
	}
	return backend.Safe{}
}

func majorMinor(dev uint64) string { return fmt.Sprintf("%d:%d", unix.Major(dev), unix.Minor(dev)) }

// drawn is a path for people.
func drawn(path string) backend.Safe { return backend.Clean(path, 400) }

// clean makes drawable text of a command line.
func (t *tool) clean(text string) backend.Safe {
	if t.site.Deps.Cleaner == nil {
		return backend.Clean(text, 120)
	}
	return t.site.Deps.Cleaner.Clean(text, 120)
}
