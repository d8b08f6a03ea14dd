package fleet

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// HomeOf is the id of the source that a session belongs to when another source names it: the source that lists the
// session, also where the naming source is only about its sandboxes, else the only registry that the naming source reports about, else the naming source itself. It is empty
// while a source that could list the session has not been polled.
func (s *State) HomeOf(source string, session backend.ID) string {
	own := s.Source(source)
	only, registries, waits := "", 0, false
	for _, h := range s.Sources {
		direct := own == nil || own.ReportsOn(h.Key.Source)
		if !direct && !s.reportsOnSandboxesOf(own, h) {
			continue
		}
		waits = waits || own.MayGetSessionsFrom(h)
		if !direct && s.Session(backend.Key{Kind: backend.KindSession, Source: h.Key.Source, ID: session}) != nil {
			return h.Key.Source
		}
		if !direct || !h.Watches(backend.InputRegistry) {
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

// reportsOnSandboxesOf reports whether a source speaks of sandboxes on which the sessions of a list may be: a log that is about a platform
// names the sessions of the list that uses it.
func (s *State) reportsOnSandboxesOf(own, list *SourceHealth) bool {
	return slices.ContainsFunc(own.About, func(id string) bool {
		h := s.Source(id)
		return h != nil && (h.Watches(backend.InputContainers) || h.Status == StatusStarting && h.Kind != registryKind) && h.ReportsOn(list.Key.Source)
	})
}

// StorageKind says what sort of place holds files.
type StorageKind string

// The kinds of places.
const (
	StorageSandbox   StorageKind = "sandbox"
	StorageNamespace StorageKind = "namespace"
	StorageScratch   StorageKind = "scratch directory"
)

// MaxStorageUsers bounds SharedStorage.Users.
const MaxStorageUsers = 1000

// SharedStorage is storage that several workspaces use: a sandbox, a namespace or a scratch directory. Equal ids of two homes
// are different places.
type SharedStorage struct {
	Home  string // the source whose sessions use it
	What  StorageKind
	ID    backend.ID
	Of    string        // the provider and namespace, where things of others have the same id; else empty
	Users []StorageUser // by session and workspace; more than MaxStorageUsers are left out
}

// StorageUser is one workspace that uses a SharedStorage.
type StorageUser struct {
	Session   backend.ID
	Workspace backend.ID         // zero where only the session is known
	Entity    *backend.Workspace // nil where only a reference or a mount names it
	Evidence  *backend.Meta      // of the workspace, reference or sandbox that says so
	Provider  backend.Safe       // empty where it is not known
	Namespace backend.ID         // zero where none is named
}

// Isolated reports whether a counted line about a name collision says that this user got a workspace of its own.
func (u StorageUser) Isolated(s backend.Series) bool {
	return s.Session == u.Session && (s.Workspace.IsZero() || s.Workspace == u.Workspace)
}

// MentionedIn reports whether a counted line about a file is about this storage. The line names the storage itself or one
// of its users. A line that names another sandbox is about that one.
func (p *SharedStorage) MentionedIn(s backend.Series) bool {
	if p.What == StorageSandbox && !s.Sandbox.IsZero() {
		return s.Sandbox == p.ID
	}
	return !s.Session.IsZero() && slices.ContainsFunc(p.Users, func(u StorageUser) bool {
		return u.Session == s.Session && (s.Workspace.IsZero() || u.Workspace.IsZero() || s.Workspace == u.Workspace)
	})
}

type storageID struct{ home, what, id string }

// storageCollector collects the users of places; most places have one, which costs no list.
type storageCollector struct {
	within bool // several workspaces of one session count too
	first  map[storageID]StorageUser
	many   map[storageID]*SharedStorage
}

func (g *storageCollector) add(home string, what StorageKind, id backend.ID, u StorageUser) {
	if home == "" || id.IsZero() || u.Session.IsZero() {
		return
	}
	k := storageID{home, string(what), id.Raw()}
	if p := g.many[k]; p != nil {
		if len(p.Users) < MaxStorageUsers && !slices.ContainsFunc(p.Users, u.same) {
			p.Users = append(p.Users, u)
		}
		return
	}
	switch x, had := g.first[k]; {
	case !had:
		g.first[k] = u
	case x.Session != u.Session, g.within && !x.same(u):
		g.many[k] = &SharedStorage{Home: home, What: what, ID: id, Users: []StorageUser{x, u}}
	}
}

func (u StorageUser) same(o StorageUser) bool {
	return u.Session == o.Session && u.Workspace == o.Workspace
}

// Shared finds the places that more than one session uses; within counts several workspaces of one session too. They
// come in the order of their home, kind and id. homeOf answers as HomeOf does; it may remember.
func (s *State) Shared(homeOf func(source string, session backend.ID) string, within bool) iter.Seq[*SharedStorage] {
	g := &storageCollector{within: within, first: map[storageID]StorageUser{}, many: map[storageID]*SharedStorage{}}
	workspaces, refs := s.Workspaces.All(), s.Refs.All()
	if s.sharing != nil {
		workspaces, refs = s.Workspaces.withKeys(s.sharing.workspaces), s.Refs.withKeys(s.sharing.refs)
	}
	for w := range workspaces {
		u := StorageUser{Session: w.Key.Parent, Workspace: w.Key.ID, Entity: w, Evidence: &w.Meta, Provider: w.Provider, Namespace: w.Namespace}
		for _, p := range placesOfWorkspace(w) {
			g.add(w.Key.Source, p.what, p.id, u)
		}
	}
	for x := range refs {
		if x.Sandbox.IsZero() && x.Namespace.IsZero() {
			continue
		}
		home := homeOf(x.Key.Source, x.Session)
		u := StorageUser{Session: x.Session, Workspace: x.Key.ID, Evidence: &x.Meta, Provider: x.Provider, Namespace: x.Namespace,
			Entity: s.Workspace(backend.Key{Kind: backend.KindWorkspace, Source: home, Parent: x.Session, ID: x.Key.ID})}
		for _, p := range placesOfRef(x) {
			g.add(home, p.what, p.id, u)
		}
	}
	s.sharedMounts(homeOf, g)
	s.sharedByLabel(homeOf, g)
	var out []*SharedStorage
	for _, p := range g.many {
		stable.Sort(p.Users, func(a, b StorageUser) int {
			return cmp.Or(a.Session.Compare(b.Session), a.Workspace.Compare(b.Workspace))
		})
		out = append(out, p.apart(within)...)
	}
	stable.Sort(out, func(a, b *SharedStorage) int {
		return cmp.Or(strings.Compare(a.Home, b.Home), strings.Compare(string(a.What), string(b.What)), a.ID.Compare(b.ID), strings.Compare(a.Of, b.Of))
	})
	return slices.Values(out)
}

// apart parts users whose equal ids name different things: an id means something within one provider and namespace only.
// A user that does not say which belongs to the only one that others say.
func (p *SharedStorage) apart(within bool) []*SharedStorage {
	of := func(u StorageUser) string {
		if p.What == StorageScratch {
			return ""
		}
		if p.What == StorageSandbox && !u.Namespace.IsZero() {
			return u.Provider.String() + "/" + u.Namespace.Raw()
		}
		return u.Provider.String()
	}
	groups := map[string][]StorageUser{}
	for _, u := range p.Users {
		groups[of(u)] = append(groups[of(u)], u)
	}
	names := slices.Sorted(maps.Keys(groups))
	slices.Reverse(names) // the longer ones first: what says less joins what says more
	for _, name := range names {
		users := groups[name]
		var wider []string
		for other := range groups {
			if other != name && (name == "" || strings.HasPrefix(other, name+"/")) {
				wider = append(wider, other)
			}
		}
		if len(wider) == 1 {
			groups[wider[0]] = append(groups[wider[0]], users...)
			delete(groups, name)
		}
	}
	if len(groups) == 1 {
		return []*SharedStorage{p}
	}
	var out []*SharedStorage
	for name, users := range groups {
		one := *p
		one.Of, one.Users = name, users
		stable.Sort(one.Users, func(a, b StorageUser) int {
			return cmp.Or(a.Session.Compare(b.Session), a.Workspace.Compare(b.Workspace))
		})
		if one.Sessions() > 1 || within && len(one.Users) > 1 {
			out = append(out, &one)
		}
	}
	return out
}

// sharedMounts looks at scratch directories that are mounted writable; other mounts are shared on purpose all the time.
func (s *State) sharedMounts(homeOf func(string, backend.ID) string, g *storageCollector) {
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
				g.add(homeOf(b.Key.Source, b.Session), StorageScratch, m.RawSource, StorageUser{Session: b.Session, Workspace: b.Workspace, Evidence: &b.Meta})
			}
		}
	}
}

// Sessions counts the sessions among the users.
func (p *SharedStorage) Sessions() int {
	seen := map[backend.ID]bool{}
	for _, u := range p.Users {
		seen[u.Session] = true
	}
	return len(seen)
}

// Intended reports whether the sharing is declared: on all sides, or by inheritance.
func (p *SharedStorage) Intended() bool {
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

// Declared counts the users that declare that they inherit workspaces, and those that declare that they share their own.
func (p *SharedStorage) Declared() (inherits, shares int) {
	for _, u := range p.Users {
		if u.Entity == nil {
			continue
		}
		if u.Entity.InheritWorkspaces.Or(false) {
			inherits++
		}
		if u.Entity.ShareAcrossSessions.Or(false) {
			shares++
		}
	}
	return inherits, shares
}

// NamedSession is the user's session whose id is part of the storage's id. It is zero when there is none: then the id was
// given explicitly, and every session of that declaration uses it.
func (p *SharedStorage) NamedSession() backend.ID {
	named := backend.ID{}
	if of, digits := p.AgentNamed(); digits != "" {
		if len(of) == 1 {
			named = of[0]
		}
		return named
	}
	id := strings.ToLower(p.ID.Raw())
	for _, u := range p.Users {
		if backend.HoldsWord(id, strings.ToLower(u.Session.Raw())) {
			named = u.Session
		}
	}
	return named
}

// AgentNamed is after which of its users' sessions an agent SDK named a sandbox: those that begin with the digits in its name. digits is
// empty for a name of another form.
func (p *SharedStorage) AgentNamed() (of []backend.ID, digits string) {
	if digits = agentDigits(p.ID.Raw()); digits == "" {
		return nil, ""
	}
	for _, u := range p.Users {
		if strings.HasPrefix(strings.ReplaceAll(strings.ToLower(u.Session.Raw()), "-", ""), digits) && !slices.Contains(of, u.Session) {
			of = append(of, u.Session)
		}
	}
	return of, digits
}

// SessionOf looks the session of a user up, nil when it is not listed.
func (p *SharedStorage) SessionOf(s *State, u StorageUser) *backend.Session {
	return s.Session(backend.Key{Kind: backend.KindSession, Source: p.Home, ID: u.Session})
}

// Tenants lists the tenants of the users that are named, sorted, and whether some are not.
func (p *SharedStorage) Tenants(s *State) (out []backend.Safe, unknown bool) {
	for _, u := range p.Users {
		x := p.SessionOf(s, u)
		switch {
		case x == nil || x.Tenant.IsEmpty():
			unknown = true
		case !slices.Contains(out, x.Tenant):
			out = append(out, x.Tenant)
		}
	}
	stable.Sort(out, func(a, b backend.Safe) int { return strings.Compare(a.String(), b.String()) })
	return out, unknown
}

// SecondStart is when the second of the sessions started. From then on two of them use the storage at once. It is zero
// when fewer than two starts are known. at reads a time of a session; a zero one is not known.
func (p *SharedStorage) SecondStart(s *State, at func(*backend.Session) time.Time) time.Time {
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
	stable.Sort(starts, time.Time.Compare)
	return starts[1]
}
