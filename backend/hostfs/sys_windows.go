package hostfs

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// errNoDirectories says why scratch directories are not read here: their identity is an inode, their owner a user number.
var errNoDirectories = errors.New("scratch directories are not read on Windows: run Sandglass on the Unix host, or in the WSL, that has them")

// Dir is a directory that cannot be opened here.
type Dir struct{}

// OpenDir says why not.
func OpenDir(string) (*Dir, error) { return nil, errNoDirectories }

// Path and the other methods have nothing to tell.
func (*Dir) Path() string                                 { return "" }
func (*Dir) Stat() Stat                                   { return Stat{} }
func (*Dir) Close() error                                 { return nil }
func (*Dir) Lookup(string) (Stat, error)                  { return Stat{}, errNoDirectories }
func (*Dir) Filesystem() (Filesystem, error)              { return Filesystem{}, errNoDirectories }
func (*Dir) Writable(Account) (ok, decided bool, _ error) { return false, false, errNoDirectories }
func (*Dir) List(context.Context, func(string) bool, int) ([]Entry, error) {
	return nil, errNoDirectories
}

// Walk says why not.
func Walk(context.Context, *Dir, string, WalkOptions) (Tree, error) { return Tree{}, errNoDirectories }

// TrustedPath says why not.
func TrustedPath(path string, _ ...uint32) (*os.File, error) {
	return nil, errors.New("who can write " + path + " is not checked on Windows")
}

// handle opens an existing file in a way that hinders nobody else.
func handle(path string, access uint32) (windows.Handle, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err == nil {
		var h windows.Handle
		h, err = windows.CreateFile(name, access, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, nil,
			windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
		if err == nil {
			return h, nil
		}
	}
	return 0, &os.PathError{Op: "open", Path: path, Err: err}
}

func openRead(path string) (*os.File, error) {
	h, err := handle(path, windows.GENERIC_READ)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(h), path), nil
}

// IDOf is the identity of the file at a path, zero when it cannot be told.
func IDOf(path string, _ fs.FileInfo) FileID {
	h, err := handle(path, 0)
	if err != nil {
		return FileID{}
	}
	defer windows.CloseHandle(h)
	var info windows.ByHandleFileInformation
	if windows.GetFileInformationByHandle(h, &info) != nil {
		return FileID{}
	}
	return FileID{Dev: uint64(info.VolumeSerialNumber), Ino: uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow)}
}
