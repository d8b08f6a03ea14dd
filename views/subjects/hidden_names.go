package subjects

import (
	"path"
	"slices"
	"strings"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/names"
)

// HideNames adds the names of a moment's subjects to those that are hidden: of what changed after the State with the number since,
// where the State still knows it, else of all. Names of what is gone stay hidden.
func HideNames(n *names.Set, s *views.Snapshot, since uint64) {
	for _, h := range s.State.Sources {
		n.Add(h.Key.Source)
		for _, r := range h.Rejections {
			hideIDs(n, r.Session)
			hideWorkspace(n, r.Workspace)
		}
	}
	for _, a := range s.Board.Alerts {
		for i := range a.Subjects {
			hideKey(n, a.Subjects[i].Key)
		}
	}
	for i := range s.Events {
		hideEvent(n, &s.Events[i], s.Board)
	}
	if deltas, complete := changesSince(s.State, since); complete {
		for _, d := range deltas {
			for _, k := range d.Changed {
				if e := s.State.Entity(k); e != nil {
					hideEntity(n, e)
				}
			}
		}
		return
	}
	for _, k := range kinds {
		if k.is() == backend.KindSource {
			continue // their health is not an entity
		}
		rows := s.State.Rows(k.is())
		for i := range rows.Len() {
			hideEntity(n, rows.Entity(i))
		}
	}
}

func changesSince(s *fleet.State, since uint64) (deltas []fleet.Delta, complete bool) {
	switch {
	case since == 0 || s.Number < since:
		return nil, false
	case s.Number == since:
		return nil, true
	}
	return s.ChangesSince(since)
}

// hideEvent adds what an event is about, which may be in no State: what is remembered of it, and the names in the sentence about a
// container, whose second word is one, and the last where it was renamed.
func hideEvent(n *names.Set, e *backend.Event, b *alerts.Board) {
	hideKey(n, e.Subject)
	if p, ok := b.Past(e.Subject); ok {
		hideEntity(n, p.Entity)
	}
	if words := strings.Fields(e.Text.String()); e.Subject.Kind == backend.KindSandbox && len(words) > 2 && words[0] == "container" {
		n.Add(words[1])
		if e.Name == "rename" {
			n.Add(words[len(words)-1])
		}
	}
}

// withoutNames are the kinds whose ids are no names of subjects.
var withoutNames = []backend.Kind{backend.KindSource, views.KindAlert, views.KindEvent, views.KindSharedStorage, views.KindRejection, views.KindEviction, ""}

func hideKey(n *names.Set, k backend.Key) {
	switch {
	case k.Kind == backend.KindTmpdir: // its id is numbers and a path
		if parts := strings.SplitN(k.ID.Safe().String(), ":", 3); len(parts) == 3 {
			hidePath(n, parts[2])
		}
		hideIDs(n, k.ID, k.Parent)
	case slices.Contains(withoutNames, k.Kind):
	case k.Kind == backend.KindWorkspace || k.Kind == backend.KindRef:
		hideIDs(n, k.Parent)
		hideWorkspace(n, k.ID)
	default:
		hideIDs(n, k.ID, k.Parent)
	}
}

// unnamed is the id of the single workspace without a name.
const unnamed = "workspace"

// hideEntity adds what an entity is called, and what it names.
func hideEntity(n *names.Set, e backend.Entity) {
	key := e.EntityMeta().Key
	hideKey(n, key)
	for _, name := range otherNames(e) {
		n.Add(name)
	}
	switch e := e.(type) {
	case *backend.Workspace:
		hideIDs(n, e.ProviderID, e.Namespace, e.Moved)
	case *backend.Session:
		hideSafe(n, e.Tenant)
		hideIDs(n, e.BranchedFrom)
		if e.Hub != nil {
			hideSafe(n, e.Hub.Label)
			hideIDs(n, e.Hub.Sandbox)
		}
	case *backend.Sandbox:
		hideSafe(n, e.Name, e.Org, e.Application)
		hideIDs(n, e.Session, e.Container, e.BridgeID)
		hideWorkspace(n, e.Workspace)
		for _, l := range e.Labels {
			if named := lastWord(l.Name.String()); slices.Contains(whoseLabels, named) && !l.Value.IsEmpty() {
				n.AddWord(l.Value.String())
			}
		}
		for _, m := range e.Mounts {
			if m.Type.String() == "volume" {
				hideSafe(n, m.Source)
			}
		}
	case *backend.Tmpdir:
		hidePath(n, e.Path.String())
	case *backend.Ref:
		hideIDs(n, e.Session, e.Sandbox, e.Namespace)
	case *backend.Host:
		hideSafe(n, e.Name)
	case backend.Worker:
		hideIDs(n, e.AsWork().Sandbox, e.AsWork().Session)
	}
}

// whoseLabels are the last words of the names of labels that say whose a sandbox is, or what it is called.
var whoseLabels = []string{"customer", "name", "owner", "project", "service", "session", "team", "tenant", "user", "workspace"}

func lastWord(name string) string {
	return strings.ToLower(name[strings.LastIndexAny(name, ".-_/")+1:])
}

// hideWorkspace adds the name of a workspace, which is mostly what it is for.
func hideWorkspace(n *names.Set, id backend.ID) {
	if !id.IsZero() && id.Raw() != unnamed {
		n.AddWord(id.Safe().String())
	}
}

func hideSafe(n *names.Set, all ...backend.Safe) {
	for _, s := range all {
		n.Add(s.String())
	}
}

// hideIDs adds ids, and the short form in which long hexadecimal ones are shown.
func hideIDs(n *names.Set, all ...backend.ID) {
	for _, id := range all {
		if id.IsZero() {
			continue
		}
		name := id.Safe().String()
		n.Add(name)
		if hexadecimal.MatchString(name) {
			n.AddAs(name[:shortID], name)
		}
	}
}

// hidePath adds a path, and its last part with the same hash.
func hidePath(n *names.Set, p string) {
	n.Add(p)
	if base := path.Base(p); base != "/" && base != "." {
		n.AddAs(base, p)
	}
}
