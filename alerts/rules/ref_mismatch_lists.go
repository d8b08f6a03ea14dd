package rules

import (
	"slices"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// listOfPlatform is the list that proves a sandbox of a cloud platform gone though none of the ids that references name is in it: a list
// of a whole platform also proves it where it is empty. nil: there is none.
func listOfPlatform(env *alerts.Env, x *backend.Ref, lists []sandboxes) *sandboxes {
	whole, _ := env.State.ListsOf(x)
	for _, h := range whole {
		i := slices.IndexFunc(lists, func(l sandboxes) bool { return l.source == h.Key.Source })
		if i >= 0 && h.Delivers(backend.InputPlatform) {
			return &lists[i]
		}
	}
	return nil
}

// Blind says where saved references cannot be compared, since the list of a platform that answers is not whole.
func (r *refMismatch) Blind(st *fleet.State, _ *fleet.SourceHealth) (backend.Safe, bool) {
	for _, h := range st.Sources {
		answers := h.Status == fleet.StatusOK || h.Status == fleet.StatusDegraded
		if st.Refs.Len() == 0 || !answers || !h.Unseen || !h.Delivers(backend.InputPlatform) {
			continue
		}
		if why := st.NotWhole(h); !why.IsEmpty() {
			return why, true
		}
	}
	return backend.Safe{}, false
}
