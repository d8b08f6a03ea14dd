package prometheus

import (
	"strings"

	"sandglass/backend"
	"sandglass/backend/exporter"
)

func memoryRoute(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return ", memory " + strings.Join(names, " ")
}

// memory reads the gauges of memory. One that is not on the page is no fault: what counts evictions may export none.
func (s *source) memory(m *metrics, r *backend.Reading) {
	skipped := 0
	for _, name := range s.opts.Memory {
		for _, x := range m.level(name) {
			if len(r.Memory) >= exporter.MaxProcesses || !s.out.Memory(r, x, r.At) {
				skipped++
			}
		}
	}
	if skipped > 0 {
		r.Notes = append(r.Notes, backend.Textf("the memory of %d processes is not followed (beyond %d, or no number of bytes)", skipped, exporter.MaxProcesses))
	}
}
