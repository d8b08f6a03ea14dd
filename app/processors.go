package app

import (
	"context"
	"runtime"
	"time"

	"sandglass/backend/fleet"
)

// A console draws 60 frames a second, and with several processors each of them wakes threads that look for work in vain. A quiet
// console of a small fleet therefore runs on one, which costs a fifth less processor time; a busy one or a large fleet has all.
const (
	mostOnOne     = 2_000           // subjects that are watched on one processor
	processorTick = 2 * time.Second // between two looks at the own use
	quietBelow    = 0.04            // own use, in processors: below it one is enough
	busyAbove     = 0.08            // above it all are used; between the two nothing changes
)

// ownProcessors decides how many processors the console runs on.
type ownProcessors struct {
	set  func(one bool)
	one  bool
	used time.Duration // processor time of the process at the look before
	at   time.Duration // monotonic time of that look; 0: none yet
}

// look decides by what was used since the look before and by the size of the fleet.
func (p *ownProcessors) look(now, used time.Duration, subjects int) {
	first, share := p.at == 0, float64(used-p.used)/float64(max(now-p.at, 1))
	p.at, p.used = now, used
	one := p.one
	switch {
	case subjects > mostOnOne || share > busyAbove:
		one = false
	case share < quietBelow:
		one = true
	}
	if first || one == p.one {
		return
	}
	p.one = one
	p.set(one)
}

// boundProcessors looks until ctx ends. GOMAXPROCS in the environment wins; where the system does not say what the process used,
// nothing is bounded.
func (s *Station) boundProcessors(ctx context.Context) {
	if _, known := processTime(); !known || s.app.Getenv("GOMAXPROCS") != "" {
		return
	}
	p := ownProcessors{set: func(one bool) {
		if one {
			runtime.GOMAXPROCS(1)
		} else {
			runtime.SetDefaultGOMAXPROCS()
		}
	}}
	tick := time.NewTicker(processorTick)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			used, _ := processTime()
			p.look(s.app.Mono(), used, subjectsOf(s.Fleet.State()))
		}
	}
}

func subjectsOf(st *fleet.State) int {
	return st.Sessions.Len() + st.Workspaces.Len() + st.Sandboxes.Len() + st.Tmpdirs.Len() + st.Executions.Len() + st.Jobs.Len()
}
