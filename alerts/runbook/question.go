package runbook

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/internal/stable"
)

// question is one check of a diagnosis before it is answered.
type question struct {
	name  string
	text  backend.Literal
	needs backend.Literal // the reading that would answer it
}

// origin is who reported something, and when.
type origin struct {
	source string
	at     time.Time
}

func (q question) check(m Mark, fact backend.Safe, o origin) Check {
	c := Check{Name: q.name, Question: backend.Text(q.text), Mark: m, Fact: fact, Source: o.source, At: o.at}
	if m == CannotTell {
		c.WouldTell = backend.Text(q.needs)
	}
	return c
}

func (q question) yes(o origin, l backend.Literal, args ...any) Check {
	return q.check(Confirmed, backend.Textf(l, args...), o)
}

func (q question) no(o origin, l backend.Literal, args ...any) Check {
	return q.check(RuledOut, backend.Textf(l, args...), o)
}

// unsure answers with what is known, which is not enough.
func (q question) unsure(l backend.Literal, args ...any) Check {
	return q.check(CannotTell, backend.Textf(l, args...), origin{})
}

// settle turns "ruled out" into "cannot tell" when the readings that rule it out are old.
func (s *subjectView) settle(c Check, q question) Check {
	if c.Mark != RuledOut || s.old.IsEmpty() {
		return c
	}
	c.Mark = CannotTell
	c.Fact = backend.Textf("%s, but these values are old: %s", c.Fact, s.old)
	c.WouldTell = backend.Textf("%s, read again", backend.Text(q.needs))
	return c
}

// sortChecks puts confirmed checks first and open ones last, and keeps the order of the page otherwise.
func sortChecks(checks []Check) {
	rank := func(m Mark) int {
		switch m {
		case Confirmed:
			return 0
		case RuledOut:
			return 1
		case CannotTell:
		}
		return 2
	}
	stable.Sort(checks, func(a, b Check) int { return rank(a.Mark) - rank(b.Mark) })
}

// byErrors answers from the errors that registries report: confirmed when one of them names the cause, ruled out when every
// workspace that fails gives an error and each of these names another reason.
func (s *subjectView) byErrors(q question, c alerts.Naming) Check {
	n, silent, symptoms, total, first := 0, 0, 0, 0, (*reportedError)(nil)
	for i := range s.errors {
		e := &s.errors[i]
		if e.line {
			continue
		}
		total++
		switch {
		case e.cause&c != 0:
			if n++; first == nil {
				first = e
			}
		case !e.reason():
			if silent++; e.cause != 0 {
				symptoms++
			}
		}
	}
	if said, is := s.byLogged(q, c, total > 0); first == nil && is {
		return said
	}
	if p := s.provider(); first == nil && p != "" && c&^alerts.Foreign(p, "") == 0 {
		return q.no(s.newest(), "the provider is %s, which does not use it", backend.Clean(p, 60))
	}
	switch {
	case first != nil && n == 1 && total == 1:
		return q.yes(first.from, "%s reports: %s", first.who, first.text).share(n, total)
	case first != nil && n == 1:
		return q.yes(first.from, "1 of %s names it, %s: %s", s.searched(), first.who, first.text).share(n, total)
	case first != nil:
		return q.yes(first.from, "%d of %s name it, %s for one: %s", n, s.searched(), first.who, first.text).share(n, total)
	case s.mute > 0:
		return q.unsure("%s without giving an error", fails(s.mute))
	case s.running > 0:
		return q.unsure("%s on and %s no error so far", backend.Counted(s.running, "attempt runs", "attempts run"), backend.Clean(gives(s.running), 8))
	case s.unread > 0:
		return q.unsure("the first %s do not name it; %d more were not searched", plural(total, "error"), s.unread)
	case total == 1 && silent == 1 && s.errors[0].cause != 0:
		return q.unsure("the error says how it failed, which can have this reason: %s", s.errors[0].text)
	case total == 1 && silent == 1:
		return q.unsure("the error matches no known reason: %s", s.errors[0].text)
	case silent > 0 && symptoms == silent:
		return q.unsure("%s do not name it; %d of them say how it failed, which can have this reason", plural(total, "error"), silent)
	case silent > 0:
		return q.unsure("%s do not name it; %d of them match no known reason", plural(total, "error"), silent-symptoms)
	case total == 1:
		return s.settle(q.no(s.errors[0].from, "%s reports another reason: %s", s.errors[0].who, s.errors[0].text), q)
	case total > 0:
		return s.settle(q.no(s.errors[0].from, "%s name other reasons", plural(total, "error")), q)
	case len(s.workspaces) == 0:
		return q.unsure("no workspace of this subject is listed")
	}
	if s.watchesAlert() {
		return q.unsure("no workspace reports an error, which disproves nothing while an alert fires")
	}
	return s.settle(q.no(s.newest(), "no workspace reports an error"), q)
}

func gives(n int) string {
	if n == 1 {
		return "gives"
	}
	return "give"
}

// searched is how many errors were looked at.
func (s *subjectView) searched() string {
	n := 0
	for i := range s.errors {
		n += b2i(!s.errors[i].line)
	}
	if s.unread > 0 {
		return "the first " + plural(n, "error")
	}
	return plural(n, "error")
}

// watched is the span that a count is really of: the window, or since its source was first read where that is shorter.
func (s *subjectView) watched(t tally, window time.Duration) backend.Safe {
	if span := s.spanOf(t, window); span < window {
		return backend.Textf("%s", backend.Age(span))
	}
	return windowText(window)
}

// spanOf is how much of a window a source watched. Less than a sixtieth of it does not matter.
func (s *subjectView) spanOf(t tally, window time.Duration) time.Duration {
	h := s.State.Source(t.from.source)
	if h == nil || h.FirstTry.IsZero() {
		return window
	}
	since := h.FirstTry
	if !t.in.First.IsZero() && t.in.First.Before(since) { // the source read back
		since = t.in.First
	}
	if span := s.now.Sub(since); span < window-window/60 {
		return max(span, 0)
	}
	return window
}

func windowText(d time.Duration) backend.Safe {
	if d == time.Hour {
		return backend.Text("hour")
	}
	return backend.Textf("%s", spanText(d))
}

// leastWatched is how long a log is watched before its silence rules anything out.
const leastWatched = time.Minute

// atLeast writes a count, and that more may have happened than was seen.
func atLeast(in fleet.Increase) string {
	if in.LowerBound {
		return "at least " + number(in.N)
	}
	return number(in.N)
}

// byLines answers from counted log lines of the last hour.
func (s *subjectView) byLines(q question, m backend.Metric, what backend.Literal) Check {
	t, said := s.tally(m, time.Hour), s.tally(m.Said(), time.Hour)
	over := s.watched(t, time.Hour)
	switch {
	case t.in.N > 0 && !t.in.Sample.IsEmpty():
		return q.yes(t.from, "%s in the last %s: %s, the newest: %s", backend.Text(what), over, atLeast(t.in), backend.Clean(t.in.Sample.String(), 300))
	case t.in.N > 0:
		return q.yes(t.from, "%s in the last %s: %s", backend.Text(what), over, atLeast(t.in))
	case said.in.N > 0:
		return q.unsure("%s in the last %s, said by the agent: %s, the newest: %s", backend.Text(what), s.watched(said, time.Hour), atLeast(said.in), backend.Clean(said.in.Sample.String(), 300))
	case t.elsewhere > 0:
		return q.unsure("%s in the last %s: %s, none with this session's id", backend.Text(what), over, number(t.elsewhere))
	case t.looked && s.spanOf(t, time.Hour) < leastWatched:
		return q.unsure("no such line yet; too little of the log is read to rule it out")
	case t.looked:
		return q.no(t.from, "no such line in the last %s", over)
	}
	return q.unsure("no log source is read, or it says nothing; the framework writes no lines unless a Logger is configured")
}
