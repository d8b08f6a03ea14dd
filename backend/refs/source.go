package refs

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

const maxProblems = 20 // of one poll; the rest is counted

// source is one place with saved session state.
type source struct {
	opts  Options
	deps  backend.Deps
	names *regexp.Regexp // nil without name_pattern

	files map[string]*refFile
	out   *refFile  // of the command, nil before it ran
	ran   time.Time // when the command last ended well
	next  time.Time
}

// refFile is a file, or the output of a command, with what was last read from it.
type refFile struct {
	path   string
	state  fileState // of the file when it was read
	loaded bool      // docs is what the file in that state holds
	docs   content
	// lost are refs that an earlier, sound reading had and the present one, which is not sound, has not.
	lost map[backend.Key]bool
	why  backend.Safe // why it is not sound
}

func newSource(opts Options, deps backend.Deps) (*source, error) {
	s := &source{opts: opts, deps: deps, files: map[string]*refFile{}}
	if opts.NamePattern != "" {
		var err error
		if s.names, err = regexp.Compile(opts.NamePattern); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// ID returns the source's id.
func (s *source) ID() string { return s.deps.ID }

// Routes lists what the source reads or runs.
func (s *source) Routes() []backend.Route {
	if len(s.opts.Command) > 0 {
		return []backend.Route{{Verb: "run", Target: s.deps.Cleaner.Mask(strings.Join(s.opts.Command, " ")),
			Why: fmt.Sprintf("saved session state, at most every %s", s.opts.CommandEvery.Std())}}
	}
	var out []backend.Route
	for _, g := range s.opts.Files {
		out = append(out, backend.Route{Verb: "read", Target: g, Why: "saved session state"})
	}
	return out
}

// poll is what one reading collects.
type poll struct {
	s        *source
	r        *backend.Reading
	complete bool
	hidden   int // problems beyond the bound
}

// Poll reads what changed.
func (s *source) Poll(ctx context.Context) (backend.Reading, error) {
	start := s.deps.Now()
	r := backend.Reading{Schema: backend.ReadingSchema, Source: s.deps.ID, Kind: "refs", Started: start,
		Scopes: []backend.Scope{}, Inputs: []backend.Input{}}
	p := &poll{s: s, r: &r, complete: true}
	if len(s.opts.Command) > 0 {
		ran, err := p.command(ctx, start)
		r.At = s.deps.Now()
		r.AnsweredAt = s.ran
		r.Paced(s.opts.CommandEvery.Std(), s.deps.Interval, backend.Textf("command_every: interval is %s", backend.Duration(s.deps.Interval)))
		switch {
		case err != nil:
			return r, err
		case !ran:
			r.Inputs = append(r.Inputs, backend.InputRefs)
			p.notes([]*refFile{s.out})
			return r, nil
		}
		p.publish([]*refFile{s.out})
		return r, nil
	}
	all := p.read(ctx, start)
	r.At = s.deps.Now()
	p.publish(all)
	return r, nil
}

// publish turns what the places hold into the reading. Of two refs with one key the one in the newer file is kept.
func (p *poll) publish(places []*refFile) {
	newest := stable.Sorted(slices.Values(places), func(a, b *refFile) int {
		return cmp.Or(b.state.modified.Compare(a.state.modified), cmp.Compare(a.path, b.path))
	})
	from := map[backend.Key]*refFile{}
	read := 0
	for _, f := range newest {
		if f.docs.read {
			read++
		}
		p.problems(f.docs.problems, f.docs.hidden)
		p.complete = p.complete && !f.docs.cut
		for _, ref := range f.docs.refs {
			switch other := from[ref.Key]; {
			case other != nil:
				p.problem(backend.ErrInvalid, f.path, "%s is saved in %s too; the newer one counts", ref.Key.Safe(), other.path)
			case len(p.r.Refs) == p.s.opts.MaxRefs:
				p.complete = false
			default:
				from[ref.Key] = f
				p.r.Refs = append(p.r.Refs, ref)
			}
		}
	}
	for _, f := range newest {
		for _, k := range stable.Sorted(maps.Keys(f.lost), backend.Key.Compare) {
			if from[k] == nil {
				p.r.Stale = append(p.r.Stale, backend.StaleMark{Key: k, Why: f.why})
			}
		}
	}
	if len(p.r.Refs) == p.s.opts.MaxRefs && !p.complete {
		p.problem(backend.ErrInvalid, "", "more than max_refs (%d) refs; the rest is not shown", p.s.opts.MaxRefs)
	}
	p.r.Scopes = append(p.r.Scopes, backend.Scope{Kind: backend.KindRef, Complete: p.complete})
	p.conclude(read, len(places), keptOf(places))
	p.notes(places)
}

// keptOf says what stands for files that cannot be read: what an earlier reading had of them, if there was one.
func keptOf(places []*refFile) backend.Safe {
	kept := 0
	for _, f := range places {
		if !f.docs.read {
			kept += len(f.lost)
		}
	}
	if kept == 0 {
		return backend.Text("what they hold is not known")
	}
	return backend.Textf("%s", backend.Counted(kept, "ref of an earlier reading is kept", "refs of an earlier reading are kept"))
}

// conclude says whether the source delivers.
func (p *poll) conclude(read, places int, kept backend.Safe) {
	switch {
	case read > 0:
		p.r.Inputs = append(p.r.Inputs, backend.InputRefs)
		if read < places {
			p.r.Degraded = backend.Textf("%d of %d files cannot be read; %s", places-read, places, kept)
		}
		return
	case len(p.r.Problems) > 0:
		first := p.r.Problems[0]
		p.r.Degraded = backend.Textf("no saved session state can be read: %s: %s", first.Where, first.What)
	default:
		p.r.Degraded = backend.Text("no saved session state can be read")
	}
	p.r.Missing = []backend.MissingInput{{Input: backend.InputRefs, Why: p.r.Degraded}}
}

// notes are remarks for the Sources screen.
func (p *poll) notes(places []*refFile) {
	sessions, without, refs, sandboxes := 0, 0, 0, 0
	for _, f := range places {
		sessions += f.docs.sessions
		without += f.docs.without
		for _, ref := range f.docs.refs {
			if refs++; !ref.Sandbox.IsZero() {
				sandboxes++
			}
		}
	}
	note := func(on bool, format backend.Literal, args ...any) {
		if on {
			p.r.Notes = append(p.r.Notes, backend.Textf(format, args...))
		}
	}
	note(true, "%d refs of %d saved sessions in %d places", refs, sessions, len(places))
	note(without > 0, "%d saved sessions without refs", without)
	note(refs > 0 && sandboxes == 0, "no ref names its sandbox: set pointers.sandbox to compare refs with sandboxes")
	note(p.hidden > 0, "%d more problems", p.hidden)
}

func (p *poll) problems(all []backend.Problem, hidden int) {
	for _, x := range all {
		if p.hidden += hidden; len(p.r.Problems) >= maxProblems {
			p.hidden++
		} else {
			p.r.Problems = append(p.r.Problems, x)
		}
		hidden = 0
	}
}

func (p *poll) problem(kind backend.ErrorKind, where, format string, args ...any) {
	p.problems([]backend.Problem{p.s.newProblem(kind, where, fmt.Sprintf(format, args...))}, 0)
}

func (s *source) newProblem(kind backend.ErrorKind, where, what string) backend.Problem {
	return backend.Problem{Kind: kind, Where: s.deps.Cleaner.Clean(where, 300), What: s.deps.Cleaner.Clean(what, 300), At: s.deps.Now()}
}
