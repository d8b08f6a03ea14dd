package fleet

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// EventStatus is the name of the event that the reported status of a sandbox or a session changed.
const EventStatus = "status"

// mostStatusEvents is how many such events of a kind and source one reading tells one by one; more are told together.
const mostStatusEvents = 5

type statusChange struct {
	key            backend.Key
	name, from, to backend.Safe
	class          backend.SandboxClass // of a sandbox now
}

// noteStatus notes that an entity has another reported status than before.
func (s *store) noteStatus(old, next backend.Entity) {
	from, to := old.StatusWord(), next.StatusWord()
	if k := next.EntityMeta().Key; from != to && !from.IsEmpty() && !to.IsEmpty() {
		name, class := k.Safe(), backend.SandboxClass("")
		if b, ok := next.(*backend.Sandbox); ok {
			name, class = cmp.Or(b.Name, name), b.Class
			if old.(*backend.Sandbox).Class == backend.SandboxRunning && b.Class == backend.SandboxRunning {
				return // idle and running: it begins and ends an execution, which its history tells
			}
		}
		s.statuses = append(s.statuses, statusChange{k, name, from, to, class})
	}
}

// tellStatuses adds an event for each change of a reported status, unless the newest event that says how its subject is says the
// same.
func (s *store) tellStatuses(r *backend.Reading) {
	newest := map[backend.Key]*backend.Event{}
	for i := range r.Events {
		e := &r.Events[i]
		if known := newest[e.Subject]; e.Leaves != "" && (known == nil || !cmp.Or(e.SourceAt, e.At).Before(cmp.Or(known.SourceAt, known.At))) {
			newest[e.Subject] = e
		}
	}
	all := slices.DeleteFunc(s.statuses, func(c statusChange) bool {
		e := newest[c.key]
		return e != nil && c.class != "" && e.Says(c.class)
	})
	s.statuses = nil
	by := map[backend.Kind][]statusChange{}
	for _, c := range all {
		by[c.key.Kind] = append(by[c.key.Kind], c)
	}
	for _, kind := range []backend.Kind{backend.KindSession, backend.KindSandbox} {
		s.events = append(s.events, statusEvents(by[kind], r.At)...)
	}
}

func statusEvents(all []statusChange, at time.Time) []backend.Event {
	var out []backend.Event
	if len(all) <= mostStatusEvents {
		for _, c := range all {
			out = append(out, backend.Event{Kind: backend.EventPlatform, At: at, Source: c.key.Source, Subject: c.key, Name: EventStatus,
				Text: backend.Textf("%s %s: %s, before %s", c.key.Kind.Spec().Name, c.name, c.to, c.from)})
		}
		return out
	}
	stable.Sort(all, func(a, b statusChange) int {
		return cmp.Or(strings.Compare(a.from.String(), b.from.String()), strings.Compare(a.to.String(), b.to.String()))
	})
	for len(all) > 0 {
		n := slices.IndexFunc(all, func(c statusChange) bool { return c.from != all[0].from || c.to != all[0].to })
		if n < 0 {
			n = len(all)
		}
		c, spec := all[0], all[0].key.Kind.Spec()
		e := backend.Event{Kind: backend.EventPlatform, At: at, Source: c.key.Source, Name: EventStatus,
			Text: backend.Textf("%s: %s, before %s", backend.Counted(n, spec.Name, spec.Plural), c.to, c.from)}
		for _, x := range all[:min(n, 100)] {
			e.About = append(e.About, x.key)
		}
		out, all = append(out, e), all[n:]
	}
	return out
}
