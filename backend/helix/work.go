package helix

import (
	"fmt"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
)

// maxWork bounds the executions and the jobs of one session each.
const maxWork = 1000

// work are the executions and jobs that a route lists for one session.
type work struct {
	executions []*backend.Execution
	jobs       []*backend.Job
	left       int // without an id, with that of another, or beyond maxWork
}

// add reads one of the lists of a session.
func (x *work) add(d *decoder, name []byte, v wire.Node) {
	seen := map[backend.ID]bool{}
	for n := range v.Elements() {
		var id backend.ID
		if n.Kind() != '{' || !setID(&id, n.Get("id")) || seen[id] || len(seen) >= maxWork {
			x.left++
			continue
		}
		seen[id] = true
		meta := backend.Meta{Key: backend.Key{Source: d.source, ID: id}, Raw: d.raw(n)}
		if string(name) == "jobs" {
			meta.Key.Kind = backend.KindJob
			x.jobs = append(x.jobs, &backend.Job{Meta: meta, Work: d.work(n)})
		} else {
			meta.Key.Kind = backend.KindExecution
			x.executions = append(x.executions, &backend.Execution{Meta: meta, Type: d.text(n.Get("type")), Work: d.work(n)})
		}
	}
}

// listsWork takes note that a route listed work, whose it is and when it was read.
func (s *Source) listsWork(l listed, at time.Time) {
	if l.work == nil {
		return
	}
	s.works = true
	for _, e := range l.work.executions {
		e.Key.Parent, e.Session, e.ReadAt = l.id, l.id, at
	}
	for _, j := range l.work.jobs {
		j.Key.Parent, j.Session, j.ReadAt = l.id, l.id, at
	}
}

// addWork adds the work of a session to a reading.
func (s *Source) addWork(r *backend.Reading, session backend.Key, x *work) {
	if x == nil {
		return
	}
	for _, e := range x.executions {
		s.date(e.Key, &e.Work)
	}
	for _, j := range x.jobs {
		s.date(j.Key, &j.Work)
	}
	r.Executions = append(r.Executions, x.executions...)
	r.Jobs = append(r.Jobs, x.jobs...)
	if x.left > 0 {
		s.problemOf(r, session, backend.ErrInvalid, "", fmt.Sprintf("%d of its executions and jobs are left out: "+
			"without an id, with that of another, or more than %d", x.left, maxWork))
	}
}

// workKinds are the kinds of work that a route enumerates.
func (s *Source) workKinds() []backend.Kind {
	if s.works {
		return []backend.Kind{backend.KindExecution, backend.KindJob}
	}
	return nil
}

// work reads what executions and jobs have in common. What cannot be read is unknown or shown as it is.
func (d *decoder) work(n wire.Node) backend.Work {
	w := backend.Work{Within: backend.KindSession, Class: backend.WorkUnknown}
	for name, v := range n.Members() {
		switch string(name) {
		case "id", "type", "queuedAt", "startedAt", "endedAt", "exitCode":
		case "status":
			if text, ok := v.TextBytes(); ok {
				w.Reported, w.Class = d.word(text), backend.WorkClassOf(string(text))
			}
		case "sandbox":
			setID(&w.Sandbox, v)
		case "command":
			w.Command = d.clean.Clean(commandLine(v), maxErrorText)
		case "error":
			w.Error = d.lastError(v)
		default:
			d.extra(&w.Extra, name, v)
		}
	}
	// A time that is left out is unknown, unless the work has not come to that.
	began := w.Class == backend.WorkRunning || w.Class.Ended()
	w.QueuedAt = d.workTime(n.Get("queuedAt"), true)
	w.StartedAt = d.workTime(n.Get("startedAt"), began || w.Class == backend.WorkUnknown)
	w.EndedAt = d.workTime(n.Get("endedAt"), w.Class.Ended() || w.Class == backend.WorkUnknown)
	switch f, ok := n.Get("exitCode").Float(); {
	case began && !w.Class.Ended(), w.Class == backend.WorkQueued:
		w.ExitCode = backend.NotApplicable[int]()
	case ok && f == float64(int(f)):
		w.ExitCode = backend.Known(int(f))
	}
	return w
}

func (d *decoder) workTime(v wire.Node, came bool) backend.Value[time.Time] {
	t, _ := d.moment(v)
	if t.IsNotApplicable() && came {
		return backend.Unknown[time.Time]()
	}
	return t
}

// commandLine is a command as one text, or as a list of arguments.
func commandLine(v wire.Node) string {
	if text, ok := v.Text(); ok {
		return text
	}
	var args []string
	for a := range v.Elements() {
		if text, ok := a.Text(); ok {
			args = append(args, text)
		}
	}
	return strings.Join(args, " ")
}
