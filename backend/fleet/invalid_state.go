package fleet

import (
	"strings"

	"sandglass/backend"
)

// InvalidState is what is wrong with the saved state of a session whose id begins with these hexadecimal digits, where it was read and
// cannot be used; false: no such state was read.
func (s *State) InvalidState(digits string) (backend.Problem, bool) {
	for _, h := range s.Sources {
		for _, p := range h.Problems {
			if digits != "" && p.Subject.Kind == backend.KindRef && strings.HasPrefix(strings.ReplaceAll(p.Subject.Parent.Raw(), "-", ""), digits) {
				return p, true
			}
		}
	}
	return backend.Problem{}, false
}
