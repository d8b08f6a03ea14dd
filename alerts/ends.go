package alerts

import (
	"slices"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// The names of the events that say what ended.
const (
	EventSessionEnded     = "session-ended"
	EventDirectoryRemoved = "directory-removed"
)

// isOurs reports whether an event is of what the timeline alone keeps: what ended, and what is observed or reported otherwise than
// before. A backend forgets it or never knew it. A change of many together is left to the moment.
func isOurs(e backend.Event) bool {
	switch {
	case e.Kind != backend.EventPlatform:
		return false
	case slices.Contains(statusEvents[:], e.Name):
		return e.Subject.Kind == backend.KindSandbox || e.Subject.Kind == backend.KindSession
	}
	return e.Name == EventSessionEnded || e.Name == EventDirectoryRemoved || e.Name == fleet.EventVerdict
}

// statusEvents are the names of events about one sandbox or session that has another state than before.
var statusEvents = [...]string{fleet.EventStatus, "link", "pause", "unpause", "die", "oom", "health_status"}

// mostEnds is how many ends of a kind one State tells one by one; more are told together.
const mostEnds = 5

// ends are the events that a State's departures make: sessions that ended, and scratch directories that were removed.
func ends(st *fleet.State) []backend.Event {
	ended, removed := map[string][]fleet.Departure{}, map[string][]fleet.Departure{}
	var order []string
	for _, g := range st.Delta.Gone {
		into := ended
		if g.Key.Kind == backend.KindWorkspace { // a paused session stays listed, and its registry closes
			owner := backend.Key{Kind: backend.KindSession, Source: g.Key.Source, ID: g.Key.Parent}
			s := st.Session(owner)
			if s == nil || s.Running.Or(true) || slices.ContainsFunc(ended[g.Key.Source], func(d fleet.Departure) bool { return d.Key == owner }) {
				continue
			}
			g = fleet.Departure{Key: owner, Why: backend.Text("its registry closed"), At: g.At}
		} else if g.Key.Kind == backend.KindTmpdir {
			into = removed
		} else if g.Key.Kind != backend.KindSession {
			continue
		}
		if len(ended[g.Key.Source])+len(removed[g.Key.Source]) == 0 {
			order = append(order, g.Key.Source)
		}
		into[g.Key.Source] = append(into[g.Key.Source], g)
	}
	var out []backend.Event
	for _, source := range order {
		out = append(out, endEvents(st, EventSessionEnded, "session", "ended", ended[source])...)
		out = append(out, endEvents(st, EventDirectoryRemoved, "scratch directory", "removed", removed[source])...)
	}
	return out
}

func endEvents(st *fleet.State, name, noun, verb string, all []fleet.Departure) []backend.Event {
	if len(all) > mostEnds {
		e := backend.Event{Kind: backend.EventPlatform, At: st.Wall, Source: all[0].Key.Source, Name: name,
			Text: backend.Textf("%s %s: %s", backend.Counted(len(all), noun, backend.Plural(noun)), verb, all[0].Why)}
		for _, g := range all[:min(len(all), 100)] {
			e.About = append(e.About, g.Key)
		}
		return []backend.Event{e}
	}
	var out []backend.Event
	for _, g := range all {
		at := g.At
		if at.IsZero() {
			at = st.Wall
		}
		who := g.Key.Safe()
		if t, ok := g.Last.(*backend.Tmpdir); ok {
			who = t.Path
		}
		out = append(out, backend.Event{Kind: backend.EventPlatform, At: at, Source: g.Key.Source, Subject: g.Key, Name: name,
			Text: backend.Textf("%s %s %s: %s", noun, who, verb, g.Why)})
	}
	return out
}

// endedBetween are the ends of sessions that a former process read as running: no State of this one shows them leave.
func (ev *evaluation) endedBetween(was *listMemory, source string) []backend.Event {
	since := backend.Clean(ev.env.Clock(was.At), 40)
	by := map[backend.Safe][]fleet.Departure{}
	var order []backend.Safe
	for _, id := range was.Names {
		k := backend.Key{Kind: backend.KindSession, Source: source, ID: id}
		why := backend.Safe{}
		switch s := ev.st.Session(k); {
		case s == nil && ev.st.SaidToHaveEnded(k):
			why = backend.Text("its owner says that it ended")
		case s == nil:
			if _, is := ev.st.Source(source).Silent(id); is {
				continue
			}
			why = backend.Text("its list names it no more")
		case s.MayRun():
			continue
		case s.Answer == backend.AnswerIdle:
			why = backend.Text("its registry closed")
		default:
			why = backend.Textf("its list says %s", s.Status)
		}
		if why = backend.Textf("%s; it ran at %s, at the run before", why, since); by[why] == nil {
			order = append(order, why)
		}
		by[why] = append(by[why], fleet.Departure{Key: k, Why: why})
	}
	var out []backend.Event
	for _, why := range order {
		out = append(out, endEvents(ev.st, EventSessionEnded, "session", "ended", by[why])...)
	}
	return out
}
