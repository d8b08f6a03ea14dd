package alerts

import (
	"slices"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// Beside asks what was observed of the sandboxes near some that fail. One that works disproves that what they share is the cause.
type Beside struct {
	Source string
	Region backend.Safe // empty: of the whole source
	Planes []backend.Plane
	From   time.Time // wall: what was observed earlier tells nothing of now
	To     time.Time // wall, zero: until now
}

// BesideBefore is how long before the first failure a success may be observed that counts beside it: the looks at a fleet take time.
const BesideBefore = time.Minute

// Well counts the sandboxes that are reported at work and were observed well on one of the planes, those left out that except names.
func (q Beside) Well(state *fleet.State, except func(backend.Key) bool) int {
	n := 0
	for b := range state.Sandboxes.All() {
		if b.Key.Source == q.Source && b.Judged() && b.Class == backend.SandboxRunning && (q.Region.IsEmpty() || b.Region == q.Region) && q.works(b) && !except(b.Key) {
			n++
		}
	}
	return n
}

// works reports whether a sandbox was observed well in the time. That nothing waits in a queue proves no command to start.
func (q Beside) works(b *backend.Sandbox) bool {
	o, _ := b.Proved()
	well := false
	for _, v := range o.Verdicts {
		if !slices.Contains(q.Planes, v.Plane) {
			continue
		}
		if v.Outcome == backend.OutcomeFailed {
			return false
		}
		well = well || v.Outcome == backend.OutcomeOK && (v.Plane != backend.PlaneQueue || !v.Passive) && !v.At.Before(q.From) && (q.To.IsZero() || !v.At.After(q.To))
	}
	return well
}

// OfItself reports whether a failure is of one sandbox's own directory or disk: no region or provider removes or fills it, and each is
// repaired by itself.
func OfItself(k backend.FailureKind) bool {
	return k == backend.FailWorkDirMissing || k == backend.FailWorkDirDangling || k == backend.FailWorkDirNoDir || k == backend.FailServerDir || k == backend.FailNoSpace
}
