package prometheus

import (
	"slices"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"

	"sandglass/backend"
)

const (
	maxProcesses = 200 // label sets of all of them that are read
)

func memoryRoute(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return ", memory " + strings.Join(names, " ")
}

// memory reads the gauges of memory. One that is not on the page is no fault: what counts evictions may export none.
func (s *source) memory(m *metrics, r *backend.Reading) {
	limit := backend.Value[int64]{}
	if s.opts.MemoryLimit > 0 {
		limit = backend.Known(int64(s.opts.MemoryLimit))
	}
	skipped := 0
	for _, name := range s.opts.Memory {
		family := m.families[name]
		if family == nil {
			continue
		}
		for _, x := range family.Metric {
			v, ok := level(family.GetType(), x)
			if !ok || !(v >= 0 && v < 1<<60) || len(r.Memory) >= maxProcesses {
				skipped++
				continue
			}
			r.Memory = append(r.Memory, backend.Memory{Of: s.processOf(name, x.Label), At: r.At, Bytes: int64(v), Limit: limit})
		}
	}
	if skipped > 0 {
		r.Notes = append(r.Notes, backend.Textf("the memory of %d processes is not followed (beyond %d, or no number of bytes)", skipped, maxProcesses))
	}
}

// level is the number of a gauge, or of a metric without a type.
func level(kind dto.MetricType, m *dto.Metric) (float64, bool) {
	switch kind {
	case dto.MetricType_GAUGE:
		return m.GetGauge().GetValue(), m.GetGauge() != nil
	case dto.MetricType_UNTYPED:
		return m.GetUntyped().GetValue(), m.GetUntyped() != nil
	case dto.MetricType_COUNTER, dto.MetricType_SUMMARY, dto.MetricType_HISTOGRAM, dto.MetricType_GAUGE_HISTOGRAM:
	}
	return 0, false
}

// processOf tells processes apart by all labels but that of the session.
func (s *source) processOf(name string, labels []*dto.LabelPair) backend.Process {
	p := backend.Process{Source: s.deps.ID, Name: name}
	var texts []string
	for _, l := range labels {
		if l.GetName() == s.opts.Labels.Session {
			p.Session, _ = backend.NewID(l.GetValue()) // empty or absurdly long: no session
			continue
		}
		texts = append(texts, l.GetName()+"="+strconv.Quote(l.GetValue()))
	}
	slices.Sort(texts)
	p.Labels = s.client.Cleaner().Clean(strings.Join(texts, ","), 200)
	return p
}
