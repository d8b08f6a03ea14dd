package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"sandglass/backend/lockfile"
)

// othersWrite are the permissions that no journal may have.
const othersWrite fs.FileMode = 0o022

// owners are the users whose files a journal may lie among: root, who runs this program, and who called sudo for it.
type owners []uint32

func ownersWith(sudo []uint32) owners {
	return append(owners{0, uint32(os.Geteuid())}, sudo...) // -1 on Windows, where owners are not told
}

// check refuses what belongs to somebody else, who may change its permissions at any time.
func (o owners) check(path string, info fs.FileInfo) error {
	if uid, known := lockfile.Owner(info); known && !slices.Contains(o, uid) {
		return fmt.Errorf("%s belongs to user %d, who could put another journal in the place of this one; run: chown %d %s, or name another directory with --state-dir",
			path, uid, os.Geteuid(), path)
	}
	return nil
}

// checkDir refuses a directory in which others could put another journal in the place of this one, or another directory in
// the place of this one. What others cannot reach they cannot write, whatever its mode. Directories that are missing are
// made for their owner alone.
func checkDir(dir string, own owners) error {
	if !lockfile.Modes {
		return nil
	}
	if err := lockfile.Links(dir, func(link string, info fs.FileInfo) error {
		if err := own.check(link, info); err != nil {
			return err
		}
		return checkPath(filepath.Dir(link), os.Stat, own, true)
	}); err != nil {
		return err
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
		if err := checkPath(p, os.Stat, own, false); err != nil {
			return err
		}
	}
	return nil
}

// checkPath checks a directory and those above it. One that only has to keep its entries may be like /tmp.
func checkPath(dir string, stat func(string) (fs.FileInfo, error), own owners, keeps bool) (open error) {
	for p := dir; ; p = filepath.Dir(p) {
		info, err := stat(p)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case own.check(p, info) != nil:
			return own.check(p, info)
		case info.Mode().Perm()&0o001 == 0:
			open = nil
		case open == nil && info.Mode().Perm()&0o002 != 0 && (p == dir && !keeps || info.Mode()&fs.ModeSticky == 0):
			open = fmt.Errorf("%s can be written by others (mode %04o), who could put another journal in the place of this one; run: chmod o-w %s", p, info.Mode().Perm(), p)
		}
		if p == filepath.Dir(p) {
			return open
		}
	}
}
