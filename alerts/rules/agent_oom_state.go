package rules

import (
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// maxLastState bounds the workspaces of one session that are kept one by one.
const maxLastState = 12

// memoryUnit is the unit of the evidence about memory.
const memoryUnit = "B"

// memoryBefore is how the memory of the agent went before it fell.
func memoryBefore(env *alerts.Env, home string, session backend.ID, onset time.Time) (alerts.MemoryTrend, bool) {
	return alerts.MemoryBefore(env.State, func(source string) bool { return speaksAbout(env, source, home) }, session, onset)
}

// startedFull reports whether a process started anew whose memory was nearly full and had grown. A full memory that does not
// grow is how some processes run.
func (r *agentOOM) startedFull(env *alerts.Env, home string, n *agentOOMNote) bool {
	if n == nil {
		return false
	}
	for _, p := range n.Signs {
		if p.N[0] == 0 {
			continue
		}
		at := env.Display(p.At)
		if m, read := memoryBefore(env, home, backend.ID{}, at); read && m.FullAt(at) && m.Rises() {
			return true
		}
	}
	return false
}

// lastState is how each workspace of a session was last read: after the reset nothing reports that any more.
func (r *agentOOM) lastState(env *alerts.Env, home string, session backend.ID) []alerts.Evidence {
	exhausted := map[backend.ID]float64{} // by workspace
	for s := range env.State.Windows.All(backend.MetricEvictionExhausted) {
		if s.Session == session && env.HomeOf(s) == home {
			exhausted[s.Workspace] += env.Over(s, r.over).N
		}
	}
	var out []alerts.Evidence
	more := 0
	for w := range env.State.Workspaces.Of(backend.KindWorkspace, home, session) {
		if len(out) == maxLastState {
			more++
			continue
		}
		out = append(out, alerts.Evidence{Text: lastOf(env, w, exhausted[w.Key.ID]), Source: home, At: env.Display(env.ReadAt(&w.Meta))})
	}
	if more > 0 {
		out = append(out, alerts.Evidence{Text: backend.Textf("before: … and %s more", plural(more, "workspace")), Source: home, At: env.Display(env.Now)})
	}
	return out
}

// lastOf writes how one workspace was last read.
func lastOf(env *alerts.Env, w *backend.Workspace, exhausted float64) backend.Safe {
	f := factsOf(env, w)
	state := w.Reported
	if state.IsEmpty() {
		state = backend.Text("no state")
	}
	parts := []backend.Safe{backend.Textf("before: %s was %s", w.Key.Safe(), state)}
	add := func(format backend.Literal, args ...any) { parts = append(parts, backend.Textf(format, args...)) }
	if !f.attempt.IsZero() {
		add("last tried at %s", env.Clock(f.attempt))
	}
	switch {
	case !f.success.IsZero():
		add("last succeeded at %s", env.Clock(f.success))
	case !f.attempt.IsZero():
		add("never known to have succeeded")
	}
	if n := opensOf(w); n > 0 {
		add("seen opening %s", plural(n, "time"))
	}
	if exhausted > 0 {
		add("retries exhausted %s", plural(int(exhausted), "time"))
	}
	if n, ok := w.RetryAttempts.Get(); ok {
		add("transientRetryAttempts %d", n)
	}
	if n, ok := w.MaxFileSize.Get(); ok {
		add("files up to %s", bytesText(n))
	}
	if !w.LastError.IsEmpty() {
		add("lastError: %s", backend.Clean(w.LastError.String(), 160))
	}
	return backend.Join(parts, ", ")
}

// opensOf counts how often the workspace was seen to begin to open, among the status changes that are kept.
func opensOf(w *backend.Workspace) int {
	n := 0
	for _, c := range w.History {
		if strings.EqualFold(c.Status.String(), "opening") {
			n++
		}
	}
	return n
}
