package backend

import "time"

// CounterMarks are where a source of counters stands. A later process that goes on from them counts what rose between the
// two, and tells again what was counted before.
type CounterMarks struct {
	At      time.Time     `json:"at"`               // of the last page
	Starts  []float64     `json:"starts,omitempty"` // start times of the processes that answered, the last one last, in epoch seconds
	Metrics []CounterMark `json:"metrics,omitempty"`
	Counts  []Count       `json:"counts,omitempty"` // the newest, the oldest first
	Memory  []Memory      `json:"memory,omitempty"` // the same
}

// CounterMark is where the counters of one metric stand.
type CounterMark struct {
	At       time.Time     `json:"at"`                 // of the last round
	Complete bool          `json:"complete,omitempty"` // no sample was missing
	Values   []CounterLast `json:"values,omitempty"`
}

// CounterLast is the last value of one label set.
type CounterLast struct {
	Labels uint64    `json:"labels"`           // hash of them
	Target []string  `json:"target,omitempty"` // what was scraped, by the two labels that Prometheus puts on everything
	Value  float64   `json:"value"`
	At     time.Time `json:"at,omitzero"` // when it was last read; zero: when the metric was
}

// Moved are the marks with all times of our clock moved by d.
func (m *CounterMarks) Moved(d time.Duration) *CounterMarks {
	if m == nil || d == 0 {
		return m
	}
	out := CounterMarks{At: m.At.Add(d), Starts: m.Starts}
	for _, x := range m.Metrics {
		values := make([]CounterLast, 0, len(x.Values))
		for _, v := range x.Values {
			if !v.At.IsZero() {
				v.At = v.At.Add(d)
			}
			values = append(values, v)
		}
		out.Metrics = append(out.Metrics, CounterMark{x.At.Add(d), x.Complete, values})
	}
	for _, c := range m.Counts {
		c.At = c.At.Add(d)
		out.Counts = append(out.Counts, c)
	}
	for _, x := range m.Memory {
		x.At = x.At.Add(d)
		out.Memory = append(out.Memory, x)
	}
	return &out
}
