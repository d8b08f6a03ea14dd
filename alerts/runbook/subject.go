package runbook

import (
	"strings"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// SubjectOfAlert is what to diagnose for an alert: its subject when it has one, else its source, so that all subjects
// are seen together.
func SubjectOfAlert(a *alerts.Alert) backend.Key {
	if a.SubjectCount == 1 && len(a.Subjects) == 1 {
		return a.Subjects[0].Key
	}
	if a.Source == "" {
		return backend.Key{}
	}
	return backend.Key{Kind: backend.KindSource, Source: a.Source, ID: backend.MustID(a.Source)}
}

// SubjectOf finds what an id on a ticket means: the path of a workspace, the id of a session, sandbox, host or source,
// the name of a sandbox, the path of a scratch directory. An id that nothing has is taken for a session that is not
// listed any more.
func SubjectOf(st *fleet.State, id backend.ID) backend.Key {
	var named backend.Key
	for w := range st.Workspaces.All() {
		if w.Key.Path() == id {
			return w.Key
		}
	}
	for x := range st.Sessions.All() {
		if x.Key.ID == id {
			return x.Key
		}
	}
	for sb := range st.Sandboxes.All() {
		if sb.Key.ID == id {
			return sb.Key
		}
		if sb.Name.String() == strings.TrimPrefix(id.Raw(), "/") {
			named = sb.Key
		}
	}
	for t := range st.Tmpdirs.All() {
		if t.Key.ID == id || t.RawPath == id {
			return t.Key
		}
	}
	for h := range st.Hosts.All() {
		if h.Key.ID == id {
			return h.Key
		}
	}
	if h := st.Source(id.Raw()); h != nil {
		return h.Key
	}
	if named.Kind != "" {
		return named
	}
	return backend.Key{Kind: backend.KindSession, ID: id}
}
