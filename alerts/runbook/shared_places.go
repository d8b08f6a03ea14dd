package runbook

import (
	"cmp"
	"slices"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// places are what the subject's workspaces share with other sessions, those across tenants first: the same that the rule
// possible-leak looks at, and besides any directory that is mounted writable.
func (s *subjectView) places() []*fleet.Place {
	homes := map[backend.Series]string{}
	home := func(source string, session backend.ID) string {
		k := backend.Series{Source: source, Session: session}
		h, had := homes[k]
		if !had {
			h = s.State.HomeOf(source, session)
			homes[k] = h
		}
		return h
	}
	var out []*fleet.Place
	for p := range s.State.Shared(home, false) {
		if p = s.withoutIsolated(p, home); p.Sessions() > 1 && (s.wide && s.here(p.Home) || slices.ContainsFunc(p.Users, s.uses)) {
			out = append(out, p)
		}
	}
	if p := s.mounted(home); p != nil && !slices.ContainsFunc(out, func(o *fleet.Place) bool { return o.What == p.What && o.ID == p.ID }) {
		out = append(out, p)
	}
	crosses := func(p *fleet.Place) int {
		if tenants, _ := p.Tenants(s.State); len(tenants) > 1 {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(out, func(a, b *fleet.Place) int { return cmp.Compare(crosses(a), crosses(b)) })
	return out
}

// uses reports whether a user of a place is the subject.
func (s *subjectView) uses(u fleet.PlaceUser) bool {
	w := s.oneWorkspace()
	return !s.sessionID.IsZero() && u.Session == s.sessionID && (w.IsZero() || u.Workspace.IsZero() || u.Workspace == w)
}

// withoutIsolated leaves out the workspaces of which a log line says that the child got one of its own.
func (s *subjectView) withoutIsolated(p *fleet.Place, home func(string, backend.ID) string) *fleet.Place {
	left := p
	for x := range s.State.Windows.All(backend.MetricNameCollision) {
		if x.Session.IsZero() || home(x.Source, x.Session) != p.Home || s.State.Windows.Over(x, s.now, time.Hour).N == 0 {
			continue
		}
		c := *left
		c.Users = slices.DeleteFunc(slices.Clone(left.Users), func(u fleet.PlaceUser) bool { return u.Isolated(x) })
		left = &c
	}
	return left
}

// mounted finds a directory that the subject's sandboxes and another session's both mount writable.
func (s *subjectView) mounted(home func(string, backend.ID) string) *fleet.Place {
	first := map[backend.ID]*backend.Sandbox{}
	for _, sb := range s.sandboxes {
		for _, m := range sb.Mounts {
			if !m.RawSource.IsZero() && !m.ReadOnly && !sb.Session.IsZero() && first[m.RawSource] == nil {
				first[m.RawSource] = sb
			}
		}
	}
	if len(first) == 0 {
		return nil
	}
	for sb := range s.State.Sandboxes.All() {
		for _, m := range sb.Mounts {
			x, ok := first[m.RawSource]
			if !ok || m.ReadOnly || sb.Session.IsZero() || sb.Session == x.Session || sb.Key.Source != x.Key.Source {
				continue
			}
			return &fleet.Place{Home: cmp.Or(home(sb.Key.Source, x.Session), sb.Key.Source), What: fleet.PlaceScratch, ID: m.RawSource,
				Users: []fleet.PlaceUser{{Session: x.Session, Workspace: x.Workspace, Said: &x.Meta}, {Session: sb.Session, Workspace: sb.Workspace, Said: &sb.Meta}}}
		}
	}
	return nil
}

// first is the first place of a kind, nil when there is none.
func first(places []*fleet.Place, what fleet.PlaceKind) *fleet.Place {
	if i := slices.IndexFunc(places, func(p *fleet.Place) bool { return p.What == what }); i >= 0 {
		return places[i]
	}
	return nil
}

// users names the first and the last user of a place.
func users(p *fleet.Place) backend.Safe {
	name := func(u fleet.PlaceUser) backend.Safe {
		if u.Workspace.IsZero() {
			return u.Session.Safe()
		}
		return backend.Key{Kind: backend.KindWorkspace, Source: p.Home, Parent: u.Session, ID: u.Workspace}.Safe()
	}
	if n := p.Sessions() - 2; n > 0 {
		return backend.Textf("%s, %s and %d more sessions", name(p.Users[0]), name(p.Users[len(p.Users)-1]), n)
	}
	return backend.Textf("%s and %s", name(p.Users[0]), name(p.Users[len(p.Users)-1]))
}

// named counts the subject's workspaces of which something names the place that holds their files.
func (s *subjectView) named(of func(*backend.Workspace) backend.ID, ref func(*backend.Ref) backend.ID) int {
	n := 0
	var saved map[backend.Key]bool
	for _, w := range s.workspaces {
		if !of(w).IsZero() {
			n++
			continue
		}
		if saved == nil {
			saved = map[backend.Key]bool{}
			for x := range s.State.Refs.All() {
				if !ref(x).IsZero() {
					saved[backend.Key{Parent: x.Session, ID: x.Workspace}] = true
				}
			}
		}
		if saved[backend.Key{Parent: w.Key.Parent, ID: w.Key.ID}] || saved[backend.Key{Parent: w.Key.Parent}] {
			n++
		}
	}
	return n
}

// touched asks what the sessions did in the place that they share, as far as log lines tell.
func (s *subjectView) touched(places []*fleet.Place) Check {
	q := question{"reads", "Were files of another tenant really read or written?", "log patterns of class read and write, which give the path of a file and its session or sandbox; or the platform's own audit"}
	var seen []backend.Safe
	for _, p := range places {
		var wrote, read []use
		for _, u := range s.usesOf(p) {
			seen = append(seen, u.text())
			if u.what == "writes" {
				wrote = append(wrote, u)
			} else {
				read = append(read, u)
			}
		}
		for _, w := range wrote {
			for _, r := range read {
				if r.session != w.session && !r.session.IsZero() && !w.session.IsZero() {
					return q.yes(r.from, "in the place that they share: %s; %s", w.text(), r.text())
				}
			}
		}
	}
	switch {
	case len(places) == 0:
		return q.unsure("nothing shared was found in which it could have happened")
	case len(seen) > 0:
		return q.unsure("%s in the last hour; that the other side read or wrote there no line says", backend.Join(seen[:min(len(seen), 3)], ", "))
	}
	return q.unsure("no line of the last hour says which files were touched there")
}

// use is what log lines say that one session did in a place.
type use struct {
	session backend.ID
	what    backend.Literal // writes or reads
	in      fleet.Increase
	from    origin
}

func (u use) text() backend.Safe {
	who := backend.Text("a session that the lines do not name")
	if !u.session.IsZero() {
		who = backend.Textf("session %s", u.session.Safe())
	}
	if u.in.Sample.IsEmpty() {
		return backend.Textf("%s: %s %s", who, number(u.in.N), backend.Text(u.what))
	}
	return backend.Textf("%s: %s %s, the newest of %s", who, number(u.in.N), backend.Text(u.what), backend.Clean(u.in.Sample.String(), 120))
}

// usesOf are the reads and writes that lines of the last hour count for the users of a place.
func (s *subjectView) usesOf(p *fleet.Place) []use {
	var out []use
	for _, m := range []struct {
		metric backend.Metric
		what   backend.Literal
	}{{backend.MetricWrites, "writes"}, {backend.MetricReads, "reads"}} {
		for x := range s.State.Windows.All(m.metric) {
			in := s.State.Windows.Over(x, s.now, time.Hour)
			if in.N == 0 || !s.speaksHere(x.Source) || !p.Told(x) {
				continue
			}
			out = append(out, use{x.Session, m.what, in, origin{x.Source, in.Last}})
		}
	}
	return out
}
