package rules

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// killCount is what is remembered of a kernel's counter of kills for lack of memory. It runs since the host booted, so
// that only the difference of two readings says when.
type killCount struct {
	Kills  int32     `json:"count,omitempty"`
	Limit  int32     `json:"limit,omitempty"` // of these, at limits of control groups
	Ahead  int32     `json:"ahead,omitempty"` // of Limit, read before the kills themselves
	ReadAt time.Time `json:"last,omitzero"`   // zero: never
}

// kernelKills are the kills between two readings.
type kernelKills struct {
	n, atLimits float64
	since, read time.Time // of the two readings; since is zero where there was no earlier one
}

// count brings the counter up to date. Without an earlier reading all kills since the boot are new.
func (c *killCount) count(env *alerts.Env, h *backend.Host) (kernelKills, bool) {
	kills, known := h.OOMKills.Get()
	if !known {
		return kernelKills{}, false
	}
	k := kernelKills{since: c.ReadAt, read: env.ReadAt(&h.Meta)}
	before := *c
	if boot := env.Time(&h.Meta, h.BootedAt); kills < int64(c.Kills) || boot.After(c.ReadAt) {
		before = killCount{}
	}
	limit := h.LimitKills.Or(0)
	c.Kills, c.Limit, c.Ahead, c.ReadAt = int32(kills), int32(limit), 0, k.read
	k.n = float64(kills) - float64(before.Kills)
	k.atLimits = float64(before.Ahead) + max(float64(limit)-float64(before.Limit), 0)
	if k.atLimits > k.n {
		c.Ahead, k.atLimits = int32(min(k.atLimits-k.n, 1e6)), k.n
	}
	return k, true
}

// watched reports whether two readings lie so close together that what they differ by is news.
func (k kernelKills) watched(within time.Duration) bool {
	return !k.since.IsZero() && k.read.Sub(k.since) < within
}

// killSlack is by how much the clocks of a kernel, its engine and this program may differ after they were corrected.
const killSlack = 2 * time.Second

// killedAtLimit reports whether a container ran out of memory between two moments, whose own limit then explains what the
// kernel killed. sandboxes asks for sandboxes only.
func killedAtLimit(env *alerts.Env, since, until time.Time, sandboxes bool) bool {
	within := func(at time.Time) bool {
		return !at.Before(since.Add(-killSlack)) && !at.After(until.Add(killSlack))
	}
	counts := func(b *backend.Sandbox) bool {
		u, sampled := b.Usage.Get()
		return (b.Judged() || !sandboxes) && !(sampled && u.MemLimit.IsNotApplicable())
	}
	for s := range env.State.Windows.All(backend.MetricLimitKills) {
		if b := sandboxNamed(env, s.Sandbox); b == nil && sandboxes || b != nil && !counts(b) {
			continue
		}
		for at, n := range env.State.Windows.Counts(s) {
			if n > 0 && within(env.Ours(at)) {
				return true
			}
		}
	}
	for b := range env.State.Sandboxes.All() {
		if b.OOMKilled.Or(false) && counts(b) && b.FinishedAt.IsKnown() && within(env.Time(&b.Meta, b.FinishedAt)) {
			return true
		}
	}
	return false
}

// tellsLimits reports whether a kill at a control group's own limit is known as one. An engine that is read tells only of
// its own containers: services and other engines have limits, too.
func tellsLimits(h *backend.Host) bool { return h.LimitKills.IsKnown() && !h.LimitKillsCut }

// sandboxNamed is the container of an id, whoever lists it; nil where none does.
func sandboxNamed(env *alerts.Env, id backend.ID) *backend.Sandbox {
	if id.IsZero() {
		return nil
	}
	for _, h := range env.State.Sources {
		if b := env.State.Sandbox(backend.Key{Kind: backend.KindSandbox, Source: h.Key.Source, ID: id}); b != nil {
			return b
		}
	}
	return nil
}

// mayBeExplained reports until when a source that tells of containers' kills may still tell of one before a moment, zero:
// all of them have been read since.
func mayBeExplained(env *alerts.Env, at time.Time) (by *fleet.SourceHealth, until time.Time) {
	for _, h := range env.State.Sources {
		if h.Status != fleet.StatusOK && h.Status != fleet.StatusDegraded || !h.Delivers(backend.InputContainers) && !h.Delivers(backend.InputEvictionLogs) {
			continue
		}
		end := at.Add(min(2*h.Interval+h.Deadline, time.Minute))
		if !env.Ours(h.LastOK).After(at.Add(killSlack)) && env.Now.Before(end) && end.After(until) {
			by, until = h, end
		}
	}
	return by, until
}
