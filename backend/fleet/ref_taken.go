package fleet

import (
	"strings"
	"time"

	"sandglass/backend"
)

// longBefore is how long before its session a sandbox must have been made to be one that existed: pools keep some ready.
const longBefore = time.Hour

// Names of the differences that tell a sandbox which existed before.
const (
	differentName = "name"
	differentAge  = "made"
)

// takenOver tells what says that a sandbox existed before the session whose state names it: its name is that of another session, or it was
// made long before its own began. A name that the SDK gives for this session is of no other, however old it is.
func (s *State) takenOver(r *backend.Ref, b *backend.Sandbox) (why backend.Safe, out []RefDifference) {
	own, digits := digitsOf(r.Session), agentDigits(b.Name.String())
	if own != "" && digits == own || b.OfWorker() {
		return why, nil
	}
	if digits != "" && own != "" {
		if of := s.sessionFrom(digits); !of.IsZero() {
			why = backend.Textf("taken over? the name is that of session %s: files of others may be in it", of.Safe())
			out = append(out, RefDifference{Name: backend.Text(differentName), Note: backend.Textf("the SDK itself names a sandbox of this session %s%s", backend.Text(agentPrefix), backend.Clean(own, sessionDigits))})
		}
	}
	made, began := b.CreatedAt.Or(time.Time{}), s.beganAt(r, b)
	saved, dated := r.SavedAt.Get()
	if made.IsZero() || began.IsZero() || began.Sub(made) < longBefore || dated && saved.Before(began) || r.Agent.PauseOnExit.Or(false) { // it went on from an earlier run
		return why, out
	}
	if why.IsEmpty() {
		why = backend.Textf("taken over? made %s before its session began: files of others may be in it", daysAndHours(began.Sub(made)))
	}
	return why, append(out, RefDifference{Name: backend.Text(differentAge), Note: backend.Textf("at %s; its session began at %s", secondsOf(made), secondsOf(began))})
}

// beganAt is when the session of a state began, by the list that tells it; zero: none does.
func (s *State) beganAt(r *backend.Ref, b *backend.Sandbox) (began time.Time) {
	for _, h := range s.SessionSourcesOf(b.Key.Source) {
		if x := s.Session(backend.Key{Kind: backend.KindSession, Source: h.Key.Source, ID: r.Session}); x != nil {
			if at := x.StartedAt.Or(began); began.IsZero() || at.Before(began) {
				began = at
			}
		}
	}
	return began
}

// sessionFrom is the session whose id begins with some digits: that of a saved state, else one that is listed; zero: none, or several.
func (s *State) sessionFrom(digits string) backend.ID {
	if id := s.SessionOfDigits(digits); !id.IsZero() {
		return id
	}
	if x := s.SessionBeginning(digits); x != nil {
		return x.Key.ID
	}
	return backend.ID{}
}

// digitsOf are the first digits of a session's id, as an agent SDK puts them into a name; empty: it has too few.
func digitsOf(session backend.ID) string {
	id := strings.ReplaceAll(session.Raw(), "-", "")
	if len(id) < sessionDigits {
		return ""
	}
	return id[:sessionDigits]
}

// daysAndHours is a length of time of which hours tell enough.
func daysAndHours(d time.Duration) backend.Safe {
	if days := d / (24 * time.Hour); days > 0 {
		return backend.Textf("%dd %dh", int(days), int(d%(24*time.Hour)/time.Hour))
	}
	return backend.Clean(backend.Age(d), 20)
}

func secondsOf(t time.Time) backend.Safe {
	return backend.Clean(t.UTC().Format("2006-01-02 15:04:05Z"), 30)
}
