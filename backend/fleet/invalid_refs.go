package fleet

import "sandglass/backend"

// InvalidRefs are the parts of stored references that a source of files could not read, each by itself: what they say of sessions is
// not known. There are none of other sources, and of one that reads nothing at all.
func (s *State) InvalidRefs(source string) []backend.Problem {
	h := s.Source(source)
	if h == nil || h.Kind != "refs" || h.Status != StatusOK && h.Status != StatusDegraded || !h.Delivers(backend.InputRefs) {
		return nil
	}
	return h.Problems
}

// InvalidBoxes are the problems of a source about what its platform says of a sandbox and cannot be used, as an address to which no key
// may go.
func (h *SourceHealth) InvalidBoxes() (out []backend.Problem) {
	if h == nil || h.Status != StatusOK && h.Status != StatusDegraded {
		return nil
	}
	for _, p := range h.Problems {
		if p.Kind == backend.ErrInvalid && p.Subject.Kind == backend.KindSandbox {
			out = append(out, p)
		}
	}
	return out
}
