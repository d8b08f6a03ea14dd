package runbook

import (
	"slices"
	"strings"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/internal/stable"
)

// explicitID is a sandbox id or namespace that a declaration gives, with the flag of its workspace.
type explicitID struct {
	what fleet.StorageKind
	id   backend.ID
	flag fleet.SharingFlag
	from origin
}

func (x explicitID) text() backend.Safe {
	switch x.flag {
	case fleet.FlagNone:
		return backend.Textf("%s %s (no flag exists)", backend.Clean(string(x.what), 20), x.id.Safe())
	case fleet.FlagInherit:
		return backend.Textf("%s %s (inheritWorkspaces)", backend.Clean(string(x.what), 20), x.id.Safe())
	case fleet.FlagSet, fleet.FlagUnset, fleet.FlagPartly, fleet.FlagUnknown:
	}
	return backend.Textf("%s %s (shareAcrossSessions %s)", backend.Clean(string(x.what), 20), x.id.Safe(), backend.Clean(string(x.flag), 20))
}

// explicitIDs are the ids and namespaces of the subject's workspaces that are no defaults, each once; known counts the
// workspaces whose place is named at all.
func (s *subjectView) explicitIDs() (all []explicitID, known int) {
	made := map[backend.ID]bool{}
	for b := range s.State.Sandboxes.All() {
		made[b.Key.ID] = made[b.Key.ID] || b.NamedBy != backend.NamedByRef // else it has the id of a reference
	}
	stored := map[backend.Key]*backend.Ref{}
	for r := range s.State.Refs.All() {
		stored[backend.Key{Parent: r.Session, ID: r.Key.ID}] = r
	}
	seen := map[explicitID]bool{}
	for _, w := range s.workspaces {
		sandbox, namespace, from := w.ProviderID, w.Namespace, s.from(&w.Meta)
		if r := stored[backend.Key{Parent: w.Key.Parent, ID: w.Key.ID}]; r != nil && sandbox.IsZero() && namespace.IsZero() {
			sandbox, from = r.Sandbox, s.from(&r.Meta)
			if sandbox.IsZero() {
				namespace = r.Namespace
			}
		}
		if !sandbox.IsZero() || !namespace.IsZero() {
			known++
		}
		for what, id := range map[fleet.StorageKind]backend.ID{fleet.StorageSandbox: sandbox, fleet.StorageNamespace: namespace} {
			if id.IsZero() || made[id] || !fleet.ExplicitID(id, w.Key.Parent) {
				continue
			}
			p := fleet.SharedStorage{What: what, Users: []fleet.StorageUser{{Entity: w}}}
			x := explicitID{what: what, id: id, flag: p.Flag()}
			if !seen[x] {
				seen[x] = true
				x.from = from
				all = append(all, x)
			}
		}
	}
	stable.Sort(all, func(a, b explicitID) int { return strings.Compare(a.text().String(), b.text().String()) })
	return all, known
}

// explicit asks for ids and namespaces that every session of a declaration would use, also with one user.
func (s *subjectView) explicit(all []explicitID, known int) Check {
	q := question{"explicit", "Are sandbox ids or namespaces given explicitly?", "the sandbox id and namespace of each workspace, in the aggregate route, in a declaration or by a refs source"}
	var texts []backend.Safe
	for _, x := range all[:min(len(all), 5)] {
		texts = append(texts, x.text())
	}
	switch more := len(all) - len(texts); {
	case more > 0:
		return q.yes(all[0].from, "given explicitly: %s and %d more", backend.Join(texts, ", "), more)
	case len(all) > 0:
		return q.yes(all[0].from, "given explicitly: %s", backend.Join(texts, ", "))
	case known > 0 && known == len(s.workspaces):
		return s.settle(q.no(s.newest(), "each of %s uses the default of its session", plural(known, "workspace")), q)
	}
	return q.unsure("the sandbox id or namespace of %s is not read", plural(len(s.workspaces)-known, "workspace"))
}

// assertion asks for the refusal of round 4: an explicit id without the flag that permits to share it.
func (s *subjectView) assertion(concerned []backend.ID) Check {
	q := question{"assertion", "Does a provider refuse an id whose sharing is not declared?", "lastError of the workspace while its session runs"}
	n, first := 0, (*reportedError)(nil)
	for i := range s.errors {
		if backend.HoldsWord(strings.ToLower(s.errors[i].text.String()), "shareacrosssessions") {
			if n++; first == nil {
				first = &s.errors[i]
			}
		}
	}
	switch {
	case first != nil && n == 1:
		return q.yes(first.from, "%s reports: %s", first.who, first.text)
	case first != nil:
		return q.yes(first.from, "%s name it, %s for one: %s", plural(n, "error"), first.who, first.text)
	case s.mute > 0 || s.unread > 0:
		return q.unsure("not every error is read")
	case len(s.workspaces) == 0:
		return q.unsure("no workspace of this subject is listed")
	}
	read := len(s.workspaces)
	for _, id := range concerned {
		if id == s.sessionID || s.wide {
			continue
		}
		own := 0
		for w := range s.State.Workspaces.Of(backend.KindWorkspace, s.home, id) {
			own++
			if backend.HoldsWord(strings.ToLower(w.LastError.String()), "shareacrosssessions") {
				return q.yes(s.from(&w.Meta), "%s reports: %s", w.Key.Safe(), backend.Clean(w.LastError.String(), 200))
			}
		}
		if own == 0 {
			return q.unsure("the errors of session %s are not read", id.Safe())
		}
		read += own
	}
	return s.settle(q.no(s.newest(), "no error of %s names shareAcrossSessions", plural(read, "workspace")), q)
}

// labelled asks for a container that its label gives to one session and a stored reference to another.
func (s *subjectView) labelled() Check {
	q := question{"label", "Is a container labelled for one session under another's reference?", "a container source with session labels, and a source of persisted refs that names sandboxes"}
	byID := map[backend.ID]*backend.Sandbox{}
	for b := range s.State.Sandboxes.All() {
		if b.IsSandbox && !b.Session.IsZero() && b.Provider.String() != "cloudflare" { // there a reference itself names the session
			byID[b.Key.ID] = b
		}
	}
	var seen *backend.Sandbox
	for r := range s.State.Refs.All() {
		b := byID[r.Sandbox]
		if r.Sandbox.IsZero() || b == nil || r.Session.IsZero() || !s.sessionID.IsZero() && r.Session != s.sessionID && b.Session != s.sessionID {
			continue
		}
		if b.Session != r.Session {
			return q.yes(s.from(&b.Meta), "%s is labelled for session %s, and the reference of session %s names it", b.Name, b.Session.Safe(), r.Session.Safe())
		}
		seen = b
	}
	if seen != nil {
		return q.no(s.from(&seen.Meta), "the labels and the references that are read name the same sessions")
	}
	return q.unsure("no labelled container of this subject is named by a stored reference")
}

// adviseFlags says what to do with shared and explicit ids by their flag.
func (s *subjectView) adviseFlags(d *Diagnosis, places []*fleet.SharedStorage, explicit []explicitID) {
	all := slices.Clone(explicit)
	for _, p := range places {
		_, sdk := p.AgentNamed()
		if p.What != fleet.StorageScratch && p.NamedSession().IsZero() && sdk == "" {
			all = append(all, explicitID{what: p.What, id: p.ID, flag: p.Flag()})
		}
	}
	name := func(flags ...fleet.SharingFlag) (backend.Safe, bool) {
		i := slices.IndexFunc(all, func(x explicitID) bool { return slices.Contains(flags, x.flag) })
		if i < 0 {
			return backend.Safe{}, false
		}
		return all[i].id.Safe(), true
	}
	if id, ok := name(fleet.FlagUnset, fleet.FlagUnknown, fleet.FlagPartly); ok {
		d.do("Remove the id, or set shareAcrossSessions. It is not set for %s; set it where sharing is wanted.", id)
	} else if d.is("assertion") {
		d.do("Remove the id, or set shareAcrossSessions. Set it where sharing is wanted.")
	}
	if id, ok := name(fleet.FlagSet); ok {
		d.do("Review the threat model of the sessions that share. The flag shareAcrossSessions is set for %s.", id)
	}
	if id, ok := name(fleet.FlagNone); ok {
		d.do("Remove an explicit namespace. Keep %s only if all of its sessions may see the same files.", id)
	}
	if _, ok := name(fleet.FlagInherit); ok || d.is("inherit") {
		d.do("Keep inheritWorkspaces for narrow admin tools only. A child sees all files of its parent.")
	}
}
