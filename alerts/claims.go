package alerts

import (
	"encoding/json"
	"io"
	"time"

	"sandglass/backend/lockfile"
)

// claimsFile is the name of when the processes of a state directory last did what all of them together do rarely.
const claimsFile = "claims.json"

const (
	claimsFor  = time.Hour
	claimsSize = 1 << 20
)

// Claim reports whether something is due that all processes of the state directory do at most once within a time, and notes it.
// Where the file cannot be used every process goes by itself.
func (s *StateStore) Claim(name string, now time.Time, every time.Duration) bool {
	f, err := storeFile(s, claimsFile).open()
	if err != nil {
		return true
	}
	defer func() { _ = f.Close() }() // what was written is there
	done := map[string]time.Time{}
	if text, err := io.ReadAll(io.NewSectionReader(f, 0, claimsSize)); err != nil || json.Unmarshal(text, &done) != nil {
		done = map[string]time.Time{} // torn, or new
	}
	if at, known := done[name]; known && !at.After(now) && now.Sub(at) < every {
		return false
	}
	for n, at := range done {
		if at.After(now) || now.Sub(at) > claimsFor {
			delete(done, n)
		}
	}
	done[name] = now
	if text, err := json.Marshal(done); err == nil && lockfile.Truncate(f, 0) == nil {
		_, _ = f.Write(text) // a torn file is begun again
	}
	return true
}
