package fleet

import (
	"slices"

	"sandglass/backend"
)

// registryKind is the kind of source that reads registries; one that was not read yet does not tell its inputs.
const registryKind = "helix"

// HomesOf lists the sources that list sessions and that the given one speaks about, those included that were not read yet
// and could.
func (s *State) HomesOf(source string) []*SourceHealth {
	own := s.Source(source)
	var out []*SourceHealth
	for _, h := range s.Sources {
		if (own == nil || own.SpeaksAbout(h.Key.Source)) && (h.Watches(backend.InputRegistry) || h.Watches(backend.InputSessions) || own.MayHaveHome(h)) {
			out = append(out, h)
		}
	}
	return out
}

// MayHaveHome reports whether another source, which was not read yet, could turn out to list what this one speaks about.
// That ends with its first poll, whatever comes of it. A nil source is one that is not configured.
func (h *SourceHealth) MayHaveHome(other *SourceHealth) bool {
	return other.Status == StatusStarting && other != h &&
		(other.Kind == registryKind || other.Watches(backend.InputRegistry) || h != nil && slices.Contains(h.About, other.Key.Source))
}

// Watches reports whether the source delivers an input or says that it could.
func (h *SourceHealth) Watches(in backend.Input) bool {
	return h.Delivers(in) || slices.ContainsFunc(h.Missing, func(m backend.MissingInput) bool { return m.Input == in })
}
