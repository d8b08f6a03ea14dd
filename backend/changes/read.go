package changes

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
	"sandglass/backend/run"
)

const (
	// settle is how old a file's time must be before an unchanged time means unchanged content: file systems keep
	// times in steps of up to 2 s, and a writer may write twice in one.
	settle = 2 * time.Second
)

// fileState tells one content of a file from another.
type fileState struct {
	info    os.FileInfo
	checked time.Time
}

// read returns the present content; fresh is false when there is nothing new to look at.
func (s *source) read(ctx context.Context, r *backend.Reading) (content []byte, fresh bool, err error) {
	if s.opts.File == "" {
		content, err = run.Output(ctx, s.deps, s.opts.Command, int64(s.opts.MaxBody))
		r.Load = backend.Load{Requests: 1, Bytes: int64(len(content))}
		if err != nil {
			return nil, false, s.fail(err, "command "+s.opts.Command[0])
		}
		return content, true, nil
	}
	content, fresh, err = s.load(r)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// Who writes changes down may just not have had any yet.
		name := backend.Clean(s.opts.File, 200)
		if s.file.info == nil && !s.lost {
			r.Notes = append(r.Notes, backend.Textf("%s does not exist yet; its lines are changes as soon as it does", name))
		} else {
			s.lost = true
			r.Degraded = backend.Textf("%s is not there any more; its lines are changes as soon as it is", name)
		}
		s.begun, s.file = true, fileState{} // what is in it when it comes was written since
		return nil, false, nil
	case err != nil:
		return nil, false, s.fail(err, s.opts.File)
	}
	return content, fresh, nil
}

// load reads the end of the file when it changed since it was last read.
func (s *source) load(r *backend.Reading) ([]byte, bool, error) {
	f, info, err := hostfs.OpenRegular(s.opts.File)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = f.Close() }()
	if old := s.file; old.info != nil && os.SameFile(old.info, info) && old.info.Size() == info.Size() &&
		old.info.ModTime().Equal(info.ModTime()) && old.checked.Sub(info.ModTime()) > settle {
		return nil, false, nil
	}
	from := max(0, info.Size()-int64(s.opts.MaxBody))
	body, err := io.ReadAll(io.NewSectionReader(f, from, int64(s.opts.MaxBody)))
	if err != nil {
		return nil, false, err
	}
	if from > 0 {
		body = body[bytes.IndexByte(body, '\n')+1:] // not in the middle of a line
		r.Notes = append(r.Notes, backend.Textf("only the last %d kB of the file are read", int64(s.opts.MaxBody)/1000))
	}
	if n := bytes.LastIndexByte(body, '\n') + 1; n < len(body) && !complete(body[n:]) && r.Started.Sub(info.ModTime()) < settle {
		body = body[:n] // the last line is still being written
	}
	s.file = fileState{info: info, checked: r.Started}
	r.Load = backend.Load{Requests: 1, Bytes: int64(len(body))}
	return body, true, nil
}

// complete reports whether a text without a newline at its end is the end of a JSON document all the same.
func complete(tail []byte) bool {
	tail = bytes.TrimSpace(tail)
	return len(tail) > 0 && (tail[len(tail)-1] == ']' || tail[len(tail)-1] == '}')
}

func (s *source) fail(err error, where string) error {
	e := backend.Errorf(run.Kind(err), backend.Clean(where, 200).String(), "%w", err)
	e.Source = s.deps.ID
	return e
}
