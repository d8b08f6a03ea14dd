//go:build unix

package hostfs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"sandglass/backend/lockfile"
)

// Trusted refuses an open file that other users than root and the given ones could have written. It must be a regular file
// of one of these users, and neither its group nor others may write it. Trusted checks the descriptor, not a path, so that
// the file cannot be exchanged between the check and the reading.
func Trusted(f *os.File, users ...uint32) error {
	st, err := statOpen(int(f.Fd()))
	if err != nil {
		return &os.PathError{Op: "stat", Path: f.Name(), Err: err}
	}
	switch {
	case !st.Mode.IsRegular():
		return fmt.Errorf("%s is not a regular file", f.Name())
	case st.UID != 0 && !slices.Contains(users, st.UID):
		return fmt.Errorf("%s belongs to user %d, who decides by it what is done here; run: chown root %s", f.Name(), st.UID, f.Name())
	case st.Mode.Perm()&0o022 != 0:
		return fmt.Errorf("%s can be written by others (mode %04o); run: chmod go-w %s", f.Name(), st.Mode.Perm(), f.Name())
	}
	return nil
}

// TrustedPath is Trusted for a file that is still to be read, together with every directory above it: other users must not be
// able to exchange an entry of any of them. In a directory with the sticky bit, such as /tmp, only owners can do that.
func TrustedPath(path string, users ...uint32) (*os.File, error) {
	if err := lockfile.Links(path, func(link string, info fs.FileInfo) error {
		if uid, known := lockfile.Owner(info); known && uid != 0 && !slices.Contains(users, uid) {
			return fmt.Errorf("%s is a symbolic link of user %d, who decides by it what is done here; name the file itself", link, uid)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	if real, err = filepath.Abs(real); err != nil {
		return nil, err
	}
	for dir := filepath.Dir(real); ; dir = filepath.Dir(dir) {
		d, err := OpenDir(dir)
		if err != nil {
			return nil, err
		}
		st := d.Stat()
		_ = d.Close() // opened for reading
		loose := st.Mode.Perm()&0o022 != 0 && st.Mode&fs.ModeSticky == 0
		if loose || st.UID != 0 && !slices.Contains(users, st.UID) {
			return nil, fmt.Errorf("others can exchange %s: %s belongs to user %d and has mode %04o", real, dir, st.UID, st.Mode.Perm())
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	f, err := openTrusted(real)
	if err != nil {
		return nil, err
	}
	if err := Trusted(f, users...); err != nil {
		_ = f.Close() // the error of interest is the one above
		return nil, err
	}
	return f, nil
}
