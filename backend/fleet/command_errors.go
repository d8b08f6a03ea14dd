package fleet

import (
	"time"

	"sandglass/backend"
)

// commandError is an error of a command in the log of an agent, or several at one time of which none names its command.
type commandError struct {
	source  string
	at      time.Time
	n       float64
	command string       // as backend.CommandOf makes it; empty: the line names none
	class   backend.Safe // the class of the error and what else the line says of it
}

// startSlack is by how much the clock of a log may stand before that of the sandbox's server.
const startSlack = 5 * time.Second

// bucketSlack is how far the time of a line may be from that of the count that it is a part of.
const bucketSlack = 15 * time.Second

// commandErrors are the errors of commands that the log of a session has within the last hour: those that name their command one by
// one, the others by number.
func (s *State) commandErrors(session backend.ID) (out []commandError) {
	if session.IsZero() {
		return nil
	}
	for series := range s.Windows.All(backend.MetricSDKExec) {
		if series.Session != session {
			continue
		}
		for at, n := range s.Windows.Counts(series) {
			if n > 0 {
				out = append(out, commandError{source: series.Source, at: at, n: n})
			}
		}
	}
	counted := len(out)
	for _, h := range s.Sources {
		for i := range h.Reports {
			x := &h.Reports[i]
			if x.Kind != backend.ReportCommandLost || x.Session != session {
				continue
			}
			out = append(out, commandError{source: x.Source, at: x.At, n: 1, command: x.Command.String(), class: x.Text})
			nearest := -1
			for i := range out[:counted] {
				if c := &out[i]; c.source == x.Source && c.n > 0 && c.at.Sub(x.At).Abs() <= bucketSlack &&
					(nearest < 0 || c.at.Sub(x.At).Abs() < out[nearest].at.Sub(x.At).Abs()) {
					nearest = i
				}
			}
			if nearest >= 0 {
				out[nearest].n-- // it is that line
			}
		}
	}
	return out
}

// told notes what the log of a session says of a process that ran when it was read.
func (s *State) told(r *ProcessRole, session backend.ID, p *backend.SandboxProcess, read time.Time) {
	command := backend.CommandOf(p.Command.String())
	var sure, near *commandError
	all := s.commandErrors(session)
	for i := range all {
		x := &all[i]
		switch {
		case x.command == "" && x.n > 0 && near == nil && !r.Due.IsZero() && x.at.Sub(r.Due).Abs() < giveUpSlack:
			near = x
		case x.command != "" && !x.at.Before(p.StartedAt.Add(-startSlack)) && !x.at.After(read) && (sure == nil || x.at.Before(sure.at)) && backend.SameCommand(x.command, command):
			sure = x
		}
	}
	switch {
	case sure != nil:
		r.Told, r.Sure, r.GaveUp = sure.at, true, sure.at
		r.Late = backend.Textf("its agent's log says that the wait for it ended at %s (%s): the process did not", sure.at.UTC().Format("15:04:05Z"), sure.class)
	case near != nil:
		r.Told = near.at
		r.Late = backend.Textf("%s; its log has an error of a command then", r.Late)
	}
}

// CommandErrors is how many errors of commands the log of a session has that may tell of a process with a role: those that name its command
// at that time, or those near it that name none.
func (s *State) CommandErrors(session backend.ID, p *backend.SandboxProcess, r *ProcessRole) (count int) {
	command := backend.CommandOf(p.Command.String())
	for _, x := range s.commandErrors(session) {
		switch {
		case r.Sure && x.command != "" && x.at.Equal(r.Told) && backend.SameCommand(x.command, command),
			!r.Sure && x.command == "" && x.at.Sub(r.Told).Abs() < giveUpSlack:
			count += int(min(x.n, 1e6))
		}
	}
	return count
}
