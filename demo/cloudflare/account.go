package cloudflare

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"
	"time"
)

// Trouble is what goes wrong at an account.
type Trouble uint8

const (
	Fine   Trouble = iota
	Quota          // an application runs as many instances as it may
	Outage         // the account API answers 500
)

// AccountOptions choose an account.
type AccountOptions struct {
	Trouble Trouble
	Seed    uint64
	Token   string // the only one that is taken
	Start   time.Time
	Clock   func() time.Duration // since Start
	// More are instances of the application that a Durable Object manages, such as those of a Bridge; nil: there are none.
	More func() []Instance
}

// AccountID is the account of every world.
const AccountID = "5a4d61c0ffee00000000000000000001"

// What is the same in every account.
const (
	Scheduled    = "6f1d2c3b-7a01-4c55-9be2-3c0de0000001" // an application that the platform schedules
	ScheduledNS  = "c0de000000000000000000000000a001"
	Managed      = "c0de000000000000000000000000b002" // one that a Durable Object manages: also the id of its namespace
	most         = 20                                 // instances of the scheduled one
	usual        = 11                                 // that run
	versionNow   = 7
	outageFrom   = 45 * time.Second
	outageUntil  = 8 * time.Minute
	accountPast  = 20 * time.Minute
	quotaReached = 4 * time.Minute // before the start
)

// Instance is one container of the account.
type Instance struct {
	ID, Name, State  string
	Started, Updated time.Time
	Exit             int // of one that ended
}

// Account answers as the account API.
type Account struct {
	o  AccountOptions
	mu sync.Mutex
}

// NewAccount makes an account.
func NewAccount(o AccountOptions) *Account {
	return &Account{o: o}
}

// Down reports whether the account API answers with errors now.
func (a *Account) Down() bool {
	t := a.o.Clock()
	return a.o.Trouble == Outage && t >= outageFrom && t < outageUntil
}

// objectID is the id of a Durable Object: 64 hexadecimal digits that depend on the seed only.
func (a *Account) objectID(what string, n int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d object %s %d", a.o.Seed, what, n))
	return hex.EncodeToString(sum[:])
}

// running is how many instances of the scheduled application run, and waiting how many wait for a place.
func (a *Account) running() (n, waiting int) {
	if a.o.Trouble == Quota {
		return most, 3
	}
	return usual, 0
}

// scheduled lists the instances of the scheduled application. Under load one came each 40 seconds until none was left.
func (a *Account) scheduled() []Instance {
	running, waiting := a.running()
	at := func(ago time.Duration) time.Time { return a.o.Start.UTC().Add(-ago) }
	var all []Instance
	for n := range running {
		came := accountPast + time.Duration(n)*11*time.Minute
		if n >= usual {
			came = quotaReached + time.Duration(most-1-n)*40*time.Second
		}
		all = append(all, Instance{ID: a.objectID("agent", n), State: "running", Started: at(came), Updated: at(came - 4*time.Second)})
	}
	for n := range waiting {
		since := quotaReached - time.Duration(n)*20*time.Second
		all = append(all, Instance{ID: a.objectID("waiting", n), State: "provisioning", Started: at(since), Updated: at(since)})
	}
	for n, exit := range []int{0, 143, 0} { // asleep, replaced, asleep
		ended := 35*time.Minute + time.Duration(n)*47*time.Minute
		all = append(all, Instance{ID: a.objectID("ended", n), State: "stopped", Started: at(ended + 26*time.Minute), Updated: at(ended), Exit: exit})
	}
	return all
}

// managed lists the instances of the application that a Durable Object manages.
func (a *Account) managed() []Instance {
	if a.o.More == nil {
		return nil
	}
	return a.o.More()
}
