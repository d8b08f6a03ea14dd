package fleet

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"sandglass/backend"
)

// Explicit finds the sandbox ids and namespaces that a declaration gives and that one workspace alone uses. Every other
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
	for w := range s.Workspaces.All() {
		for _, p := range placesOfWorkspace(w) {
			if p.id.IsZero() || made[p.id] || shared[place{w.Key.Source, string(p.what), p.id}] ||
				backend.HoldsWord(strings.ToLower(p.id.Raw()), strings.ToLower(w.Key.Parent.Raw())) {
				continue
			}
			out = append(out, &SharedStorage{Home: w.Key.Source, What: p.what, ID: p.id,
				Users: []StorageUser{{Session: w.Key.Parent, Workspace: w.Key.ID, Entity: w, Evidence: &w.Meta}}})
		}
	}
	slices.SortFunc(out, func(a, b *SharedStorage) int {
		return cmp.Or(strings.Compare(a.Home, b.Home), strings.Compare(string(a.What), string(b.What)), a.ID.Compare(b.ID))
	})
	return slices.Values(out)
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
