package alerts

import (
	"slices"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

const (
	// vanishedFor is how long the findings of a session are held that left its list though nothing said that it ended.
	vanishedFor = 10 * time.Minute
	// maxVanished bounds the findings of one rule that are held so.
	maxVanished = 1000
)

var vanishedText = backend.Text("not listed any more; its end was not seen")

// sessionKey is the session that a subject is or is part of; zero for others.
func sessionKey(k backend.Key) backend.Key {
	switch {
	case k.Kind == backend.KindSession:
		return k
	case slices.Contains(k.Kind.Spec().Parents, backend.KindSession):
		return backend.Key{Kind: backend.KindSession, Source: k.Source, ID: k.Parent}
	}
	return backend.Key{}
}

// endUnseen reports whether a departure is a session that left its list while all that was read said that it runs.
func (ev *evaluation) endUnseen(g *fleet.Departure) bool {
	s, ok := g.Last.(*backend.Session)
	return ok && g.Absent && s.MayRun() && s.Answer != backend.AnswerIdle && !ev.overElsewhere(g.Key)
}

// overElsewhere reports whether another source lists a session that does not run.
func (ev *evaluation) overElsewhere(k backend.Key) bool {
	for _, h := range ev.st.Sources {
		x := ev.st.Session(backend.Key{Kind: backend.KindSession, Source: h.Key.Source, ID: k.ID})
		if h.Key.Source != k.Source && x != nil && !x.Stale && !x.MayRun() {
			return true
		}
	}
	return false
}

// live reports whether a finding was proved and did not end.
func (r *record) live() bool { return r.State == StateFiring || r.State == StateHeld }

// vanish holds the finding of a subject whose session left its list unseen.
func (re *ruleEvaluation) vanish(r *record) bool {
	if !r.live() || !re.unseen[sessionKey(r.Key)] || !re.mayHold() {
		return false
	}
	re.put(r, re.held(r, vanishedText))
	return true
}

// mayHold reports whether one more finding may be held so.
func (re *ruleEvaluation) mayHold() bool {
	if re.vanished == 0 {
		for _, r := range re.old.records {
			if r.finding != nil && !r.Vanished.IsZero() {
				re.vanished++
			}
		}
	}
	return re.vanished < maxVanished
}

func (re *ruleEvaluation) held(r *record, why backend.Safe) *record {
	n := step(re.meta, r.Key, r, &Verdict{Outcome: SourceError, Why: why, Recheck: re.env.Now.Add(vanishedFor)}, re.env.Now, false).clone()
	if re.vanished++; n.Vanished.IsZero() || re.env.Now.Sub(n.Vanished) > vanishedFor {
		n.Vanished = re.env.Now
	}
	n.Due = n.Vanished.Add(vanishedFor)
	return n
}

// heldVanished reports whether the finding is one of a subject that left its list unseen and did not come back.
func (re *ruleEvaluation) heldVanished(r *record) bool {
	return r.finding != nil && r.State == StateHeld && !r.Vanished.IsZero() && re.st.Entity(r.Key) == nil
}

// leftUnseen is why nothing is known of a subject of which a former process read trouble: its session is not on the list.
func (re *ruleEvaluation) leftUnseen(r *record) (backend.Safe, bool) {
	k := sessionKey(r.Key)
	if k.ID.IsZero() || !r.live() || re.st.Session(k) != nil || re.st.LastCompleteList(k.Source, backend.KindSession).IsZero() {
		return backend.Safe{}, false
	}
	switch {
	case re.st.SaidToHaveEnded(k), re.st.SaidToHaveEnded(r.Key), re.st.Forgotten(k), re.overElsewhere(k):
		return backend.Safe{}, false
	case r.Vanished.IsZero():
		return vanishedText, re.readAnew() && re.mayHold()
	}
	return vanishedText, re.env.Now.Sub(r.Vanished) < vanishedFor || re.tellsNothing(r)
}

// tellsNothing reports whether the own route of a session that left its list cannot be read either: it is held for up to a day.
func (re *ruleEvaluation) tellsNothing(r *record) bool {
	h, session := re.st.Source(r.Key.Source), sessionKey(r.Key).ID
	if h == nil || re.env.Now.Sub(r.Confirmed) >= lostFor {
		return false
	}
	_, is := h.Silent(session)
	return is
}

// contradicted is why nothing is known of a workspace of which a former process read trouble: its session answers the
// documented 404, and its list calls it running.
func (re *ruleEvaluation) contradicted(r *record) (backend.Safe, bool) {
	if r.Key.Kind != backend.KindWorkspace || !r.live() || !re.readAnew() || !r.Confirmed.IsZero() && re.env.Now.Sub(r.Confirmed) > lostFor {
		return backend.Safe{}, false
	}
	s := re.st.Session(sessionKey(r.Key))
	return backend.Text("its session answers 404 and its list calls it running: whether it ended is not known"),
		s != nil && s.Answer == backend.AnswerIdle && s.ListedRunning.Or(false) && !re.next.unknown[r.Key.Source]
}

// readAnew reports whether what a former process found was not read again yet.
func (re *ruleEvaluation) readAnew() bool {
	return re.evaluation.old.resume != nil || re.evaluation.old.unread
}
