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

// SubjectsOf finds what an id on a ticket means: the path of an entity or the id of a source, else the entities with that
// alias, such as the name of a sandbox; then what the Board remembers. An id that nothing has is taken for a session that is
// not listed any more.
func SubjectsOf(st *fleet.State, b *alerts.Board, id backend.ID) []backend.Key {
	var called []backend.Key
	for _, kind := range backend.SubjectKinds() {
		rows := st.Rows(kind.Kind)
		for i := range rows.Len() {
			e := rows.Entity(i)
			k := e.EntityMeta().Key
			if k.Path() == id {
				return []backend.Key{k}
			}
			if alias := backend.Alias(e); alias != "" && (alias == id.Raw() || alias == strings.TrimPrefix(id.Raw(), "/")) {
				called = append(called, k)
			}
		}
	}
	if h := st.Source(id.Raw()); h != nil {
		return []backend.Key{h.Key}
	}
	if len(called) > 0 {
		return called
	}
	for _, kind := range []backend.Kind{backend.KindSession, backend.KindWorkspace} {
		for _, p := range b.PastOf(kind) {
			if k := p.Entity.EntityMeta().Key; k.Path() == id {
				called = append(called, k)
			}
		}
	}
	if len(called) > 0 {
		return called
	}
	return []backend.Key{{Kind: backend.KindSession, ID: id}}
}
