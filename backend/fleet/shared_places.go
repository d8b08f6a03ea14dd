package fleet

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
)

// HomeOf is the id of the source that a session belongs to when another source names it: the source that lists the
// session, else the only registry that the naming source reports about, else the naming source itself. It is empty
// while a source that could list the session has not been polled.
func (s *State) HomeOf(source string, session backend.ID) string {
	own := s.Source(source)
	only, registries, waits := "", 0, false
	for _, h := range s.Sources {
		if own != nil && !own.SpeaksAbout(h.Key.Source) {
			continue
		}
		waits = waits || own.MayHaveHome(h)
		if !h.Watches(backend.InputRegistry) {
			continue
		}
		if !session.IsZero() && s.Session(backend.Key{Kind: backend.KindSession, Source: h.Key.Source, ID: session}) != nil {
			return h.Key.Source
		}
		registries++
		only = h.Key.Source
	}
	switch {
	case waits && (own == nil || !own.Watches(backend.InputRegistry)):
		return ""
	case registries == 1:
		return only
	}
	return source
}

// PlaceKind says what sort of place holds files.
type PlaceKind string

// The kinds of places.
const (
	PlaceSandbox   PlaceKind = "sandbox"
	PlaceNamespace PlaceKind = "namespace"
	PlaceScratch   PlaceKind = "scratch directory"
)

// MaxPlaceUsers bounds Place.Users.
const MaxPlaceUsers = 1000

// Place is storage that several workspaces use: a sandbox, a namespace or a scratch directory. Equal ids of two homes
// are different places.
type Place struct {
	Home  string // the source whose sessions use it
	What  PlaceKind
	ID    backend.ID
	Users []PlaceUser // by session and workspace; more than MaxPlaceUsers are left out
}

// PlaceUser is one workspace that uses a place.
type PlaceUser struct {
	Session   backend.ID
	Workspace backend.ID         // zero where only the session is known
	Entity    *backend.Workspace // nil where only a reference or a mount names it
	Said      *backend.Meta      // of the workspace, reference or sandbox that says so
}

// Isolated reports whether a counted line about a name collision says that this user got a workspace of its own.
func (u PlaceUser) Isolated(s backend.Series) bool {
	return s.Session == u.Session && (s.Workspace.IsZero() || s.Workspace == u.Workspace)
}

// Told reports whether a counted line about a file is about this place: it names the place itself, or else one of its
// users. A line that names another sandbox is about that one.
func (p *Place) Told(s backend.Series) bool {
	if p.What == PlaceSandbox && !s.Sandbox.IsZero() {
		return s.Sandbox == p.ID
	}
	return !s.Session.IsZero() && slices.ContainsFunc(p.Users, func(u PlaceUser) bool {
		return u.Session == s.Session && (s.Workspace.IsZero() || u.Workspace.IsZero() || s.Workspace == u.Workspace)
	})
}

type placeID struct{ home, what, id string }

// placeCollector collects the users of places; most places have one, which costs no list.
type placeCollector struct {
	within bool // several workspaces of one session count too
	first  map[placeID]PlaceUser
	many   map[placeID]*Place
}

func (g *placeCollector) add(home string, what PlaceKind, id backend.ID, u PlaceUser) {
	if home == "" || id.IsZero() || u.Session.IsZero() {
		return
	}
	k := placeID{home, string(what), id.Raw()}
	if p := g.many[k]; p != nil {
		if len(p.Users) < MaxPlaceUsers && !slices.ContainsFunc(p.Users, u.same) {
			p.Users = append(p.Users, u)
		}
		return
	}
	switch x, had := g.first[k]; {
	case !had:
		g.first[k] = u
	case x.Session != u.Session, g.within && !x.same(u):
		g.many[k] = &Place{Home: home, What: what, ID: id, Users: []PlaceUser{x, u}}
	}
}

func (u PlaceUser) same(o PlaceUser) bool {
	return u.Session == o.Session && u.Workspace == o.Workspace
}

// Shared finds the places that more than one session uses; within counts several workspaces of one session too. They
// come in the order of their home, kind and id. homeOf answers as HomeOf does; it may remember.
func (s *State) Shared(homeOf func(source string, session backend.ID) string, within bool) iter.Seq[*Place] {
	g := &placeCollector{within: within, first: map[placeID]PlaceUser{}, many: map[placeID]*Place{}}
	workspaces, refs := s.Workspaces.All(), s.Refs.All()
	if s.sharing != nil {
		workspaces, refs = s.Workspaces.withKeys(s.sharing.workspaces), s.Refs.withKeys(s.sharing.refs)
	}
	for w := range workspaces {
		u := PlaceUser{Session: w.Key.Parent, Workspace: w.Key.ID, Entity: w, Said: &w.Meta}
		for _, p := range placesOfWorkspace(w) {
			g.add(w.Key.Source, p.what, p.id, u)
		}
	}
	for x := range refs {
		if x.Sandbox.IsZero() && x.Namespace.IsZero() {
			continue
		}
		home := homeOf(x.Key.Source, x.Session)
		u := PlaceUser{Session: x.Session, Workspace: x.Key.ID, Said: &x.Meta,
			Entity: s.Workspace(backend.Key{Kind: backend.KindWorkspace, Source: home, Parent: x.Session, ID: x.Key.ID})}
		for _, p := range placesOfRef(x) {
			g.add(home, p.what, p.id, u)
		}
	}
	s.sharedMounts(homeOf, g)
	for _, p := range g.many {
		slices.SortStableFunc(p.Users, func(a, b PlaceUser) int {
			return cmp.Or(a.Session.Compare(b.Session), a.Workspace.Compare(b.Workspace))
		})
	}
	return slices.Values(slices.SortedFunc(maps.Values(g.many), func(a, b *Place) int {
		return cmp.Or(strings.Compare(a.Home, b.Home), strings.Compare(string(a.What), string(b.What)), a.ID.Compare(b.ID))
	}))
}

// sharedMounts looks at scratch directories that are mounted writable; other mounts are shared on purpose all the time.
func (s *State) sharedMounts(homeOf func(string, backend.ID) string, g *placeCollector) {
	if s.Tmpdirs.Len() == 0 {
		return
	}
	scratch := map[backend.ID]bool{}
	for t := range s.Tmpdirs.All() {
		scratch[t.RawPath] = true
	}
	for b := range s.Sandboxes.All() {
		if !b.IsSandbox || b.Session.IsZero() {
			continue
		}
		for _, m := range b.Mounts {
			if !m.ReadOnly && scratch[m.RawSource] {
				g.add(homeOf(b.Key.Source, b.Session), PlaceScratch, m.RawSource, PlaceUser{Session: b.Session, Workspace: b.Workspace, Said: &b.Meta})
			}
		}
	}
}

// Sessions counts the sessions among the users.
func (p *Place) Sessions() int {
	seen := map[backend.ID]bool{}
	for _, u := range p.Users {
		seen[u.Session] = true
	}
	return len(seen)
}

// Wanted reports whether the sharing is declared: on all sides, or by inheritance.
func (p *Place) Wanted() bool {
	all := true
	for _, u := range p.Users {
		if u.Entity == nil {
			all = false
			continue
		}
		if u.Entity.InheritWorkspaces.Or(false) {
			return true
		}
		all = all && u.Entity.ShareAcrossSessions.Or(false)
	}
	return all
}

// Declared reports whether any user declares that it inherits workspaces, and whether any declares that it shares its own.
func (p *Place) Declared() (inherits, shares bool) {
	for _, u := range p.Users {
		if u.Entity != nil {
			inherits = inherits || u.Entity.InheritWorkspaces.Or(false)
			shares = shares || u.Entity.ShareAcrossSessions.Or(false)
		}
	}
	return inherits, shares
}

// Named is the session among the users whose id the place's id carries, zero when it carries none: then the id was
// given explicitly, and every session of that declaration uses it.
func (p *Place) Named() backend.ID {
	named := backend.ID{}
	id := strings.ToLower(p.ID.Raw())
	for _, u := range p.Users {
		if backend.HoldsWord(id, strings.ToLower(u.Session.Raw())) {
			named = u.Session
		}
	}
	return named
}

// SessionOf looks the session of a user up, nil when it is not listed.
func (p *Place) SessionOf(s *State, u PlaceUser) *backend.Session {
	return s.Session(backend.Key{Kind: backend.KindSession, Source: p.Home, ID: u.Session})
}

// Tenants lists the tenants of the users that are named, sorted, and whether some are not.
func (p *Place) Tenants(s *State) (out []backend.Safe, unknown bool) {
	for _, u := range p.Users {
		x := p.SessionOf(s, u)
		switch {
		case x == nil || x.Tenant.IsEmpty():
			unknown = true
		case !slices.Contains(out, x.Tenant):
			out = append(out, x.Tenant)
		}
	}
	slices.SortFunc(out, func(a, b backend.Safe) int { return strings.Compare(a.String(), b.String()) })
	return out, unknown
}

// Second is when the second of the sessions started, from which on two of them use the place at once; zero when fewer
// than two starts are known. at reads a time of a session; a zero one is not known.
func (p *Place) Second(s *State, at func(*backend.Session) time.Time) time.Time {
	var starts []time.Time
	seen := map[backend.ID]bool{}
	for _, u := range p.Users {
		x := p.SessionOf(s, u)
		if seen[u.Session] || x == nil {
			continue
		}
		seen[u.Session] = true
		if t := at(x); !t.IsZero() {
			starts = append(starts, t)
		}
	}
	if len(starts) < 2 {
		return time.Time{}
	}
	slices.SortFunc(starts, time.Time.Compare)
	return starts[1]
}
