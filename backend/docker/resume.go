package docker

import (
	"time"

	"sandglass/backend"
)

// bookmarkEvents marks until when a process has read the engine's events.
const bookmarkEvents = "events"

// resumeWithin is how far back a process asks for the events that none saw: the engine remembers few of them.
const resumeWithin = 15 * time.Minute

// Resume goes on where a former process stopped: containers that ran out of memory since are asked for, also those that are
// gone, so that what the kernel killed meanwhile is explained.
func (s *Source) Resume(marks []backend.Bookmark) {
	for _, m := range marks {
		if n := len(m.Sizes); m.File == bookmarkEvents && n > 0 {
			s.since = m.Sizes[n-1].At
		}
	}
}

// catchUp reads the kills since the former process.
func (p *poll) catchUp() {
	since := p.s.since
	p.s.since = time.Time{}
	if since.IsZero() || p.r.Started.Sub(since) > resumeWithin || !since.Before(p.r.Started) {
		return
	}
	kills, err := p.eng.kills(p.ctx, since.Add(p.offset), p.r.Started.Add(p.offset))
	if err != nil {
		p.note("which containers ran out of memory since the run before is not known: %s", p.s.clean(err.Error(), 200))
		return
	}
	p.pend.events = append(kills, p.pend.events...)
}

// bookmark notes until when events were read.
func (p *poll) bookmark() {
	p.r.Bookmarks = []backend.Bookmark{{File: bookmarkEvents, Sizes: []backend.SizeAt{{At: p.r.Started}}}}
}
