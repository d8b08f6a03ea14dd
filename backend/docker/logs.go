package docker

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/moby/moby/client"

	"sandglass/backend"
	"sandglass/backend/loglines"
)

// logBuffer is how many bytes of a container's log are read at once.
const logBuffer = 256 << 10

// LogsOf is the log of a container: its standard output and standard error, as the engine keeps them.
func (s *Source) LogsOf(about backend.LogAbout) []backend.Log {
	if about.Key.Kind != backend.KindSandbox || about.Key.Source != s.deps.ID {
		return nil
	}
	id := about.Key.ID.Raw()
	name := about.Title
	if name.IsEmpty() {
		name = backend.Clean(id[:min(len(id), 12)], 12)
	}
	return []backend.Log{{Name: backend.Textf("container %s", name),
		Read: func(ctx context.Context, q backend.LogQuery, to backend.LogSink) error {
			eng, err := s.reader()
			if err != nil {
				return err
			}
			if err = eng.logs(ctx, id, q, to); err != nil && ctx.Err() == nil {
				return s.sign(err)
			}
			return err
		}}}
}

// reader is the engine of the newest poll.
func (s *Source) reader() (engine, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.eng == nil {
		return nil, s.silent()
	}
	return s.eng, nil
}

// logs reads the past of a container's log, then what follows. What was written between the two requests comes with the
// second one, as does the last line again, which is left out.
func (m *moby) logs(ctx context.Context, id string, q backend.LogQuery, to backend.LogSink) error {
	where := "/containers/" + id + "/logs"
	info, err := m.api.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	if err != nil {
		return m.fail(where, err)
	}
	r := &logReading{to: to, after: q.Since, tty: info.Container.Config != nil && info.Container.Config.Tty}
	o := client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Timestamps: true, Tail: strconv.Itoa(q.Tail), Since: logSince(q.Since)}
	if err := m.readLog(ctx, id, o, r); err != nil {
		return m.fail(where, err)
	}
	if r.at.After(r.after) {
		r.after = r.at
	}
	to.Live()
	if !q.Follow {
		return nil
	}
	o.Follow, o.Tail = true, "all"
	o.Since = logSince(r.after)
	if err := m.readLog(ctx, id, o, r); err != nil {
		return m.fail(where, err)
	}
	return nil
}

func logSince(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func (m *moby) readLog(ctx context.Context, id string, o client.ContainerLogsOptions, r *logReading) error {
	body, err := m.api.ContainerLogs(ctx, id, o)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	in := bufio.NewReaderSize(body, logBuffer)
	r.parts = [2]loglines.Splitter{{Max: backend.MaxLogLine}, {Max: backend.MaxLogLine}}
	if r.tty {
		err = loglines.Plain(in, func(b []byte) { r.take(b, 0) })
	} else {
		err = loglines.Demultiplex(in, r.take)
	}
	for which := range r.parts {
		r.parts[which].Flush(r.line(which))
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// logReading is what is remembered between the two requests for one log.
type logReading struct {
	to    backend.LogSink
	tty   bool
	parts [2]loglines.Splitter // lines of the two outputs interleave
	after time.Time            // lines up to this time were handed over, or are not wanted
	at    time.Time            // the newest
}

func (r *logReading) take(b []byte, which int) { r.parts[which].Feed(b, r.line(which)) }

func (r *logReading) line(which int) func([]byte, int) {
	return func(text []byte, cut int) {
		l := backend.LogLine{Stderr: which == 1, Text: text, Cut: cut}
		if stamp, rest, ok := bytes.Cut(text, []byte{' '}); ok {
			if at, err := time.Parse(time.RFC3339Nano, string(stamp)); err == nil {
				l.At, l.Text = at, rest
			}
		}
		if !l.At.IsZero() && !l.At.After(r.after) {
			return
		}
		r.to.Line(l)
		if l.At.After(r.at) {
			r.at = l.At
		}
	}
}
