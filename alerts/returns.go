package alerts

import (
	"maps"
	"time"
)

// returns remembers since when each source answers again that was out: what was true before it went is not known to have
// lasted meanwhile.
func (ev *evaluation) returns() {
	ev.next.back = ev.old.back
	own := false
	set := func(id string, at time.Time) {
		if !own {
			if ev.next.back, own = maps.Clone(ev.old.back), true; ev.next.back == nil {
				ev.next.back = map[string]time.Time{}
			}
		}
		ev.next.back[id] = at
	}
	for _, h := range ev.st.Sources {
		id := h.Key.Source
		g, out := ev.next.gaps[id]
		at, known := ev.old.back[id]
		switch {
		case g.Starting:
		case out && (!known || !at.IsZero()):
			set(id, time.Time{}) // it is out now
		case !out && known && at.IsZero():
			set(id, ev.env.Now)
		}
	}
	ev.env.back = ev.next.back
}

// Watched is for how long a source has been read without a break since a moment: its outages do not count.
func (e *Env) Watched(source string, since time.Time) time.Duration {
	if at := e.back[source]; at.After(since) {
		since = at
	}
	return e.Now.Sub(since)
}
