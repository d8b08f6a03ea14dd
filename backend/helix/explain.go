package helix

import (
	"math"
	"slices"
	"strings"

	"sandglass/backend"
)

// target shows a route without what may be secret in its query.
func (s *Source) target(template string) string {
	path, query, ok := strings.Cut(template, "?")
	if ok {
		var parts []string
		for part := range strings.SplitSeq(query, "&") {
			name, value, _ := strings.Cut(part, "=")
			if !strings.Contains(value, placeholder) && value != "" {
				value = "…"
			}
			parts = append(parts, name+"="+value)
		}
		path += "?" + strings.Join(parts, "&")
	}
	return s.client.Cleaner().Clean(path, 300).String()
}

// Routes lists every request that polling would send.
func (s *Source) Routes() []backend.Route {
	var out []backend.Route
	get := func(template, why string) {
		if names := s.headerNames(template == s.opt.URL); names != "" {
			why += "; headers " + names
		}
		if !s.opt.Read.IsZero() {
			why += "; credential from " + s.opt.Read.Origin()
		}
		out = append(out, backend.Route{Verb: "GET", Target: s.target(template), Why: why})
	}
	switch {
	case s.opt.AggregateURL != "":
		get(s.opt.AggregateURL, "all sessions with their workspaces, page by page (cursor, ETag)")
		if s.canAskLost() {
			get(s.opt.URL, "sessions that the aggregate route suddenly no longer names")
		}
		return out
	case s.opt.ListURL != "":
		get(s.opt.ListURL, "which sessions there are and which run, page by page (cursor, ETag)")
	}
	get(s.opt.URL, "the registry snapshot of one session")
	if s.opt.SessionsFile != "" {
		out = append(out, backend.Route{Verb: "read", Target: s.opt.SessionsFile, Why: "session ids"})
	}
	if len(s.opt.SessionsCommand) > 0 {
		out = append(out, backend.Route{Verb: "run", Target: s.opt.SessionsCommand[0], Why: "prints session ids"})
	}
	if len(s.opt.Read.Command) > 0 {
		out = append(out, backend.Route{Verb: "run", Target: s.opt.Read.Command[0], Why: "prints the reading credential"})
	}
	return out
}

func (s *Source) headerNames(perSession bool) string {
	var names []string
	for name, v := range s.opt.Headers {
		if perSession || !strings.Contains(v, placeholder) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// EstimateLoad says how many requests a minute polling sends at the fleet size that the last polls saw, and in words
// how that comes about. Before the first poll only the configured list is known.
func (s *Source) EstimateLoad() (requestsPerMinute float64, text backend.Safe) {
	s.mu.Lock()
	defer s.mu.Unlock()
	polls := 60 / s.deps.Interval.Seconds()
	allowed := s.opt.RequestsPerSec * 60
	if s.opt.AggregateURL != "" {
		pages, what := 1, "an unknown number of sessions"
		if w := s.agg.previous; w != nil {
			pages, what = len(w.pages), backend.Counted(w.count, "session", "sessions")
		}
		requestsPerMinute = min(float64(pages)*polls, allowed)
		return requestsPerMinute, backend.Textf("about %s a minute: %s of the aggregate route every %v for %s; "+
			"the budget allows %.0f", counted(int(math.Round(requestsPerMinute)), "request"), counted(pages, "page"), backend.Duration(s.deps.Interval), what, allowed)
	}
	active, idle := 0, 0
	for _, t := range s.sessions {
		switch {
		case !t.askable(s.opt.Runtime):
		case t.answer == backend.AnswerIdle:
			idle++
		default:
			active++
		}
	}
	want := float64(active)*polls + float64(idle)/s.opt.IdleInterval.Std().Minutes()
	if s.opt.ListURL != "" {
		want += polls
	}
	requestsPerMinute = min(want, allowed)
	text = backend.Textf("about %s a minute: %s every %v, %d idle every %v; the budget allows %.0f",
		counted(int(math.Round(requestsPerMinute)), "request"), counted(active, "session"), backend.Duration(s.deps.Interval), idle, s.opt.IdleInterval, allowed)
	if want > allowed {
		text = backend.Textf("%v, so a session is read about every %.0fs", text,
			math.Ceil(float64(active)/s.opt.RequestsPerSec))
	}
	return requestsPerMinute, text
}

func counted(n int, noun string) backend.Safe {
	return backend.Clean(backend.Counted(n, noun, noun+"s"), 40)
}
