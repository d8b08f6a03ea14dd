package tmpdir

import (
	"errors"

	"golang.org/x/sys/unix"

	"sandglass/backend"
)

// translate says in words what a system call answered.
func translate(err error) backend.Safe {
	for _, x := range []struct {
		errno unix.Errno
		text  backend.Literal
	}{
		{unix.EBUSY, "something is mounted there (EBUSY): unmount it first"},
		{unix.ENOTEMPTY, "something keeps creating entries in it (ENOTEMPTY): end that process first"},
		{unix.EEXIST, "something of that name is there already (EEXIST)"},
		{unix.EACCES, "no permission to read or write there (EACCES): run it as root"},
		{unix.EPERM, "not allowed (EPERM), even for root when the immutable or append-only attribute is set: look with lsattr -d, remove it with chattr -i"},
		{unix.EROFS, "the file system is mounted read-only (EROFS)"},
		{unix.ENOSPC, "the disk is full (ENOSPC), and its root has no room for a second name: choose purge (--purge-now), which needs none, or free a few kilobytes and try again"},
		{unix.ENAMETOOLONG, "this file system does not take names that long (ENAMETOOLONG): remove it by hand"},
		{unix.EXDEV, "something is mounted there (EXDEV)"},
		{unix.ELOOP, "a symbolic link is in the way (ELOOP)"},
		{unix.ENOTDIR, "it is not a directory any more (ENOTDIR)"},
		{unix.ENOENT, "it is gone (ENOENT)"},
		{unix.EIO, "the disk reports errors (EIO)"},
		{unix.ESTALE, "the network file system lost it (ESTALE)"},
		{unix.EMFILE, "too many files are open (EMFILE)"},
		{unix.ENOSYS, "this kernel has no openat2 or renameat2 (ENOSYS): Linux 5.6 has"},
	} {
		if errors.Is(err, x.errno) {
			return backend.Text(x.text)
		}
	}
	if err == nil {
		return backend.Text("no reason is known")
	}
	return backend.Clean(err.Error(), 300)
}
