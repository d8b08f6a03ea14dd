// Package hostfs reads what a Unix host tells about directories and itself: a bounded walk of a tree that follows no
// link and leaves no mount, the processes that use a directory, mount tables, file system figures, and memory, boot
// and host name facts of a /proc tree. It changes nothing; where the kernel allows it, reading a directory does not
// even touch its access time, so that cleaners that go by access times are not misled.
//
// The layout of the /proc files follows proc(5), https://man7.org/linux/man-pages/man5/proc.5.html.
package hostfs

import (
	"io/fs"
	"time"
)

// FileID identifies an object within one boot of a host, whatever path leads to it.
type FileID struct {
	Dev uint64 // device number as in st_dev
	Ino uint64 // inode number
}

// Stat is what is known of one object without following a link.
type Stat struct {
	ID FileID
	// MountID is the kernel's number of the mount that the object was reached through, 0 where the system does not tell
	// (Linux before 5.8, other systems).
	MountID uint64
	// MountRoot says that the object is the root of a mount; false where the system does not tell.
	MountRoot bool
	Mode      fs.FileMode
	UID, GID  uint32
	Links     uint64
	Bytes     int64     // allocated
	Modified  time.Time // content
	Changed   time.Time // content or attributes; nobody can set it
	Born      time.Time // zero: the file system does not tell
}

// Newest is the later of the two times of change.
func (s Stat) Newest() time.Time {
	if s.Modified.After(s.Changed) {
		return s.Modified
	}
	return s.Changed
}
