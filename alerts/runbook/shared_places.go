package runbook

import (
	"cmp"
	"slices"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/internal/stable"
)

// sharedPlaces are what the subject's workspaces share with other sessions, those across tenants first: the same that the rule
// possible-leak looks at, and besides any directory that is mounted writable.
func (s *subjectView) sharedPlaces() []*fleet.SharedStorage {
	x := s.sharing()
	var out []*fleet.SharedStorage
	for p := range s.State.Shared(x.Home, false) {
		if p = alerts.WithoutIsolated(p, x.Isolated(p, nil)); p.Sessions() > 1 && (s.wide && s.here(p.Home) || slices.ContainsFunc(p.Users, s.uses)) {
			out = append(out, p)
		}
	}
	if p := s.mounted(x.Home); p != nil && !slices.ContainsFunc(out, func(o *fleet.SharedStorage) bool { return o.What == p.What && o.ID == p.ID }) {
		out = append(out, p)
	}
	crosses := func(p *fleet.SharedStorage) int {
		if tenants, _ := p.Tenants(s.State); len(tenants) > 1 {
			return 0
		}
		return 1
	}
	stable.Sort(out, func(a, b *fleet.SharedStorage) int { return cmp.Compare(crosses(a), crosses(b)) })
	return out
}

// sharedBefore finds a sandbox that the subject's session and another one named, where one of them is listed no more.
func (s *subjectView) sharedBefore() (other, id backend.ID, o origin, ok bool) {
	if s.sessionID.IsZero() {
		return other, id, o, false
	}
	own := s.placesOf(s.sessionID)
	for _, r := range s.Refs {
		if x, same := own[r.Resource]; same && r.Session != s.sessionID && x.sameProvider(r.Provider) {
			return r.Session, r.Resource, x.from, true
		}
	}
	for _, p := range s.Board.PastOf(backend.KindWorkspace) {
		w, _ := p.Entity.(*backend.Workspace)
		if w == nil || w.Key.Parent == s.sessionID || w.Key.Source != s.home {
			continue
		}
		if x, same := own[w.ProviderID]; same && x.sameProvider(w.Provider) {
			return w.Key.Parent, w.ProviderID, x.from, true
		}
	}
	return other, id, o, false
}

// uses reports whether a user of a place is the subject.
func (s *subjectView) uses(u fleet.StorageUser) bool {
	w := s.oneWorkspace()
	return !s.sessionID.IsZero() && u.Session == s.sessionID && (w.IsZero() || u.Workspace.IsZero() || u.Workspace == w)
}

// sharing reads what log lines say of shared places. It remembers whose session is whose.
func (s *subjectView) sharing() alerts.Sharing {
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
	over := func(x backend.Series, d time.Duration) fleet.Increase { return s.State.Windows.Over(x, s.now, d) }
	return alerts.Sharing{State: s.State, Home: home, Over: over}
}

// mounted finds a directory that the subject's sandboxes and another session's both mount writable.
func (s *subjectView) mounted(home func(string, backend.ID) string) *fleet.SharedStorage {
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
			if !ok || !sb.IsSandbox || m.ReadOnly || sb.Session.IsZero() || sb.Session == x.Session || sb.Key.Source != x.Key.Source {
				continue
			}
			return &fleet.SharedStorage{Home: cmp.Or(home(sb.Key.Source, x.Session), sb.Key.Source), What: fleet.StorageScratch, ID: m.RawSource,
				Users: []fleet.StorageUser{{Session: x.Session, Workspace: x.Workspace, Evidence: &x.Meta}, {Session: sb.Session, Workspace: sb.Workspace, Evidence: &sb.Meta}}}
		}
	}
	return nil
}

// first is the first place of a kind, nil when there is none.
func first(places []*fleet.SharedStorage, what fleet.StorageKind) *fleet.SharedStorage {
	if i := slices.IndexFunc(places, func(p *fleet.SharedStorage) bool { return p.What == what }); i >= 0 {
		return places[i]
	}
	return nil
}

// users names the first and the last user of a place.
func users(p *fleet.SharedStorage) backend.Safe {
	name := func(u fleet.StorageUser) backend.Safe {
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
func (s *subjectView) touched(places []*fleet.SharedStorage) Check {
	q := question{"reads", "Were files of another tenant really read or written?", "log patterns of class read and write, which give the path of a file and its session or sandbox; or the platform's own audit"}
	var seen []backend.Safe
	sharing := s.sharing()
	for _, p := range places {
		var wrote, read []alerts.FileUse
		for _, u := range sharing.FileUses(p, time.Hour) {
			seen = append(seen, useText(&u))
			if u.What == "writes" {
				wrote = append(wrote, u)
			} else {
				read = append(read, u)
			}
		}
		for _, w := range wrote {
			for _, r := range read {
				if r.Session != w.Session && !r.Session.IsZero() && !w.Session.IsZero() {
					return q.yes(origin{r.Source, r.Last}, "in the place that they share: %s; %s", useText(&w), useText(&r))
				}
			}
		}
	}
	switch {
	case len(places) == 0:
		return q.unsure("nothing shared was found in which it could have happened")
	case len(seen) > 0:
		return q.unsure("%s; no line says that the other side read or wrote there", backend.Join(seen[:min(len(seen), 3)], ", "))
	}
	return q.unsure("no line that was read says which files were touched there")
}

func useText(u *alerts.FileUse) backend.Safe {
	if u.Newest.IsEmpty() {
		return backend.Textf("%s: %s %s", u.Who(), number(u.N), backend.Text(u.What))
	}
	return backend.Textf("%s: %s %s, the newest of %s", u.Who(), number(u.N), backend.Text(u.What), backend.Clean(u.Newest.String(), 120))
}
