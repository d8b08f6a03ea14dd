package subjects

import (
	"time"

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

// sessionProblem is what is wrong with a session, in the words of its health route or its hub.
func sessionProblem(s *backend.Session) backend.Safe {
	if !s.AnswerText.IsEmpty() {
		return s.AnswerText
	}
	return hubOf(s).Error
}

func sessionStatus(s *backend.Session) Cell {
	switch s.Status.String() {
	case "error", "failed":
		return text(s.Status, theme.Bad)
	}
	return text(s.Status, theme.Normal)
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

// sessionAlerts is the worst alert that names a session or a sandbox of it.
func sessionAlerts(priority int) Column[*backend.Session] {
	worst := func(s *backend.Session, c *views.Snapshot) backend.Key {
		key := s.Key
		for _, b := range c.State.BoxesOf(s.Key.ID) {
			if a, now := c.Alert(b.Key), c.Alert(key); a != nil && (now == nil || a.Severity.Rank() > now.Severity.Rank()) {
				key = b.Key
			}
		}
		return key
	}
	byKey := alertColumn(func(k backend.Key) backend.Key { return k }, priority)
	return Column[*backend.Session]{Name: byKey.Name, Title: byKey.Title, Help: "the worst alert that names it or its sandbox", Min: byKey.Min, Ideal: byKey.Ideal,
		Priority: priority, Descending: true,
		Cell: func(s *backend.Session, c *views.Snapshot) Cell { return byKey.Cell(worst(s, c), c) },
		Sort: func(s *backend.Session, c *views.Snapshot) SortKey { return byKey.Sort(worst(s, c), c) }}
}
