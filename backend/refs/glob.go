package refs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// checkGlob refuses what path/filepath cannot match.
func checkGlob(pattern string) error {
	if pattern == "" {
		return errors.New("an empty name is no file")
	}
	_, err := filepath.Match(pattern, "x")
	return err
}

// globber expands globs. Unlike filepath.Glob it tells what it could not read: a directory that is closed to us must not
// look like one whose files are gone.
type globber struct {
	found []string
	fail  func(path string, err error)
}

// expand adds the paths that match the pattern, in the order of their names.
func (g *globber) expand(pattern string) {
	pattern = filepath.Clean(pattern)
	dir := "."
	if filepath.IsAbs(pattern) {
		dir, pattern = "/", strings.TrimLeft(pattern, "/")
	}
	g.walk(dir, strings.Split(pattern, "/"))
}

func (g *globber) walk(dir string, parts []string) {
	if len(parts) == 0 {
		g.found = append(g.found, dir)
		return
	}
	if !strings.ContainsAny(parts[0], `*?[\`) {
		path := filepath.Join(dir, parts[0])
		if _, err := os.Stat(path); err == nil {
			g.walk(path, parts[1:])
		} else if !isAbsent(err) {
			g.fail(path, err)
		}
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !isAbsent(err) {
		g.fail(dir, err)
	}
	for _, e := range entries {
		if ok, _ := filepath.Match(parts[0], e.Name()); ok { // the pattern was checked
			g.walk(filepath.Join(dir, e.Name()), parts[1:])
		}
	}
}

func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
