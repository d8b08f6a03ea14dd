package actions

import (
	"slices"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// mostSitting is how many sessions a plan names of each kind.
const mostSitting = 5

// runs is a session that is taken to run, and why.
type runs struct {
	id  backend.ID
	why backend.Safe
}

// sitting are the sessions that run on a sandbox, and those that run and may be on it, each with why.
func sitting(st *fleet.State, b *backend.Sandbox) (on, may []runs) {
	if why := st.LiveOn(b); !why.IsEmpty() {
		on = []runs{{st.SessionOn(b), why}}
	} else {
		on = paired(st.LiveSharers(b))
	}
	may = slices.DeleteFunc(paired(st.LiveCandidates(b)), func(x runs) bool {
		return slices.ContainsFunc(on, func(o runs) bool { return o.id == x.id })
	})
	return on, may
}

func paired(ids []backend.ID, why []backend.Safe) (out []runs) {
	for i, id := range ids {
		out = append(out, runs{id, why[i]})
	}
	return out
}

// Sitting says which sessions run on a sandbox that loses something, and which may; lost is what that is for their agents.
func Sitting(st *fleet.State, b *backend.Sandbox, lost backend.Literal) (notes []backend.Safe) {
	on, may := sitting(st, b)
	for _, x := range on[:min(len(on), mostSitting)] {
		notes = append(notes, backend.Textf("a live session sits on it: %s. %s", x.why, backend.Text(lost)))
	}
	for _, x := range may[:min(len(may), mostSitting)] {
		notes = append(notes, backend.Textf("%s. %s", x.why, backend.Text(lost)))
	}
	if more := max(0, len(on)-mostSitting) + max(0, len(may)-mostSitting); more > 0 {
		notes = append(notes, backend.Textf("%s on it, or may be", backend.Counted(more, "more live session is", "more live sessions are")))
	}
	return notes
}
