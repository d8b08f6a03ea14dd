package agentuity

import (
	"cmp"
	"maps"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// The platform dates neither what is queued nor a status. What was first seen when is kept for later processes.
const (
	markEvents = "events"
	maxMarks   = 2000
	// unusedFor is how long a mark of a former process is kept without being seen again.
	unusedFor = time.Hour
)

func workMark(k backend.Key) string { return string(k.Kind) + " " + k.Parent.Raw() + " " + k.ID.Raw() }

// markStatus begins the marks of statuses: where there are too many marks, these go first.
const markStatus = "status "

func statusMark(id backend.ID, status string) string { return markStatus + status + " " + id.Raw() }

// statusSince is when a sandbox was first seen in its new status.
func (s *Source) statusSince(b *box, id backend.ID, status string, now time.Time) time.Time {
	delete(s.seen, statusMark(id, b.status))
	return s.firstSeen(statusMark(id, status), now, transit(status) || !over(status) && len(s.seen) < maxMarks)
}

// markRead begins the marks of when executions, jobs and events of a sandbox were last read: a command goes on where the one
// before it ended.
const (
	markRead = "read "
	maxRead  = 2000
)

func listedMark(id backend.ID) string { return "listed " + id.Raw() }

// markDriver begins the marks of sessions without a driver.
const markDriver = "no-driver "

func driverMark(session, sandbox backend.ID) string {
	return markDriver + session.Raw() + " " + sandbox.Raw()
}

// firstSeen is when something was first seen, now where it is new. It is kept where keep says so.
func (s *Source) firstSeen(mark string, now time.Time, keep bool) time.Time {
	s.used[mark] = true
	if at, known := s.seen[mark]; known && !at.After(now) {
		return at
	}
	if keep {
		s.seen[mark] = now
	}
	return now
}

// bookmarks hands what was first seen, and until when events were told, to a later process. The oldest stay.
func (s *Source) bookmarks(now time.Time) []backend.Bookmark {
	out := make([]backend.Bookmark, 0, len(s.seen)+1)
	for mark, at := range s.seen {
		if strings.HasPrefix(mark, "listed ") && now.Sub(at) > suspectEvery {
			delete(s.seen, mark)
			continue
		}
		if !s.used[mark] && now.Sub(s.started) > unusedFor {
			delete(s.seen, mark) // what it dated is no more
			continue
		}
		out = append(out, backend.Bookmark{File: mark, Sizes: []backend.SizeAt{{At: at}}})
	}
	stable.Sort(out, func(a, b backend.Bookmark) int {
		if x, y := strings.HasPrefix(a.File, markStatus), strings.HasPrefix(b.File, markStatus); x != y {
			return map[bool]int{true: 1, false: -1}[x]
		}
		if c := a.Sizes[0].At.Compare(b.Sizes[0].At); c != 0 {
			return c
		}
		return strings.Compare(a.File, b.File)
	})
	out = append(out[:min(len(out), maxMarks)], s.readMarks(now)...)
	out = append(out, s.joinMarks()...)
	out = append(out, s.fileMarks()...)
	if !s.newest.IsZero() {
		out = append(out, backend.Bookmark{File: markEvents, Sizes: []backend.SizeAt{{At: s.newest}}})
	}
	return out
}

// readMarks are the newest marks of when sandboxes were read.
func (s *Source) readMarks(now time.Time) []backend.Bookmark {
	maps.DeleteFunc(s.readOf, func(_ backend.ID, at time.Time) bool { return now.Sub(at) > unusedFor })
	keys := stable.Sorted(maps.Keys(s.readOf), func(a, b backend.ID) int { return cmp.Or(s.readOf[b].Compare(s.readOf[a]), a.Compare(b)) })
	out := make([]backend.Bookmark, 0, min(len(keys), maxRead))
	for _, key := range keys[:min(len(keys), maxRead)] {
		out = append(out, backend.Bookmark{File: markRead + key.Raw(), Sizes: []backend.SizeAt{{At: s.readOf[key]}}})
	}
	return out
}

// markSaid begins the marks of joins that log lines told: session, sandbox, and the source of the line; its file and itself.
const (
	markSaid    = "said "
	maxJoins    = 1000
	maxJoinLine = 160
)

func (s *Source) joinMarks() []backend.Bookmark {
	all := stable.Sorted(maps.Values(s.saidOf), func(a, b saidJoin) int { return cmp.Or(b.at.Compare(a.at), a.session.Compare(b.session)) })
	out := make([]backend.Bookmark, 0, min(len(all), maxJoins))
	for _, x := range all[:min(len(all), maxJoins)] {
		out = append(out, backend.Bookmark{File: markSaid + x.session.Raw() + " " + x.sandbox.Raw() + " " + strings.Join([]string{x.source, x.where.String(), x.line.String()}, "\t"), Sizes: []backend.SizeAt{{At: x.told}, {At: x.at}}})
	}
	return out
}

// recallJoin takes up a join that a former process heard of.
func (s *Source) recallJoin(mark string, told, at time.Time) {
	parts := strings.SplitN(mark, " ", 3)
	if len(parts) < 3 {
		return
	}
	session, err := backend.NewID(parts[0])
	sandbox, no := backend.NewID(parts[1])
	if err == nil && no == nil {
		said := append(strings.SplitN(parts[2], "\t", 3), "", "") // former versions noted the source alone
		s.saidOf[session] = saidJoin{session, sandbox, said[0], at, told, backend.Clean(said[1], maxJoinLine), backend.Clean(said[2], maxJoinLine)}
	}
}
