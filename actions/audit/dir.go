package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sandglass/backend/lockfile"
)

// othersWrite are the permissions that no journal may have.
const othersWrite fs.FileMode = 0o022

// checkDir refuses a directory in which others could put another journal in the place of this one, or another directory in
// the place of this one. What others cannot reach they cannot write, whatever its mode. Directories that are missing are
// made for their owner alone.
func checkDir(dir string) error {
	if !lockfile.Modes {
		return nil
	}
	paths := []string{dir}
	if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir {
		paths = append(paths, real)
	}
	for _, p := range paths {
		p, err := filepath.Abs(p)
		if err != nil {
			return err
		}
		if err := checkPath(p, os.Stat); err != nil {
			return err
		}
	}
	return nil
}

func checkPath(dir string, stat func(string) (fs.FileInfo, error)) (open error) {
	for p := dir; ; p = filepath.Dir(p) {
		info, err := stat(p)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case info.Mode().Perm()&0o001 == 0:
			open = nil
		case open == nil && info.Mode().Perm()&0o002 != 0 && (p == dir || info.Mode()&fs.ModeSticky == 0):
			open = fmt.Errorf("%s can be written by others (mode %04o), who could put another journal in the place of this one; run: chmod o-w %s", p, info.Mode().Perm(), p)
		}
		if p == filepath.Dir(p) {
			return open
		}
	}
}
