package tmpdir

import (
	"errors"
	"hash/fnv"
	"time"

	"sandglass/backend"
)

// doubtFor is how long an empty root on another file system than before counts as one that is not mounted.
const doubtFor = 24 * time.Hour

// errNotMounted says that a root which had scratch directories is empty and on another file system: an unmounted root looks so.
var errNotMounted = errors.New("it is empty and on another file system than the scratch directories that were there: is it mounted?")

// lastFull is the file system on which a root was last seen with scratch directories.
type lastFull struct {
	dev uint64
	at  time.Time // zero: never
}

// mounted compares the file system of each root with the one that held its scratch directories since the host booted.
func (p *poll) mounted() {
	for i := range p.found {
		f, r := &p.found[i], p.s.roots[i]
		switch {
		case f.err != nil:
			continue
		case len(f.entries)+len(f.asides) > 0:
			r.full = lastFull{f.dev, p.now}
		case !r.full.at.IsZero() && r.full.dev != f.dev && p.now.Sub(r.full.at) < doubtFor:
			f.err = errNotMounted
			f.facts.Problem = p.s.deps.Cleaner.Clean(f.reason(), 300)
		}
		if at := r.full.at; !at.IsZero() {
			p.r.Bookmarks = append(p.r.Bookmarks, backend.Bookmark{File: r.path, Head: p.s.boot(), Sizes: []backend.SizeAt{{Size: int64(r.full.dev), At: at}}})
		}
	}
}

// boot stands for the boot of the host: what was mounted before it proves nothing.
func (s *Source) boot() uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s.bootID))
	return h.Sum64()
}

// Resume takes over on which file systems a former process saw scratch directories.
func (s *Source) Resume(marks []backend.Bookmark) { s.resumed = marks }

// resume applies what was taken over, once the boot of the host is known.
func (p *poll) resume() {
	for _, m := range p.s.resumed {
		for _, r := range p.s.roots {
			if n := len(m.Sizes); r.path == m.File && m.Head == p.s.boot() && n > 0 {
				r.full = lastFull{uint64(m.Sizes[n-1].Size), m.Sizes[n-1].At}
			}
		}
	}
	p.s.resumed = nil
}
