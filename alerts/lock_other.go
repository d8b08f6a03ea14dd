//go:build !unix

package alerts

import (
	"fmt"
	"os"
)

// lockFile opens the lock file. There is no flock here: the first process that opens the file exclusively has it, and
// a file that was left behind has to be removed by hand.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if os.IsExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("lock of the alert state: %w", err)
	}
	return f, nil
}

func unlockFile(f *os.File) error {
	name := f.Name()
	if err := f.Close(); err != nil {
		return err
	}
	return os.Remove(name)
}
