package app

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/charmbracelet/x/term"

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
	used time.Duration // processor time of the process at the look before
	at   time.Duration // monotonic time of that look; 0: none yet

	mu      sync.Mutex
	one     bool
	pressed bool // a key was, since the look before
}

// keyboard is a terminal whose keys are awaited.
type keyboard struct {
	ttyFile
	processors *ownProcessors
}

// ttyFile is what Bubble Tea asks of a file whose keys it reads.
type ttyFile interface {
	term.File
	Name() string
}

// Read is called when there is something to read.
func (k keyboard) Read(p []byte) (int, error) {
	k.processors.key()
	return k.ttyFile.Read(p)
}

func (p *ownProcessors) key() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pressed = true
	p.choose(false)
}

// choose is called with mu held.
func (p *ownProcessors) choose(one bool) {
	if one != p.one {
		p.one = one
		p.set(one)
	}
}

// look decides by what was used since the look before and by the size of the fleet.
func (p *ownProcessors) look(now, used time.Duration, subjects int) {
	first, share := p.at == 0, float64(used-p.used)/float64(max(now-p.at, 1))
	p.at, p.used = now, used
	p.mu.Lock()
	defer p.mu.Unlock()
	pressed := p.pressed
	p.pressed = false
	switch {
	case first:
	case pressed || subjects > mostOnOne || share > busyAbove:
		p.choose(false)
	case share < quietBelow:
		p.choose(true)
	}
}

// setProcessors takes one of the processors, or all.
func setProcessors(one bool) {
	if one {
		runtime.GOMAXPROCS(1)
	} else {
		runtime.SetDefaultGOMAXPROCS()
	}
}

// boundProcessors looks until ctx ends. GOMAXPROCS in the environment wins; where the system does not say what the process used,
// nothing is bounded.
func (s *Station) boundProcessors(ctx context.Context) {
	if _, known := processTime(); !known || s.app.Getenv("GOMAXPROCS") != "" {
		return
	}
	tick := time.NewTicker(processorTick)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			used, _ := processTime()
			s.frugal.look(s.app.Mono(), used, subjectsOf(s.Fleet.State()))
		}
	}
}

func subjectsOf(st *fleet.State) int {
	return st.Sessions.Len() + st.Workspaces.Len() + st.Sandboxes.Len() + st.Tmpdirs.Len() + st.Executions.Len() + st.Jobs.Len()
}
