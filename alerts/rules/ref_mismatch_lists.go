package rules

import (
	"slices"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// platformList is the list that proves the sandbox of an agent's saved state gone: of its cloud platform, and the organisation that it
// is in, also where none of the ids that references name is in it; list where it is of another kind. False: what is missing is told.
func platformList(env *alerts.Env, x *backend.Ref, lists []sandboxes, list *sandboxes) (*sandboxes, alerts.Verdict, bool) {
	whole, lacks, why := env.State.ListsOf(x)
	if !why.IsEmpty() {
		v := alerts.Verdict{Outcome: alerts.NoData, Why: why}
		if lacks != nil {
			v.Source = lacks.Key.Source
		}
		return nil, v, false
	}
	for _, h := range whole {
		i := slices.IndexFunc(lists, func(l sandboxes) bool { return l.source == h.Key.Source })
		if i >= 0 && h.Delivers(backend.InputPlatform) {
			return &lists[i], alerts.Verdict{}, true
		}
	}
	return list, alerts.Verdict{}, true
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
