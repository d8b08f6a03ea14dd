package fleet

import (
	"cmp"
	"maps"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// VersionCount says how many sessions or sandboxes run one version or image.
type VersionCount struct {
	Version backend.Safe
	Running int
}

// Running lists the versions or images of a source's running sessions or sandboxes, the commonest first. Those without
// one are not counted. It is updated from changes; a source with more than 256 versions shows 256.
func (s *State) Running(source string, kind backend.Kind) []VersionCount {
	return s.running[versionedKind{source, kind}]
}

// WithRunning returns a copy of the State in which that runs. It serves tests and readers of recordings.
func (s *State) WithRunning(source string, kind backend.Kind, counts ...VersionCount) *State {
	c := *s
	c.running = maps.Clone(s.running)
	if c.running == nil {
		c.running = map[versionedKind][]VersionCount{}
	}
	c.running[versionedKind{source, kind}] = counts
	return &c
}

// counts is what runs now; the same map while nothing changed.
func (v *versionTracker) counts() map[versionedKind][]VersionCount {
	if !v.changed {
		return v.counted
	}
	v.changed = false
	v.counted = make(map[versionedKind][]VersionCount, len(v.fleets))
	for key, f := range v.fleets {
		list := make([]VersionCount, 0, len(f.running))
		for version, n := range f.running {
			list = append(list, VersionCount{version, n})
		}
		stable.Sort(list, func(a, b VersionCount) int {
			return cmp.Or(cmp.Compare(b.Running, a.Running), compareSafe(a.Version, b.Version))
		})
		v.counted[key] = list
	}
	return v.counted
}
