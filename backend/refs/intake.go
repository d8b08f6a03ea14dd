package refs

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/hostfs"
	"sandglass/backend/run"
	"sandglass/internal/stable"
)

const (
	// settle is how old a file's time must be before an unchanged time means unchanged content: file systems keep
	// times in steps of up to 2 s, and a writer may write twice in one.
	settle = 2 * time.Second
)

// fileState tells one content of a file from another.
type fileState struct {
	id       hostfs.FileID
	size     int64
	modified time.Time
}

// read brings the files up to date and returns them, those included that cannot be read any more.
func (p *poll) read(ctx context.Context, now time.Time) []*refFile {
	s := p.s
	listed := map[string]bool{}
	late := false
	for _, path := range p.list() {
		listed[path] = true
		if ctx.Err() != nil {
			if p.complete = false; !late {
				p.problem(backend.ErrTimeout, path, "no time left for this file and those after it")
			}
			late = true
			continue
		}
		f := s.files[path]
		if f == nil {
			f = &refFile{path: path}
			s.files[path] = f
		}
		body, state, err := s.load(f, now)
		switch {
		case err != nil:
			f.fail(s.newProblem(backend.FileErrorKind(err), path, backend.WithoutPath(err).Error()))
		case body != nil:
			p.r.Load.Requests++
			p.r.Load.Bytes += int64(len(body))
			f.state = state
			f.take(s.decode(f, body))
		}
	}
	for path, f := range s.files {
		switch {
		case listed[path]:
		case p.complete: // every glob could be read and matches something: this file is gone, and its refs with it
			delete(s.files, path)
		default:
			f.fail(s.newProblem(backend.ErrGone, path, "the file is not among those that are read any more"))
		}
	}
	all := make([]*refFile, 0, len(s.files))
	for _, f := range s.files {
		all = append(all, f)
	}
	return all
}

// list expands the globs, the newest files first when there are too many.
func (p *poll) list() []string {
	var all []string
	for _, pattern := range p.s.opts.Files {
		g := globber{fail: func(path string, err error) {
			p.complete = false
			p.problem(backend.FileErrorKind(err), path, "%v", backend.WithoutPath(err))
		}}
		g.expand(pattern)
		if len(g.found) == 0 {
			// Not "no refs": a store that is not mounted looks the same.
			p.complete = false
			p.problem(backend.ErrAbsent, pattern, "no file matches; check files in the configuration")
		}
		all = append(all, g.found...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) <= p.s.opts.MaxFiles {
		return all
	}
	p.complete = false
	p.problem(backend.ErrInvalid, strings.Join(p.s.opts.Files, " "), "%d files match; only the %d newest are read (max_files)", len(all), p.s.opts.MaxFiles)
	age := map[string]time.Time{}
	for _, path := range all {
		if info, err := os.Stat(path); err == nil {
			age[path] = info.ModTime()
		}
	}
	stable.Sort(all, func(a, b string) int { return age[b].Compare(age[a]) })
	return all[:p.s.opts.MaxFiles]
}

// load reads a file; the body is nil when the file is what it was.
func (s *source) load(f *refFile, now time.Time) ([]byte, fileState, error) {
	file, info, err := hostfs.OpenRegular(f.path)
	if err != nil {
		return nil, fileState{}, err
	}
	defer file.Close() // it was only read
	if info.Size() > int64(s.opts.MaxBody) {
		return nil, fileState{}, s.tooLarge()
	}
	state := fileState{hostfs.IDOf(f.path, info), info.Size(), info.ModTime()}
	if f.loaded && state == f.state && now.Sub(state.modified) > settle {
		return nil, state, nil
	}
	body, err := io.ReadAll(io.LimitReader(file, int64(s.opts.MaxBody)+1))
	switch {
	case err != nil:
		return nil, state, err
	case int64(len(body)) > int64(s.opts.MaxBody):
		return nil, state, s.tooLarge()
	case body == nil:
		body = []byte{}
	}
	return body, state, nil
}

func (s *source) tooLarge() error {
	text, _ := s.opts.MaxBody.MarshalText() // it cannot fail
	return fmt.Errorf("larger than max_body (%s)", text)
}

// take replaces what the place held. Refs that an unsound reading does not have are lost, not gone.
func (f *refFile) take(c content) {
	before := f.known()
	f.docs, f.loaded, f.lost, f.why = c, true, nil, backend.Safe{}
	if c.sound() {
		return
	}
	if f.why = backend.Text("there are more refs than max_refs allows"); len(c.problems) > 0 {
		f.why = backend.Textf("what was saved cannot be read in full: %s: %s", c.problems[0].Where, c.problems[0].What)
	}
	for _, ref := range c.refs {
		delete(before, ref.Key)
	}
	f.lost = before
}

// fail keeps what the place held as lost.
func (f *refFile) fail(problem backend.Problem) {
	f.lost = f.known()
	f.docs, f.loaded = content{problems: []backend.Problem{problem}}, false
	f.why = backend.Textf("what was saved cannot be read: %s", problem.What)
}

func (f *refFile) known() map[backend.Key]bool {
	out := make(map[backend.Key]bool, len(f.docs.refs)+len(f.lost))
	for k := range f.lost {
		out[k] = true
	}
	for _, ref := range f.docs.refs {
		out[ref.Key] = true
	}
	return out
}

// command runs the command when it is due.
func (p *poll) command(ctx context.Context, now time.Time) (ran bool, err error) {
	s := p.s
	if s.out != nil && now.Before(s.next) {
		return false, nil
	}
	where := "command " + s.opts.Command[0]
	body, err := run.Output(ctx, s.deps, s.opts.Command, int64(s.opts.MaxBody))
	p.r.Load.Requests++
	p.r.Load.Bytes += int64(len(body))
	if err != nil {
		return false, &backend.Error{Kind: run.Kind(err), Source: s.deps.ID, Where: where, Err: err}
	}
	if s.out == nil {
		s.out = &refFile{path: where}
	}
	s.out.take(s.decode(s.out, body))
	s.ran, s.next = s.deps.Now(), now.Add(s.opts.CommandEvery.Std())
	return true, nil
}
