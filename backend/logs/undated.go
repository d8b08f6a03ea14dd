package logs

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"time"

	"sandglass/backend"
	"sandglass/backend/hostfs"
)

// span is a part of a file's history, and when the lines in it that carry no time were written.
type span struct {
	to  int64     // the offset where it ends
	at  time.Time // since when they may have been written; zero: nothing tells it closely enough
	old bool      // they are older than the lookback
}

// enter makes lines without a time be placed by the span in which reading stands, and says where that ends.
func (t *tail) enter() int64 {
	for _, s := range t.spans {
		if t.offset < s.to {
			t.placement.whenUntimed, t.placement.old = s.at, s.old
			return min(s.to, t.pastUntil)
		}
	}
	t.placement.whenUntimed, t.placement.old = time.Time{}, false
	return t.pastUntil
}

// bound finds out when lines without a time were written: between two looks of former processes, and the newest line when
// the file was last written to. What lies between moments too far apart is read and not counted.
func (f *files) bound(t *tail, written, now time.Time) error {
	lo := t.placement.lo
	usable := !written.After(now.Add(skew))
	newest := now
	if usable {
		newest = earlier(written, now)
	}
	t.sizes = f.known(t)
	var from time.Time // when the span began
	for i := 0; i <= len(t.sizes); i++ {
		s, until := span{to: t.size}, newest
		if i < len(t.sizes) {
			s.to, until = t.sizes[i].Size, t.sizes[i].At
			if w := t.sizes[i].Written; !w.IsZero() {
				until = w
			}
		}
		s.old = until.Before(lo)
		if !s.old && !from.IsZero() && !from.Before(lo) && until.Sub(from) <= undatedSpan {
			s.at = from
		}
		if i < len(t.sizes) {
			from = t.sizes[i].At
		}
		t.spans = append(t.spans, s)
	}
	if usable && !written.Before(lo) {
		if err := t.boundLast(newest); err != nil {
			return err
		}
	}
	if !t.undated {
		return nil
	}
	start := max(0, t.size-maxUndated)
	for _, s := range t.spans {
		if s.old {
			start = max(start, s.to)
		}
	}
	var err error
	if t.offset = start; start > 0 && start < t.size && !f.begins(t, start) {
		t.offset, err = lineFrom(t.file, start, t.size)
	}
	return err
}

// begins reports whether a line begins at an offset.
func (f *files) begins(t *tail, offset int64) bool {
	var b [1]byte
	_, err := t.file.ReadAt(b[:], offset-1)
	return err == nil && b[0] == '\n'
}

// boundLast dates the newest line, which was written when the file was.
func (t *tail) boundLast(written time.Time) error {
	from := max(0, t.size-maxLine)
	buf := make([]byte, t.size-from)
	n, err := t.file.ReadAt(buf, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	text, ends := bytes.CutSuffix(buf[:n], []byte("\n"))
	if !ends {
		return nil // it is not complete yet
	}
	last := from + int64(bytes.LastIndexByte(text, '\n')+1)
	spans := t.spans[:0:0]
	for _, s := range t.spans {
		if s.to > last {
			s.to = last
		}
		spans = append(spans, s)
	}
	t.spans = append(spans, span{to: t.size, at: written})
	return nil
}

// known is how long the file was at the looks of former processes, the oldest first. A file that they did not see, or that
// was emptied since, was written since the newest of them.
func (f *files) known(t *tail) []backend.SizeAt {
	m, is := f.marks[fileName(t.id)]
	if !is || len(m.Sizes) == 0 || m.Sizes[len(m.Sizes)-1].Size > t.size || m.Bytes > 0 && headOf(t.file, m.Bytes) != m.Head {
		if f.resumed.IsZero() {
			return nil
		}
		return []backend.SizeAt{{At: f.resumed}}
	}
	return slices.Clone(m.Sizes)
}

// resume takes the bookmarks of a former process.
func (f *files) resume(marks []backend.Bookmark) {
	f.marks = map[string]backend.Bookmark{}
	for _, m := range marks {
		f.marks[m.File] = m
		if n := len(m.Sizes); n > 0 && m.Sizes[n-1].At.After(f.resumed) {
			f.resumed = m.Sizes[n-1].At
		}
	}
}

// bookmarks are where reading stands in each file; of many files none, since those left out would seem new.
func (f *files) bookmarks(now time.Time, lookback time.Duration) []backend.Bookmark {
	if len(f.tails) > maxBookmarks {
		return nil
	}
	var out []backend.Bookmark
	for _, t := range f.sorted() {
		if t.copyOf != nil {
			continue
		}
		t.sized(now, lookback)
		out = append(out, backend.Bookmark{File: fileName(t.id), Head: headOf(t.file, len(t.head)), Bytes: len(t.head), Sizes: slices.Clone(t.sizes)})
	}
	return out
}

// sized notes how long the file is now. Of a file whose lines carry times the newest size is enough.
func (t *tail) sized(now time.Time, lookback time.Duration) {
	s := backend.SizeAt{Size: t.size, At: now}
	if !t.written.IsZero() && !t.written.After(now.Add(skew)) {
		s.Written = earlier(t.written, now)
	}
	n := len(t.sizes)
	switch {
	case !t.undated:
		t.sizes = []backend.SizeAt{s}
	case n >= 2 && t.sizes[n-1].At.Sub(t.sizes[n-2].At) < lookback/sizesKept:
		t.sizes[n-1] = s
	default:
		t.sizes = append(t.sizes, s)
	}
	for len(t.sizes) > 1 && (t.sizes[1].At.Before(now.Add(-lookback)) || len(t.sizes) > 2*sizesKept) {
		t.sizes = t.sizes[1:]
	}
}

func fileName(id hostfs.FileID) string { return fmt.Sprintf("%x:%x", id.Dev, id.Ino) }

// headOf is a hash of a file's first bytes, at most headBytes of them.
func headOf(file io.ReaderAt, n int) uint64 {
	buf := make([]byte, min(n, headBytes))
	n, _ = file.ReadAt(buf, 0)
	h := fnv.New64a()
	_, _ = h.Write(buf[:n])
	return h.Sum64()
}

// undated is the remark about matching lines that were not counted.
func (a *lineAnalyser) undated() backend.Safe {
	if a.seen.undated == 0 {
		return backend.Safe{}
	}
	return backend.Textf("%s: not counted, because nothing tells when they were written; run with --observe to count new lines, or let the logger write times",
		backend.Clean(backend.Counted(a.seen.undated, "matching line without a time", "matching lines without a time"), 80))
}
