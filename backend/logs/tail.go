package logs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"sandglass/backend"
	"sandglass/backend/hostfs"
)

// tail is one open file and how far it was read. The open descriptor keeps the inode from being used again, so that
// device and inode identify the file for as long as it is tailed.
type tail struct {
	id      hostfs.FileID
	path    string
	file    *os.File
	offset  int64
	size    int64     // when last measured
	written time.Time // when it was last written to, as of then
	listed  bool      // some glob leads to it

	head []byte // first bytes, to notice that other content took their place
	last []byte // the bytes before offset, to recognise a copy

	split     splitter
	block     block
	placement placement
	pastUntil int64  // what lies before this offset is history
	spans     []span // of the history: when lines without a time were written
	undated   bool   // no line of the history carries a time
	sizes     []backend.SizeAt
	caughtUp  time.Time // when it was last read to its end

	cutAt  int64     // where reading stood when the content was replaced, -1 when it was not in this poll
	copyOf *tail     // it looks like a copy of that file, and what the original gave is not read again
	grew   time.Time // the poll in which it last grew
	waited int       // polls spent on deciding that
	closed bool
	quiet  int // polls without growth since no glob leads to it
}

// learnHead reads the first bytes, as far as they are known to be there.
func (t *tail) learnHead() {
	buf := make([]byte, headBytes)
	n, _ := t.file.ReadAt(buf, 0)
	t.head = buf[:n]
}

// measure looks how long the file is now and notices when its content was replaced.
func (t *tail) measure() {
	t.cutAt = -1
	info, err := t.file.Stat()
	if err != nil {
		return
	}
	t.size, t.written = info.Size(), info.ModTime()
	now := make([]byte, len(t.head))
	n, err := t.file.ReadAt(now, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return
	}
	if t.size < t.offset || !bytes.Equal(now[:n], t.head) {
		t.cutAt = t.offset
	}
}

// resembles reports whether the newly found file n may be a copy of t: the same beginning and, as far as t was read,
// the same bytes before that place. A copy that is still being made is shorter and cannot be told yet.
func (t *tail) resembles(n *tail) bool {
	if t.offset == 0 || len(t.head) == 0 || len(n.head) < len(t.head) || !bytes.Equal(n.head[:len(t.head)], t.head) {
		return false
	}
	if n.size < t.offset {
		return true
	}
	there := make([]byte, len(t.last))
	if _, err := n.file.ReadAt(there, t.offset-int64(len(there))); err != nil && !errors.Is(err, io.EOF) {
		return false
	}
	return bytes.Equal(there, t.last)
}

// follow settles the reading of a file that looks like a copy of o, and reports whether it took over from o.
func (t *tail) follow(o *tail) bool {
	switch {
	case o.closed:
		t.offset, t.copyOf = t.size, nil
	case o.cutAt >= 0 && t.size >= o.cutAt: // o was emptied: the copy holds what it still had to give
		t.offset, t.copyOf = o.cutAt, nil
		t.split, o.split = o.split, splitter{}
		t.block, o.block = o.block, block{}
		t.placement, t.caughtUp, t.pastUntil, t.spans = o.placement, o.caughtUp, o.pastUntil, o.spans
		return true
	case t.size >= o.offset: // a complete copy: nothing in it is new
		t.offset = t.size
	case t.waited < quietPolls: // still being copied
		t.waited++
	default: // no copy, only the same beginning
		t.copyOf = nil
	}
	return false
}

// restart begins a file anew whose content was replaced.
func (t *tail) restart() {
	t.offset, t.pastUntil, t.last, t.spans, t.sizes = 0, 0, nil, nil, nil
	t.split, t.block = splitter{}, block{log: t.block.log}
	t.learnHead()
}

// read feeds new lines to the analyst until the end of the file, limit bytes, or the end of ctx.
func (t *tail) read(ctx context.Context, a *lineAnalyser, buf []byte, limit int64, now time.Time) (int64, error) {
	if t.copyOf != nil {
		return 0, nil
	}
	var total int64
	live := placement{lo: t.caughtUp, hi: now}
	emit := func(p *placement) func([]byte, int) {
		return func(data []byte, size int) { t.block.feed(a, data, size, time.Time{}, p) }
	}
	past, present := emit(&t.placement), emit(&live)
	a.file, a.now = t, now
	defer func() { a.file = nil }()
	for total < limit && ctx.Err() == nil {
		block, use := buf[:min(int64(len(buf)), limit-total)], present
		if t.offset < t.pastUntil {
			block, use = block[:min(int64(len(block)), t.enter()-t.offset)], past
		}
		n, err := t.file.ReadAt(block, t.offset)
		if n > 0 {
			t.split.feed(block[:n], use)
			t.remember(block[:n])
			t.offset += int64(n)
			total += int64(n)
			t.grew = now
		}
		if errors.Is(err, io.EOF) {
			if n == 0 || t.offset >= t.size {
				t.caughtUp = now
				break
			}
			continue
		}
		if err != nil {
			return total, err
		}
	}
	if t.offset > t.size { // it grew since it was measured
		t.size, t.written = t.offset, time.Time{}
	}
	if len(t.head) < headBytes && total > 0 {
		t.learnHead()
	}
	return total, nil
}

func (t *tail) remember(b []byte) {
	t.last = append(t.last, b[max(0, len(b)-tailBytes):]...)
	if len(t.last) > tailBytes {
		t.last = append([]byte(nil), t.last[len(t.last)-tailBytes:]...)
	}
}

// finished reports whether a file that no glob leads to any more has been read to its end and is written no longer.
func (t *tail) finished(n int64, a *lineAnalyser) bool {
	if t.listed || n > 0 || t.inPlace() {
		t.quiet = 0
		return false
	}
	if t.quiet++; t.quiet < quietPolls {
		return false
	}
	live := placement{lo: t.caughtUp, hi: t.caughtUp}
	t.split.flush(func(data []byte, size int) { t.block.feed(a, data, size, time.Time{}, &live) })
	t.block.release(a, &live)
	return true
}

// inPlace reports whether the path still leads to this file, or may: what merely cannot be listed is not gone.
func (t *tail) inPlace() bool {
	info, err := os.Stat(t.path)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return hostfs.IDOf(t.path, info) == t.id
}

// packed recognises gzip, zstd, xz and bzip2.
func packed(head []byte) bool {
	for _, magic := range []string{"\x1f\x8b", "\x28\xb5\x2f\xfd", "\xfd7zXZ", "BZh"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return true
		}
	}
	return false
}

// historyStart looks backwards, block by block, for the place where the lines of the lookback begin: the first block
// whose first dated line is older. It goes back at most maxHistory. dated: some line carries a time.
func historyStart(file io.ReaderAt, size int64, p *placement, d *decoder) (start int64, dated bool, err error) {
	buf := make([]byte, readBlock)
	start = size
	for start > 0 && size-start < maxHistory {
		start = max(0, start-readBlock)
		n, err := file.ReadAt(buf[:min(readBlock, size-start)], start)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, false, err
		}
		first, ok := firstTime(d, buf[:n], start == 0)
		dated = dated || ok
		if ok && first.Before(p.lo) {
			break
		}
	}
	start, err = lineFrom(file, start, size)
	return start, dated, err
}

// lineFrom is where the first whole line from an offset on begins.
func lineFrom(file io.ReaderAt, offset, size int64) (int64, error) {
	if offset <= 0 {
		return 0, nil
	}
	buf := make([]byte, min(readBlock, size-offset))
	n, err := file.ReadAt(buf, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	return offset + int64(bytes.IndexByte(buf[:n], '\n')+1), nil
}

// firstTime is the time of the first dated line among the first lines of a block; a line that the block only has the
// end of is left out.
func firstTime(d *decoder, block []byte, whole bool) (time.Time, bool) {
	const tries = 200
	for i := 0; len(block) > 0 && i < tries; i++ {
		line, rest, _ := bytes.Cut(block, []byte("\n"))
		if (i > 0 || whole) && len(line) > 0 {
			if r := d.decode(line); !r.at.IsZero() {
				return r.at, true
			}
		}
		block = rest
	}
	return time.Time{}, false
}
