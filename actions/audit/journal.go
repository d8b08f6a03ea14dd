package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"sandglass/backend"
	"sandglass/backend/lockfile"
)

// File is the journal's name in the state directory.
const File = "audit.jsonl"

// Options are what a Journal needs from the wiring.
type Options struct {
	Dir     string           // state directory; created with mode 0700 when it is missing
	Origin  Origin           // goes into the first record
	Cleaner *backend.Cleaner // knows the configured secrets; nil masks by shape only
	Trusted []uint32         // users beside root and our own that the state directory may belong to: who called sudo
	Sockets Sockets          // where the head goes after each synced record; empty: nowhere
}

// Journal appends to one file and reads it. Between two calls it holds nothing of it open, and it may be used from
// several goroutines. Only a journal made by New can be appended to.
type Journal struct {
	path     string
	origin   Origin
	cleaner  *backend.Cleaner
	sockets  Sockets
	owners   owners
	patience time.Duration // with a log; see anchorPatience
	disk     disk

	mu    sync.Mutex
	plans map[string]*os.File // that this process carries out, by digest; see hold

	checked checked // the newest check of Damage
}

// New makes a Journal. It touches no file.
func New(o Options) (*Journal, error) {
	switch {
	case o.Dir == "":
		return nil, errors.New("the audit journal needs a state directory")
	case o.Origin.Host.IsEmpty():
		return nil, errors.New("the audit journal needs the name of its host")
	case o.Origin.ConfigDigest != "" && !isWord(o.Origin.ConfigDigest):
		return nil, fmt.Errorf("%q is not a digest of a configuration", o.Origin.ConfigDigest)
	}
	c := o.Cleaner
	if c == nil {
		c = backend.NewCleaner()
	}
	j := At(filepath.Join(o.Dir, File))
	j.origin, j.cleaner, j.sockets, j.owners = o.Origin, c, o.Sockets, ownersWith(o.Trusted)
	return j, nil
}

// At is the journal in a file, for reading only: a copy, or one of another host.
func At(path string) *Journal {
	return &Journal{path: path, cleaner: backend.NewCleaner(), disk: realDisk(), patience: anchorPatience, owners: ownersWith(nil), plans: map[string]*os.File{}}
}

// Usable says why no record can be appended: other users can write to the journal or replace it, or its file cannot be
// opened. nil: no reason is known.
func (j *Journal) Usable() error {
	if err := checkDir(filepath.Dir(j.path), j.owners); err != nil {
		return err
	}
	f, err := lockfile.Open(j.path, os.O_RDWR|os.O_APPEND, othersWrite)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		err = j.owners.check(j.path, info)
	}
	return errors.Join(err, f.Close())
}

// checked is what a check of the journal found while the file was so large and so old.
type checked struct {
	size   int64
	at     time.Time
	damage error
}

// Damage says what is wrong with the journal before anything is added to it; nil: every line is a record in its place, or
// there is no journal yet. A file that did not change is not read twice.
func (j *Journal) Damage(ctx context.Context) error {
	info, err := os.Lstat(j.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	j.mu.Lock()
	was := j.checked
	j.mu.Unlock()
	if was.size == info.Size() && was.at.Equal(info.ModTime()) && was.size > 0 {
		return was.damage
	}
	r, err := j.Verify(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("the audit journal cannot be read: %w", err)
	case !r.Intact():
		err = fmt.Errorf("the audit journal is damaged in line %d (%s): it no longer proves what was done before; "+
			"see it with: sandglass audit verify", r.Problems[0].Line, r.Problems[0].Kind)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.checked = checked{info.Size(), info.ModTime(), err}
	return err
}

// Path is the path of the journal.
func (j *Journal) Path() string { return j.path }

// Durability says what has happened to a record when Append returns.
type Durability int

// Written records survive the end of the process, Synced ones that of the machine. An intent is synced before the first
// effect, an outcome after it.
const (
	Written Durability = iota
	Synced
)

// Receipt is a record's place in the chain: the head after it was stored. Kept elsewhere, it proves later that nothing
// up to it was cut off.
type Receipt struct {
	Seq  uint64
	Hash string // SHA-256 of its line, in hex
}

// NotSyncedError means that a record was stored but may be lost if the machine stops now.
type NotSyncedError struct {
	Receipt Receipt
	Err     error
}

// Error says which record.
func (e *NotSyncedError) Error() string {
	return fmt.Sprintf("audit record %d is written but may not be on the disk: %v", e.Receipt.Seq, e.Err)
}

// Unwrap returns the cause.
func (e *NotSyncedError) Unwrap() error { return e.Err }

// Append stores one record behind the last one of any process. It waits for other writers until ctx ends. After an
// error nothing must be done that the record was to announce; errors.Is tells a full disk (ENOSPC) from the rest.
func (j *Journal) Append(ctx context.Context, e Entry, d Durability) (Receipt, error) {
	return j.append(ctx, e, d, nil)
}

// AppendPaced is Append of the announcement of one target, unless that comes too soon: then it is a *TooSoonError. It
// counts under the journal's lock, so that processes that act at the same time do not exceed the pace together.
func (j *Journal) AppendPaced(ctx context.Context, e Entry, d Durability, p Pace) (Receipt, error) {
	return j.append(ctx, e, d, &p)
}

func (j *Journal) append(ctx context.Context, e Entry, d Durability, p *Pace) (Receipt, error) {
	if j.origin.Host.IsEmpty() {
		return Receipt{}, errors.New("audit journal: this one is only read")
	}
	if err := e.check(); err != nil {
		return Receipt{}, fmt.Errorf("audit journal: %w", err)
	}
	mine, err := j.hold(&e)
	if err != nil {
		return Receipt{}, fmt.Errorf("audit journal: %w", err)
	}
	got, chain, err := j.store(ctx, e, d, p)
	if err != nil && mine || err == nil && e.ends() {
		j.unlock(e.Digest)
	}
	if err == nil && d == Synced {
		j.anchor(ctx, e.At, chain, got)
	}
	return got, err
}

// store appends under the file's lock; chain names the journal, for an anchor.
func (j *Journal) store(ctx context.Context, e Entry, d Durability, p *Pace) (got Receipt, chain string, err error) {
	f, err := j.openLocked(ctx)
	if err != nil {
		return Receipt{}, "", fmt.Errorf("audit journal: %w", err)
	}
	if p != nil {
		err = tooSoon(f, e.Verb, e.At, Pace{j.cleaner.Mask(p.Source), p.Most, p.Within})
	}
	if err == nil {
		got, err = j.appendTo(f, e.masked(j.cleaner))
	}
	if err == nil && d == Synced {
		if syncErr := j.sync(f); syncErr != nil {
			err = &NotSyncedError{got, syncErr}
			if lockfile.IsFull(syncErr) {
				_, _ = j.release(MaxLine, e.Phase) // for the next record; this one is not known to last
			}
		}
	}
	if err == nil && !j.sockets.empty() {
		chain = chainOf(f)
	}
	if closeErr := f.Close(); err == nil && closeErr != nil {
		err = &NotSyncedError{got, closeErr}
	}
	return got, chain, err
}

// appendTo writes the record behind the present end of the file, whose lock is held. On a full disk it takes room from
// the reserve, as far as the record's phase may.
func (j *Journal) appendTo(f *os.File, e Entry) (Receipt, error) {
	if e.Phase.announces() {
		if err := j.keepReserve(); err != nil {
			return Receipt{}, fmt.Errorf("audit journal: %w", err)
		}
	}
	for {
		got, size, err := j.writeBehind(f, e)
		if !lockfile.IsFull(err) {
			return got, err
		}
		more, releaseErr := j.release(size, e.Phase)
		if !more {
			return Receipt{}, errors.Join(&FullError{err}, releaseErr)
		}
	}
}

// writeBehind tries it once; size is that of the bytes to write.
func (j *Journal) writeBehind(f *os.File, e Entry) (got Receipt, size int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return Receipt{}, 0, fmt.Errorf("audit journal: %w", err)
	}
	t, err := readTail(f, info.Size())
	if err != nil {
		return Receipt{}, 0, err
	}
	out, got, err := j.behind(t, e)
	if err != nil {
		return Receipt{}, 0, fmt.Errorf("audit journal: %w", err)
	}
	// One write: with O_APPEND it lands whole behind everything else. If only a part fits, it is taken back; where the
	// file system does not let us, the part stays and the next record says so.
	if _, err := j.disk.write(f, out); err != nil {
		_ = lockfile.Truncate(f, info.Size())
		return Receipt{}, int64(len(out)), fmt.Errorf("audit journal: record %d could not be written: %w", got.Seq, err)
	}
	return got, int64(len(out)), nil
}

// behind makes the bytes that carry on a journal which ends so.
func (j *Journal) behind(t tail, e Entry) ([]byte, Receipt, error) {
	r := &Record{Schema: Schema, Seq: t.seq + 1, Prev: t.hash, After: t.remains, Entry: e}
	if t.seq == 0 {
		o := j.origin
		o.Host, o.BootID = j.cleaner.Clean(o.Host.String(), 200), j.cleaner.Clean(o.BootID.String(), 200)
		r.Origin = &o
	}
	line, err := encode(r)
	if err != nil {
		return nil, Receipt{}, err
	}
	out := make([]byte, 0, len(line)+2)
	if t.open {
		out = append(out, '\n')
	}
	return append(append(out, line...), '\n'), Receipt{Seq: r.Seq, Hash: sumOf(line)}, nil
}

// sync makes the record last, and the file's name: another process may have created it without.
func (j *Journal) sync(f *os.File) error {
	if err := j.disk.sync(f); err != nil {
		return err
	}
	return lockfile.SyncDir(filepath.Dir(j.path))
}

// openLocked opens the journal and takes its lock.
func (j *Journal) openLocked(ctx context.Context) (*os.File, error) {
	if err := j.Usable(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(j.path), 0o700); err != nil {
		return nil, err
	}
	f, err := lockfile.OpenLocked(ctx, j.path, othersWrite)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = j.owners.check(j.path, info)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Verify checks the whole journal as it was at one moment between two records, against heads that were kept elsewhere.
// A journal that does not exist is intact and empty, unless an anchor knows better.
func (j *Journal) Verify(ctx context.Context, anchors ...Anchor) (Report, error) {
	f, size, err := j.openStill(ctx)
	switch {
	case err != nil:
		return Report{Head: Receipt{Hash: noLine}}, err
	case f == nil:
		return verifyChain(strings.NewReader(""), j.Place(), anchors)
	}
	r, err := verifyChain(io.LimitReader(f, size), j.Place(), anchors)
	return r, errors.Join(err, f.Close())
}

// Records reads the journal as Read does, up to where it ended when the reading began.
func (j *Journal) Records(ctx context.Context, filter Filter) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		f, size, err := j.openStill(ctx)
		if err != nil {
			yield(Record{}, err)
		}
		if f == nil {
			return
		}
		defer f.Close() // it was only read
		for r, err := range Read(io.LimitReader(f, size), filter) {
			if !yield(r, err) {
				return
			}
		}
	}
}

// openStill opens the journal for reading and measures it under the lock; f is nil when there is no journal. The bytes
// before that size never change, so the lock is released.
func (j *Journal) openStill(ctx context.Context) (f *os.File, size int64, err error) {
	f, err = lockfile.Open(j.path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("audit journal: %w", err)
	}
	if err = lockfile.Lock(ctx, f, true); err == nil {
		var info os.FileInfo
		if info, err = f.Stat(); err == nil {
			size, err = info.Size(), lockfile.Unlock(f)
		}
	}
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("audit journal: %w", err), f.Close())
	}
	return f, size, nil
}
