package alerts

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"sandglass/backend/lockfile"
)

// lineFile is a file of lines to which any process that may write it adds: each addition takes the file's lock and is
// one write. A line that a crash left incomplete was never reported as written: the next addition takes its place.
type lineFile struct{ path string }

// lockPatience is how long an addition waits for another process that is adding.
const lockPatience = 2 * time.Second

// open opens the file and takes its lock.
func (l lineFile) open() (*os.File, error) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), lockPatience, fmt.Errorf("waited for %s", lockPatience))
	defer cancel()
	return lockfile.OpenLocked(ctx, l.path, 0o002)
}

// add appends lines, none of which holds a line end. Synced lines survive the end of the machine.
func (l lineFile) add(sync bool, lines ...[]byte) error {
	if len(lines) == 0 {
		return nil
	}
	f, err := l.open()
	if err != nil {
		return err
	}
	end, torn, err := wholeLines(f)
	if torn {
		err = lockfile.Truncate(f, end)
	}
	if err == nil {
		if _, err = f.Write(append(bytes.Join(lines, []byte{'\n'}), '\n')); err == nil && sync {
			err = f.Sync()
		}
		if err != nil { // a full disk took a part of it, and all of it is tried again
			err = errors.Join(err, lockfile.Truncate(f, end))
		}
	}
	return errors.Join(err, f.Close())
}

// wholeLines is where the file's last whole line ends, and whether something follows it.
func wholeLines(f *os.File) (end int64, torn bool, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, false, err
	}
	end = info.Size()
	for part := make([]byte, 4096); end > 0; {
		from := max(end-int64(len(part)), 0)
		n, err := f.ReadAt(part[:end-from], from)
		if err != nil {
			return 0, false, err
		}
		if i := bytes.LastIndexByte(part[:n], '\n'); i >= 0 {
			end = from + int64(i) + 1
			return end, end < info.Size(), nil
		}
		end = from
	}
	return 0, info.Size() > 0, nil
}

// lineCursor is how far a file was read.
type lineCursor struct {
	info   os.FileInfo
	offset int64
}

// since reads the whole lines added since the cursor and moves it. anew says that the file is another one than before,
// so that these lines are all there is; of such a file only the newest lines of so many bytes are returned.
func (l lineFile) since(c *lineCursor, tail int64) (lines [][]byte, anew bool, err error) {
	f, err := os.Open(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		anew = c.info != nil
		*c = lineCursor{}
		return nil, anew, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer f.Close() // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	skip := false
	if c.info == nil || !os.SameFile(c.info, info) || info.Size() < c.offset {
		anew, c.offset = true, max(info.Size()-farthest, 0)
		skip = c.offset > 0 // what is read first began before
	} else {
		tail = math.MaxInt64
	}
	c.info = info
	kept := int64(0)
	whole, err := eachLine(io.NewSectionReader(f, c.offset, info.Size()-c.offset), func(line []byte) {
		if skip || len(line) == 0 {
			skip = false
			return
		}
		lines, kept = append(lines, bytes.Clone(line)), kept+int64(len(line))
		for ; kept > tail; lines = lines[1:] {
			kept -= int64(len(lines[0]))
		}
	})
	c.offset += whole
	return lines, anew, err
}

// longestLine is the longest line in bytes that is read whole, and farthest how far back a file is read.
const (
	longestLine = 1 << 20
	farthest    = 64 << 20
)

// eachLine calls do with each whole line without its end, and returns how many bytes they take. Of a line that is too long
// do gets the first bytes only: these are no document, and are left out as one that cannot be read.
func eachLine(from io.Reader, do func(line []byte)) (whole int64, err error) {
	var line []byte
	size := int64(0)
	for r := bufio.NewReaderSize(from, 64<<10); ; {
		part, err := r.ReadSlice('\n')
		size += int64(len(part))
		if line = append(line, part...); size > longestLine {
			line = line[:80]
		}
		switch {
		case err == nil:
			do(bytes.TrimRight(line, "\n"))
			whole, line, size = whole+size, line[:0], 0
		case errors.Is(err, io.EOF):
			return whole, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return whole, err
		}
	}
}

// oldest is the first line of the file, within its first MiB, that a test accepts, nil when there is none; and the file's
// size.
func (l lineFile) oldest(is func([]byte) bool) ([]byte, int64, error) {
	f, err := os.Open(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	defer f.Close() // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	for r := bufio.NewReader(io.LimitReader(f, 1<<20)); ; {
		line, err := r.ReadBytes('\n')
		if line = bytes.TrimRight(line, "\n"); len(line) > 0 && is(line) {
			return line, info.Size(), nil
		}
		if errors.Is(err, io.EOF) {
			return nil, info.Size(), nil
		}
		if err != nil {
			return nil, 0, err
		}
	}
}

// compact leaves the lines that keep says, at most the last size bytes of them. A crash leaves the file as it was.
func (l lineFile) compact(size int, keep func([]byte) bool) error {
	f, err := l.open()
	if err != nil {
		return err
	}
	data, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<40))
	if err == nil {
		var out []byte
		for line := range bytes.Lines(data) {
			if bytes.HasSuffix(line, []byte{'\n'}) && keep(line[:len(line)-1]) {
				out = append(out, line...)
			}
		}
		if len(out) > size {
			out = out[len(out)-size:]
			out = out[bytes.IndexByte(out, '\n')+1:]
		}
		err = writeAtomically(l.path, func(to io.Writer) error {
			_, err := to.Write(out)
			return err
		})
	}
	return errors.Join(err, f.Close())
}

func storeFile(s *StateStore, name string) lineFile { return lineFile{filepath.Join(s.dir, name)} }
