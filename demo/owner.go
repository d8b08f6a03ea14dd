package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	dirPrefix = "sandglass-demo-"
	ownerFile = "owner.json"
)

// owner says whose directory it is. A process is known by its number and its
// start time together, because numbers are used again.
type owner struct {
	PID     int    `json:"pid"`
	Started string `json:"started"` // as the system counts it; empty where it is not known
	Boot    string `json:"boot"`    // boot id; empty where it is not known
}

// claim writes the owner file of this process and holds a lock on it for as
// long as the process lives: the lock is seen from other process namespaces,
// where the number means nothing.
func claim(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, ownerFile), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("demo: claim directory: %w", err)
	}
	if err := lock(f); err != nil {
		return nil, errors.Join(fmt.Errorf("demo: lock directory: %w", err), f.Close())
	}
	me := owner{PID: os.Getpid(), Boot: bootID()}
	me.Started, _ = processStarted(me.PID)
	if err := json.NewEncoder(f).Encode(me); err != nil {
		return nil, errors.Join(fmt.Errorf("demo: claim directory: %w", err), f.Close())
	}
	return f, nil
}

// alive says whether the process that wrote an owner file still runs. Where
// the system reports no start times, a process of that number counts.
func (o owner) alive() bool {
	if o.Boot != bootID() {
		return false
	}
	started, running := processStarted(o.PID)
	return running && started == o.Started
}

// Sweep removes the directories of demos that were killed: those in the
// temporary directories that carry our prefix, belong to this user, and whose
// recorded process is gone. A directory it is not sure about stays.
func Sweep() error {
	var errs []error
	for _, base := range tempBases() {
		errs = append(errs, sweepBase(base))
	}
	return errors.Join(errs...)
}

// tempBases are the directories a demo without Options.Dir may be in.
func tempBases() []string {
	return slices.Compact([]string{filepath.Clean(os.TempDir()), "/tmp"})
}

func sweepBase(base string) error {
	root, err := os.OpenRoot(base)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("demo: sweep %s: %w", base, err)
	}
	entries, err := fs.ReadDir(root.FS(), ".")
	errs := []error{err}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), dirPrefix) && abandoned(root, e.Name()) {
			errs = append(errs, root.RemoveAll(e.Name()))
		}
	}
	if err := errors.Join(append(errs, root.Close())...); err != nil {
		return fmt.Errorf("demo: sweep %s: %w", base, err)
	}
	return nil
}

// abandoned says that a directory is ours and its process is gone.
func abandoned(root *os.Root, name string) bool {
	info, err := root.Lstat(name)
	if err != nil || !info.IsDir() || !mine(info) {
		return false
	}
	f, err := root.OpenFile(name+"/"+ownerFile, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return false
	}
	o, err := readOwner(f)
	// Reading is over; a failure to close changes nothing about what was read.
	_ = f.Close()
	return err == nil && !o.alive()
}

// readOwner fails when the file is still locked by a live process.
func readOwner(f *os.File) (owner, error) {
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || !mine(info) {
		return owner{}, errors.New("demo: not our owner file")
	}
	if err := lock(f); err != nil {
		return owner{}, fmt.Errorf("demo: still in use: %w", err)
	}
	var o owner
	if err := json.NewDecoder(io.LimitReader(f, 4096)).Decode(&o); err != nil || o.PID <= 0 {
		return owner{}, errors.New("demo: owner file is not complete")
	}
	return o, nil
}
