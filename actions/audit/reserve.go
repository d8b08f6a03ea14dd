package audit

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"sandglass/backend/lockfile"
)

// ReserveFile is the name of the file that keeps room for the journal on its file system.
const ReserveFile = "audit.reserve"

// The reserve is given up in steps when the disk is full. Announcements of effects may use it down to the floor; the
// rest is for their outcomes, which must be stored in any case.
const (
	reserveSize  = 1 << 20
	reserveFloor = reserveSize / 2
	reserveStep  = 64 << 10
)

// FullError means that the disk is full and that the reserve has no room for the record either.
type FullError struct{ Err error }

// Error says what to do.
func (e *FullError) Error() string {
	return fmt.Sprintf("the disk is full and the journal's reserve is used up, so nothing may be done: free some space: %v", e.Err)
}

// Unwrap returns the cause.
func (e *FullError) Unwrap() error { return e.Err }

// disk is what writes; tests put a full one in its place.
type disk struct {
	write func(*os.File, []byte) (int, error)
	sync  func(*os.File) error
}

func realDisk() disk { return disk{write: (*os.File).Write, sync: (*os.File).Sync} }

func (j *Journal) reservePath() string { return filepath.Join(filepath.Dir(j.path), ReserveFile) }

// keepReserve makes sure, under the journal's lock, that there is room for what follows an announcement. It fills the
// reserve up where that is possible.
func (j *Journal) keepReserve() (err error) {
	f, err := lockfile.Open(j.reservePath(), os.O_RDWR|os.O_CREATE, 0)
	if err != nil {
		return fmt.Errorf("room for the outcome cannot be reserved: %w", err)
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil || size >= reserveSize {
		return err
	}
	fill := make([]byte, reserveSize-size)
	if _, err := rand.Read(fill); err != nil { // what compresses to nothing reserves nothing
		return err
	}
	_, err = j.disk.write(f, fill)
	if err == nil {
		err = j.disk.sync(f)
	}
	if err == nil {
		return lockfile.SyncDir(filepath.Dir(j.path))
	}
	if size, sizeErr := f.Seek(0, io.SeekEnd); lockfile.IsFull(err) && sizeErr == nil && size >= reserveFloor {
		return nil // the outcome has its room
	} else if lockfile.IsFull(err) {
		return &FullError{err}
	}
	return fmt.Errorf("room for the outcome cannot be reserved: %w", err)
}

// WriteNew writes a small file without which no action begins, as the function of that name does: a plan that waits for
// its confirmation, the mark of a used one. On a full disk it takes room from the reserve, as far as announcements may.
func (j *Journal) WriteNew(ctx context.Context, path string, content []byte) error {
	err := WriteNew(path, content)
	if !lockfile.IsFull(err) {
		return err
	}
	f, lockErr := j.openLocked(ctx)
	if lockErr != nil {
		return errors.Join(err, lockErr)
	}
	for lockfile.IsFull(err) {
		more, releaseErr := j.release(int64(len(content)), PhaseIntent)
		if !more {
			err = errors.Join(&FullError{err}, releaseErr)
			break
		}
		err = WriteNew(path, content)
	}
	return errors.Join(err, f.Close())
}

// release gives up so much of the reserve that need bytes more should fit; false when there is nothing left that a
// record of this phase may use.
func (j *Journal) release(need int64, p Phase) (bool, error) {
	floor := int64(0)
	if p.announces() {
		floor = reserveFloor
	}
	f, err := lockfile.Open(j.reservePath(), os.O_RDWR|os.O_CREATE, 0)
	if err != nil {
		return false, err
	}
	size, err := f.Seek(0, io.SeekEnd)
	released := err == nil && size > floor
	if released {
		give := (need/reserveStep + 1) * reserveStep
		if err = f.Truncate(max(floor, size-give)); err == nil {
			err = j.disk.sync(f) // a journalling file system gives the blocks back when this is written
		}
	}
	return released && err == nil, errors.Join(err, f.Close())
}
