package blaxel

import (
	"strings"

	"sandglass/backend"
)

// restores says what the snapshots of a sandbox could bring back after a delete, first those that are ready: the platform's words for
// them are pending, ready and failed.
func restores(b *backend.Sandbox) []backend.Safe {
	const shown = 3
	switch {
	case b.SnapshotsAt.IsZero():
		return []backend.Safe{backend.Text("whether a snapshot of the workspace could restore it is not known: the list was not read")}
	case len(b.Snapshots) == 0:
		return []backend.Safe{backend.Text("no snapshot of the workspace is of it: nothing of the platform brings it back")}
	}
	var ready, rest []backend.Snapshot
	for _, s := range b.Snapshots {
		if strings.EqualFold(s.Status.String(), "ready") {
			ready = append(ready, s)
		} else {
			rest = append(rest, s)
		}
	}
	var out []backend.Safe
	if len(ready) == 0 {
		out = append(out, backend.Text("no snapshot of it is ready: the platform may not bring it back"))
	}
	all := append(ready, rest...)
	for _, s := range all[:min(len(all), shown)] {
		when, status := backend.Text("at a time that is not told"), s.Status
		if at, known := s.CreatedAt.Get(); known {
			when = backend.Textf("of %s", backend.Clean(at.UTC().Format("2006-01-02 15:04Z"), 40))
		}
		if status.IsEmpty() {
			status = backend.Text("no status")
		}
		what := backend.Text("may restore what was there then: its status does not tell")
		switch strings.ToLower(s.Status.String()) {
		case "ready":
			what = backend.Text("could restore what was there then")
		case "failed":
			what = backend.Text("restores nothing: taking it failed")
		case "pending":
			what = backend.Text("restores nothing yet: it is still being taken")
		}
		out = append(out, backend.Textf("snapshot %s %s (%s) %s", s.Name, when, status, what))
	}
	if more := len(all) - shown; more > 0 {
		out = append(out, backend.Textf("%s not shown", backend.Counted(more, "more of it is", "more of it are")))
	}
	return out
}
