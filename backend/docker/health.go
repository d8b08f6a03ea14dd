package docker

import (
	"time"

	"github.com/moby/moby/api/types/container"

	"sandglass/backend"
)

const (
	// defaultCheckInterval is the time between two health checks where none is configured
	// (https://docs.docker.com/reference/dockerfile/#healthcheck).
	defaultCheckInterval = 30 * time.Second
	// maxChecks bounds how many results of one container are looked at; the engine keeps 5.
	maxChecks = 32
)

// checkInterval is the time that certainly passes between two checks after the start period, 0 when it is not known.
func checkInterval(h *container.HealthConfig) time.Duration {
	switch {
	case h == nil || h.Interval < 0:
		return 0
	case h.Interval == 0:
		return defaultCheckInterval
	}
	return h.Interval
}

// checksOf reads the engine's log of a health check: what the run that began at started has of it, and what the newest
// check printed. Times are the engine's. The engine keeps the results of the run before in the same log, and the number
// of failures in a row apart; what failed while the container was starting up is in the log and not in that number.
func checksOf(h *container.Health, interval time.Duration, started time.Time) (backend.Value[backend.HealthChecks], string) {
	var log []*container.HealthcheckResult // of this run, newest first
	for i := len(h.Log) - 1; i >= 0 && len(log) < maxChecks; i-- {
		switch r := h.Log[i]; {
		case r == nil || r.End.IsZero() || r.Start.IsZero():
		case !r.Start.Before(started):
			log = append(log, r)
		}
	}
	if len(log) == 0 {
		return backend.Unknown[backend.HealthChecks](), ""
	}
	newest := log[0]
	c := backend.HealthChecks{Checked: newest.End, ExitCode: newest.ExitCode}
	seen := 0 // failures that are in the log, of those that the engine counts
	for seen < min(len(log), h.FailingStreak) && log[seen].ExitCode != 0 {
		seen++
	}
	for _, r := range log[seen:] {
		if r.ExitCode == 0 {
			c.Passed = r.Start
			break
		}
	}
	if seen > 0 {
		first, hidden := log[seen-1], h.FailingStreak-seen
		c.Failed, c.FailingBy = h.FailingStreak, first.End
		if hidden > 0 && c.Passed.IsZero() {
			c.FailingBy = before(first, hidden, interval, started)
		}
	}
	return backend.Known(c), newest.Output
}

// failingOn is what a later look at the same run tells: the first failure does not move while the checks go on failing, although the
// engine forgets the older ones.
func failingOn(was, now backend.Value[backend.HealthChecks]) backend.Value[backend.HealthChecks] {
	old, known := was.Get()
	c, read := now.Get()
	if !known || !read || old.Failed == 0 || c.Failed < old.Failed || c.Passed.After(old.FailingBy) {
		return now
	}
	if old.FailingBy.Before(c.FailingBy) {
		c.FailingBy = old.FailingBy
	}
	if c.Passed.IsZero() {
		c.Passed = old.Passed
	}
	return backend.Known(c)
}

// before is by when the oldest of some failures had ended that came before one and are not in the log: the engine begins
// a check one interval after the end of the one before, or later.
func before(first *container.HealthcheckResult, hidden int, interval time.Duration, started time.Time) time.Time {
	if interval > 0 && time.Duration(hidden) > first.Start.Sub(started)/interval {
		return first.End // so many have no room in this run: it is counted otherwise than we know
	}
	return first.Start.Add(-time.Duration(hidden) * interval)
}

// oursChecks corrects the times by what the engine's clock differs from ours.
func oursChecks(v backend.Value[backend.HealthChecks], offset time.Duration) backend.Value[backend.HealthChecks] {
	c, known := v.Get()
	if !known {
		return v
	}
	for _, t := range []*time.Time{&c.Checked, &c.FailingBy, &c.Passed} {
		if !t.IsZero() {
			*t = t.Add(-offset)
		}
	}
	return backend.Known(c)
}
