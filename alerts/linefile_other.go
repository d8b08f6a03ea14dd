//go:build !unix

package alerts

import (
	"errors"
	"os"
	"time"
)

// openLocked is not possible where files have no locks: what operators say is then known to one process only, as long
// as it runs.
func openLocked(path string, patience time.Duration) (*os.File, error) {
	return nil, errors.New(path + ": adding to it needs a system with flock")
}
