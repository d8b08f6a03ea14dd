package logs

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os/exec"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/loglines"
	"sandglass/backend/run"
	"sandglass/internal/stable"
)

const (
	// pastBytes is how much of the past of files is searched for lines that people read.
	pastBytes = 8 << 20
	// commandPastFor is how long a command that is not followed may print.
	commandPastFor = 3 * time.Second
)

// LogsOf is the configured log: all its lines, or those that name a subject. It is read apart from the polls, which lose
// nothing by it; a command is started once more.
func (s *source) LogsOf(about backend.LogAbout) []backend.Log {
	read := s.readFiles
	name := strings.Join(s.opts.Files, ", ")
	switch o := s.origin.(type) {
	case *command:
		read = o.lines
		name = "command " + o.argv[0]
	case *container:
		name = "container " + o.name
		read = func(ctx context.Context, q backend.LogQuery, to backend.LogSink) error {
			if err := loglines.Container(ctx, o.engine, o.name, q, to); err != nil {
				return o.failed(err)
			}
			return nil
		}
	}
	return []backend.Log{{Name: s.deps.Cleaner.Clean(name, 200), Named: len(about.Names) > 0, Read: func(ctx context.Context, q backend.LogQuery, to backend.LogSink) error {
		named := &namingLines{to: to, dec: newDecoder(s.opts.Format, s.opts.Fields, s.deps.Now().Location()), since: q.Since}
		for _, all := range about.Names {
			var names [][]byte
			for _, n := range all {
				names = append(names, []byte(n))
			}
			named.names = append(named.names, names)
		}
		return read(ctx, q, named)
	}}}
}

// namingLines lets lines pass that name a subject, and dates them.
type namingLines struct {
	to    backend.LogSink
	names [][][]byte // all of one; empty: every line passes
	dec   *decoder
	since time.Time
}

func (n *namingLines) Live() { n.to.Live() }

func (n *namingLines) Line(l backend.LogLine) {
	if !n.wanted(l.Text) {
		return
	}
	if l.At.IsZero() {
		l.At = n.time(l.Text)
	}
	if n.since.IsZero() || l.At.IsZero() || l.At.After(n.since) {
		n.to.Line(l)
	}
}

func (n *namingLines) wanted(line []byte) bool {
	return len(n.names) == 0 || slices.ContainsFunc(n.names, func(all [][]byte) bool {
		return !slices.ContainsFunc(all, func(name []byte) bool { return !holdsName(line, name) })
	})
}

// time is what the line says of its time, zero: nothing.
func (n *namingLines) time(line []byte) time.Time {
	if at, _, ok := backend.LeadingTime(line, n.dec.loc); ok {
		return at
	}
	if bytes.IndexByte(line, '{') >= 0 {
		return n.dec.decode(line).at
	}
	return time.Time{}
}

// holdsName reports whether a name is in a line and is not a part of a longer one.
func holdsName(line, name []byte) bool {
	if len(name) == 0 {
		return false
	}
	for from := 0; ; {
		i := bytes.Index(line[from:], name)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(name)
		if (start == 0 || !nameByte(line[start-1]) || !nameByte(name[0])) && (end == len(line) || !nameByte(line[end]) || line[end] == '.' || !nameByte(name[len(name)-1])) {
			return true
		}
		from = start + 1
	}
}

// lines runs the command once more and hands over what it prints.
func (c *command) lines(ctx context.Context, q backend.LogQuery, to backend.LogSink) error {
	if !q.Follow {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, commandPastFor)
		defer cancel()
	}
	past := &pastLines{to: to, most: q.Tail}
	sink := backend.LogSink(past)
	if q.Follow {
		sink = to
	}
	cmd := c.start(ctx, c.argv)
	run.Group(cmd)
	complaints := &lastBytes{}
	out := &printed{to: sink, split: loglines.Splitter{Max: backend.MaxLogLine}}
	cmd.Stdout, cmd.Stderr = out, complaints
	if err := cmd.Start(); err != nil {
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
			return backend.Errorf(backend.ErrInvalid, c.argv[0], "no such program")
		}
		return backend.Errorf(backend.ErrUnreachable, c.argv[0], "cannot start: %w", err)
	}
	err := cmd.Wait()
	out.split.Flush(out.line)
	past.flush()
	switch said := strings.TrimSpace(complaints.String()); {
	case err == nil || !q.Follow && ctx.Err() != nil:
		return nil
	case said != "":
		return backend.Errorf(backend.ErrUnreachable, c.argv[0], "the command failed: %w: %s", err, said)
	}
	return backend.Errorf(backend.ErrUnreachable, c.argv[0], "the command failed: %w", err)
}

// printed hands over the output of a command. What came first is its past, as far as that can be told.
type printed struct {
	to    backend.LogSink
	split loglines.Splitter
	live  bool
}

func (p *printed) Write(b []byte) (int, error) {
	p.split.Feed(b, p.line)
	if !p.live {
		p.live = true
		p.to.Live()
	}
	return len(b), nil
}

func (p *printed) line(text []byte, cut int) { p.to.Line(backend.LogLine{Text: text, Cut: cut}) }

// pastLines keeps the newest lines of the past until it is flushed, in the order of their times.
type pastLines struct {
	to    backend.LogSink
	most  int
	lines []pastLine
	prev  time.Time // of the line before in the same file
}

// pastLine is a line with the time by which it is ordered: its own, or that of the line that it goes on from.
type pastLine struct {
	by time.Time
	l  backend.LogLine
}

func (p *pastLines) Live() {}

func (p *pastLines) Line(l backend.LogLine) {
	if p.most <= 0 {
		return
	}
	if !l.At.IsZero() {
		p.prev = l.At
	}
	l.Text = bytes.Clone(l.Text)
	p.lines = append(p.lines, pastLine{p.prev, l})
}

// drop keeps the newest of the lines since from, the lines of one file.
func (p *pastLines) drop(from int) {
	p.lines = append(p.lines[:from], p.lines[max(from, len(p.lines)-p.most):]...)
	p.prev = time.Time{}
}

func (p *pastLines) flush() {
	stable.Sort(p.lines, func(a, b pastLine) int { return a.by.Compare(b.by) })
	for _, x := range p.lines[max(0, len(p.lines)-p.most):] {
		p.to.Line(x.l)
	}
	p.lines = nil
}
