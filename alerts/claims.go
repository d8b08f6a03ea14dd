package alerts

import (
	"encoding/json"
	"io"
	"os"
	"time"

	"sandglass/backend"
	"sandglass/backend/lockfile"
)

// claimsFile is the name of when the processes of a state directory last did what all of them together do rarely.
const claimsFile = "claims.json"

const (
	claimsFor  = time.Hour
	claimsSize = 1 << 20
	// foundFor is how long what one process found is told to the others.
	foundFor = 15 * time.Minute
)

// claim is when something was last done, and what was found by it.
type claim struct {
	At    time.Time        `json:"at"`
	Found *backend.Verdict `json:"found,omitempty"` // nil: it is not told yet
}

// Claim reports whether something is due that all processes of the state directory do at most once within a time, and notes it.
// Where it is not due, last is when it was done. Where the file cannot be used every process goes by itself.
func (s *StateStore) Claim(name string, now time.Time, every time.Duration) (due bool, last time.Time) {
	due = true
	s.claims(func(done map[string]claim) bool {
		if c, known := done[name]; known && !c.At.After(now) && now.Sub(c.At) < every {
			due, last = false, c.At
			return false
		}
		done[name] = claim{At: now}
		return true
	}, now)
	return due, last
}

// Tell keeps what was found by something that this process claimed.
func (s *StateStore) Tell(name string, now time.Time, found backend.Verdict) {
	s.claims(func(done map[string]claim) bool {
		c, known := done[name]
		if known {
			c.Found = &found
			done[name] = c
		}
		return known
	}, now)
}

// Told is what one of the processes found last by something that it claimed.
func (s *StateStore) Told(name string, now time.Time) (found backend.Verdict, known bool) {
	s.claims(func(done map[string]claim) bool {
		if c := done[name]; c.Found != nil && !c.At.After(now) && now.Sub(c.At) < foundFor {
			found, known = *c.Found, true
		}
		return false
	}, now)
	return found, known
}

// claims lets do look at what was claimed, and writes it where do changed it. A torn file is begun again.
func (s *StateStore) claims(do func(done map[string]claim) (changed bool), now time.Time) {
	f, err := storeFile(s, claimsFile).open()
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }() // what was written is there
	done := readClaims(f)
	if !do(done) {
		return
	}
	for n, c := range done {
		switch age := now.Sub(c.At); {
		case age < 0 || age > claimsFor:
			delete(done, n)
		case age > foundFor:
			done[n] = claim{At: c.At}
		}
	}
	if text, err := json.Marshal(done); err == nil && lockfile.Truncate(f, 0) == nil {
		_, _ = f.Write(text) // a torn file is begun again
	}
}

func readClaims(f *os.File) map[string]claim {
	done := map[string]claim{}
	if text, err := io.ReadAll(io.NewSectionReader(f, 0, claimsSize)); err != nil || json.Unmarshal(text, &done) != nil || done == nil {
		return map[string]claim{}
	}
	return done
}
