package hostfs

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Host says where the facts of a host are read: the zero value reads the host that Sandglass runs on. A Tree is a
// recorded host, as the demo writes one: its directories proc and sys, and the file "filesystem" with the room that its
// scratch directories have. It speaks only for directories below it.
type Host struct{ Tree string }

// Recorded reports whether the facts come from a tree.
func (h Host) Recorded() bool { return h.Tree != "" }

// Proc is the host's /proc.
func (h Host) Proc() Proc { return Proc{Root: filepath.Join("/", h.Tree, "proc")} }

// Sys is the path of the host's /sys.
func (h Host) Sys() string { return filepath.Join("/", h.Tree, "sys") }

// KernelLog is the path of the host's kernel log.
func (h Host) KernelLog() string { return filepath.Join("/", h.Tree, "dev", "kmsg") }

// Holds reports whether the host speaks for a directory, given by its clean absolute path.
func (h Host) Holds(dir string) bool { return !h.Recorded() || dir != h.Tree && within(dir, h.Tree) }

// Filesystem is what holds the directory.
func (h Host) Filesystem(d *Dir) (Filesystem, error) {
	fs, err := d.Filesystem()
	if err != nil || !h.Recorded() {
		return fs, err
	}
	name := filepath.Join(h.Tree, "filesystem")
	b, err := os.ReadFile(name)
	if err != nil {
		return Filesystem{}, err
	}
	for label, to := range map[string]*int64{"bytes": &fs.Bytes, "bytes_free": &fs.BytesFree, "inodes": &fs.Inodes, "inodes_free": &fs.InodesFree} {
		if *to, err = labelledNumber(b, label); err != nil {
			return Filesystem{}, fmt.Errorf("%s: %w", name, err)
		}
	}
	return fs, nil
}

// Newest is when the object was changed last. A recorded host's objects were all made by the recording: of them only the
// time of the content tells.
func (h Host) Newest(s Stat) time.Time {
	if h.Recorded() {
		return s.Modified
	}
	return s.Newest()
}

// Born is when the object was made; zero where it is not known.
func (h Host) Born(s Stat) time.Time {
	if h.Recorded() {
		return time.Time{}
	}
	return s.Born
}
