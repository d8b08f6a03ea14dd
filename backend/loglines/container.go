package loglines

import (
	"bufio"
	"bytes"
	"context"
	"strconv"
	"time"

	"github.com/moby/moby/client"

	"sandglass/backend"
)

// readBuffer is how many bytes of a container's log are read at once.
const readBuffer = 256 << 10

// Engine is the part of a container engine's API that reading a log takes.
type Engine interface {
	ContainerInspect(ctx context.Context, id string, o client.ContainerInspectOptions) (client.ContainerInspectResult, error)
	ContainerLogs(ctx context.Context, id string, o client.ContainerLogsOptions) (client.ContainerLogsResult, error)
}

// Container reads the past of a container's log, then what follows, until the container ends (nil). What was written between the
// two requests comes with the second one, as does the last line again, which is left out.
func Container(ctx context.Context, engine Engine, id string, q backend.LogQuery, to backend.LogSink) error {
	info, err := engine.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	if err != nil {
		return err
	}
	r := &containerLog{engine: engine, id: id, to: to, after: q.Since, tty: info.Container.Config != nil && info.Container.Config.Tty}
	o := client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Timestamps: true, Tail: strconv.Itoa(q.Tail), Since: since(q.Since)}
	if err := r.read(ctx, o); err != nil {
		return err
	}
	to.Live()
	if !q.Follow {
		return nil
	}
	if r.newest.After(r.after) {
		r.after = r.newest
	}
	o.Follow, o.Tail, o.Since = true, "", since(r.after)
	return r.read(ctx, o)
}

func since(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// containerLog is what is remembered between the two requests for one log.
type containerLog struct {
	engine Engine
	id     string
	to     backend.LogSink
	tty    bool
	parts  [2]Splitter // lines of the two outputs interleave
	after  time.Time   // lines up to this time were handed over, or are not wanted
	newest time.Time
}

func (r *containerLog) read(ctx context.Context, o client.ContainerLogsOptions) error {
	body, err := r.engine.ContainerLogs(ctx, r.id, o)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	in := bufio.NewReaderSize(body, readBuffer)
	r.parts = [2]Splitter{{Max: backend.MaxLogLine}, {Max: backend.MaxLogLine}}
	emit := [2]func([]byte, int){r.line(false), r.line(true)}
	if r.tty {
		err = Plain(in, func(b []byte) { r.parts[0].Feed(b, emit[0]) })
	} else {
		err = Demultiplex(in, func(b []byte, which int) { r.parts[which].Feed(b, emit[which]) })
	}
	for which := range r.parts {
		r.parts[which].Flush(emit[which])
	}
	return err
}

func (r *containerLog) line(stderr bool) func([]byte, int) {
	return func(text []byte, cut int) {
		l := backend.LogLine{Stderr: stderr, Text: text, Cut: cut}
		if stamp, rest, ok := bytes.Cut(text, []byte{' '}); ok {
			if at, err := time.Parse(time.RFC3339Nano, string(stamp)); err == nil {
				l.At, l.Text = at, rest
			}
		}
		if !l.At.IsZero() && !l.At.After(r.after) {
			return
		}
		r.to.Line(l)
		if l.At.After(r.newest) {
			r.newest = l.At
		}
	}
}
