package runbook

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// agentMemory asks how the agent's memory went before it fell, or until now when nothing says that it fell.
func (s *subjectView) agentMemory() Check {
	q := question{"memory", "Did its memory grow before?", "process_resident_memory_bytes on a metrics page, or a log pattern of class memory"}
	m, ok := alerts.MemoryBefore(s.State, s.speaksHere, s.sessionID, s.fellAt())
	if !ok {
		return q.unsure("no source reads the memory of the agent")
	}
	from := origin{m.Process.Source, m.Last.At()}
	switch {
	case m.Full(), m.Grows():
		return q.yes(from, "it %s", m.Text())
	case !m.Watched():
		return q.unsure("it was at %s", m.Text())
	}
	return s.settle(q.no(from, "it was at %s; what fills it between two readings is not seen", m.Text()), q)
}

// memoryJumped reports whether the memory filled at once, as one large write or search does it.
func (s *subjectView) memoryJumped() bool {
	m, ok := alerts.MemoryBefore(s.State, s.speaksHere, s.sessionID, s.fellAt())
	return ok && m.Sudden()
}

// fellAt is when the agent ran out of memory or started again within the last hour; now when neither is known.
func (s *subjectView) fellAt() time.Time {
	if t := s.tally(backend.MetricAgentOOM, time.Hour); t.in.N > 0 {
		return t.in.Last
	}
	e := s.event(time.Hour, func(e *backend.Event) bool { return e.Name == "process-restarted" && s.speaksHere(e.Source) })
	if e != nil {
		return e.At
	}
	return s.now
}
