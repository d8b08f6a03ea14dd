package fleet

import (
	"regexp"
	"strings"
	"time"

	"sandglass/backend"
)

// AgentFailures is what the log of an agent says of commands in its sandbox that its SDK gave up, or got no answer to. It is the agent's
// word: nothing of it was observed. The zero value says nothing.
type AgentFailures struct {
	N      int                 `json:"n"`
	First  time.Time           `json:"first"` // that log's, as At
	At     time.Time           `json:"at"`    // of the newest
	Newest backend.Safe        `json:"newest"`
	Kind   backend.FailureKind `json:"kind,omitempty"` // as a probe would call the newest; empty: the line tells no more
	Source string              `json:"source"`
}

// AgentFailuresOn are those in a sandbox since a time, and since a command is known to have run in it. One that the caller is at fault for, or
// of which the platform refused the agent's key, tells nothing of the sandbox.
func (s *State) AgentFailuresOn(b *backend.Sandbox, since time.Time) (x AgentFailures) {
	session := s.SessionOn(b)
	if session.IsZero() || b.OfWorker() {
		return x
	}
	if proved := s.ProvedAt(b); proved.After(since) {
		since = proved
	}
	for _, h := range s.Sources {
		if !h.ReportsOn(b.Key.Source) {
			continue
		}
		series := backend.Series{Source: h.Key.Source, Name: backend.MetricSDKExec, Session: session}
		in := s.counted(series)
		if in.N == 0 || ofCaller(in.Sample) {
			continue
		}
		for at, n := range s.Windows.Counts(series) {
			if n == 0 || !at.After(since) || s.Wall.Sub(at) > WindowSpan {
				continue
			}
			x.N += int(min(n, 1e6))
			if x.First.IsZero() || at.Before(x.First) {
				x.First = at
			}
			if at.After(x.At) {
				x.At, x.Newest, x.Source = at, in.Sample, h.Key.Source
			}
		}
	}
	if x.N > 0 {
		x.Kind = s.execKind(b, x.Newest)
	}
	return x
}

// RanByLog is when the log of the agent of a sandbox last told of a command that was answered, within the last hour; zero: it tells of none.
func (s *State) RanByLog(b *backend.Sandbox) (at time.Time) {
	session := s.SessionOn(b)
	if session.IsZero() {
		return at
	}
	for _, h := range s.Sources {
		if !h.ReportsOn(b.Key.Source) {
			continue
		}
		last := s.lastOf(backend.Series{Source: h.Key.Source, Name: backend.MetricExecDone, Session: session})
		if last.After(at) && s.Wall.Sub(last) <= WindowSpan {
			at = last
		}
	}
	return at
}

// ProvedAt is when a sandbox was last shown to be another one, or one in which commands run: by a probe, or by the log of its agent.
func (s *State) ProvedAt(b *backend.Sandbox) time.Time {
	o, _ := b.Observed.Get()
	at := o.Destroyed()
	if v, is := o.Of(backend.PlaneExec); is && !v.Past && v.Outcome == backend.OutcomeOK && v.At.After(at) {
		at = v.At
	}
	ran := s.RanByLog(b)
	if !ran.IsZero() {
		ran = ran.Add(-time.Millisecond) // an error at the same moment may be newer
	}
	for _, t := range []time.Time{b.CreatedAt.Or(time.Time{}), b.StartedAt.Or(time.Time{}), ran} {
		if t.After(at) {
			at = t
		}
	}
	return at
}

// ofCaller reports whether an error tells nothing of the sandbox.
func ofCaller(text backend.Safe) bool {
	answer := backend.SignedAnswer(text)
	return answer == backend.AnswerKey || answer == backend.AnswerUsage || noTime.MatchString(text.String())
}

// noTime is the timeout of a command whose caller gave it no time: the SDK of Blaxel makes 0.001 s of 0 and of less.
var noTime = regexp.MustCompile(`\btimeout 0(?:\.0{1,9}|\.001)? s`)

// execKind is what a probe would call an error of a command.
func (s *State) execKind(b *backend.Sandbox, text backend.Safe) backend.FailureKind {
	switch backend.SignedAnswer(text) {
	case backend.AnswerGone:
		return backend.FailGone
	case backend.AnswerWaking:
		return backend.FailWaking
	case backend.AnswerGoesOn:
		return backend.FailExecTimeout
	case backend.AnswerFull:
		return backend.FailNoSpace
	case backend.AnswerDenied:
		return backend.FailUnauthorised
	case backend.AnswerNoDir:
		root := backend.SandboxRoot
		if r := s.StateNaming(b); r != nil && r.Agent != nil && !r.Agent.Root.IsEmpty() {
			root = r.Agent.Root.String()
		}
		if strings.Contains(text.String(), ", folder "+strings.TrimSuffix(root, "/")+backend.AnswerNoDir.Sign()) {
			return backend.FailWorkDirMissing
		}
		return ""
	case backend.AnswerUsage:
		return backend.FailUsageLimit
	case backend.AnswerKey, backend.AnswerAccess: // of a file that is not there, or of another user: neither is told
	}
	switch {
	case strings.Contains(text.String(), "ExecTimeoutError"), strings.Contains(text.String(), "HTTP 504"):
		return backend.FailExecTimeout
	case strings.Contains(text.String(), "HTTP 5"):
		return backend.FailControl5xx
	}
	return ""
}

// Said tells it in one line, with a time as clock writes it.
func (x *AgentFailures) Said(clock func(time.Time) string) backend.Safe {
	said := backend.Textf("by its agent, %s, newest %s: %s", backend.Counted(x.N, "time", "times"), clock(x.At), backend.Clean(x.Newest.String(), 160))
	if x.Kind == backend.FailWorkDirMissing {
		return backend.Textf("%s, its root is missing", said)
	}
	return said
}
