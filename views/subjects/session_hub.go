package subjects

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// hubOf is what a hub says of a session; nothing where it is not one of a hub.
func hubOf(s *backend.Session) *backend.HubSession {
	if s.Hub == nil {
		return &backend.HubSession{}
	}
	return s.Hub
}

// ofHub reports whether some session is one of a hub.
func ofHub(c *views.Snapshot) bool {
	for s := range c.State.Sessions.All() {
		if s.Hub != nil {
			return true
		}
	}
	return false
}

// errorWidth is the width in which the error of a hub says something; causes of alerts are shorter.
func errorWidth(c *views.Snapshot) int {
	if ofHub(c) {
		return 30
	}
	return 0
}

// sessionProblem is what is wrong with a session, in the words of its health route or its hub.
func sessionProblem(s *backend.Session) backend.Safe {
	if !s.AnswerText.IsEmpty() {
		return s.AnswerText
	}
	return hubOf(s).Error
}

func sessionStatus(s *backend.Session) Cell {
	c := text(s.Status, theme.Normal)
	switch s.Status.String() {
	case "":
	case "error", "failed":
		c.Tone, c.Mark = theme.Bad, theme.MarkBad
	default:
		c.Mark = RunningCell(s).Mark
	}
	return c
}

// driverCell is whether a driver leads a hub's session, and since when: as its participants tell, else the hub's list.
func driverCell(h *backend.HubSession, now time.Time) Cell {
	if h == nil {
		return None()
	}
	connected, known := h.Driver.Get()
	if !known { // the participants were not asked for: nothing was in doubt
		connected, known = h.Connected.Get()
	}
	switch since := leads(h); {
	case !h.NoDriverSince.IsZero():
		return Cell{Text: plain("none ≥ " + backend.Age(now.Sub(h.NoDriverSince))), Tone: theme.Warn}
	case !known:
		return Unknown()
	case !connected:
		return Cell{Text: backend.Text("none"), Tone: theme.Dim}
	case since.IsZero():
		return Cell{Text: backend.Text("connected")}
	default:
		return Cell{Text: plain("connected " + backend.Age(now.Sub(since))), Short: backend.Text("connected")}
	}
}

// driverOrder sorts what lacks a driver longest first when descending.
func driverOrder(h *backend.HubSession, now time.Time) SortKey {
	switch {
	case h == nil || !h.Driver.IsKnown() && h.NoDriverSince.IsZero():
		return SortKey{Unknown: true}
	case !h.NoDriverSince.IsZero():
		return SortKey{Num: now.Sub(h.NoDriverSince).Seconds()}
	}
	return SortKey{Num: -1}
}

// leads is since when a driver leads a hub's session; zero where that is not known.
func leads(h *backend.HubSession) time.Time {
	for i := range h.Participants {
		if p := &h.Participants[i]; p.Role.String() == backend.RoleLead {
			return p.ConnectedAt.Or(time.Time{})
		}
	}
	return time.Time{}
}

// sandboxesIn names the sandbox of a session, or counts them.
func sandboxesIn(s *backend.Session, st interface {
	BoxesOf(backend.ID) []*backend.Sandbox
}) backend.Safe {
	switch all := st.BoxesOf(s.Key.ID); len(all) {
	case 0:
		return hubOf(s).Sandbox.Safe()
	case 1:
		return sandboxName(all[0])
	default:
		return plain(kit.Count(len(all), "sandbox", "sandboxes"))
	}
}

// sessionAlerts is the worst alert that names a session, or a sandbox or workspace of it.
func sessionAlerts(priority int) Column[*backend.Session] {
	return worstAlert("the worst alert that names it, its sandbox or a workspace of it", worstOfSession, priority)
}

func worstOfSession(s *backend.Session, c *views.Snapshot) *alerts.Alert {
	worst := c.Alert(s.Key)
	worse := func(a *alerts.Alert) {
		if a != nil && (worst == nil || a.Severity.Rank() > worst.Severity.Rank()) {
			worst = a
		}
	}
	for _, b := range c.State.BoxesOf(s.Key.ID) {
		worse(c.Alert(b.Key))
	}
	worse(c.AlertOfWorkspaces(s.Key))
	return worst
}

// problemCell is what is wrong with a session, or else the cause of its worst alert, which has its colour in its own column.
func problemCell(s *backend.Session, c *views.Snapshot) Cell {
	if own := sessionProblem(s); !own.IsEmpty() {
		return Cell{Text: own, Tone: theme.Warn}
	}
	a := worstOfSession(s, c)
	if a == nil || a.Cause.IsEmpty() {
		return None()
	}
	cause := a.Cause.String()
	return Cell{Text: a.Cause, Short: plain(BareError(cause)), Brief: brief(cause), Tone: quiet(a, theme.Normal)}
}

// workspacesIn counts the workspaces of a session that a registry lists.
func workspacesIn(s *backend.Session, c *views.Snapshot) (n int) {
	for range c.State.Workspaces.Of(backend.KindWorkspace, s.Key.Source, s.Key.ID) {
		n++
	}
	return n
}

// workOfSession counts the executions and jobs of a session and of its sandboxes that wait or run.
func workOfSession(s *backend.Session, c *views.Snapshot) (n int) {
	for _, key := range append([]backend.Key{s.Key}, keysOf(c.State.BoxesOf(s.Key.ID))...) {
		for e := range partsOf(c.State, key) {
			if x, ok := e.(backend.Worker); ok && !x.AsWork().Class.Ended() {
				n++
			}
		}
	}
	return n
}

func keysOf(boxes []*backend.Sandbox) (keys []backend.Key) {
	for _, b := range boxes {
		keys = append(keys, b.Key)
	}
	return keys
}

// countColumn shows how many of something belong to each row. Where none is listed there may be some that nothing lists.
//
//go:noinline
func countColumn[R any](c Column[R], count func(R, *views.Snapshot) int) Column[R] {
	c.Align, c.Descending = Right, true
	key := func(r R, s *views.Snapshot) SortKey {
		n := count(r, s)
		return SortKey{Num: float64(n), Unknown: n == 0}
	}
	c.Cell = func(r R, s *views.Snapshot) Cell {
		if n := count(r, s); n > 0 {
			return Cell{Text: plain(kit.Number(n))}
		}
		return None()
	}
	c.Sort = key
	c.Measure = func(r R, s *views.Snapshot) (float64, bool) { return measured(key(r, s)) }
	return c
}

// toldApart reports whether some session's status word does not tell whether it runs.
func toldApart(c *views.Snapshot) bool {
	for s := range c.State.Sessions.All() {
		if runs, known := s.Running.Get(); s.Status.IsEmpty() || known && runs != s.ListedRunning.Or(runs) {
			return true
		}
	}
	return false
}

// anyProblem reports whether something is wrong with some session, or an alert names what may be one's.
func anyProblem(c *views.Snapshot) bool {
	for _, a := range c.Board.Alerts {
		for i := range a.Subjects {
			if k := a.Subjects[i].Key.Kind; k == backend.KindSession || k == backend.KindSandbox || k == backend.KindWorkspace {
				return c.State.Sessions.Len() > 0
			}
		}
	}
	for s := range c.State.Sessions.All() {
		if !sessionProblem(s).IsEmpty() {
			return true
		}
	}
	return false
}
