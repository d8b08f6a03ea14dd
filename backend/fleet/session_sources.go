package fleet

import (
	"slices"

	"sandglass/backend"
)

// registryKind is the kind of source that reads registries; before its first poll a source's inputs are unknown.
const registryKind = "helix"

// SessionSourcesOf lists the sources whose sessions the given source reports about. It includes sources that were not
// polled yet and could list sessions.
func (s *State) SessionSourcesOf(source string) []*SourceHealth {
	own := s.Source(source)
	var out []*SourceHealth
	for _, h := range s.Sources {
		if (own == nil || own.ReportsOn(h.Key.Source)) && (h.Watches(backend.InputRegistry) || h.Watches(backend.InputSessions) || own.MayGetSessionsFrom(h)) {
			out = append(out, h)
		}
	}
	return out
}

// MayGetSessionsFrom reports whether another source, not polled yet, could list the sessions that this one reports about.
// It is false after that source's first poll, even a failed one. A nil source is one that is not configured.
func (h *SourceHealth) MayGetSessionsFrom(other *SourceHealth) bool {
	return other.Status == StatusStarting && other != h &&
		(other.Kind == registryKind || other.Watches(backend.InputRegistry) || h != nil && slices.Contains(h.About, other.Key.Source))
}

// Unread is a source that could list subjects of a kind and is down, reads a part only, or cannot tell its workspaces: that the State has
// none then proves nothing. nil: there is no such source.
func (s *State) Unread(k backend.Kind) *SourceHealth {
	in := k.Spec().Input
	i := slices.IndexFunc(s.Sources, func(h *SourceHealth) bool {
		return in != "" && h.Watches(in) && (h.Status == StatusDown || h.Status == StatusDegraded && h.Unfinished || h.WorkspacesUnknown && k == backend.KindWorkspace)
	})
	if i < 0 {
		return nil
	}
	return s.Sources[i]
}

// Watches reports whether the source delivers an input or says that it could.
func (h *SourceHealth) Watches(in backend.Input) bool {
	return h.Delivers(in) || slices.ContainsFunc(h.Missing, func(m backend.MissingInput) bool { return m.Input == in })
}
