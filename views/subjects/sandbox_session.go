package subjects

import (
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/theme"
)

// sessionOf is the session of a sandbox as its page names it. candidate: only the digits in its name tell, and one listed session begins with
// them.
func sessionOf(b *backend.Sandbox, s *fleet.State) (id backend.ID, candidate bool) {
	if id = s.SessionOn(b); !id.IsZero() {
		return id, false
	}
	if c := s.CandidatesOn(b); len(c) == 1 {
		return c[0].Key.ID, true
	}
	return id, false
}

func sessionCell(b *backend.Sandbox, s *fleet.State) Cell {
	id, candidate := sessionOf(b, s)
	if candidate {
		return text(backend.Textf("? %s", id.Safe()), theme.Dim)
	}
	return idOf(id, theme.Normal)
}

// joinedIDs are the session and the workspace that the row of a sandbox shows where it does not name them itself.
func joinedIDs(b *backend.Sandbox, c *views.Snapshot) string {
	if !b.Session.IsZero() {
		return ""
	}
	return sessionCell(b, c.State).Text.String() + " " + c.State.WorkspaceOn(b).Safe().String()
}

// sandboxItem is a sandbox in the JSON of a list, with the session of which only its name tells.
type sandboxItem struct {
	*backend.Sandbox
	Candidate backend.ID `json:"candidate,omitzero"`
}

func sandboxJSON(b *backend.Sandbox, c *views.Snapshot) ([]byte, error) {
	item := sandboxItem{Sandbox: b}
	if id, candidate := sessionOf(b, c.State); candidate {
		item.Candidate = id
	} else if b.Session != id {
		joined := *b
		joined.Session, joined.Workspace = id, c.State.WorkspaceOn(b)
		joined.JoinedBy, joined.JoinedLine = joinOf(b, c.State)
		item.Sandbox = &joined
	}
	return views.JSON(item)
}

// joinOf is what joins a sandbox to its session, with the log line where it was one.
func joinOf(b *backend.Sandbox, s *fleet.State) (by, line backend.Safe) {
	switch {
	case !b.Session.IsZero():
		return b.JoinedBy, b.JoinedLine
	case s.StateOn(b) != nil:
		return backend.Text("its saved state"), line
	}
	if _, by = s.RegistryNames(b); !by.IsEmpty() {
		return by, line
	}
	return backend.Text("its name: a saved state begins with its digits"), line
}
