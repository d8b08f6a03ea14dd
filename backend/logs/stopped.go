package logs

import (
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// lastWritten is where and in which poll the newest line of a session was read.
type lastWritten struct {
	file *tail
	at   time.Time
}

// wroteIn notes in which file a session wrote.
func (a *lineAnalyser) wroteIn(session string) {
	if a.file == nil {
		return
	}
	if _, known := a.wrote[session]; !known && len(a.wrote) >= maxStopped {
		return
	}
	if a.wrote == nil {
		a.wrote = map[string]lastWritten{}
	}
	a.wrote[session] = lastWritten{a.file, a.now}
}

// stopped are the sessions whose file has not grown since their newest line. Of one file alone the counts of its lines tell.
func (a *lineAnalyser) stopped(files int, now time.Time) []backend.ID {
	var out []backend.ID
	for session, w := range a.wrote {
		id, err := backend.NewID(session)
		switch {
		case err != nil, now.Sub(w.at) > stoppedFor:
			delete(a.wrote, session)
		case files > 1 && !w.file.grew.After(w.at):
			out = append(out, id)
		}
	}
	stable.Sort(out, backend.ID.Compare)
	return out
}
