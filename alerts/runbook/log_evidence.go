package runbook

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// mostPatterns is how many of the operator's patterns a page names with their lines.
const mostPatterns = 5

// lineSlack is by how much the clocks behind a log and behind a registry may differ.
const lineSlack = 5 * time.Second

// loggedClasses are the lines in which the framework says that an operation on a workspace failed.
func loggedClasses() []backend.Metric {
	return []backend.Metric{backend.MetricWorkspaceFailed, backend.MetricWorkspaceEvicted}
}

// names reports whether a series is of the subject: of its session and workspace, or of a failing workspace of its source. A
// line that names no workspace counts for each one of its session.
func (s *subjectView) names(x backend.Series) bool {
	if !s.speaksHere(x.Source) || x.Session.IsZero() {
		return false
	}
	if !s.wide {
		name := s.oneWorkspace()
		return x.Session == s.sessionID && (name.IsZero() || x.Workspace.IsZero() || x.Workspace == name)
	}
	if s.failingIn == nil {
		s.failingIn = map[backend.ID]bool{}
		for _, w := range s.workspaces {
			if s.failing(w) || bad(w) {
				s.failingIn[w.Key.Parent] = true
			}
		}
	}
	return s.failingIn[x.Session]
}

// logged sums the lines of a metric that name the subject.
func (s *subjectView) logged(m backend.Metric) tally {
	var t tally
	for x := range s.State.Windows.All(m) {
		if in := s.State.Windows.Over(x, s.now, time.Hour); in.Samples > 0 && s.names(x) {
			t.in = t.in.Add(in)
			if in.N > 0 {
				t.from = later(t.from, origin{x.Source, s.lastLine(x)})
			}
		}
	}
	return t
}

// lastLine is when a series last counted a line within the hour; a count of 0 is none.
func (s *subjectView) lastLine(x backend.Series) (last time.Time) {
	for at, n := range s.State.Windows.Counts(x) {
		if n > 0 && at.After(last) {
			last = at
		}
	}
	return last
}

func later(a, b origin) origin {
	if b.at.After(a.at) {
		return b
	}
	return a
}

// ownPatterns are the names of the operator's patterns whose lines name the subject, in their order.
func (s *subjectView) ownPatterns() (names []string) {
	seen := map[string]bool{}
	for x := range s.State.Windows.AllOf(backend.PatternLines("")) {
		if name, _ := x.Name.Pattern(); !seen[name] && s.names(x) && s.State.Windows.Over(x, s.now, time.Hour).N > 0 {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}

// logEvidence counts what the log says of the subject beside the framework's own messages: lines at level error, and lines
// that match the operator's own patterns.
func (s *subjectView) logEvidence() Check {
	q := question{"log", "Do other error lines, or lines of your own patterns, name it?", "a log source whose lines carry the session's id"}
	var facts []backend.Safe
	from := origin{}
	add := func(t tally, what, more backend.Safe) {
		newest := backend.Safe{}
		if !t.in.Sample.IsEmpty() {
			newest = backend.Textf(", the newest: %s", backend.Clean(t.in.Sample.String(), 160))
		}
		facts = append(facts, backend.Textf("%s in the last %s: %s%s%s", what, s.watched(t, time.Hour), atLeast(t.in), more, newest))
		from = later(from, t.from)
	}
	if t := s.logged(backend.MetricErrorLines); t.in.N > 0 {
		add(t, backend.Text("error lines"), backend.Safe{})
	}
	patterns := s.ownPatterns()
	for _, name := range patterns[:min(len(patterns), mostPatterns)] {
		named := backend.Safe{}
		if n := s.logged(backend.PatternBytes(name)).in.N; n > 0 {
			named = backend.Textf(" (together they name %s)", backend.Clean(bytesText(int64(n)), 20))
		}
		add(s.logged(backend.PatternLines(name)), backend.Textf("lines of your pattern %s", backend.Clean(name, 40)), named)
	}
	if more := len(patterns) - mostPatterns; more > 0 {
		facts = append(facts, backend.Textf("%s more", plural(more, "pattern")))
	}
	heard := s.logged(backend.MetricNamed)
	switch {
	case len(facts) > 0:
		return q.yes(from, "%s", backend.Join(facts, "; "))
	case heard.in.N > 0 && s.spanOf(heard, time.Hour) >= leastWatched:
		return q.no(heard.from, "none of the %s that name it in the last %s", plural(int(heard.in.N), "line"), s.watched(heard, time.Hour))
	case s.delivers(backend.InputEvictionLogs) == nil:
		return q.unsure("no log source is read")
	}
	return q.unsure("no line that was read names its session")
}

// readLog takes what log lines say of failed operations for errors where no registry reports one, and the error lines of one
// workspace beside its error where they name another known reason. One line, the newest, is kept of each session and workspace.
func (s *subjectView) readLog() {
	silent := len(s.errors) == 0
	var known alerts.Naming
	for i := range s.errors {
		known |= s.errors[i].cause
	}
	if !silent && s.wide {
		return
	}
	for _, m := range append(loggedClasses(), backend.MetricErrorLines) {
		for x := range s.State.Windows.All(m) {
			in := s.State.Windows.Over(x, s.now, time.Hour)
			if in.N == 0 || len(s.errors) >= maxErrors || !s.names(x) && !(s.wide && m != backend.MetricErrorLines && s.speaksHere(x.Source)) {
				continue
			}
			e := reportedError{who: backend.Text("the log"), text: backend.Clean(in.Sample.String(), 200), cause: alerts.NamesIn(in.Sample.String()) &^ alerts.Foreign(s.provider(), in.Sample.String()), from: origin{x.Source, in.Last}, line: true}
			if !x.Session.IsZero() {
				e.who = backend.Textf("the log of session %s", x.Session.Safe())
			}
			news := e.cause&alerts.NamesReason&^known != 0
			if news || silent && m != backend.MetricErrorLines {
				s.errors = append(s.errors, e)
			}
		}
	}
}

// byLogged answers from log lines where no registry reports the cause: they confirm it, beside an error as evidence that gives
// no headline, and they rule nothing out, because the newest line of many is all that is kept.
func (s *subjectView) byLogged(q question, c alerts.Naming, beside bool) (Check, bool) {
	var other *reportedError
	for i := range s.errors {
		e := &s.errors[i]
		if !e.line {
			continue
		}
		if e.cause&c == 0 {
			other = e
			continue
		}
		if beside {
			return q.yes(e.from, "%s says so beside the error: %s", e.who, e.text).share(0, 1), true
		}
		return q.yes(e.from, "%s says so: %s", e.who, e.text), true
	}
	switch {
	case beside || s.mute > 0 || s.running > 0:
	case other != nil:
		return q.unsure("%s tells of a failed operation and does not name it: %s", other.who, other.text), true
	case s.unnamedLines() > 0:
		return q.unsure("%s of failed operations, without a session", backend.Clean(backend.Counted(s.unnamedLines(), "log line tells", "log lines tell"), 60)), true
	}
	return Check{}, false
}

// unnamedLines counts the lines of the last hour in which the framework says that an operation failed, and names no session.
func (s *subjectView) unnamedLines() int {
	n := 0.0
	for _, m := range loggedClasses() {
		for x := range s.State.Windows.All(m) {
			if x.Session.IsZero() && s.speaksHere(x.Source) {
				n += s.State.Windows.Over(x, s.now, time.Hour).N
			}
		}
	}
	return int(n)
}
