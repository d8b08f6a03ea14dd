package hostfs

import (
	"errors"
	"io/fs"
	"os"
)

// ErrNotRegular says that a path leads to a directory, a pipe or a device.
var ErrNotRegular = errors.New("not a regular file")

// OpenRegular opens a regular file for reading, through links too. It never waits for the other end of a pipe. Others may
// rename and remove the file meanwhile.
func OpenRegular(path string) (*os.File, fs.FileInfo, error) {
	f, err := openRead(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNotRegular
	}
	if err != nil {
		_ = f.Close() // opened for reading
		return nil, nil, err
	}
	return f, info, nil
}
