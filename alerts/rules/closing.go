package rules

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// closing is what was known, while its session ran, of how a sandbox is meant to end.
type closing struct {
	Destroys   backend.Value[bool]          `json:"destroys"`
	Shared     backend.Value[bool]          `json:"shared"`
	SleepAfter backend.Value[time.Duration] `json:"sleep_after"`
	Timeout    backend.Value[time.Duration] `json:"timeout"`
	Awake      bool                         `json:"awake,omitempty"` // it is kept alive: its expiry does nothing
	Used       time.Time                    `json:"used,omitzero"`   // steady: the last attempt
}

// closingOf collects how the sandbox of a running session is meant to end: as the workspace of that name, without a name as
// all of them, of which what keeps it wins.
func closingOf(env *alerts.Env, s *backend.Session, name backend.ID) *closing {
	c := &closing{}
	for w := range env.State.Workspaces.Of(backend.KindWorkspace, s.Key.Source, s.Key.ID) {
		worker := !w.ProviderID.IsZero() && backend.NamesWorkerBox(w.Provider)
		if !worker && !alerts.HasMachine(w.Provider.String()) || !name.IsZero() && w.Key.ID != name {
			continue
		}
		if d, ok := w.DestroyOnClose.Get(); ok && (!c.Destroys.IsKnown() || !d) {
			c.Destroys = w.DestroyOnClose
		}
		if x, ok := w.ShareAcrossSessions.Get(); ok && (!c.Shared.IsKnown() || x) {
			c.Shared = w.ShareAcrossSessions
		}
		if _, kept := alerts.KeptAlive(w); kept && backend.NamesWorkerBox(w.Provider) { // its entry goes with its session
			c.Awake = true
		} else if kept {
			c.Shared = backend.Known(true)
		}
		if x, ok := w.SleepAfter.Get(); ok && x > c.SleepAfter.Or(0) && w.Provider.String() != "docker" { // an engine puts nothing to sleep
			c.SleepAfter = w.SleepAfter
		}
		if x, ok := w.CloseTimeout.Get(); ok && x > c.Timeout.Or(0) {
			c.Timeout = w.CloseTimeout
		}
		c.Used = latestOf(c.Used, latestOf(env.Time(&w.Meta, w.LastAttemptAt), env.Time(&w.Meta, w.LastSuccessAt)))
	}
	return c
}

// declaredClosing is what is declared of the end of a sandbox whose session was never seen to run.
func declaredClosing(s *backend.Session, name backend.ID) *closing {
	c := &closing{}
	if s == nil {
		return c
	}
	for i := range s.Closing {
		x := &s.Closing[i]
		if !x.Of(name) {
			continue
		}
		if d, ok := x.DestroyOnClose.Get(); ok && (!c.Destroys.IsKnown() || name.IsZero() && !d) {
			c.Destroys = x.DestroyOnClose
		}
		if !c.Shared.Or(false) && x.ShareAcrossSessions.IsKnown() {
			c.Shared = x.ShareAcrossSessions
		}
		if d, ok := x.SleepAfter.Get(); ok && d > c.SleepAfter.Or(0) {
			c.SleepAfter = x.SleepAfter
		}
		if d, ok := x.CloseTimeout.Get(); ok && d > c.Timeout.Or(0) {
			c.Timeout = x.CloseTimeout
		}
	}
	return c
}

// closeTimedOut is when the oldest log line of the last hour said that closing the session's workspace outlasted its
// deadline, zero when none did.
func closeTimedOut(env *alerts.Env, b *backend.Sandbox) time.Time {
	var oldest time.Time
	for s := range env.State.Windows.All(backend.MetricCloseTimeout) {
		if s.Session != b.Session || !s.Workspace.IsZero() && !b.Workspace.IsZero() && s.Workspace != b.Workspace {
			continue
		}
		for at, n := range env.State.Windows.Counts(s) {
			if n == 0 {
				continue // it was looked, and nothing was written
			}
			if at = env.Ours(at); oldest.IsZero() || at.Before(oldest) {
				oldest = at
			}
			break
		}
	}
	return oldest
}
