package logs

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"sandglass/backend"
	"sandglass/backend/hostfs"
	"sandglass/backend/loglines"
	"sandglass/internal/stable"
)

const (
	mostFollowed = 32 // files, the newest
	lookEvery    = 250 * time.Millisecond
	globEvery    = 8 // looks
	leftAfter    = 8 // looks without growth, after which a file that no glob leads to is closed
)

// followed is one file that a log view reads.
type followed struct {
	id     hostfs.FileID
	path   string
	file   *os.File
	offset int64
	split  loglines.Splitter
	listed bool
	quiet  int
}

// followedFiles are those of one log view.
type followedFiles struct {
	globs []string
	open  []*followed
	first error // why a file could not be opened
	buf   []byte
}

// readFiles hands over the past of the files that match, then what is written to them.
func (s *source) readFiles(ctx context.Context, q backend.LogQuery, to backend.LogSink) error {
	f := &followedFiles{globs: s.opts.Files, buf: make([]byte, readBlock)}
	defer f.close()
	f.look()
	if len(f.open) == 0 {
		if f.first != nil {
			return f.first
		}
		return backend.Errorf(backend.ErrAbsent, s.deps.ID, "no file matches %q", f.globs)
	}
	n, _ := to.(*namingLines)
	past := &pastLines{to: to, most: q.Tail}
	dated := *n
	dated.to = past
	for _, x := range f.open {
		from := len(past.lines)
		if err := f.past(ctx, x, &dated); err != nil {
			return err
		}
		past.drop(from)
	}
	past.flush()
	to.Live()
	if !q.Follow {
		return nil
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for i := 1; ; i++ {
		if err := f.more(ctx, to); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		if i%globEvery == 0 {
			f.look()
		}
	}
}

// look opens the files that match and are not open yet.
func (f *followedFiles) look() {
	type found struct {
		path string
		info os.FileInfo
	}
	var all []found
	for _, g := range f.globs {
		paths, err := filepath.Glob(g)
		if err != nil {
			f.first = backend.Errorf(backend.ErrInvalid, g, "%w", err)
		}
		for _, p := range paths {
			info, err := os.Stat(p)
			if err == nil && info.Mode().IsRegular() {
				all = append(all, found{p, info})
			}
		}
	}
	stable.Sort(all, func(a, b found) int { return b.info.ModTime().Compare(a.info.ModTime()) })
	for _, x := range f.open {
		x.listed = false
	}
	for _, c := range all[:min(len(all), mostFollowed)] {
		id := hostfs.IDOf(c.path, c.info)
		if i := slices.IndexFunc(f.open, func(x *followed) bool { return x.id == id }); i >= 0 {
			f.open[i].path, f.open[i].listed = c.path, true
			continue
		}
		file, info, err := hostfs.OpenRegular(c.path)
		if err != nil {
			if f.first == nil {
				f.first = backend.Errorf(backend.FileErrorKind(err), c.path, "%w", backend.WithoutPath(err))
			}
			continue
		}
		x := &followed{id: hostfs.IDOf(c.path, info), path: c.path, file: file, listed: true, split: loglines.Splitter{Max: backend.MaxLogLine}}
		head := make([]byte, 8)
		if n, _ := file.ReadAt(head, 0); packed(head[:n]) {
			_ = file.Close()
			continue
		}
		f.open = append(f.open, x)
	}
}

// past reads the end of a file, up to its share of what is searched.
func (f *followedFiles) past(ctx context.Context, x *followed, to backend.LogSink) error {
	info, err := x.file.Stat()
	if err != nil {
		return err
	}
	if x.offset, err = lineFrom(x.file, info.Size()-pastBytes/int64(len(f.open)), info.Size()); err != nil {
		return err
	}
	return f.read(ctx, x, info.Size(), to)
}

// read hands over the lines up to a place in the file. A line without an end waits for it.
func (f *followedFiles) read(ctx context.Context, x *followed, until int64, to backend.LogSink) error {
	emit := func(text []byte, cut int) { to.Line(backend.LogLine{Text: text, Cut: cut}) }
	for x.offset < until && ctx.Err() == nil {
		n, err := x.file.ReadAt(f.buf[:min(int64(len(f.buf)), until-x.offset)], x.offset)
		x.split.Feed(f.buf[:n], emit)
		x.offset += int64(n)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return backend.Errorf(backend.FileErrorKind(err), x.path, "%w", backend.WithoutPath(err))
		}
	}
	return ctx.Err()
}

// more reads what was written since, and closes files that rotation left behind.
func (f *followedFiles) more(ctx context.Context, to backend.LogSink) error {
	for _, x := range f.open {
		info, err := x.file.Stat()
		if err != nil {
			return backend.Errorf(backend.FileErrorKind(err), x.path, "%w", backend.WithoutPath(err))
		}
		size := info.Size()
		if size < x.offset { // it was emptied
			x.offset, x.split = 0, loglines.Splitter{Max: backend.MaxLogLine}
		}
		if x.quiet++; size > x.offset {
			x.quiet = 0
		}
		if err := f.read(ctx, x, size, to); err != nil {
			return err
		}
	}
	f.open = slices.DeleteFunc(f.open, func(x *followed) bool {
		left := !x.listed && x.quiet >= leftAfter
		if left {
			_ = x.file.Close()
		}
		return left
	})
	return nil
}

func (f *followedFiles) close() {
	for _, x := range f.open {
		_ = x.file.Close()
	}
}
