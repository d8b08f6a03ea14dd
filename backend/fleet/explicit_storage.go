package fleet

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// Explicit finds the sandbox ids and namespaces that a declaration or a stored reference gives explicitly and that one
// workspace alone uses. Every other
// session of that declaration would use the same. Ids that hold the session's own id are defaults, and those of listed
// sandboxes were made by their platform.
func (s *State) Explicit(homeOf func(source string, session backend.ID) string) iter.Seq[*SharedStorage] {
	type place struct {
		home, what string
		id         backend.ID
	}
	made := map[backend.ID]bool{}
	for b := range s.Sandboxes.All() {
		made[b.Key.ID] = true
	}
	shared := map[place]bool{}
	for p := range s.Shared(homeOf, true) {
		shared[place{p.Home, string(p.What), p.ID}] = true
	}
	var out []*SharedStorage
	add := func(home string, what StorageKind, id backend.ID, u StorageUser) {
		at := place{home, string(what), id}
		if home == "" || id.IsZero() || made[id] || shared[at] || !ExplicitID(id, u.Session) {
			return
		}
		shared[at] = true
		out = append(out, &SharedStorage{Home: home, What: what, ID: id, Users: []StorageUser{u}})
	}
	for w := range s.Workspaces.All() {
		for _, p := range placesOfWorkspace(w) {
			add(w.Key.Source, p.what, p.id, StorageUser{Session: w.Key.Parent, Workspace: w.Key.ID, Entity: w, Evidence: &w.Meta})
		}
	}
	for x := range s.Refs.All() {
		if x.Sandbox.IsZero() && x.Namespace.IsZero() || x.Session.IsZero() {
			continue
		}
		home := homeOf(x.Key.Source, x.Session)
		u := StorageUser{Session: x.Session, Workspace: x.Key.ID, Evidence: &x.Meta, Provider: x.Provider, Namespace: x.Namespace,
			Entity: s.Workspace(backend.Key{Kind: backend.KindWorkspace, Source: home, Parent: x.Session, ID: x.Key.ID})}
		for _, p := range placesOfRef(x) {
			add(home, p.what, p.id, u)
		}
	}
	stable.Sort(out, func(a, b *SharedStorage) int {
		return cmp.Or(strings.Compare(a.Home, b.Home), strings.Compare(string(a.What), string(b.What)), a.ID.Compare(b.ID))
	})
	return slices.Values(out)
}

// generatedDigits is from how many hexadecimal digits on an id counts as made by a platform.
const generatedDigits = 16

// ExplicitID reports whether an id was given by a person: a default holds the id of its session, one that a platform made is a long
// number, and an agent SDK names a sandbox agents- and digits.
func ExplicitID(id, session backend.ID) bool {
	raw := strings.ToLower(id.Raw())
	hex := strings.Map(func(r rune) rune {
		if strings.ContainsRune("0123456789abcdef-", r) {
			return -1
		}
		return r
	}, raw)
	generated := hex == "" && len(raw)-strings.Count(raw, "-") >= generatedDigits
	return !generated && agentDigits(raw) == "" && !backend.HoldsWord(raw, strings.ToLower(session.Raw()))
}

// SharingFlag is what a storage's users declare about sharing it.
type SharingFlag string

// The flags.
const (
	FlagNone    SharingFlag = ""             // there is no such flag for it
	FlagSet     SharingFlag = "set"          // all declare that it may be shared
	FlagUnset   SharingFlag = "unset"        // one at least declares that it may not
	FlagPartly  SharingFlag = "set for some" // some declare nothing
	FlagUnknown SharingFlag = "not declared" // nothing is declared
	FlagInherit SharingFlag = "inherited"    // inheritWorkspaces: children see their parent's files
)

// Flag is what the users declare: shareAcrossSessions for sandboxes, inheritWorkspaces before it.
func (p *SharedStorage) Flag() SharingFlag {
	set, unset := 0, 0
	for _, u := range p.Users {
		if u.Entity == nil {
			continue
		}
		if u.Entity.InheritWorkspaces.Or(false) {
			return FlagInherit
		}
		if v, ok := u.Entity.ShareAcrossSessions.Get(); ok && v {
			set++
		} else if ok {
			unset++
		}
	}
	switch {
	case p.What != StorageSandbox:
		return FlagNone
	case unset > 0:
		return FlagUnset
	case set == len(p.Users):
		return FlagSet
	case set > 0:
		return FlagPartly
	}
	return FlagUnknown
}
