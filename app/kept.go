package app

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"sandglass/backend"
	"sandglass/config"
	"sandglass/ui"
	"sandglass/views"
)

// viewOf is a view of the configuration as the console takes it.
func viewOf(v config.View) ui.View {
	return ui.View{Name: v.Name, Screen: v.Screen, Look: views.Look{Filter: v.Filter, Sort: v.Sort, Columns: v.Columns, Wide: v.Wide, Group: v.Group}}
}

// keptFile is what a viewer's console keeps between runs, in the state directory. Another user or configuration has another file.
type keptFile struct {
	path string
	mu   sync.Mutex
}

// mostKeptBytes bounds the file that is read.
const mostKeptBytes = 1 << 20

// keepFor lets a viewer keep things, where there is a place for them. A damaged file is set aside, and said.
func (s *Station) keepFor(v *ui.Viewer) {
	if s.StateDir == "" || s.store == nil || len(v.HideNames) > 0 { // a console that hides names keeps none
		return
	}
	k := &keptFile{path: filepath.Join(s.StateDir, "console-"+fileName(v.Name)+"-"+placeOf(s.Config.Path)+".json")}
	kept, err := k.read()
	if err != nil {
		s.problem(fmt.Errorf("what the console kept is not used: %w", err))
	}
	v.Kept, v.Keep = kept, k.change
	v.Reopens = s.Config.Reopen && (s.Config.Local || s.Config.Path != "") // a demo is another one each time
}

// placeOf tells one configuration file from another.
func placeOf(path string) string {
	if abs, err := filepath.Abs(path); err == nil && path != "" {
		path = abs
	}
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:4])
}

// fileName is a name as a part of a file's name.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.@", r) {
			return r
		}
		return '_'
	}, name)
}

// read returns what the file holds; nothing where there is none. A file that cannot be understood is renamed to NAME.damaged.
func (k *keptFile) read() (kept ui.Kept, err error) {
	info, err := os.Stat(k.path)
	if errors.Is(err, fs.ErrNotExist) {
		return kept, nil
	}
	if err == nil && (!info.Mode().IsRegular() || info.Size() > mostKeptBytes) {
		return kept, fmt.Errorf("%s is no file of at most %d bytes", k.path, mostKeptBytes)
	}
	data, err := os.ReadFile(k.path)
	if err != nil {
		return kept, err
	}
	if err := json.Unmarshal(data, &kept); err != nil {
		aside := k.path + ".damaged"
		return ui.Kept{}, errors.Join(fmt.Errorf("%s is damaged and was renamed to %s: %s", k.path, aside, backend.Clean(err.Error(), 200)), os.Rename(k.path, aside))
	}
	return kept, nil
}

// change reads the file, changes what it holds and writes it again, so that two consoles of one user lose nothing but what both
// change at once.
func (k *keptFile) change(change func(*ui.Kept)) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	kept, err := k.read()
	if err != nil {
		return err
	}
	change(&kept)
	data, err := json.MarshalIndent(kept, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(k.path), "."+filepath.Base(k.path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), k.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
