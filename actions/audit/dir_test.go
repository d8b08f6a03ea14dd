//go:build unix

package audit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"sandglass/internal/skip"
)

func TestDirectoriesThatOthersCanWriteToAreRefused(t *testing.T) {
	for name, x := range map[string]struct {
		modes map[string]fs.FileMode // of directories; the others have 0755
		why   string                 // the directory at fault; empty: none
	}{
		"as it is made":             {map[string]fs.FileMode{"/srv/sandglass/prod": 0o700}, ""},
		"for all to write":          {map[string]fs.FileMode{"/srv/sandglass/prod": 0o777}, "/srv/sandglass/prod"},
		"sticky":                    {map[string]fs.FileMode{"/srv/sandglass/prod": 0o777 | fs.ModeSticky}, "/srv/sandglass/prod"},
		"a group's":                 {map[string]fs.FileMode{"/srv/sandglass/prod": 0o775}, ""},
		"in one that is for all":    {map[string]fs.FileMode{"/srv/sandglass": 0o777, "/srv/sandglass/prod": 0o700}, "/srv/sandglass"},
		"below one that is for all": {map[string]fs.FileMode{"/srv": 0o777, "/srv/sandglass/prod": 0o755}, "/srv"},
		"in /tmp":                   {map[string]fs.FileMode{"/srv": 0o777 | fs.ModeSticky, "/srv/sandglass/prod": 0o700}, ""},
		"out of reach":              {map[string]fs.FileMode{"/srv": 0o700, "/srv/sandglass/prod": 0o777}, ""},
		"missing":                   {map[string]fs.FileMode{"/srv/sandglass/prod": 0, "/srv/sandglass": 0}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			tree := fstest.MapFS{}
			for _, p := range []string{"/", "/srv", "/srv/sandglass", "/srv/sandglass/prod"} {
				mode, given := x.modes[p]
				if !given {
					mode = 0o755
				}
				if mode != 0 {
					tree[at(p)] = &fstest.MapFile{Mode: fs.ModeDir | mode}
				}
			}
			err := checkPath("/srv/sandglass/prod", func(p string) (fs.FileInfo, error) {
				if tree[at(p)] == nil {
					return nil, fs.ErrNotExist
				}
				return tree.Stat(at(p))
			}, ownersWith(nil), false)
			if x.why == "" && err != nil || x.why != "" && (err == nil || !strings.HasPrefix(err.Error(), x.why+" can be written by others")) {
				t.Errorf("%v", err)
			}
		})
	}
}

func at(path string) string {
	if path == "/" {
		return "."
	}
	return path[1:]
}

// A directory above, the state directory or the journal of a third user is refused; that of who called sudo is not.
func TestNothingIsAppendedAmongFilesOfAThirdUser(t *testing.T) {
	if os.Geteuid() != 0 {
		skip.Without(t, "root", "only root can give files away")
	}
	for name, give := range map[string]func(dir string) string{
		"directory": func(dir string) string { return dir },
		"parent":    filepath.Dir,
		"journal":   func(dir string) string { return filepath.Join(dir, File) },
	} {
		dir := filepath.Join(t.TempDir(), "parent", "state")
		write := func(trusted ...uint32) error {
			j, err := New(Options{Dir: dir, Origin: origin(), Trusted: trusted})
			if err == nil {
				_, err = j.Append(t.Context(), entry(1), Written)
			}
			return err
		}
		if err := write(); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(give(dir), 65534, -1); err != nil {
			t.Fatal(err)
		}
		if err := write(); err == nil || !strings.Contains(err.Error(), give(dir)+" belongs to user 65534") {
			t.Errorf("%s: %v", name, err)
		}
		if j, err := New(Options{Dir: dir, Origin: origin()}); err != nil || j.Usable() == nil {
			t.Errorf("%s: a plan is not told (%v)", name, err)
		}
		if err := write(65534); err != nil {
			t.Errorf("%s of who called sudo: %v", name, err)
		}
	}
}

// Who owns a symbolic link chooses the directory that it leads to, also in one like /tmp, where others cannot exchange it.
func TestNothingIsAppendedBehindALinkOfAThirdUser(t *testing.T) {
	if os.Geteuid() != 0 {
		skip.Without(t, "root", "only root can give files away")
	}
	base := t.TempDir()
	shared := filepath.Join(base, "shared")
	if err := errors.Join(os.Mkdir(shared, 0o700), os.Chmod(shared, 0o777|os.ModeSticky)); err != nil {
		t.Fatal(err)
	}
	link, over := filepath.Join(shared, "link"), filepath.Join(base, "over")
	if err := errors.Join(os.Symlink(t.TempDir(), link), os.Symlink("shared/link", over)); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{link, over, filepath.Join(over, "state")} {
		write := func() error {
			j, err := New(Options{Dir: dir, Origin: origin()})
			if err == nil {
				_, err = j.Append(t.Context(), entry(1), Written)
			}
			return err
		}
		if err := errors.Join(os.Lchown(link, 0, 0), write()); err != nil {
			t.Errorf("%s through root's own link: %v", dir, err)
		}
		if err := os.Lchown(link, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		if err := write(); err == nil || !strings.Contains(err.Error(), link+" belongs to user 65534") {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

// Nothing is appended, and no file is made, where others can write; a link leads to the same answer.
func TestNothingIsAppendedWhereOthersCanWrite(t *testing.T) {
	base := t.TempDir()
	if err := errors.Join(os.Chmod(filepath.Dir(base), 0o711), os.Chmod(base, 0o777)); err != nil {
		t.Fatal(err)
	}
	if err := checkDir(base, ownersWith(nil)); err == nil { // where all of it lies in a directory that others cannot enter
		skip.Without(t, "tmpdir", "TMPDIR lies out of the reach of other users")
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(base, link); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{base, link} {
		j, err := New(Options{Dir: dir, Origin: origin()})
		if err != nil {
			t.Fatal(err)
		}
		e := entry(1) // no intent, which would make a file of its own
		if _, err := j.Append(t.Context(), e, Written); err == nil || !strings.Contains(err.Error(), "can be written by others") {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if left, err := os.ReadDir(base); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}
