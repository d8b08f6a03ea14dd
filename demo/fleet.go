package demo

import (
	"fmt"
	"time"
)

// Sizes of the fleet, in workspaces.
const (
	defaultWorkspaces = 1284
	maxWorkspaces     = 100_000
)

// instance is one Helix deployment of the demo.
type instance uint8

const (
	eu instance = iota
	us
	instances
)

func (i instance) String() string {
	if i == eu {
		return "helix-eu"
	}
	return "helix-us"
}

// fleet is the cast of one demo: who exists and which part everybody plays. It
// is never changed after newFleet, but for what clients do to it; what is true
// at a moment is asked of a world.
type fleet struct {
	dice  dice
	names naming
	acts  acts
	start time.Time // wall clock of t = 0
	root  string    // directory of the demo, for paths that servers tell

	sessions   []session
	workspaces []workspace
	troubles   []trouble
	order      [instances][]int32 // sessions of an instance, newest first
	hot        int                // sessions before this index are busy, later ones rest for days
	boxes      []box
	boxBySpace map[int32]int32 // workspace to the container behind it
	deeds      *boxDeeds       // what clients did to containers; guarded by itself
	dirs       []scratchDir
	alias      map[string]int32 // session ids that need escaping in a URL

	ailing [instances][]int32 // workspaces with a trouble that is tried again and again

	flooder int32 // workspace of the session that floods the log, or nobody
	broken  int32 // session whose health route answers 500, or nobody
	unnamed [instances]int32
}

// nobody marks an unused index.
const nobody int32 = -1

// world is the fleet at one moment; t is the time since the start, negative for
// the past the fleet opens with.
type world struct {
	*fleet
	t      time.Duration
	resets map[int32]time.Duration // workspace to its newest reset
}

// At returns the fleet t after its start.
func (f *fleet) At(t time.Duration) world { return world{fleet: f, t: t} }

// when converts a moment of the fleet to wall time.
func (f *fleet) when(t time.Duration) time.Time { return f.start.Add(t).UTC() }

// cast is what newFleet needs to know.
type cast struct {
	size  int
	seed  uint64
	acts  acts
	start time.Time
	root  string
}

func newFleet(c cast) (*fleet, error) {
	if err := checkSize(c.size); err != nil {
		return nil, err
	}
	d := dice(scramble(c.seed))
	f := &fleet{
		dice: d, names: newNaming(d), acts: c.acts, start: c.start, root: c.root,
		boxBySpace: map[int32]int32{}, deeds: &boxDeeds{byBox: map[*box][]deed{}, execs: map[string]*execution{}}, alias: map[string]int32{},
		flooder: nobody, broken: nobody, unnamed: [instances]int32{nobody, nobody},
	}
	f.enrol(c.size)
	f.assignParts()
	f.listAiling()
	f.placeScratch()
	f.placeBoxes()
	return f, nil
}

func (f *fleet) listAiling() {
	for i := range f.workspaces {
		w := &f.workspaces[i]
		if w.trouble != nobody && f.troubles[w.trouble].period > 0 {
			where := f.sessions[w.session].where
			f.ailing[where] = append(f.ailing[where], int32(i))
		}
	}
}

func checkSize(n int) error {
	if n < 1 || n > maxWorkspaces {
		return fmt.Errorf("demo: %d workspaces asked for; choose 1 to %d", n, maxWorkspaces)
	}
	return nil
}
