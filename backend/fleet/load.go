package fleet

import (
	"reflect"
	"slices"
	"time"

	"sandglass/backend"
)

// keepLatencies is the number of request times behind P50 and P95.
const keepLatencies = 128

// loadMeter measures what a source costs its backend.
type loadMeter struct {
	polls []pollLoad // of the last minute, oldest first
	times []time.Duration
}

type pollLoad struct {
	at       time.Time
	requests int
	bytes    int64
}

func (m *loadMeter) add(at time.Time, l backend.Load) {
	m.polls = append(m.polls, pollLoad{at, l.Requests, l.Bytes})
	m.times = append(m.times, l.Latencies...)
	if n := len(m.times) - keepLatencies; n > 0 {
		m.times = slices.Delete(m.times, 0, n)
	}
}

// perMinute counts the requests and bytes of the last minute. While the source is watched for less than a minute the
// counts are what was measured so far, not an extrapolation.
func (m *loadMeter) perMinute(now time.Time) (requests, bytes float64) {
	for len(m.polls) > 0 && now.Sub(m.polls[0].at) > time.Minute {
		m.polls = m.polls[1:]
	}
	for _, p := range m.polls {
		requests += float64(p.requests)
		bytes += float64(p.bytes)
	}
	return requests, bytes
}

// latencies returns the median and the 95th percentile of single requests, 0 when none was measured.
func (m *loadMeter) latencies() (p50, p95 time.Duration) {
	if len(m.times) == 0 {
		return 0, 0
	}
	s := slices.Sorted(slices.Values(m.times))
	return s[(len(s)-1)/2], s[(len(s)-1)*95/100]
}

func sameHealth(a, b *SourceHealth) bool {
	x, y := *a, *b
	x.Rev, y.Rev = 0, 0
	return reflect.DeepEqual(x, y)
}
