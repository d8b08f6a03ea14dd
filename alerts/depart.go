package alerts

import (
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// depart ends the findings of subjects that are gone, and drops those that have been listed as ended long enough.
func (re *ruleEvaluation) depart(due []*record) {
	for _, r := range due {
		switch {
		case r.State == StateEnded:
			re.put(r, unlist(r, re.env.Now))
		case re.isElsewhere(r):
		case r.lasts() && !re.env.Now.Before(r.Lasts):
			re.end(r, backend.Text("it is gone"))
		case !re.full && !re.evaluation.old.unread && re.heldVanished(r):
			if re.tellsNothing(r) {
				re.put(r, re.held(r, vanishedText))
			} else {
				re.end(r, vanishedText)
			}
		}
	}
	lasting, _ := re.rule.(LastingRule)
	for k, g := range re.gone {
		r := re.old.get(k)
		if lasting != nil && k.Kind == lasting.Kind() && re.outlives(lasting, r, &g) {
			continue
		}
		if r != nil && !re.isElsewhere(r) && !re.vanish(r) {
			re.end(r, g.Why)
		}
	}
	if !re.full && !re.evaluation.old.unread {
		return
	}
	for _, r := range re.old.records {
		if _, known := re.gone[r.Key]; known || r.State == StateEnded && r.Note.IsZero() {
			continue
		}
		if re.isElsewhere(r) {
			continue
		}
		switch why, f := re.presenceOf(r); f {
		case subjectGone:
			re.end(r, why)
		case subjectUnread:
			re.next.unread = true
			v := Verdict{Outcome: NoData, Why: backend.Text("not read since the restart")}
			g, silent := re.next.gaps[r.Key.Source]
			if silent = silent && !g.Starting; silent {
				v = Verdict{Outcome: g.Outcome, Why: g.Why}
			}
			for _, why := range re.doubts(r) {
				v, silent = Verdict{Outcome: SourceError, Why: why}, true
			}
			if why, is := re.leftUnseen(r); is && len(re.doubts(r)) == 1 {
				re.put(r, re.held(r, why))
			} else if r.State != StateEnded && (silent || !re.resumedLately()) {
				re.put(r, step(re.meta, r.Key, r, &v, re.env.Now, false))
			}
		case subjectHere:
		}
	}
}

// outlives judges a subject that is gone: what was found about it, or is found now, may go on.
func (re *ruleEvaluation) outlives(rule LastingRule, r *record, g *fleet.Departure) bool {
	var note Note
	if r != nil {
		note = r.Note
	}
	v := rule.JudgeGone(&re.env, g, note)
	if v.Outcome != True || re.outside(g.Key, g.Last, &v, false) {
		return false
	}
	if v.Source == "" {
		v.Source = g.Key.Source
	}
	n := re.step(g.Key, r, &v)
	n.Lasts, n.Due, n.Listed = v.Recheck, v.Recheck, true
	re.put(r, n)
	return true
}

// lasts reports whether the finding goes on though its subject is gone.
func (r *record) lasts() bool { return r.finding != nil && !r.Lasts.IsZero() }

// unreadPatience is how long after a restart a finding stays as it was though its subject was not read again; idle
// sessions are read every 5 minutes by default.
const unreadPatience = 10 * time.Minute

type presence uint8

const (
	subjectHere presence = iota
	subjectGone
	subjectUnread
)

// presenceOf says what became of a subject when no delta tells. A State keeps what was read once, whatever becomes of the
// source; so in one process absence means gone. After a restart it also means that nobody has read it yet.
func (re *ruleEvaluation) presenceOf(r *record) (backend.Safe, presence) {
	k := r.Key
	h := re.st.Source(k.Source)
	lost := len(re.doubts(r)) > 0
	switch {
	case len(re.st.Sources) == 0, r.lasts():
		return backend.Safe{}, subjectHere
	case h == nil:
		return backend.Text("its source is not configured any more"), subjectGone
	case k.Kind == backend.KindSource || !r.Listed || re.st.Entity(k) != nil:
		return backend.Safe{}, subjectHere // what only log lines name is never listed: nobody says when it ends
	case lost:
		return backend.Safe{}, subjectUnread
	case re.evaluation.old.resume == nil && !re.evaluation.old.unread, re.listedWhole(k):
		return backend.Text("not there any more"), subjectGone
	}
	if k.Kind != backend.KindWorkspace {
		return backend.Safe{}, subjectUnread
	}
	owner := backend.Key{Kind: backend.KindSession, Source: k.Source, ID: k.Parent}
	s := re.st.Session(owner)
	switch {
	case s == nil && re.listedWhole(owner):
		return backend.Text("its session is not there any more"), subjectGone
	case s != nil && !s.Stale && s.Answer == backend.AnswerOK:
		return backend.Text("its session does not have it any more"), subjectGone
	case s != nil && !s.Stale && s.Answer == backend.AnswerIdle && !re.next.unknown[k.Source]:
		return backend.Text("its session is idle"), subjectGone
	}
	return backend.Safe{}, subjectUnread
}

// doubts are why the absence of a subject does not prove its end.
func (re *ruleEvaluation) doubts(r *record) (out []backend.Safe) {
	if why, is := re.lostFromList(r.Key); is {
		out = append(out, why)
	}
	for _, doubt := range []func(*record) (backend.Safe, bool){re.emptyRegistry, re.contradicted, re.leftUnseen} {
		if why, is := doubt(r); is {
			out = append(out, why)
		}
	}
	return out
}

// listedWhole reports whether everything of the key's kind and source was read completely at least once.
func (re *ruleEvaluation) listedWhole(k backend.Key) bool {
	return !re.st.ReadAt(&backend.Meta{Key: k}).IsZero()
}
