package agentuity

import (
	"math"
	"time"

	"sandglass/backend"
)

// load is how much the newest poll had to read.
type load struct {
	polls bool // there was one
	// lists and hub are requests a minute.
	lists, hub float64
	swept      int
	longest    time.Duration // between two readings of what is swept
}

// rest is how long a list of so many pages rests after it was read to its end.
func (l *list) rest(pages int) time.Duration {
	every := l.every
	if l.filter == liveFilter && pages > slowPages {
		every = liveSlow
	}
	return max(every, time.Duration(pages)*perPage)
}

// pagesOf is how many pages hold so many rows: each begins with the last row of the one before.
func pagesOf(rows int) int {
	return max(1, int(math.Ceil(float64(rows-1)/(pageSize-1))))
}

// perMinute is how often something is done that rests so long, as far as polls come.
func (s *Source) perMinute(rest time.Duration) float64 {
	return float64(time.Minute) / float64(max(rest, s.deps.Interval))
}

// noteLoad notes for EstimateLoad what there was to read.
func (p *poll) noteLoad() {
	s := p.s
	x := load{polls: true, swept: p.swept, longest: s.sweep.Longest(p.swept)}
	all, living := map[*region]int{}, map[*region]int{}
	for _, b := range s.boxes {
		if all[b.region]++; live(b.status) {
			living[b.region]++
		}
	}
	for _, r := range s.regions {
		full, now := pagesOf(all[r]), pagesOf(living[r])
		x.lists += float64(full)*s.perMinute(r.full.rest(full)) + float64(now)*s.perMinute(r.live.rest(now)) + float64(len(r.ended))*s.perMinute(endedEvery)
	}
	if s.hub.place != nil {
		x.hub = math.Ceil(float64(max(len(s.sessions), 1))/pageSize) * s.perMinute(hubEvery)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.load = x
}

// EstimateLoad says how many requests a minute polling sends at the fleet size that the last poll saw, and in words how that
// comes about.
func (s *Source) EstimateLoad() (requestsPerMinute float64, text backend.Safe) {
	s.mu.Lock()
	defer s.mu.Unlock()
	allowed := s.opt.RequestsPerSec * 60
	if !s.load.polls {
		return allowed, backend.Textf("at most %s a minute, as requests_per_second says; how many sandboxes there are is not known yet", requestsText(allowed))
	}
	x := s.load
	sweep := 3 * float64(x.swept) / x.longest.Minutes()
	requestsPerMinute = min(x.lists+sweep, allowed) + x.hub
	text = backend.Textf("about %s a minute: %.0f for lists, %.0f for executions, jobs and events of %s every %s, %.0f for Hub sessions; more for what changes, alerts or is on a screen. The budget allows %.0f, and %.0f for the Hub",
		requestsText(requestsPerMinute), x.lists, sweep, backend.Counted(x.swept, "live sandbox", "live sandboxes"), backend.Age(x.longest), x.hub, allowed, s.hubPerSecond()*60)
	return requestsPerMinute, text
}

func requestsText(requests float64) backend.Safe {
	return backend.Clean(backend.Counted(int(math.Round(requests)), "request", "requests"), 40)
}
