package demo

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// scratchKeeper makes the scratch directories and lets some of them grow.
type scratchKeeper struct {
	made  int // directories made so far, in the order of fleet.dirs
	grown int64
	held  int // directories that a process uses
}

// step makes what is due and appends to the growing files.
func (k *scratchKeeper) step(w world) error {
	for k.made < len(w.dirs) && w.dirs[k.made].made <= w.t {
		if err := k.make(w, &w.dirs[k.made]); err != nil {
			return fmt.Errorf("demo: scratch directory: %w", err)
		}
		k.made++
	}
	more := w.grown() - k.grown
	if more <= 0 {
		return nil
	}
	k.grown += more
	for i := range k.made {
		if !w.dirs[i].grows {
			continue
		}
		if err := grow(filepath.Join(w.scratchPath(&w.dirs[i]), "build.log"), more); err != nil {
			return fmt.Errorf("demo: scratch directory: %w", err)
		}
	}
	return nil
}

func grow(path string, n int64) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(bytes.Repeat([]byte("."), int(n)))
	return errors.Join(err, f.Close())
}

func (k *scratchKeeper) make(w world, d *scratchDir) error {
	dir := w.scratchPath(d)
	sub := filepath.Join(dir, "src")
	if err := os.MkdirAll(sub, 0o700); err != nil {
		return err
	}
	body := bytes.Repeat([]byte("agent output\n"), int(d.size/13)+1)[:d.size]
	var paths []string
	for n := range d.files {
		path := filepath.Join(dir, fmt.Sprintf("notes-%d.md", n))
		if n%2 == 1 {
			path = filepath.Join(sub, fmt.Sprintf("step-%d.ts", n))
		}
		if err := os.WriteFile(path, body, 0o600); err != nil {
			return err
		}
		paths = append(paths, path)
	}
	changed := w.when(max(d.made, 0) - d.age)
	if d.held {
		if err := w.writeAgent(k.held, changed.Add(-time.Minute), dir, paths[0]); err != nil {
			return err
		}
		k.held++
	}
	return age(append(paths, sub, dir), changed)
}

// age sets the times of a whole tree; parents come last, because making files
// in them sets theirs.
func age(paths []string, at time.Time) error {
	for _, p := range paths {
		if err := os.Chtimes(p, at, at); err != nil {
			return err
		}
	}
	return nil
}
