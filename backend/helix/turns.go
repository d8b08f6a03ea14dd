package helix

import (
	"cmp"
	"hash/fnv"
	"slices"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

const (
	// bookmarkTurns marks up to which session former processes read, and how many each of them did.
	bookmarkTurns = "turns"
	// mostTurns bounds the processes that are counted.
	mostTurns = 100
)

// turns says whose turn it is where a process has the time for some of the sessions only. Sessions take turns in the order of a
// hash of their ids, from the one after which the process before stopped.
type turns struct {
	after  uint64           // the hash of the last one that was read
	former []backend.SizeAt // how many sessions each former process read, the oldest first
}

// Resume goes on where a former process stopped.
func (s *Source) Resume(marks []backend.Bookmark) {
	for _, m := range marks {
		s.resumeWork(m)
		if m.File == bookmarkTurns {
			s.turns = turns{after: m.Head, former: m.Sizes[max(0, len(m.Sizes)-mostTurns+1):]}
		}
	}
}

// turn is the place of a session that was never asked.
func (s *Source) turn(t *tracked) uint64 {
	if !t.asked.IsZero() {
		return 0
	}
	return s.turns.place(t.id)
}

// place is one of the line of sessions.
type place struct {
	at   uint64
	read bool
}

func (u *turns) place(id backend.ID) uint64 { return hashOf(id) - u.after - 1 }

func hashOf(id backend.ID) uint64 {
	h := fnv.New64a()
	h.Write([]byte(id.Raw()))
	x := h.Sum64() // its high bits hardly change with the last letters of an id
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	return x ^ x>>33
}

// tellTurns says how many sessions wait, since when those do that no process read, and where the next process goes on.
func (s *Source) tellTurns(r *backend.Reading, waiting int) {
	u := &s.turns
	mark := backend.Bookmark{File: bookmarkTurns, Head: u.after}
	if waiting == 0 {
		if len(u.former) > 0 {
			mark.Sizes = []backend.SizeAt{{Size: int64(len(s.sessions)), At: s.deps.Now()}}
			r.Bookmarks = append(r.Bookmarks, mark)
		}
		s.tellRound(r)
		return
	}
	line := make([]place, 0, len(s.sessions))
	for _, t := range s.sessions {
		if t.askable(s.opt.Runtime) {
			line = append(line, place{u.place(t.id), !t.asked.IsZero()})
		}
	}
	stable.Sort(line, func(a, b place) int { return cmp.Compare(a.at, b.at) })
	read := 0
	for ; read < len(line) && line[read].read; read++ {
		mark.Head = line[read].at + u.after + 1
	}
	mark.Sizes = append(slices.Clone(u.former), backend.SizeAt{Size: int64(read), At: s.deps.Now()})
	r.Bookmarks = append(r.Bookmarks, mark)
	note := backend.Textf("%d of %d sessions wait for their first reading", waiting, len(s.sessions))
	if len(u.former) > 0 {
		note = backend.Textf("%d of %d sessions were not read now; %s", waiting, len(s.sessions), u.since(read, len(line), s.deps.Now()))
	}
	r.Notes = append(r.Notes, note)
}

// since says of the sessions that were not read now when former processes read them.
func (u *turns) since(read, all int, now time.Time) backend.Safe {
	for i := len(u.former) - 1; i >= 0; i-- {
		if read += int(u.former[i].Size); read >= all {
			return backend.Textf("earlier runs read each of them in the last %s", backend.Age(now.Sub(u.former[i].At)))
		}
	}
	return backend.Textf("%d of them were not read since the first run, %s ago", all-read, backend.Age(now.Sub(u.former[0].At)))
}

// roundSlow is how long a round may take before it is said: readings are that old at most.
const roundSlow = time.Minute

// tellRound says how old the oldest reading of a session is where the budget makes a round slow.
func (s *Source) tellRound(r *backend.Reading) {
	now, oldest, running := s.deps.Now(), time.Duration(0), 0
	for _, t := range s.sessions {
		if t.askable(s.opt.Runtime) && t.answer == backend.AnswerOK {
			running++
			oldest = max(oldest, now.Sub(t.asked))
		}
	}
	if oldest >= max(roundSlow, 3*s.deps.Interval) {
		r.Notes = append(r.Notes, backend.Textf("%d sessions are read in turn; the oldest reading is %s old (requests_per_second = %g)", running, backend.Age(oldest.Truncate(time.Minute)), s.opt.RequestsPerSec))
	}
}
