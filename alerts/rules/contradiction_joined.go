package rules

import (
	"cmp"
	"slices"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/internal/stable"
)

// joined are the members of an incident with those that show the same line of their agents' logs at the same time, which alone proves no
// fault: where many are proved to fail so, it is of the same trouble.
func joined(all, pending []member) []member {
	all = slices.Clone(all)
	from, to := all[0].at.Add(-incidentGap), all[len(all)-1].at.Add(incidentGap)
	for _, m := range pending {
		if !m.at.Before(from) && !m.at.After(to) {
			all = append(all, m)
		}
	}
	stable.Sort(all, func(x, y member) int { return cmp.Or(x.at.Compare(y.at), x.key.Compare(y.key)) })
	return all
}

// fails reports whether a plane fails.
func (n *contradictionNote) fails(p backend.Plane) bool {
	return n != nil && slices.ContainsFunc(n.Failed, func(f failedPlane) bool { return f.Plane == p })
}

// firstOnset joins the bounds of the first onset of an incident with those of one more member.
func firstOnset(all, of alerts.Bounds) alerts.Bounds {
	if all.Latest.IsZero() {
		return of
	}
	if of.Latest.Before(all.Latest) {
		all.Latest = of.Latest
	}
	if of.Earliest.Before(all.Earliest) { // zero: it may have begun at any time before
		all.Earliest = of.Earliest
	}
	return all
}

// worked is when a sandbox is last known to have worked before its fault, at steady time; zero: never. Behind a Worker that is no
// earlier than its container began, which is on a disk of its own.
func (n *contradictionNote) worked(env *alerts.Env, b *backend.Sandbox) time.Time {
	at := steadyOf(env, b, n.Worked)
	if started := env.Time(&b.Meta, b.StartedAt); onWorkers(b) && !at.IsZero() && at.Before(started) && !started.After(steadyOf(env, b, n.Began)) {
		return started
	}
	return at
}
