package runbook

import (
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"sandglass/backend"
)

// refVersions are the references of the subject's source by version.
type refVersions struct {
	of          map[int]int
	unversioned int // without a schemaVersion
	total       int
	agent       int // session states of an agent SDK, which have none
	from        origin
}

func (s *subjectView) refVersions() refVersions {
	out := refVersions{of: map[int]int{}}
	add := func(v backend.Value[int], o origin) {
		out.total++
		out.from = o
		if n, ok := v.Get(); ok {
			out.of[n]++
		} else if v.IsNotApplicable() {
			out.unversioned++
		}
	}
	for _, r := range s.Refs {
		if s.speaksHere(r.Source) && r.Agent {
			out.agent++
		} else if s.speaksHere(r.Source) {
			add(r.SchemaVersion, origin{r.Source, r.At})
		}
	}
	if out.total > 0 {
		return out
	}
	for x := range s.State.Sessions.All() {
		if !s.here(x.Key.Source) {
			continue
		}
		for _, ref := range x.WorkspaceRefs {
			if v, ok := refVersion(ref.String()); ok {
				add(backend.Known(v), s.from(&x.Meta))
			}
		}
	}
	return out
}

// histogram writes how many references have which version.
func (v refVersions) histogram() backend.Safe {
	versions := make([]int, 0, len(v.of))
	for n := range v.of {
		versions = append(versions, n)
	}
	sort.Ints(versions)
	parts := make([]string, 0, len(versions)+1)
	for _, n := range versions {
		parts = append(parts, strconv.Itoa(v.of[n])+" of version "+strconv.Itoa(n))
	}
	if v.unversioned > 0 {
		parts = append(parts, strconv.Itoa(v.unversioned)+" without a schemaVersion")
	}
	return backend.Clean(strings.Join(parts, ", "), 400)
}

// histogram counts the versions of references, from persisted references, session facts and errors.
func (s *subjectView) histogram() Check {
	q := question{"versions", "Are references of different versions stored?", "a source of persisted refs, or workspaceRefs in the list route"}
	v := s.refVersions()
	named, inErrors := s.wanted()
	kinds := len(v.of)
	if v.unversioned > 0 {
		kinds++
	}
	switch {
	case kinds == 0 && inErrors:
		return q.unsure("no stored reference is read; the errors name version %d", named)
	case kinds == 0 && v.agent > 0:
		return q.unsure("the stored references are %s of an agent SDK, whose own versions are told by refs check", backend.Counted(v.agent, "session state", "session states"))
	case kinds == 0:
		return q.unsure("no stored reference is read")
	case inErrors && v.of[named] == 0:
		return q.yes(v.from, "the references that are read: %s; the errors name version %d", v.histogram(), named)
	case kinds > 1:
		return q.yes(v.from, "%s", v.histogram())
	}
	return q.no(v.from, "all references read: %s", v.histogram())
}

// unversioned asks for references that a release before round 4 wrote.
func (s *subjectView) unversioned() Check {
	q := question{"unversioned", "Are references stored without a schemaVersion?", "a source of persisted refs"}
	switch v := s.refVersions(); {
	case v.total == 0 && v.agent > 0:
		return q.unsure("the stored references are %s of an agent SDK, whose own versions are told by refs check", backend.Counted(v.agent, "session state", "session states"))
	case v.total == 0:
		return q.unsure("no stored reference is read")
	case v.unversioned > 0:
		return q.yes(v.from, "%d of %s without a schemaVersion: a release before round 4 wrote them", v.unversioned, plural(v.total, "reference"))
	default:
		return q.no(v.from, "each of %s carries a schemaVersion", plural(v.total, "reference"))
	}
}

// newer asks for a container that was created after the reference of its session was saved: it is another sandbox than the
// one that the reference was written for.
func (s *subjectView) newer() Check {
	q := question{"newer", "Is the sandbox newer than its reference?", "a source of persisted refs that gives the time of saving, and a container source"}
	var seen *backend.Sandbox
	var saved time.Time
	by := map[backend.ID][]*backend.Sandbox{} // by session, and by their own id and name
	for _, b := range s.sandboxes {
		session := s.State.SessionOn(b)
		by[session] = append(by[session], b)
		by[b.Key.ID] = append(by[b.Key.ID], b)
		if name, err := backend.NewID(b.Name.String()); err == nil && name != b.Key.ID {
			by[name] = append(by[name], b)
		}
	}
	for r := range s.State.Refs.All() {
		at, dated := r.SavedAt.Get()
		if !dated || !s.sessionID.IsZero() && r.Session != s.sessionID || s.State.EndedOf(r) != nil {
			continue
		}
		own := by[r.Sandbox]
		if r.Sandbox.IsZero() {
			own = by[r.Session]
		}
		i := slices.IndexFunc(own, func(b *backend.Sandbox) bool {
			return !r.Sandbox.IsZero() || r.Workspace.IsZero() || b.Workspace == r.Workspace
		})
		if i < 0 {
			continue
		}
		b := own[i]
		made, ok := b.CreatedAt.Get()
		if !ok {
			continue
		}
		if made.Sub(at) > clockSlack {
			return q.yes(s.from(&b.Meta), "%s was created at %s, and the reference of session %s was saved at %s: it is another sandbox than the reference was written for",
				b.Name, stamp(made), r.Session.Safe(), stamp(at))
		}
		seen, saved = b, at
	}
	if seen != nil {
		return q.no(s.from(&seen.Meta), "%s was created before its reference was saved, at %s", seen.Name, stamp(saved))
	}
	return q.unsure("no container and reference of this subject give both times")
}

// clockSlack is how far the clocks of two hosts may differ.
const clockSlack = 5 * time.Second

// stamp is a time with its day.
func stamp(t time.Time) backend.Safe {
	return backend.Clean(t.UTC().Format("2006-01-02 15:04:05Z"), 30)
}
