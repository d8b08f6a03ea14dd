package hostfs

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// statAt reads one object without following a link and without mounting anything. The mount id and the mark of a mount's
// root need Linux 5.8; statx(2) itself 4.11.
func statAt(dir int, name string) (Stat, error) { return statx(dir, name, unix.AT_SYMLINK_NOFOLLOW) }

// statOpen reads the object that the descriptor stands for.
func statOpen(fd int) (Stat, error) { return statx(fd, "", unix.AT_EMPTY_PATH) }

// statCached follows links and asks no server. It needs only identity and mount, and must not wait for a dead network file
// system.
func statCached(path string) (Stat, error) {
	return statx(unix.AT_FDCWD, path, unix.AT_STATX_DONT_SYNC)
}

func statx(dir int, name string, flags int) (Stat, error) {
	var x unix.Statx_t
	const mask = unix.STATX_BASIC_STATS | unix.STATX_BTIME | unix.STATX_MNT_ID
	for {
		err := unix.Statx(dir, name, flags|unix.AT_NO_AUTOMOUNT, mask, &x)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return Stat{}, err
		}
		break
	}
	s := Stat{
		ID:        FileID{Dev: unix.Mkdev(x.Dev_major, x.Dev_minor), Ino: x.Ino},
		MountRoot: x.Attributes_mask&x.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0,
		Mode:      modeOf(uint32(x.Mode)), UID: x.Uid, GID: x.Gid, Links: uint64(x.Nlink),
		Bytes:    int64(x.Blocks) * 512,
		Modified: time.Unix(x.Mtime.Sec, int64(x.Mtime.Nsec)), Changed: time.Unix(x.Ctime.Sec, int64(x.Ctime.Nsec)),
	}
	if x.Mask&unix.STATX_MNT_ID != 0 {
		s.MountID = x.Mnt_id
	}
	if x.Mask&unix.STATX_BTIME != 0 {
		s.Born = time.Unix(x.Btime.Sec, int64(x.Btime.Nsec))
	}
	return s, nil
}

// OpenDirBare opens a directory by a path none of whose parts is a symbolic link (ELOOP otherwise), in one step of the
// kernel (openat2, Linux 5.6).
func OpenDirBare(path string) (*Dir, error) {
	how := unix.OpenHow{Flags: unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	for tries := 0; ; tries++ {
		fd, err := unix.Openat2(unix.AT_FDCWD, path, &how)
		if errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN) && tries < 8 {
			continue
		}
		if err != nil {
			return nil, &os.PathError{Op: "openat2", Path: path, Err: err}
		}
		d := &Dir{f: os.NewFile(uintptr(fd), path), path: path}
		if d.stat, err = statOpen(fd); err != nil {
			_ = d.Close() // the error of interest is the one above
			return nil, &os.PathError{Op: "stat", Path: path, Err: err}
		}
		return d, nil
	}
}

// opener opens child directories. It remembers whether openat2 (Linux 5.6) works here.
type opener struct{ noOpenat2 bool }

// child opens a directory by its name in dir, never through a link and never across a mount. An error that is
// errCrossed says that something is mounted there.
func (o *opener) child(dir int, name string, like Stat) (int, error) {
	flags := unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK
	fd, err := o.open(dir, name, flags|unix.O_NOATIME)
	if errors.Is(err, unix.EPERM) { // only the owner may leave the access time alone
		fd, err = o.open(dir, name, flags)
	}
	if err != nil {
		return -1, err
	}
	return requireFilesystem(fd, like)
}

func (o *opener) open(dir int, name string, flags int) (int, error) {
	how := unix.OpenHow{Flags: uint64(flags), Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS |
		unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV}
	for tries := 0; ; tries++ {
		var fd int
		var err error
		if o.noOpenat2 {
			fd, err = unix.Openat(dir, name, flags, 0)
		} else {
			fd, err = unix.Openat2(dir, name, &how)
		}
		switch {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN) && tries < 8:
			continue
		case errors.Is(err, unix.ENOSYS) && !o.noOpenat2, errors.Is(err, unix.EPERM) && !o.noOpenat2 && flags&unix.O_NOATIME == 0:
			o.noOpenat2 = true // absent, or filtered; identity is compared after opening all the same
			continue
		case errors.Is(err, unix.EXDEV):
			return -1, errCrossed
		}
		return fd, err
	}
}

// Filesystem describes the file system that the open directory lies on.
func (d *Dir) Filesystem() (Filesystem, error) {
	var s unix.Statfs_t
	if err := unix.Fstatfs(d.fd(), &s); err != nil {
		return Filesystem{}, err
	}
	return Filesystem{
		Type: typeName(int64(s.Type)), ReadOnly: int64(s.Flags)&unix.ST_RDONLY != 0,
		Bytes: int64(s.Blocks) * int64(s.Frsize), BytesFree: int64(s.Bavail) * int64(s.Frsize),
		Inodes: int64(s.Files), InodesFree: int64(s.Ffree),
	}, nil
}

// typeName names the usual file systems by the magic numbers of statfs(2); a mount table names the others.
func typeName(magic int64) string {
	switch uint32(magic) {
	case unix.EXT4_SUPER_MAGIC:
		return "ext4"
	case unix.TMPFS_MAGIC:
		return "tmpfs"
	case unix.XFS_SUPER_MAGIC:
		return "xfs"
	case unix.BTRFS_SUPER_MAGIC:
		return "btrfs"
	case unix.OVERLAYFS_SUPER_MAGIC:
		return "overlay"
	case unix.NFS_SUPER_MAGIC:
		return "nfs"
	case unix.FUSE_SUPER_MAGIC:
		return "fuse"
	}
	return ""
}

// hasACL reports whether more than the mode decides about access.
func (d *Dir) hasACL() (bool, error) {
	n, err := unix.Fgetxattr(d.fd(), "system.posix_acl_access", nil)
	switch {
	case errors.Is(err, unix.ENODATA), errors.Is(err, unix.ENOTSUP):
		return false, nil
	case err != nil:
		return false, err
	}
	return n > 0, nil
}

func modeOf(m uint32) fs.FileMode {
	mode := fs.FileMode(m & 0o777)
	switch m & unix.S_IFMT {
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	case unix.S_IFLNK:
		mode |= fs.ModeSymlink
	case unix.S_IFIFO:
		mode |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		mode |= fs.ModeSocket
	case unix.S_IFBLK:
		mode |= fs.ModeDevice
	case unix.S_IFCHR:
		mode |= fs.ModeDevice | fs.ModeCharDevice
	}
	if m&unix.S_ISVTX != 0 {
		mode |= fs.ModeSticky
	}
	if m&unix.S_ISUID != 0 {
		mode |= fs.ModeSetuid
	}
	if m&unix.S_ISGID != 0 {
		mode |= fs.ModeSetgid
	}
	return mode
}
