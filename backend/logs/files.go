package logs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/hostfs"
	"sandglass/internal/stable"
)

// files tails the regular files that match globs, through renames, truncation and copies.
type files struct {
	globs []string
	dec   *decoder // of the analyst, to date lines
	tails map[hostfs.FileID]*tail
	// refused are paths that could not be opened in the poll before: when they open later their content is old.
	refused map[string]bool
	polled  bool
	// marks are the bookmarks of a former process, the newest of resumed.
	marks   map[string]backend.Bookmark
	resumed time.Time

	problems []backend.Problem
	hidden   int // problems beyond the bound
	missing  []string
	packed   int // compressed files passed over
	emptied  int // files whose content was replaced without a copy to finish from
	behind   int64
}

// scan brings the set of tailed files up to date and returns how many bytes wait to be read.
func (f *files) scan(now time.Time, lookback time.Duration) int64 {
	f.problems, f.hidden, f.missing, f.packed, f.emptied = nil, 0, nil, 0, 0
	for _, t := range f.tails {
		t.listed = false
		t.measure()
	}
	refused := map[string]bool{}
	for _, path := range f.paths(now) {
		info, err := os.Stat(path)
		if err == nil {
			err = f.take(path, info, now, lookback)
		}
		if err != nil {
			refused[path] = true
			f.problem(backend.FileErrorKind(err), path, now, "%v", backend.WithoutPath(err))
		}
	}
	f.refused, f.polled = refused, true
	return f.prepare()
}

// prepare settles where reading goes on in each file, copies first: they take over from what was emptied.
func (f *files) prepare() (total int64) {
	all := f.sorted()
	taken := map[*tail]bool{}
	for _, t := range all {
		if o := t.copyOf; o != nil && t.follow(o) {
			taken[o] = true
		}
	}
	for _, t := range all {
		if t.cutAt >= 0 {
			t.restart()
			if !taken[t] {
				f.emptied++
			}
		}
		if t.copyOf == nil {
			total += max(0, t.size-t.offset)
		}
	}
	return total
}

// paths expands the globs, the newest files first when there are too many.
func (f *files) paths(now time.Time) []string {
	var all []string
	for _, g := range f.globs {
		matches, err := filepath.Glob(g)
		if err != nil || len(matches) == 0 {
			f.missing = append(f.missing, g)
			f.problem(backend.ErrAbsent, g, now, "no file matches")
			continue
		}
		all = append(all, matches...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) <= maxFiles {
		return all
	}
	age := map[string]time.Time{}
	for _, p := range all {
		if info, err := os.Stat(p); err == nil {
			age[p] = info.ModTime()
		}
	}
	stable.Sort(all, func(a, b string) int { return age[b].Compare(age[a]) })
	f.problem(backend.ErrInvalid, strings.Join(f.globs, " "), now, "%d files match; only the %d newest are read", len(all), maxFiles)
	return all[:maxFiles]
}

// errPacked marks a compressed file: what is in it was read before it was compressed.
var errPacked = errors.New("compressed")

func (f *files) take(path string, info fs.FileInfo, now time.Time, lookback time.Duration) error {
	if info.IsDir() {
		return nil
	}
	if !info.Mode().IsRegular() {
		return errors.New("not a regular file; a pipe can be read with command")
	}
	if t := f.tails[hostfs.IDOf(path, info)]; t != nil {
		t.path, t.listed = path, true
		return nil
	}
	file, info, err := hostfs.OpenRegular(path)
	if err != nil {
		return err
	}
	t, err := f.open(path, file, info, now, lookback)
	if err != nil {
		_ = file.Close()
		if errors.Is(err, errPacked) {
			f.packed++
			return nil
		}
		return err
	}
	f.tails[t.id] = t
	return nil
}

// open decides where reading a newly found file begins.
func (f *files) open(path string, file *os.File, info fs.FileInfo, now time.Time, lookback time.Duration) (*tail, error) {
	t := &tail{id: hostfs.IDOf(path, info), path: path, file: file, listed: true, size: info.Size(), written: info.ModTime(), caughtUp: now, cutAt: -1}
	t.learnHead()
	if packed(t.head) {
		return nil, errPacked
	}
	if f.polled {
		for _, other := range f.tails {
			if other.resembles(t) {
				t.copyOf = other
				return t, nil
			}
		}
	}
	t.placement = placement{lo: now.Add(-lookback), hi: now, past: true}
	t.pastUntil = t.size
	start, dated, err := historyStart(file, t.size, &t.placement, f.dec)
	if err != nil {
		return nil, err
	}
	t.offset, t.undated = start, !dated
	if f.polled && !f.refused[path] {
		t.spans = []span{{to: t.size, at: now}} // it appeared since the last poll, so it was written since
		return t, nil
	}
	return t, f.bound(t, info.ModTime(), now)
}

// read feeds what is new to the analyst, at most maxPerPoll bytes, and closes files that rotation left behind.
func (f *files) read(ctx context.Context, a *lineAnalyser, now time.Time) {
	left := int64(maxPerPoll)
	buf := make([]byte, readBlock)
	f.behind = 0
	for _, t := range f.sorted() {
		n, err := t.read(ctx, a, buf, left, now)
		left -= n
		if err != nil {
			f.problem(backend.FileErrorKind(err), t.path, now, "%v", backend.WithoutPath(err))
		}
		f.behind += max(0, t.size-t.offset)
		if t.finished(n, a) {
			_ = t.file.Close()
			t.closed = true
			delete(f.tails, t.id)
		}
	}
}

func (f *files) sorted() []*tail {
	all := make([]*tail, 0, len(f.tails))
	for _, t := range f.tails {
		all = append(all, t)
	}
	stable.Sort(all, func(a, b *tail) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.id.Ino, b.id.Ino))
	})
	return all
}

func (f *files) close() {
	for id, t := range f.tails {
		_ = t.file.Close()
		delete(f.tails, id)
	}
}

func (f *files) problem(kind backend.ErrorKind, where string, now time.Time, format string, args ...any) {
	if len(f.problems) >= maxProblems {
		f.hidden++
		return
	}
	f.problems = append(f.problems, backend.Problem{Kind: kind, Where: backend.Clean(where, 200),
		What: backend.Clean(fmt.Sprintf(format, args...), 300), At: now})
}
