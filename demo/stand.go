package demo

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Stand is what a file has to do with demos.
type Stand uint8

const (
	NoDemo Stand = iota // no demo wrote it
	Runs                // its demo runs, or may run
	Ended               // its demo is gone
)

// firstWords begin every configuration of a demo, stateKey its line with a directory below the demo's own.
const (
	firstWords = "# demo: scenario "
	stateKey   = "state_dir = "
)

// StandOf says whether a configuration was written by a demo, and whether that
// demo is gone: a demo removes its directory when it ends, and Start removes
// those of demos that were killed.
func StandOf(config []byte) Stand {
	if !bytes.HasPrefix(config, []byte(firstWords)) {
		return NoDemo
	}
	for line := range strings.Lines(string(config)) {
		quoted, is := strings.CutPrefix(strings.TrimRight(line, "\r\n"), stateKey)
		if !is {
			continue
		}
		state, err := strconv.Unquote(quoted)
		dir := filepath.Dir(state)
		if err != nil || !filepath.IsAbs(dir) || !strings.HasPrefix(filepath.Base(dir), dirPrefix) {
			return NoDemo
		}
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			return Ended
		}
		return Runs
	}
	return NoDemo
}
