package fleet

import (
	"slices"

	"sandglass/backend"
)

// Unattributed says what a source names in sandboxes that no source lists, so that it raises nothing: lines of its logs about commands
// that could not begin, or saved states. It is empty without any, and where a source was not read that may list them.
func (s *State) Unattributed(h *SourceHealth) backend.Safe {
	if said := s.statesElsewhere(h); !said.IsEmpty() {
		return said
	}
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

// mostStatesAsked bounds the saved states of a source of which the workspace is compared.
const mostStatesAsked = 2000

// statesElsewhere says how many saved states of a source are in Blaxel workspaces that no source reads.
func (s *State) statesElsewhere(h *SourceHealth) backend.Safe {
	if !h.Delivers(backend.InputRefs) {
		return backend.Safe{}
	}
	asked, states := 0, 0
	var first string
	for r := range s.Refs.All() {
		if r.Key.Source != h.Key.Source || r.Agent == nil || r.Provider.String() != "blaxel" {
			continue
		}
		if asked++; asked > mostStatesAsked {
			break
		}
		of := r.Organisation()
		if of == "" || s.SandboxNamed(r.Sandbox, r.Provider) != nil {
			continue
		}
		if lists, lacks, _ := s.ListsOf(r); len(lists) > 0 || lacks != nil {
			continue
		}
		states++
		if first == "" || of < first {
			first = of
		}
	}
	if states == 0 {
		return backend.Safe{}
	}
	return backend.Textf("not compared: the sandboxes of %s are in a Blaxel workspace that no source reads (%s), so that whether they are there is unknown. Configure a source of kind blaxel for it",
		backend.Counted(states, "saved state", "saved states"), backend.Clean(first, 80))
}
