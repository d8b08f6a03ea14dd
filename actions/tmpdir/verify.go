package tmpdir

import (
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// cleanVerifier verifies clean: no root lists the directory under its name.
type cleanVerifier struct{}

// Verify looks for the directory in the State.
func (cleanVerifier) Verify(t actions.Target, issued time.Time, s *fleet.State) actions.Verdict {
	return actions.Gone(t, issued, s)
}

// purgeVerifier verifies purge: no root lists the directory among those set aside.
type purgeVerifier struct{}

// Verify looks for the directory among what waits.
func (purgeVerifier) Verify(t actions.Target, issued time.Time, s *fleet.State) actions.Verdict {
	waits, known := waitsIn(t.Key, issued, s)
	switch {
	case !known:
		return actions.Verdict{Result: actions.ResultAccepted, Why: backend.Text("nothing was read since")}
	case waits:
		return actions.Verdict{Result: actions.ResultAccepted, Why: backend.Text("it is still there")}
	}
	return actions.Verdict{Result: actions.ResultVerified, Why: backend.Text("it is not there any more")}
}

// undoVerifier verifies undo: its root lists the directory again.
type undoVerifier struct{}

// Verify looks for the directory in both places.
func (undoVerifier) Verify(t actions.Target, issued time.Time, s *fleet.State) actions.Verdict {
	waits, known := waitsIn(t.Key, issued, s)
	switch {
	case !known:
		return actions.Verdict{Result: actions.ResultAccepted, Why: backend.Text("nothing was read since")}
	case waits || s.Tmpdirs.Get(t.Key) == nil:
		return actions.Verdict{Result: actions.ResultAccepted, Why: backend.Text("it is not listed in its place yet")}
	}
	return actions.Verdict{Result: actions.ResultVerified, Why: backend.Text("it is listed in its place again")}
}

// waitsIn reports whether the directory is among what waits, and whether its host was read after the given time.
func waitsIn(k backend.Key, issued time.Time, s *fleet.State) (waits, known bool) {
	h := s.Hosts.Get(backend.Key{Kind: backend.KindHost, Source: k.Source, ID: k.Parent})
	if h == nil {
		return false, false
	}
	known = s.ReadAt(&h.Meta).After(issued)
	for _, r := range h.Roots {
		known = known && r.Problem.IsEmpty() && r.WaitingCount == len(r.Waiting)
		for _, w := range r.Waiting {
			waits = waits || w.Key == k
		}
	}
	return waits, known
}
