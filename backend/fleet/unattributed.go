package fleet

import (
	"slices"

	"sandglass/backend"
)

// Unattributed says which lines of a source's logs are about commands that could not begin in sandboxes that no source lists, so that
// they raise nothing; empty without any, and where a source was not read that may list them.
func (s *State) Unattributed(h *SourceHealth) backend.Safe {
	if slices.ContainsFunc(s.Sources, func(x *SourceHealth) bool {
		return h.ReportsOn(x.Key.Source) && x.Watches(backend.InputContainers) && x.LastOK.IsZero()
	}) {
		return backend.Safe{} // what it lists is not known yet
	}
	lines := 0
	var ids []backend.ID
	known := map[[2]backend.ID]bool{}
	for i := range h.Reports {
		x := &h.Reports[i]
		if x.Kind != backend.ReportNotStarted {
			continue
		}
		named := [2]backend.ID{x.Sandbox, x.Session}
		listed, judged := known[named]
		if !judged {
			listed = s.attributes(h, x)
			known[named] = listed
		}
		if listed {
			continue
		}
		lines++
		id := x.Sandbox
		if id.IsZero() {
			id = x.Session
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if lines == 0 {
		return backend.Safe{}
	}
	return backend.Textf("unattributed: %s of commands that could not begin, in %s that no source lists: %s. They raise no alert: name the ids in sandboxes, read references that name them, or add operator routes",
		backend.Counted(lines, "line", "lines"), backend.Counted(len(ids), "sandbox", "sandboxes"), backend.FirstIDs(ids))
}

// attributes reports whether a line is about a sandbox that is listed.
func (s *State) attributes(h *SourceHealth, x *backend.Report) bool {
	for b := range s.Sandboxes.All() {
		if h.ReportsOn(b.Key.Source) && (x.NamesBox(b) || x.Sandbox == b.Key.ID || x.Sandbox.IsZero() && !x.Session.IsZero() && x.Session == b.Session) {
			return true
		}
	}
	return false
}
