package runbook

import (
	"slices"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// ask is a question before it is answered.
type ask struct {
	name     string
	question backend.Literal
	would    backend.Literal // what would tell
}

// origin is who reported something, and when.
type origin struct {
	source string
	at     time.Time
}

func (a ask) check(m Mark, fact backend.Safe, o origin) Check {
	c := Check{Name: a.name, Question: backend.Text(a.question), Mark: m, Fact: fact, Source: o.source, At: o.at}
	if m == CannotTell {
		c.WouldTell = backend.Text(a.would)
	}
	return c
}

func (a ask) yes(o origin, l backend.Literal, args ...any) Check {
	return a.check(Confirmed, backend.Textf(l, args...), o)
}

func (a ask) no(o origin, l backend.Literal, args ...any) Check {
	return a.check(RuledOut, backend.Textf(l, args...), o)
}

// unsure answers with what is known, which is not enough.
func (a ask) unsure(l backend.Literal, args ...any) Check {
	return a.check(CannotTell, backend.Textf(l, args...), origin{})
}

// settle turns "ruled out" into "cannot tell" when the readings that rule it out are old.
func (s *scene) settle(c Check, a ask) Check {
	if c.Mark != RuledOut || s.old.IsEmpty() {
		return c
	}
	c.Mark = CannotTell
	c.Fact = backend.Textf("%s, but these values are old: %s", c.Fact, s.old)
	c.WouldTell = backend.Textf("%s, read anew", backend.Text(a.would))
	return c
}

// sortChecks puts what was confirmed first and what nobody can tell last; otherwise the order of the page stays.
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
	slices.SortStableFunc(checks, func(a, b Check) int { return rank(a.Mark) - rank(b.Mark) })
}

// byErrors answers from the errors that registries report: confirmed when one of them names the cause, ruled out when
// every workspace that fails gives an error and none does.
func (s *scene) byErrors(a ask, c alerts.Naming) Check {
	n, first := 0, (*seenError)(nil)
	for i := range s.errors {
		if s.errors[i].cause&c != 0 {
			n++
			if first == nil {
				first = &s.errors[i]
			}
		}
	}
	total := len(s.errors)
	switch {
	case first != nil && n == 1:
		return a.yes(first.from, "%s reports: %s", first.who, first.text)
	case first != nil:
		of := plural(total, "error")
		if s.unread > 0 {
			of = "the first " + of
		}
		return a.yes(first.from, "%d of %s name it, %s for one: %s", n, of, first.who, first.text)
	case s.mute > 0:
		return a.unsure("%s without giving an error", fails(s.mute))
	case s.unread > 0:
		return a.unsure("none of the first %d errors names it, %d more were not searched", total, s.unread)
	case total == 1:
		return s.settle(a.no(s.errors[0].from, "%s reports another error", s.errors[0].who), a)
	case total > 0:
		return s.settle(a.no(s.errors[0].from, "none of %s names it", plural(total, "error")), a)
	case len(s.workspaces) == 0:
		return a.unsure("no workspace of this subject is listed")
	}
	return s.settle(a.no(s.newest(), "no workspace reports an error"), a)
}

// byLines answers from counted log lines of the last hour.
func (s *scene) byLines(a ask, m backend.Metric, what backend.Literal) Check {
	t := s.tally(m, time.Hour)
	switch {
	case t.in.N > 0 && !t.in.Sample.IsEmpty():
		return a.yes(t.from, "%s in the last hour: %s, the newest: %s", backend.Text(what), number(t.in.N), backend.Clean(t.in.Sample.String(), 200))
	case t.in.N > 0:
		return a.yes(t.from, "%s in the last hour: %s", backend.Text(what), number(t.in.N))
	case t.elsewhere > 0:
		return a.unsure("%s in the last hour: %s, none with this session's id", backend.Text(what), number(t.elsewhere))
	case t.looked:
		return a.no(t.from, "no such line in the last hour")
	}
	return a.unsure("no log source is read, or it says nothing; the framework writes no lines unless a Logger is configured")
}
