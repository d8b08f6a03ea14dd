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

// fleet is everything that exists in one demo, and how it behaves. After
// newFleet only client actions change it. A world is the fleet at one moment.
type fleet struct {
	random    seededHash
	names     naming
	incidents incidentSet
	start     time.Time // wall clock of t = 0
	root      string    // directory of the demo, for paths that servers report

	sessions    []session
	workspaces  []workspace
	troubles    []trouble
	order       [instances][]int32 // sessions of an instance, newest first
	hot         int                // sessions before this index are busy, later ones rest for days
	containers  []fakeContainer
	containerOf map[int32]int32 // workspace to the container behind it
	actions     *clientActions  // what clients did to containers; guarded by itself
	dirs        []scratchDir
	alias       map[string]int32 // session ids that need escaping in a URL

	failing [instances][]int32 // workspaces with a trouble that is tried again and again

	flooder int32 // workspace of the session that floods the log, or noIndex
	broken  int32 // session whose health route answers 500, or noIndex
	unnamed [instances]int32
}

// noIndex marks an unused index.
const noIndex int32 = -1

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

// fleetOptions is what newFleet needs to know.
type fleetOptions struct {
	size      int
	seed      uint64
	incidents incidentSet
	start     time.Time
	root      string
}

func newFleet(c fleetOptions) (*fleet, error) {
	if err := checkSize(c.size); err != nil {
		return nil, err
	}
	d := seededHash(scramble(c.seed))
	f := &fleet{
		random: d, names: newNaming(d), incidents: c.incidents, start: c.start, root: c.root,
		containerOf: map[int32]int32{}, actions: &clientActions{byContainer: map[*fakeContainer][]clientAction{}, execs: map[string]*execution{}}, alias: map[string]int32{},
		flooder: noIndex, broken: noIndex, unnamed: [instances]int32{noIndex, noIndex},
	}
	f.createSessions(c.size)
	f.assignIncidents()
	f.listFailing()
	f.placeScratch()
	f.placeContainers()
	return f, nil
}

func (f *fleet) listFailing() {
	for i := range f.workspaces {
		w := &f.workspaces[i]
		if w.trouble != noIndex && f.troubles[w.trouble].period > 0 {
			where := f.sessions[w.session].where
			f.failing[where] = append(f.failing[where], int32(i))
		}
	}
}

func checkSize(n int) error {
	if n < 1 || n > maxWorkspaces {
		return fmt.Errorf("demo: %d workspaces asked for; choose 1 to %d", n, maxWorkspaces)
	}
	return nil
}
