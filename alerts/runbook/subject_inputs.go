package runbook

import (
	"strconv"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// delivers finds a source that speaks about the subject's home and delivers an input.
func (s *subjectView) delivers(in backend.Input) *fleet.SourceHealth {
	for _, h := range s.State.Sources {
		if h.Delivers(in) && h.Status != fleet.StatusDown && s.speaksHere(h.Key.Source) {
			return h
		}
	}
	return nil
}

// tally is what a metric saw.
type tally struct {
	in        fleet.Increase
	from      origin
	looked    bool    // a source counts this, so that zero means none
	elsewhere float64 // counted at the same source without this session's id
}

// tally adds up a metric over the subject: its session when it has one, else its source.
func (s *subjectView) tally(m backend.Metric, over time.Duration) tally {
	var t tally
	for x := range s.State.Windows.All(m) {
		if !s.speaksHere(x.Source) {
			continue
		}
		in := s.State.Windows.Over(x, s.now, over)
		if in.Samples == 0 || s.ofAnother(x) {
			continue
		}
		t.looked = true
		if !s.sessionID.IsZero() && x.Session != s.sessionID {
			if x.Session.IsZero() {
				t.elsewhere += in.N
			}
			continue
		}
		t.in = t.in.Add(in)
		t.from = origin{x.Source, t.in.Last}
	}
	if h := s.delivers(inputOf(m)); h != nil && !t.looked {
		t.looked, t.from = true, origin{h.Key.Source, h.LastOK}
	}
	if t.from.source == "" && t.looked {
		if h := s.delivers(inputOf(m)); h != nil {
			t.from = origin{h.Key.Source, h.LastOK}
		}
	}
	return t
}

// ofAnother reports whether a series is of another workspace of the subject's session.
func (s *subjectView) ofAnother(x backend.Series) bool {
	name := s.oneWorkspace()
	return !s.wide && !name.IsZero() && !x.Workspace.IsZero() && x.Workspace != name
}

// inputOf is the input whose delivery means that a metric is counted. A source that reads log lines for evictions
// reads them for everything else.
func inputOf(m backend.Metric) backend.Input {
	switch m {
	case backend.MetricEvictions, backend.MetricEvictionRetries:
		return backend.InputEvictions
	case backend.MetricRejections, backend.MetricRollups, backend.MetricLogLines, backend.MetricLogBytes:
		return backend.InputRejections
	}
	return backend.InputEvictionLogs
}

// event finds the newest event that a test accepts, of the last window.
func (s *subjectView) event(window time.Duration, accept func(*backend.Event) bool) *backend.Event {
	var found *backend.Event
	for i := range s.Events {
		e := &s.Events[i]
		if s.now.Sub(e.At) > window || !accept(e) {
			continue
		}
		if found == nil || e.At.After(found.At) {
			found = e
		}
	}
	return found
}

// hosts walks the hosts that speak about the subject: the one of a scratch directory, else all.
func (s *subjectView) hosts() []*backend.Host {
	var out []*backend.Host
	for h := range s.State.Hosts.All() {
		switch {
		case s.Subject.Kind == backend.KindHost && h.Key != s.Subject,
			s.Subject.Kind == backend.KindTmpdir && h.Key.ID != s.Subject.Parent,
			!s.speaksHere(h.Key.Source):
			continue
		}
		out = append(out, h)
	}
	return out
}

// plural writes a number with its noun.
func plural(n int, noun string) string {
	return backend.Counted(n, noun, backend.Plural(noun))
}

// fails writes how many workspaces fail, with the verb.
func fails(n int) string {
	return backend.Counted(n, "workspace fails", "workspaces fail")
}

// number writes a count without needless digits.
func number(n float64) string {
	if n == float64(int64(n)) {
		return backend.Grouped(int64(n))
	}
	return strconv.FormatFloat(n, 'f', 1, 64)
}
