package subjects

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"sandglass/backend"
	"sandglass/views"
)

// Found is a subject with the names by which it can be found, the shown one first.
type Found struct {
	Key   backend.Key
	Names []string
	About string // tells apart those of one name; empty: their names do
}

// All are the alerts, then the subjects of every kind that has entities, for a search.
func All(s *views.Snapshot) []Found {
	var out []Found
	for _, a := range s.Board.Alerts {
		out = append(out, Found{views.AlertKey(a), []string{a.Rule, a.ID, a.Cause.String(), a.Source}, cmp.Or(a.Cause.String(), a.ID)})
	}
	for _, h := range s.State.Sources {
		out = append(out, Found{Key: h.Key, Names: []string{h.Key.Source, h.Kind}})
	}
	for _, k := range kinds {
		if k.is() == backend.KindSource {
			continue // their health is not an entity
		}
		rows := s.State.Rows(k.is())
		for i := range rows.Len() {
			e := rows.Entity(i)
			key := e.EntityMeta().Key
			name := k.name(key, s).String()
			names := []string{name}
			if id := key.Safe().String(); id != name {
				names = append(names, id)
			}
			out = append(out, Found{Key: key, Names: append(names, otherNames(e)...)})
		}
	}
	return out
}

// Projects are the labels that hold a compose project.
var Projects = []string{"com.docker.compose.project", "io.podman.compose.project"}

// otherNames are the ids, paths and process numbers of an entity besides its key.
func otherNames(e backend.Entity) (out []string) {
	id := func(all ...backend.ID) {
		for _, x := range all {
			if !x.IsZero() {
				out = append(out, x.Safe().String())
			}
		}
	}
	switch e := e.(type) {
	case *backend.Workspace:
		id(e.ProviderID)
	case *backend.Sandbox:
		id(e.Container, e.BridgeID)
		_, pid, _ := strings.Cut(e.Raw.String(), `"Pid":`) // of its first process, as an engine tells it
		if pid = pid[:len(pid)-len(strings.TrimLeft(pid, "0123456789"))]; pid != "0" && pid != "" {
			out = append(out, pid)
		}
		// What it belongs to is found before it: the space makes a whole name a word of one.
		out = append(out, " "+e.Session.Safe().String(), " "+e.Workspace.Safe().String())
		for _, l := range e.Labels {
			if slices.Contains(Projects, l.Name.String()) {
				out = append(out, " "+l.Value.String())
			}
		}
		if in, known := e.Inside(); known {
			for _, p := range in.Processes {
				out = append(out, p.PID.String())
			}
		}
	case *backend.Tmpdir:
		out = append(out, e.Path.String())
		held, _ := e.Holders.Get()
		for _, h := range held {
			out = append(out, strconv.Itoa(h.PID))
		}
	}
	return out
}

// KindAndSource says what a subject is and of which source, to tell subjects of one name apart.
func KindAndSource(k backend.Key) string { return strings.TrimSpace(NounOf(k.Kind) + "  " + k.Source) }
