package subjects

import (
	"slices"

	"sandglass/backend"
	"sandglass/views"
)

// workspaceLabels are the fields of a workspace's registry entry that have no column, and the labels of its sandbox.
func workspaceLabels(w *backend.Workspace, c *views.Snapshot) []backend.Field {
	for _, b := range c.State.SandboxesOf(w.Key.Parent) {
		if b.Workspace == w.Key.ID {
			return besides(w.Extra, b.Labels)
		}
	}
	return w.Extra
}

// sessionLabels are the labels of a session's sandboxes. Where two differ, the one that is listed first tells.
func sessionLabels(s *backend.Session, c *views.Snapshot) (all []backend.Field) {
	for _, b := range c.State.BoxesOf(s.Key.ID) {
		all = besides(all, b.Labels)
	}
	return all
}

// workLabels are the labels of the sandbox that a piece of work runs in.
func workLabels(r backend.Worker, c *views.Snapshot) []backend.Field {
	if b := boxOfWork(r, c); b != nil {
		return b.Labels
	}
	return nil
}

// besides are two lists in one, without a copy where one is empty.
func besides(a, b []backend.Field) []backend.Field {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	return append(slices.Clip(a), b...)
}
