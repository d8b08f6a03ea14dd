package runbook

import (
	"cmp"
	"slices"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// closeErrno is the errno of most failed closes of the last hour, empty where no line names one.
func (s *subjectView) closeErrno() string {
	best, most := "", 0.0
	for _, e := range backend.CloseErrnos() {
		if n := s.tally(backend.CloseFailedWith(e), time.Hour).in.N; n > most {
			best, most = e, n
		}
	}
	return best
}

// closeErrnos counts the errors of one session's failed closes: the subject's own, else the one with the most.
func (s *subjectView) closeErrnos() Check {
	q := question{"close-errnos", "Which errors do the failed closes of a session give?", "the cause in the line tmpdir close failed, in the agent's log"}
	type counts struct {
		from origin
		all  float64
		by   map[string]float64
	}
	sessions := map[backend.ID]*counts{}
	for _, e := range backend.CloseErrnos() {
		for x := range s.State.Windows.All(backend.CloseFailedWith(e)) {
			in := s.State.Windows.Over(x, s.now, time.Hour)
			if in.N == 0 || !s.speaksHere(x.Source) || !s.sessionID.IsZero() && x.Session != s.sessionID {
				continue
			}
			c := sessions[x.Session]
			if c == nil {
				c = &counts{by: map[string]float64{}}
				sessions[x.Session] = c
			}
			c.by[e] += in.N
			c.all += in.N
			if c.from.at.Before(in.Last) {
				c.from = origin{x.Source, in.Last}
			}
		}
	}
	var most backend.ID
	for id, c := range sessions {
		if m := sessions[most]; m == nil || c.all > m.all || c.all == m.all && id.Compare(most) < 0 {
			most = id
		}
	}
	c := sessions[most]
	if c == nil {
		return q.unsure("no line that was read names one")
	}
	errnos := slices.DeleteFunc(backend.CloseErrnos(), func(e string) bool { return c.by[e] == 0 })
	stable.Sort(errnos, func(a, b string) int { return cmp.Compare(c.by[b], c.by[a]) })
	var told []backend.Safe
	for _, e := range errnos {
		told = append(told, backend.Textf("%s %s", backend.Clean(e, 20), number(c.by[e])))
	}
	who := backend.Text("lines without a session")
	if !most.IsZero() {
		who = backend.Textf("session %s", most.Safe())
	}
	if n := len(sessions); n > 1 {
		who = backend.Textf("%s has the most of %s", who, plural(n, "session"))
	}
	return q.yes(c.from, "%s: %s", who, backend.Join(told, ", "))
}
