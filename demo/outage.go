package demo

import "time"

// span is a time during which something is down, repeated for as long as the
// demo runs.
type span struct {
	first, lasts, every time.Duration
}

func (s span) covers(t time.Duration) bool {
	return t >= s.first && (t-s.first)%s.every < s.lasts
}

// refused says whether an instance refuses connections. In the scenario with
// everything the outage is a short one, so that the other incidents of
// that instance can be seen before and after.
func (w world) refused(where instance) bool {
	if !w.incidents.outage || where != us {
		return false
	}
	if w.incidents.brief {
		return span{first: 150 * time.Second, lasts: 3 * time.Minute, every: 30 * time.Minute}.covers(w.t)
	}
	return span{first: 45 * time.Second, lasts: 8 * time.Minute, every: 20 * time.Minute}.covers(w.t)
}

// metricsBusy says whether the metrics page answers 503.
func (w world) metricsBusy() bool {
	return w.incidents.outage && !w.incidents.brief &&
		span{first: 2 * time.Minute, lasts: 2 * time.Minute, every: 20 * time.Minute}.covers(w.t)
}
