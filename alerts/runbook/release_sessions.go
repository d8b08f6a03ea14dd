package runbook

import (
	"slices"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// onlySome says how few of the sessions show a proof.
func onlySome(l backend.Literal, args ...any) backend.Safe {
	return backend.Textf("%s, which tells nothing of the others", backend.Textf(l, args...))
}

// shows reports whether what is read of a session proves that its release is of a round or later.
func (s *subjectView) shows(round int, session backend.ID) bool {
	for w := range s.State.Workspaces.Of(backend.KindWorkspace, s.home, session) {
		if round <= 5 && w.LastAttemptAt.IsKnown() {
			return true
		}
	}
	return round <= 4 && slices.ContainsFunc(s.Refs, func(r Ref) bool { return r.Session == session && r.SchemaVersion.IsKnown() })
}

// allShow reports whether each of the sessions shows that its release is of a round or later.
func (s *subjectView) allShow(round int, sessions ...backend.ID) bool {
	return !slices.ContainsFunc(sessions, func(id backend.ID) bool { return !s.shows(round, id) })
}

// oldReference is a session whose stored reference carries no schemaVersion: a release before round 4 wrote it.
func (s *subjectView) oldReference(sessions []backend.ID) (backend.ID, bool) {
	i := slices.IndexFunc(s.Refs, func(r Ref) bool { return r.SchemaVersion.IsNotApplicable() && slices.Contains(sessions, r.Session) })
	if i < 0 {
		return backend.ID{}, false
	}
	return s.Refs[i].Session, true
}

// releaseOf is the release of all the sessions: a proof holds only for the session that shows it.
func (s *subjectView) releaseOf(sessions []backend.ID) Release {
	r := s.release()
	if old, is := s.oldReference(sessions); is {
		r.partly = backend.Textf("the stored reference of session %s carries no schemaVersion, so a release before round 4 wrote it", old.Safe())
		if r.AtLeast == 0 {
			r.Proof = append(r.Proof, r.partly)
		}
		return r
	}
	shown := 0
	for _, id := range sessions {
		if s.shows(r.AtLeast, id) {
			shown++
		}
	}
	if r.AtLeast > 0 && r.partly.IsEmpty() && shown > 0 && shown < len(sessions) {
		r.partly = onlySome("%d of %s show it", shown, plural(len(sessions), "session"))
	}
	return r
}

// concerned are the sessions that a leak is about: the subject's, those that share its places, and the one that it was
// branched from.
func (s *subjectView) concerned(places []*fleet.SharedStorage) []backend.ID {
	var out []backend.ID
	add := func(id backend.ID) {
		if !id.IsZero() && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	add(s.sessionID)
	for _, p := range places {
		for _, u := range p.Users {
			add(u.Session)
		}
	}
	if s.session != nil {
		add(s.session.BranchedFrom)
	}
	if other, _, _, ok := s.sharedBefore(); ok {
		add(other)
	}
	return out
}
