package runbook

import (
	"slices"

	"sandglass/alerts"
	"sandglass/backend"
)

// saveFails says why the files of the page's sandboxes are not to be kept by the agent's own save: it fails, or the restore before it did.
// Empty: neither is known.
func (s *subjectView) saveFails() backend.Safe {
	if s.Board == nil {
		return backend.Safe{}
	}
	of := func(id backend.ID) bool {
		return !id.IsZero() && (id == s.sessionID || slices.ContainsFunc(s.sandboxes, func(b *backend.Sandbox) bool { return s.State.SessionOn(b) == id }))
	}
	told := func(rule string) bool {
		return slices.ContainsFunc(s.Board.Alerts, func(a *alerts.Alert) bool {
			return a.Rule == rule && slices.ContainsFunc(a.Subjects, func(x alerts.Subject) bool {
				return x.State != alerts.StateEnded && x.Key.Kind == backend.KindSession && of(x.Key.ID)
			})
		})
	}
	switch {
	case told("persist-failed"):
		return backend.Text("The agent's own save fails.")
	case told("hydrate-failed"):
		return backend.Text("A save of the agent would keep only what its failed restore left.")
	}
	return backend.Safe{}
}
