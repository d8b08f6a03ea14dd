//go:build darwin || freebsd

package hostfs

import (
	"errors"
	"io/fs"
	"time"

	"golang.org/x/sys/unix"
)

func statAt(dir int, name string) (Stat, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return Stat{}, err
	}
	return statOf(&st), nil
}

func statOpen(fd int) (Stat, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return Stat{}, err
	}
	return statOf(&st), nil
}

func statOf(st *unix.Stat_t) Stat {
	return Stat{
		ID:   FileID{Dev: uint64(st.Dev), Ino: st.Ino},
		Mode: modeOf(uint32(st.Mode)), UID: st.Uid, GID: st.Gid, Links: uint64(st.Nlink), Bytes: st.Blocks * 512,
		Modified: time.Unix(st.Mtim.Unix()), Changed: time.Unix(st.Ctim.Unix()), Born: time.Unix(st.Btim.Unix()),
	}
}

// opener opens child directories.
type opener struct{}

// child opens a directory by its name in dir, never through a link; an error that is errCrossed says that another file
// system is mounted there.
func (o *opener) child(dir int, name string, like Stat) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return -1, err
		}
		return requireFilesystem(fd, like)
	}
}

// Filesystem describes the file system that the open directory lies on.
func (d *Dir) Filesystem() (Filesystem, error) {
	var s unix.Statfs_t
	if err := unix.Fstatfs(d.fd(), &s); err != nil {
		return Filesystem{}, err
	}
	return Filesystem{
		Type: unix.ByteSliceToString(s.Fstypename[:]), ReadOnly: s.Flags&unix.MNT_RDONLY != 0,
		Bytes: int64(s.Blocks) * int64(s.Bsize), BytesFree: int64(s.Bavail) * int64(s.Bsize),
		Inodes: int64(s.Files), InodesFree: int64(s.Ffree),
	}, nil
}

// hasACL is not looked up here: access lists of this system can only be judged by asking the system itself.
func (d *Dir) hasACL() (bool, error) { return true, nil }

func modeOf(m uint32) fs.FileMode {
	mode := fs.FileMode(m & 0o777)
	switch m & unix.S_IFMT {
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	case unix.S_IFLNK:
		mode |= fs.ModeSymlink
	case unix.S_IFREG:
	default:
		mode |= fs.ModeIrregular
	}
	if m&unix.S_ISVTX != 0 {
		mode |= fs.ModeSticky
	}
	return mode
}
