package fleet

import (
	"strings"
	"time"

	"sandglass/backend"
)

// SDKError is what an agent's SDK met with a sandbox within the last hour, as the agent's log tells: errors of one kind. The class that
// the newest names is the agent's; how a probe finds the same plane is told beside it and may be finer.
type SDKError struct {
	Metric backend.Metric
	Of     backend.Safe // the plane or the operation, such as "commands"
	N      float64
	Newest backend.Safe
	Source string
	At     time.Time // of the newest
	// Means says what the agent made of the newest: whether its SDK tries again, and what is not known. Empty: nothing follows.
	Means backend.Safe
}

// sdkOperations are the metrics of such errors, in the order in which they are told.
var sdkOperations = []struct {
	metric backend.Metric
	of     backend.Literal
}{
	{backend.MetricSDKExec, "commands"}, {backend.MetricSDKMissing, "reads of files"}, {backend.MetricSDKFiles, "files"}, {backend.MetricPTYFailed, "terminals"},
	{backend.MetricPTYUnknown, "unknown terminals"}, {backend.MetricPersistFailed, "saves"}, {backend.MetricHydrateFailed, "restores"}, {backend.MetricPreviewFailed, "port addresses"},
	{backend.MetricSDKDelete, "a deletion"}, {backend.MetricSDKNotice, "steps"}, {backend.MetricPackageMissing, "packages"},
}

// SDKErrorsOn are the errors that lines of the session on a sandbox name, one for each kind.
func (s *State) SDKErrorsOn(b *backend.Sandbox) (out []SDKError) {
	session := s.SessionOn(b)
	if session.IsZero() {
		return nil
	}
	var state *backend.AgentState
	if r := s.StateNaming(b); r != nil {
		state = r.Agent
	}
	out = s.sdkErrors(state, func(x *backend.Series) bool {
		h := s.Source(x.Source)
		return x.Session == session && h != nil && h.ReportsOn(b.Key.Source)
	})
	for i := range out {
		if x := &out[i]; x.Metric == backend.MetricSDKExec {
			s.goesOn(b, x)
			if ran := s.RanByLog(b); ran.After(x.At) {
				x.Means = backend.Textf("%s; a later command was answered, at %s", x.Means, ran.UTC().Format("15:04:05Z"))
			}
		}
	}
	return out
}

// goesOn adds to the newest error of a command that a probe found its process running after it.
func (s *State) goesOn(b *backend.Sandbox, x *SDKError) {
	in, read := b.Inside()
	if !read {
		return
	}
	for _, p := range in.Processes {
		if r := s.RoleOf(b, &p, in.At); r.Sure && r.Told.Sub(x.At).Abs() < bucketSlack {
			x.Means = backend.Textf("%s; a probe found its process, %s, running after that", backend.Clean(strings.TrimSuffix(x.Means.String(), goesOnUnknown), 300), p.PID)
			return
		}
	}
}

// goesOnUnknown ends what is said of an error after which a process may go on.
const goesOnUnknown = ": whether the process goes on is not known"

// SDKErrorsWithout are the errors that lines of a log name which name no session: of whom they are is not known.
func (s *State) SDKErrorsWithout(source string) []SDKError {
	return s.sdkErrors(nil, func(x *backend.Series) bool { return x.Source == source && x.Session.IsZero() })
}

// sdkErrors are the errors of some series, one for each kind.
func (s *State) sdkErrors(state *backend.AgentState, of func(*backend.Series) bool) (out []SDKError) {
	for _, o := range sdkOperations {
		x := SDKError{Metric: o.metric, Of: backend.Text(o.of)}
		s.sumErrors(&x, o.metric, of)
		if o.metric == backend.MetricPreviewFailed {
			out = append(out, s.addressErrors(&x, of)...)
		}
		if x.N > 0 {
			x.Means = sdkMeans(o.metric, x.Newest, state)
			out = append(out, x)
		}
	}
	return out
}

// sumErrors adds what some series of a metric counted.
func (s *State) sumErrors(x *SDKError, m backend.Metric, of func(*backend.Series) bool) {
	for series := range s.Windows.All(m) {
		if !of(&series) {
			continue
		}
		if in := s.counted(series); in.N > 0 {
			if x.N += in.N; s.lastOf(series).After(x.At) {
				x.At, x.Newest, x.Source = s.lastOf(series), in.Sample, series.Source
			}
		}
	}
}

// addressErrors are the failures to make the address of a port, one for each of their kinds. all keeps those of no kind.
func (s *State) addressErrors(all *SDKError, of func(*backend.Series) bool) (out []SDKError) {
	for _, detail := range backend.PreviewFailures() {
		x := SDKError{Metric: all.Metric, Of: all.Of}
		s.sumErrors(&x, backend.PreviewFailedBy(detail), of)
		if x.N > 0 {
			x.Means, all.N = backend.PreviewFailureMeans(detail), all.N-x.N
			out = append(out, x)
		}
	}
	return out
}

// lastOf is when a series last counted something in the last hour; zero: not then.
func (s *State) lastOf(x backend.Series) (last time.Time) {
	for at, n := range s.Windows.Counts(x) {
		if n > 0 && at.After(last) {
			last = at
		}
	}
	return last
}

// sdkMeans says what an error tells of the sandbox, and what an agent's SDK makes of it (src/agents/extensions/sandbox/blaxel/sandbox.py of
// openai-agents-python). state is what it saved, which may be nil.
func sdkMeans(m backend.Metric, text backend.Safe, state *backend.AgentState) backend.Safe {
	answer := backend.SignedAnswer(text)
	made := sdkMakes(m, answer, text.String(), state)
	if told := answer.Means(); !told.IsEmpty() && !made.IsEmpty() {
		return backend.Textf("%s; %s", told, made)
	}
	return made
}

// sdkMakes says what the SDK makes of an error of one kind.
func sdkMakes(m backend.Metric, answer backend.SDKAnswer, text string, state *backend.AgentState) backend.Safe {
	has := func(word string) bool { return strings.Contains(text, word) }
	switch m {
	case backend.MetricSDKExec:
		return execMeans(text, has, answer, state)
	case backend.MetricSDKMissing:
		if answer != "" {
			return backend.Text("the agent saw it as final")
		}
		return backend.Text("the agent saw it as final. A sandbox that only wakes may answer so too")
	case backend.MetricSDKFiles:
		if has("WorkspaceWriteTypeError") {
			return backend.Text("the caller's fault: it gave something to write that is no bytes")
		}
		if answer == backend.AnswerDenied || answer == backend.AnswerAccess {
			return backend.Text("the agent saw it as final")
		}
		return backend.Text("the agent saw it as final; its calls about files have no deadline")
	case backend.MetricPTYFailed:
		if limit := terminalLimit(text, state); !limit.IsEmpty() {
			return backend.Textf("%s; commands without a terminal do not depend on it", limit)
		}
		return backend.Text("commands without a terminal do not depend on it")
	case backend.MetricPTYUnknown:
		return backend.Text("it ended, or was closed for another one; its result is not known")
	case backend.MetricPersistFailed:
		if has("(phase: tar)") {
			return backend.Text("its SDK does not try again after tar failed")
		}
		return backend.Text("its SDK tries up to 3 times after a timeout and HTTP 500, 502, 503 and 504, else once")
	case backend.MetricPreviewFailed:
		return backend.PreviewFailureMeans(text)
	case backend.MetricSDKDelete:
		return backend.Text("its SDK only logs that, and does not try again")
	case backend.MetricHydrateFailed:
		return backend.Text("its SDK does not try again")
	case backend.MetricSDKNotice:
		if has(backend.TerminalEnded) {
			return backend.Text("its result is not known; the agent takes a missing exit code for 0")
		}
		return backend.Text("by itself it is no trouble: the SDK goes on")
	case backend.MetricPackageMissing:
		return backend.Text("it cannot use its sandboxes until that is installed and it is started again")
	}
	return backend.Safe{}
}

// execMeans says what an error of a command means for the agent.
func execMeans(text string, has func(string) bool, answer backend.SDKAnswer, state *backend.AgentState) backend.Safe {
	switch {
	case has("timeout 0.001 s"):
		return backend.Text("the caller asked for no time, of which the SDK makes 0.001 s: its fault, and no sign of the sandbox")
	case noTime.MatchString(text):
		return backend.Text("the caller asked for no time: its fault, and no sign of the sandbox")
	case has("HTTP 504"):
		return backend.Text("near 60s that is the limit of the platform's edge" + goesOnUnknown)
	case has("ExecTimeoutError") && answer == backend.AnswerGoesOn:
		return backend.Text("the agent saw it as final")
	case has("ExecTimeoutError") && has(", timeout "):
		return backend.Text("the agent saw it as final. Only its own wait ended: the process may go on")
	case has("ExecTimeoutError"):
		return backend.Textf("it waited %s, and saw it as final. Only its own wait ended: the process may go on", state.Waits(backend.AgentExec))
	case answer == backend.AnswerWaking, has("HTTP 500"), has("HTTP 502"), has("HTTP 503"):
		return backend.Text("its SDK calls it worth another try, and tries no command again by itself")
	}
	return backend.Text("the agent saw it as final")
}

// SaidFull is when the log of the agent of a sandbox last said, as the newest error of its kind, that the server inside found no space on
// its disk, and which log; zero: none says so.
func (s *State) SaidFull(b *backend.Sandbox) (at time.Time, source string) {
	session := s.SessionOn(b)
	if session.IsZero() {
		return at, source
	}
	for _, h := range s.Sources {
		if !h.ReportsOn(b.Key.Source) {
			continue
		}
		for _, m := range [...]backend.Metric{backend.MetricSDKExec, backend.MetricSDKFiles, backend.MetricSDKMissing} {
			series := backend.Series{Source: h.Key.Source, Name: m, Session: session}
			if in := s.counted(series); in.N > 0 && backend.SignedAnswer(in.Sample) == backend.AnswerFull && s.lastOf(series).After(at) {
				at, source = s.lastOf(series), h.Key.Source
			}
		}
	}
	return at, source
}
