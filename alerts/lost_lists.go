package alerts

import (
	"sort"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

const (
	// lostWithin is how long ago a former process must have read a list at most for its loss to be one "at once".
	lostWithin = 15 * time.Minute
	// lostFor is how long a list that lost its sessions between two processes stays suspect.
	lostFor = 24 * time.Hour
)

// listMemory is what is kept of a source's list of sessions for the next process: a list that lost half or more between two
// runs is suspect as one that does so before our eyes.
type listMemory struct {
	Running int       `json:"running"` // sessions that may have run
	At      time.Time `json:"at"`      // steady
	Lost    int       `json:"lost,omitempty"`
}

// lists compares the list of each source with what the process before read of it, and remembers it.
func (ev *evaluation) lists() {
	ev.next.lists, ev.next.ownLists = make(map[string]listMemory, len(ev.st.Sources)), make(map[string]bool, len(ev.st.Sources))
	ev.env.lists = ev.next.lists
	for _, h := range ev.st.Sources {
		id := h.Key.Source
		was, known := ev.old.lists[id]
		own := ev.old.ownLists[id] && ev.old.resume == nil
		if ev.st.LastCompleteList(id, backend.KindSession).IsZero() || h.Status == fleet.StatusDown {
			if known {
				ev.next.lists[id], ev.next.ownLists[id] = was, own
			}
			continue
		}
		ev.next.ownLists[id] = true
		listed := sessionsOf(ev.st, id)
		age := ev.env.Now.Sub(was.At)
		switch {
		case was.Lost > 0 && age < lostFor && backend.LostAtOnce(was.Running, was.Running-listed):
			was.Lost = was.Running - listed
			ev.next.lists[id] = was
		case !own && was.Lost == 0 && age < lostWithin && backend.LostAtOnce(was.Running, was.Running-listed):
			was.Lost = was.Running - listed
			ev.next.lists[id] = was
			ev.moved[id] = true
		case known && own && len(ev.changed[backend.KindSession]) == 0 && len(ev.gone) == 0 && !ev.all:
			was.At = ev.env.Now
			ev.next.lists[id] = was
		default:
			ev.next.lists[id] = listMemory{Running: runningOf(ev.st, id), At: ev.env.Now}
		}
	}
}

// sessionsOf is the number of sessions of a source, which are neighbours.
func sessionsOf(st *fleet.State, source string) int {
	first, end := sessionSpan(st, source)
	return end - first
}

func sessionSpan(st *fleet.State, source string) (first, end int) {
	all := st.Sessions
	first = sort.Search(all.Len(), func(i int) bool { return all.At(i).Key.Source >= source })
	return first, first + sort.Search(all.Len()-first, func(i int) bool { return all.At(first+i).Key.Source > source })
}

func runningOf(st *fleet.State, source string) int {
	n := 0
	for i, end := sessionSpan(st, source); i < end; i++ {
		if st.Sessions.At(i).MayRun() {
			n++
		}
	}
	return n
}

// LostSessions reports how many sessions a source's list lost since the last run, of how many, when these are suspiciously
// many.
func (e *Env) LostSessions(source string) (lost, of int, is bool) {
	l := e.lists[source]
	return l.Lost, l.Running, l.Lost > 0
}

// lostSession is why nothing is known of a subject's session: its list lost it between two runs.
func (re *ruleEvaluation) lostSession(k backend.Key) (backend.Safe, bool) {
	lost, of, is := re.env.LostSessions(k.Source)
	if k.Kind == backend.KindWorkspace {
		k = backend.Key{Kind: backend.KindSession, Source: k.Source, ID: k.Parent}
	}
	if !is || k.Kind != backend.KindSession || re.st.Session(k) != nil {
		return backend.Safe{}, false
	}
	return backend.Textf("the list of %s lost %d of %d sessions since the last run: whether its session ended is not known", backend.Clean(k.Source, 80), lost, of), true
}
