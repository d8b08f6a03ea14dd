package docker

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/client"

	"sandglass/backend"
	"sandglass/internal/stable"
)

const (
	maxLogLines = 100
	maxLogLine  = 200      // characters
	maxFrame    = 17 << 10 // bytes; the engine cuts lines at 16 KiB
	maxTails    = 8        // logs read in one poll
	tailEvery   = time.Minute
	// restartsInARow is how many restarts make a container that runs a suspect.
	restartsInARow = 3
	// oldFailure is from when on a failure is history: its log is not read.
	oldFailure = 24 * time.Hour
)

// failure names one failure of a container, so that its log is read once for it.
type failure struct {
	what              string
	started, finished backend.Value[time.Time]
}

// fine reports whether nothing speaks of a failure: the container runs and is not unhealthy, or ended as it should.
func (in *inspection) fine() bool { return in.failure() == failure{} }

// failure is what is wrong with a container, zero when nothing is. One that could not be started has no log of that.
func (in *inspection) failure() failure {
	class := in.class()
	b := backend.Sandbox{Class: class, ExitCode: backend.Known(in.exit), OOMKilled: in.killedWord()}
	of := failure{started: in.started, finished: in.finished}
	switch {
	case b.Crashed(), class.Ended() && in.oomKilled:
		of.what = "ended"
	case class == backend.SandboxRestarting, class == backend.SandboxRunning && in.restarts >= restartsInARow:
		of.what = "restarts"
	case class == backend.SandboxRunning && in.health == "unhealthy":
		return failure{what: "unhealthy", started: in.started}
	default:
		return failure{}
	}
	return of
}

// tails reads how the logs of failing sandboxes end: once for each failure, newest failures first.
func (p *poll) tails() {
	if p.s.opt.LogLines == 0 {
		return
	}
	now := p.r.Started
	var due []*cachedContainer
	for _, e := range p.s.entries {
		if !e.current() || e.ins.fine() || e.tailed == e.ins.failure() || now.Sub(e.tailedAt) < tailEvery || !p.s.judged(e) {
			continue
		}
		if at := newestOf(e.ins); e.ins.failure().what != "unhealthy" && now.Add(p.offset).Sub(at) > oldFailure {
			continue
		}
		due = append(due, e)
	}
	stable.Sort(due, func(a, b *cachedContainer) int {
		return cmp.Or(newestOf(b.ins).Compare(newestOf(a.ins)), a.id.Compare(b.id))
	})
	type text struct {
		raw string
		err error
	}
	fanOut(p, "read log of "+p.s.deps.ID, due[:min(len(due), maxTails)], func(ctx context.Context, e *cachedContainer) text {
		raw, err := p.eng.tail(ctx, e.id.Raw(), p.s.opt.LogLines, e.ins.tty)
		return text{raw, err}
	}, func(e *cachedContainer, t text) {
		e.tailed, e.tailedAt, e.touched = e.ins.failure(), now, true
		e.tail = p.s.logTail(t.raw, t.err)
	})
}

// newestOf is when the newest run of a container ended, or began where it runs. A run that ends at once is written down
// as ended before it began.
func newestOf(in *inspection) time.Time {
	a, b := in.started.Or(time.Time{}), in.finished.Or(time.Time{})
	if a.After(b) {
		return a
	}
	return b
}

func (s *Source) logTail(raw string, err error) *backend.LogTail {
	t := &backend.LogTail{At: s.deps.Now()}
	if err != nil {
		t.Why = s.reason(err)
		return t
	}
	for l := range strings.Lines(raw) {
		if l = strings.TrimSpace(l); l != "" {
			t.Lines = append(t.Lines, s.clean(l, backend.MaxTextRunes).LogLine(maxLogLine))
		}
	}
	t.Lines = t.Lines[max(0, len(t.Lines)-s.opt.LogLines):]
	if len(t.Lines) == 0 {
		t.Why = backend.Text("it is empty")
	}
	return t
}

func (m *moby) tail(ctx context.Context, id string, lines int, tty bool) (string, error) {
	where := "/containers/" + id + "/logs"
	body, err := m.api.ContainerLogs(ctx, id, client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Tail: strconv.Itoa(lines)})
	if err != nil {
		return "", m.fail(where, err)
	}
	defer func() { _ = body.Close() }()
	var out bytes.Buffer
	if in := io.LimitReader(body, int64(lines*maxFrame)); tty {
		_, err = io.Copy(&out, in)
	} else {
		_, err = stdcopy.StdCopy(&out, &out, in)
	}
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", m.fail(where, err)
	}
	return out.String(), nil
}
