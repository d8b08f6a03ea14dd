package demo

import (
	"path/filepath"
	"time"
)

// scratchDir is one directory as the local-bash provider leaves them:
// helix-ws- and six characters, mode 0700.
type scratchDir struct {
	name    string
	made    time.Duration // when it appears; before zero: it is there at the start
	age     time.Duration // how long before the start its newest change was
	files   int
	size    int64 // bytes of each file
	held    bool  // an agent works in it
	grows   bool
	mounted bool // a container bind-mounts it
}

// Bounds of the scratch directories, so that a demo that runs for days stays
// below 20 MB.
const (
	scratchDirs  = 36
	leakedDirs   = 200
	leakGap      = 3 * time.Second
	growPerStep  = 4 << 10
	growLimit    = 1 << 20
	growingDirs  = 3
	heldDirs     = 5
	mountedDirs  = 4
	scratchChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
)

func (f *fleet) placeScratch() {
	n := scratchDirs
	if f.incidents.leak {
		n += leakedDirs
	}
	for i := range n {
		h := f.random.value(saltScratch, i, 0)
		d := scratchDir{
			name: "helix-ws-" + f.suffix(i), made: -time.Second,
			age: f.scratchAge(h, i), files: 2 + int(h%9), size: 200 + int64(below(scramble(h), 24<<10)),
		}
		switch {
		case i < growingDirs:
			d.grows, d.held, d.age = true, true, 0
		case i < growingDirs+heldDirs:
			d.held = true
		case i < growingDirs+heldDirs+mountedDirs:
			d.mounted = true
		}
		if i >= scratchDirs {
			d.made = time.Duration(i-scratchDirs+1) * leakGap
			d.age, d.files, d.size = 0, 3, 2<<10
		}
		f.dirs = append(f.dirs, d)
	}
}

// scratchAge: in a calm world every directory is in use or hours old; a leak
// has been going on for days.
func (f *fleet) scratchAge(h uint64, i int) time.Duration {
	if f.incidents.leak && i%3 == 0 {
		return between(h>>20, 30*time.Hour, 9*24*time.Hour)
	}
	return between(h>>20, time.Minute, 5*time.Hour)
}

func (f *fleet) suffix(i int) string {
	out := make([]byte, 6)
	h := f.random.value(saltScratch, i, 1)
	for k := range out {
		out[k] = scratchChars[h%uint64(len(scratchChars))]
		h /= uint64(len(scratchChars))
	}
	return string(out)
}

func (f *fleet) scratchRoot() string { return filepath.Join(f.root, "tmp") }

func (f *fleet) scratchPath(d *scratchDir) string { return filepath.Join(f.scratchRoot(), d.name) }

// grown returns the bytes of the growing file of a directory at t.
func (w world) grown() int64 {
	if w.t < 0 {
		return 0
	}
	return min(int64(w.t/time.Second)*growPerStep, growLimit)
}
