package helix

import (
	"errors"
	"fmt"
	"time"

	"sandglass/backend"
)

// answerWindow counts the answers of the last five minutes by kind.
type answerWindow struct {
	ok, idle, noRoute, wrongPath, invalid, failed int
	running, known                                int   // by the list route: called running, called anything
	problem                                       error // of one that is not ok
}

func (s *Source) census(now time.Time) answerWindow {
	var c answerWindow
	window := answersFor + s.deps.Interval
	if idle := s.opt.IdleInterval.Std() + s.deps.Interval; idle > window {
		window = idle // an idle session's answer holds until it is asked again
	}
	for _, t := range s.sessions {
		if t.listed != nil && t.listed.running.IsKnown() {
			c.known++
			if t.listed.running.Or(false) {
				c.running++
			}
		}
		if t.asked.IsZero() || now.Sub(t.asked) > window {
			continue
		}
		if t.problem != nil && c.problem == nil {
			c.problem = t.problem
		}
		switch t.answer {
		case backend.AnswerOK:
			c.ok++
		case backend.AnswerIdle:
			c.idle++
		case backend.AnswerNoRoute:
			c.noRoute++
		case backend.AnswerWrongPath:
			c.wrongPath++
		case backend.AnswerInvalid:
			c.invalid++
		case backend.AnswerFailed:
			c.failed++
		case backend.AnswerNone:
		}
	}
	return c
}

// fillReading adds what is known to the reading.
func (s *Source) fillReading(r *backend.Reading, complete bool) {
	now := s.deps.Now()
	c := s.census(now)
	waiting := s.waiting()
	s.registry(r, c, waiting, now)
	d := s.ready()
	for _, kind := range append(s.workKinds(), backend.KindSession) {
		r.Scopes = append(r.Scopes, backend.Scope{Kind: kind, Complete: complete})
	}
	undated, all := 0, 0
	for _, t := range s.sessions {
		undated, all = undated+t.undated, all+len(t.workspaces)
		e, changed := t.show(d, now)
		if changed || complete && !t.bad() {
			r.Sessions = append(r.Sessions, e)
		}
		if complete && !t.bad() && t.listed != nil { // the work of a bad one stays as it was, stale like its session
			s.addWork(r, t.key, t.listed.work)
		}
		s.addWorkspaces(r, t, c, now)
	}
	s.undated(r, undated, all)
	s.tellTurns(r, waiting)
	r.Partial = waiting > 0
	if w := s.discovery.current; w != nil && !s.discovery.listed {
		r.Partial = true
		s.tellEndless(r, w)
	}
	s.inputs(r, c)
}

// addWorkspaces adds the workspaces of one session, or why there is nothing new about them.
func (s *Source) addWorkspaces(r *backend.Reading, t *tracked, c answerWindow, now time.Time) {
	switch {
	case t.bad():
		r.Stale = append(r.Stale, backend.StaleMark{Key: t.key, Why: t.text})
		s.problemErr(r, t.key, t.problem)
	case t.answer == backend.AnswerOK && t.fresh:
		for i := range t.workspaces {
			w := t.workspaces[i]
			r.Workspaces = append(r.Workspaces, &w)
		}
		r.Scopes = append(r.Scopes, backend.Scope{Kind: backend.KindWorkspace, Parent: t.id, Complete: true})
	case c.ok > 0 && t.contradicted(now):
		for i := range t.workspaces {
			r.Stale = append(r.Stale, backend.StaleMark{Key: t.workspaces[i].Key, Why: backend.Text("its session answers 404 and its list calls it running: whether it ended is not known")})
		}
	case t.answer == backend.AnswerIdle && (c.ok > 0 || t.listed != nil && !t.listed.running.Or(true)), t.retired:
		// Its owner says that the run is over: by the documented 404 while others are answered, or on the list.
		for i := range t.workspaces {
			r.Ended = append(r.Ended, t.workspaces[i].Key)
		}
		if t.retired {
			t.outcome = outcome{asked: t.asked, good: t.good}
		}
		t.workspaces, t.undated, t.retired, t.etag, t.hash = nil, 0, false, "", 0
	case t.answer == backend.AnswerIdle && t.touch:
		// Everybody is answered 404: that may mean idle, and may mean that the registries are out of sight.
		for i := range t.workspaces {
			w := t.workspaces[i]
			w.Unreadable = true
			r.Workspaces = append(r.Workspaces, &w)
		}
	}
}

// registry judges the health routes as a whole.
func (s *Source) registry(r *backend.Reading, c answerWindow, waiting int, now time.Time) {
	settled := waiting == 0 || now.Sub(s.started) >= answersFor
	switch {
	case c.ok > 0:
		r.Registry = backend.RegistryAnswers
		return
	case !settled || c.idle+c.noRoute+c.wrongPath+c.invalid+c.failed == 0:
		r.WorkspacesUnknown = c.idle == 0 && c.noRoute+c.wrongPath+c.invalid+c.failed > 0
		return
	case c.idle > 0:
		r.Registry = backend.RegistryAllIdle
		if !s.opt.ExpectActive || c.known > 0 && c.running == 0 {
			return // nothing runs, and that is said or expected
		}
		r.Degraded = backend.Textf("all %d sessions asked answer 404: idle, registry not published, or wrong template %s",
			c.idle+c.noRoute, s.target(s.opt.URL))
	case c.noRoute > 0:
		r.Registry = backend.RegistryNoRoute
		r.Degraded = s.degraded("the health route is not there: check url", c.problem)
	case c.wrongPath > 0:
		r.Registry = backend.RegistryWrongPath
		r.Degraded = s.degraded("the health route answers something else: check url", c.problem)
	default:
		r.Degraded = s.degraded("no session's registry can be read", c.problem)
	}
	r.WorkspacesUnknown = true
}

// degraded says effect and cause.
func (s *Source) degraded(effect string, cause error) backend.Safe {
	if cause == nil {
		return s.client.Cleaner().Clean(effect, 300)
	}
	var e *backend.Error
	if errors.As(cause, &e) {
		cause = fmt.Errorf("%s: %w", e.Where, e.Err)
	}
	return s.client.Cleaner().Clean(effect+" ("+cause.Error()+")", 300)
}

// inputs says what the rules can be fed with.
func (s *Source) inputs(r *backend.Reading, c answerWindow) {
	nothingRuns := len(s.sessions) == 0 || c.known > 0 && c.running == 0 || !s.opt.ExpectActive
	switch {
	case c.ok > 0 || c.idle > 0 && !r.WorkspacesUnknown || nothingRuns && !r.WorkspacesUnknown:
		r.Inputs = append(r.Inputs, backend.InputRegistry)
	case !r.Degraded.IsEmpty():
		r.Missing = append(r.Missing, backend.MissingInput{Input: backend.InputRegistry, Why: r.Degraded})
	default:
		r.Missing = append(r.Missing, backend.MissingInput{Input: backend.InputRegistry,
			Why: backend.Text("no session has answered yet")})
	}
	switch {
	case s.opt.ListURL != "" && s.discovery.listErr != nil:
		r.Missing = append(r.Missing, backend.MissingInput{Input: backend.InputSessions,
			Why: s.degraded("the list route cannot be read", s.discovery.listErr)})
		r.Unseen = true
		if r.Degraded.IsEmpty() {
			r.Degraded = s.degraded("the list route cannot be read, so that new sessions are not seen", s.discovery.listErr)
		}
	case s.opt.ListURL != "" && s.discovery.listed, s.opt.SessionsFile != "", len(s.opt.SessionsCommand) > 0:
		r.Inputs = append(r.Inputs, backend.InputSessions)
	case s.opt.ListURL != "":
		r.Missing = append(r.Missing, backend.MissingInput{Input: backend.InputSessions,
			Why: backend.Text("the list route has not been read to its end yet")})
	default:
		r.Missing = append(r.Missing, backend.MissingInput{Input: backend.InputSessions,
			Why: backend.Text("sessions come from a fixed list: new ones are not noticed (list_url or aggregate_url would tell)")})
	}
}

// judgeAggregate is the same for the aggregate route, which asks no health route.
func (s *Source) judgeAggregate(r *backend.Reading) {
	last := s.agg.previous
	if last == nil {
		why := backend.Text("the aggregate route has not been read to its end yet")
		r.Missing = []backend.MissingInput{{Input: backend.InputRegistry, Why: why}, {Input: backend.InputSessions, Why: why}}
		return
	}
	var sessions, registries, running, known, bad int
	var problem error
	var unread unreadCount
	for _, p := range last.pages {
		for _, err := range p.bad {
			unread.asked++
			unread.add(s, backend.ID{}, err)
		}
		for _, x := range p.sessions {
			sessions++
			if x.bad != nil {
				unread.add(s, x.id, x.bad)
				bad, problem = bad+1, x.bad
			} else if x.registry {
				registries++
			}
			if v, ok := x.entity.ListedRunning.Get(); ok {
				known++
				if v {
					running++
				}
			}
		}
	}
	unread.asked += sessions
	unread.fill(r)
	r.Inputs = []backend.Input{backend.InputRegistry, backend.InputSessions}
	switch {
	case registries > 0:
		r.Registry = backend.RegistryAnswers
		return
	case sessions == 0:
		return
	case bad > 0:
		r.Degraded = s.degraded("no session's registry can be read", problem)
	case !s.opt.ExpectActive || known > 0 && running == 0:
		r.Registry = backend.RegistryAllIdle
		return
	default:
		r.Registry = backend.RegistryAllIdle
		r.Degraded = backend.Textf("none of %d sessions has workspaces on the aggregate route: idle, registry not published, or wrong pointer %s",
			sessions, s.opt.Pointers.Workspaces)
	}
	r.WorkspacesUnknown = true
	r.Inputs = []backend.Input{backend.InputSessions}
	r.Missing = append(r.Missing, backend.MissingInput{Input: backend.InputRegistry, Why: r.Degraded})
}
