package hostfs

import "time"

// Entry is a name in a directory and what it stands for.
type Entry struct {
	Name string
	Stat Stat
}

// Filesystem is what holds a directory. Zero Inodes means that the file system has no fixed number of them.
type Filesystem struct {
	Type               string // empty when it is not one of the usual
	ReadOnly           bool
	Bytes, BytesFree   int64 // free for unprivileged users
	Inodes, InodesFree int64
}

// Account is a user for whom access is computed.
type Account struct {
	UID    uint32
	Groups []uint32
	// GroupsKnown is false for a user id that no user database has. Access that depends on groups is then undecided.
	GroupsKnown bool
	// Self says that this is the user that runs this program: then the kernel decides.
	Self bool
}

// DefaultPending bounds the names of sub-directories that wait to be entered.
const DefaultPending = 16 << 20

// WalkOptions bounds a walk.
type WalkOptions struct {
	MaxEntries int64 // 0: no bound
	MaxPending int   // bytes of names of sub-directories that wait; 0: DefaultPending
	// Now is the present. A modification time after it was set by hand and does not count as a change.
	Now  time.Time
	Host Host // whose directory it is
	// Watch are objects to look out for; Tree.Seen tells which lie in the tree.
	Watch map[FileID]bool

	// child and stat replace the system's, in tests.
	child func(dir int, name string, like Stat) (int, error)
}

// Cut says why a walk ended before the end of the tree.
type Cut string

// The reasons.
const (
	CutNone     Cut = ""
	CutEntries  Cut = "entries"  // MaxEntries reached
	CutDeadline Cut = "deadline" // the context ended
	CutNames    Cut = "names"    // MaxPending reached
	CutMoved    Cut = "moved"    // a directory was moved while it was being read
)

// Tree is what a walk found. Unless it is Whole, Bytes and Entries are lower bounds and Newest may be too early.
type Tree struct {
	Top     Stat
	Newest  time.Time
	Below   time.Time // the newest change apart from the top's; zero: the directory is empty
	Bytes   int64     // allocated; a file with several names in the tree counts once
	Entries int64     // everything below the top
	Cut     Cut
	// Unreadable counts what exists but could not be looked at; Unread is the first such failure.
	Unreadable int64
	Unread     error
	// Mounts counts mount points in the tree. They are not entered.
	Mounts int64
	// BytesOver says that too many multiply linked files were met to count each once: Bytes may be too high.
	BytesOver bool
	// Future counts modification times later than now.
	Future int64
	Seen   []FileID // of WalkOptions.Watch
	// Sockets are the names of the sockets in the tree, each once.
	Sockets map[string]bool
}

// Whole reports whether the walk read everything in the tree.
func (t *Tree) Whole() bool { return t.Cut == CutNone && t.Unreadable == 0 && t.Mounts == 0 }
