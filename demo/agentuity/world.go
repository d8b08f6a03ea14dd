package agentuity

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// Story is what goes wrong in a world.
type Story uint8

const (
	Calm           Story = iota // nothing goes wrong
	Zombie                      // a resumed sandbox reports idle and has lost its mount
	StuckQueue                  // executions and jobs that never start in sandboxes whose files can be read
	RegionIncident              // executions of one region stop starting
	ResumeRace                  // a resume is refused until the checkpoint is stored
	NoCheckpoint                // a resume is refused for ever
)

// Options choose a world.
type Options struct {
	Story   Story
	Seed    uint64
	Healthy int       // healthy sandboxes beside those of the story; zero means 8
	Start   time.Time // wall time of second zero
	Clock   func() time.Duration
	CLIKey  string // accepted on every route
	SDKKey  string // refused on the routes of the command line
}

// Names of everything that is the same in every world.
const (
	OrgID       = "org_2xDemoOrg000000000000000001"
	Home        = "usc" // region of most sandboxes
	Away        = "use"
	orgName     = "Demo Org"
	projectID   = "proj_de300000000000000000cafe"
	homeDir     = "/home/agentuity"
	past        = 20 * time.Minute // how long before second zero the platform plays
	minHealthy  = 8
	maxPage     = 100
	defaultPage = 50
)

// Regions lists the regions of a world.
func Regions() []string { return []string{Home, Away} }

// World is one organisation at the platform.
type World struct {
	o Options

	mu        sync.Mutex
	t         time.Time // how far the world has come
	queue     []step    // what happens later, in order
	made      map[string]int
	sandboxes []*sandbox // in order of creation
	byID      map[string]*sandbox
	runs      map[string]*run
	sessions  []*session
	snapshots []*snapshot
	output    map[string]string // stream id to what was written
	lines     []Line
	stopped   map[string]bool // regions in which nothing that is queued starts
	bases     Bases
}

// Bases are the addresses under which a world is served. The zero value means
// the vendor's own names.
type Bases struct {
	Region map[string]string // also of the streams and the exposed ports
	Hub    string
}

type step struct {
	at time.Time
	do func()
}

// New makes a world and plays its past.
func New(o Options) *World {
	w := &World{
		o: o, made: map[string]int{}, byID: map[string]*sandbox{}, runs: map[string]*run{},
		output: map[string]string{}, stopped: map[string]bool{}, t: o.Start.UTC().Add(-past),
	}
	w.populate(max(o.Healthy, minHealthy))
	w.play(o.Story)
	return w
}

// Serve tells the world where it is served.
func (w *World) Serve(b Bases) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bases = Bases{Region: maps.Clone(b.Region), Hub: b.Hub}
}

// enter locks the world and brings it up to now; the returned function unlocks it.
func (w *World) enter() func() {
	w.mu.Lock()
	now := w.o.Start.UTC().Add(w.o.Clock())
	for len(w.queue) > 0 && !w.queue[0].at.After(now) {
		next := w.queue[0]
		w.queue = w.queue[1:]
		w.t = next.at
		next.do()
	}
	if now.After(w.t) {
		w.t = now
	}
	return w.mu.Unlock
}

// later does something after a time. What is due at the same time happens in
// the order in which it was asked for.
func (w *World) later(after time.Duration, do func()) { w.at(w.t.Add(after), do) }

func (w *World) at(t time.Time, do func()) {
	i, _ := slices.BinarySearchFunc(w.queue, t, func(s step, t time.Time) int {
		return cmp.Or(s.at.Compare(t), -1)
	})
	w.queue = slices.Insert(w.queue, i, step{t, do})
}

// when is the wall time of a second of the story.
func (w *World) when(t time.Duration) time.Time { return w.o.Start.UTC().Add(t) }

// id makes the next id of a kind, with so many hexadecimal digits.
func (w *World) id(kind string, digits int) string {
	w.made[kind]++
	return kind + "_" + w.digits(kind, w.made[kind], digits)
}

// digits are hexadecimal digits that depend on the seed only.
func (w *World) digits(kind string, n, digits int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %d", w.o.Seed, kind, n))
	return hex.EncodeToString(sum[:])[:digits]
}

// draw is a number from 0 to n-1 that depends on the seed only.
func (w *World) draw(what string, i, n int) int {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d draw %s %d", w.o.Seed, what, i))
	return int(uint(sum[0])<<16|uint(sum[1])<<8|uint(sum[2])) % n
}

func (w *World) regionBase(region string) string {
	if b := w.bases.Region[region]; b != "" {
		return b
	}
	return "https://catalyst-" + region + ".agentuity.cloud"
}

func (w *World) streamURL(region, id string) string {
	if b := w.bases.Region[region]; b != "" {
		return b + "/streams/" + id
	}
	return "https://streams-" + region + ".agentuity.cloud/" + id
}

func (w *World) hubBase() string {
	if w.bases.Hub != "" {
		return w.bases.Hub
	}
	return "https://hub.example.invalid"
}
