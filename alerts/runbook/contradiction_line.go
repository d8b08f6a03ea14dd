package runbook

import (
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// sign is what an alert about one sandbox behind a Worker rests on.
type sign struct {
	name   backend.Safe
	alert  *alerts.Alert
	line   bool   // its agent's log says that no command begins
	fault  string // that a probe told since; empty: none told one, also where its command ran
	probed bool   // a probe told something since
}

// signOf reads the sign of an alert about one sandbox.
func (s *subjectView) signOf(a *alerts.Alert) sign {
	x := sign{name: s.nameOf(a), alert: a, line: alerts.AgentSays(a.Cause.String()) ||
		slices.ContainsFunc(a.Evidence, func(e alerts.Evidence) bool { return strings.Contains(e.Text.String(), "could not begin since") })}
	b := s.State.Sandbox(a.Subjects[0].Key)
	if b == nil {
		return x
	}
	o, _ := b.Proved()
	v, _ := o.Of(backend.PlaneExec)
	if v.Passive || v.At.Before(a.Bounds.Latest) || v.Outcome != backend.OutcomeOK && v.Outcome != backend.OutcomeFailed {
		return x
	}
	switch x.probed = true; {
	case v.Kind != "":
		x.fault = string(v.Kind)
	case v.Outcome == backend.OutcomeFailed:
		x.fault = "commands fail"
	case backend.LinkedRoot(b) != "":
		x.fault = "a link"
	}
	return x
}

// near reports whether two alerts began at nearly the same time, as far as both tell.
func near(x, y alerts.Bounds) bool {
	return x.Latest.IsZero() || y.Latest.IsZero() || x.Earliest.Sub(y.Latest) <= nearly && y.Earliest.Sub(x.Latest) <= nearly
}

// lineOfMany answers whether many sandboxes show at once what the log of the page's agent says. It is false where no such line is said of
// its sandbox, or of another one at nearly the same time. A line alone proves no fault: those that a probe proved are counted by theirs.
func (s *subjectView) lineOfMany(q question) (Check, bool) {
	i := slices.IndexFunc(s.led, func(a *alerts.Alert) bool {
		return a.Rule == "contradiction" && a.SubjectCount == 1 && len(a.Subjects) == 1
	})
	if i < 0 || s.wide {
		return Check{}, false
	}
	own := s.signOf(s.led[i])
	if !own.line {
		return Check{}, false
	}
	var same, open, otherwise []sign
	fires, since := 0, own.alert.Bounds.Latest
	alike := func(a *alerts.Alert) bool { return a.Source == own.alert.Source && near(a.Bounds, own.alert.Bounds) }
	for _, a := range append(s.alike(alerts.StateFiring, alike), s.alike(alerts.StatePending, alike)...) {
		switch x := s.signOf(a); {
		case x.probed && own.fault != "" && x.fault == own.fault:
			same = append(same, x)
		case !x.line:
			continue
		case x.fault != "":
			otherwise = append(otherwise, x)
		default:
			open = append(open, x)
		}
		if a.State == alerts.StateFiring {
			fires++
		}
		if at := a.Bounds.Latest; !at.IsZero() && at.Before(since) {
			since = at
		}
	}
	n := len(same) + len(open) + len(otherwise)
	if n == 0 {
		return Check{}, false
	}
	from := origin{own.alert.Source, own.alert.Confirmed}
	fact := backend.Join(told(own, since, same, open, otherwise), "; ")
	switch {
	case n == 1 && (len(open) == 0 || fires == 1):
		return q.no(from, "%s; two are not many", fact), true
	case len(same) > 1, !own.probed && fires > 1:
		return q.yes(from, "%s%s", fact, s.othersWell()), true
	}
	c := q.unsure("%s", fact)
	more := slices.IndexFunc(open, func(x sign) bool {
		b := s.State.Sandbox(x.alert.Subjects[0].Key)
		return b != nil && !x.probed && s.State.NoProbe(b).IsEmpty()
	})
	switch {
	case more >= 0:
		c.WouldTell = backend.Textf("a probe of each, such as: sandglass probe %s", open[more].name)
	case !slices.ContainsFunc(open, func(x sign) bool { return !x.probed }):
		c.WouldTell = backend.Text("what changed at that time: sandglass get events")
	}
	return c, true
}

// told says which others show the line of an agent's log, by what a probe told of each.
func told(own sign, since time.Time, same, open, otherwise []sign) (out []backend.Safe) {
	first := func(all []sign, one, many backend.Literal) {
		one, many = "other sandbox "+one, "other sandboxes "+many
		if len(all) > 0 {
			out = append(out, backend.Textf("%s: %s", backend.Counted(len(all), string(one), string(many)), namesOf(all)))
		}
	}
	first(same, "is proved to have the same fault", "are proved to have the same fault")
	if own.fault == "" {
		first(otherwise, "shows the same line and was probed since", "show the same line and were probed since")
	} else {
		first(otherwise, "shows the same line, and is proved otherwise", "show the same line, and are proved otherwise")
	}
	first(open, "shows the same line of its agent's log, which alone proves no fault", "show the same line of their agents' logs, which alone proves no fault")
	if len(open) > 0 && !since.IsZero() {
		out[len(out)-1] = backend.Textf("%s; the first at %s", out[len(out)-1], secondOf(since))
	}
	return out
}

// namesOf are the first names of some, and how many more there are.
func namesOf(all []sign) backend.Safe {
	var names []backend.Safe
	for i := range all[:min(len(all), 3)] {
		names = append(names, all[i].name)
	}
	if n := len(all) - len(names); n > 0 {
		return backend.Textf("%s and %s more", backend.Join(names, ", "), backend.Grouped(int64(n)))
	}
	return backend.Join(names, ", ")
}
