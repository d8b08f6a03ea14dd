package fleet

import (
	"strings"

	"sandglass/backend"
)

// uuidFirst is how many digits of a session's id come before its first dash.
const uuidFirst = 8

// withDigits are the beginnings of an id that begins with some digits, as they are or in the form of a UUID; empty: they are too few.
func withDigits(digits string) [2]string {
	if len(digits) <= uuidFirst {
		return [2]string{}
	}
	return [2]string{digits, digits[:uuidFirst] + "-" + digits[uuidFirst:]}
}

// beginning are the sessions that some sources list and whose ids begin with some digits. The table is sorted by id, so that it is
// searched and not walked.
func (s *State) beginning(digits string, sources []*SourceHealth) (found []*backend.Session) {
	for _, h := range sources {
		for _, first := range withDigits(digits) {
			id, err := backend.NewID(first)
			if err != nil {
				continue
			}
			for i := s.Sessions.search(backend.Key{Kind: backend.KindSession, Source: h.Key.Source, ID: id}); i < s.Sessions.Len(); i++ {
				x := s.Sessions.At(i)
				if x.Key.Source != h.Key.Source || !strings.HasPrefix(x.Key.ID.Raw(), first) {
					break
				}
				found = append(found, x)
			}
		}
	}
	return found
}

// SessionBeginning is the listed session whose id begins with some digits; nil: none does, or several.
func (s *State) SessionBeginning(digits string) (found *backend.Session) {
	for _, x := range s.beginning(digits, s.Sources) {
		if found != nil && found.Key.ID != x.Key.ID {
			return nil
		}
		if found == nil {
			found = x
		}
	}
	return found
}

// CandidatesOn are the listed sessions of which only the digits in the name of a sandbox tell that they may be on it.
func (s *State) CandidatesOn(b *backend.Sandbox) (out []*backend.Session) {
	_, digits := s.AgentSession(b)
	if digits == "" {
		return nil
	}
	on := s.SessionOn(b)
	for _, x := range s.beginning(digits, s.SessionSourcesOf(b.Key.Source)) {
		if x.Key.ID != on {
			out = append(out, x)
		}
	}
	return out
}

// LiveCandidates are the sessions that are taken to run and may be on a sandbox, each with why: those of CandidatesOn, those that a log alone
// names, and those whose workspace names the sandbox by an id that another one has too.
func (s *State) LiveCandidates(b *backend.Sandbox) (live []backend.ID, why []backend.Safe) {
	seen := map[backend.ID]bool{s.SessionOn(b): true}
	look := func(id backend.ID, because backend.Literal) {
		if seen[id] {
			return
		}
		seen[id] = true
		c := *b
		c.Session = id
		if says := s.LiveOn(&c); !says.IsEmpty() {
			live, why = append(live, id), append(why, backend.Textf("%s and may sit on it: %s", says, backend.Text(because)))
		}
	}
	if s.registry != nil {
		for _, id := range s.registry.may[b.Key] {
			look(id, "its workspace names it, and another sandbox is called so too")
		}
	}
	_, digits := s.AgentSession(b)
	if digits == "" {
		return live, why
	}
	const byDigits = "its id begins with the digits of the name"
	for _, x := range s.CandidatesOn(b) {
		look(x.Key.ID, byDigits)
	}
	first := withDigits(digits)
	for series := range s.Windows.All(backend.MetricNamed) {
		if id := series.Session.Raw(); strings.HasPrefix(id, first[0]) || strings.HasPrefix(id, first[1]) {
			look(series.Session, byDigits)
		}
	}
	return live, why
}
