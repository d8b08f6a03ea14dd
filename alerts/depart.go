package alerts

import (
	"time"

	"sandglass/backend"
)

// depart ends the findings of subjects that are gone, and drops those that have been listed as ended long enough.
func (w *work) depart(due []*record) {
	for _, r := range due {
		if r.State == StateEnded {
			w.put(r, unlist(r, w.env.Now))
		}
	}
	for k, why := range w.gone {
		if r := w.old.get(k); r != nil {
			w.end(r, why)
		}
	}
	if !w.full && !w.turn.old.unread {
		return
	}
	for _, r := range w.old.records {
		if _, known := w.gone[r.Key]; known || r.State == StateEnded && r.Note == nil {
			continue
		}
		switch why, f := w.fate(r); f {
		case subjectGone:
			w.end(r, why)
		case subjectUnread:
			w.next.unread = true
			v := Verdict{Outcome: NoData, Why: backend.Text("not read since the restart")}
			g, silent := w.next.gaps[r.Key.Source]
			if silent = silent && !g.Starting; silent {
				v = Verdict{Outcome: g.Outcome, Why: g.Why}
			}
			if r.State != StateEnded && (silent || w.env.Now.Sub(w.next.clock.ResumedAt) > unreadPatience) {
				w.put(r, step(w.meta, r.Key, r, &v, w.env.Now, false))
			}
		case subjectHere:
		}
	}
}

// unreadPatience is how long after a restart a finding stays as it was though its subject was not read again; idle
// sessions are read every 5 minutes by default.
const unreadPatience = 10 * time.Minute

type fate uint8

const (
	subjectHere fate = iota
	subjectGone
	subjectUnread
)

// fate says what became of a subject when no delta tells. A State keeps what was read once, whatever becomes of the
// source; so in one process absence means gone. After a restart it also means that nobody has read it yet.
func (w *work) fate(r *record) (backend.Safe, fate) {
	k := r.Key
	h := w.st.Source(k.Source)
	switch {
	case len(w.st.Sources) == 0:
		return backend.Safe{}, subjectHere
	case h == nil:
		return backend.Text("its source is not configured any more"), subjectGone
	case k.Kind == backend.KindSource || !r.Listed || w.st.Entity(k) != nil:
		return backend.Safe{}, subjectHere // what only log lines name is never listed: nobody says when it ends
	case w.turn.old.resume == nil && !w.turn.old.unread, w.listedWhole(k):
		return backend.Text("not there any more"), subjectGone
	}
	if k.Kind != backend.KindWorkspace {
		return backend.Safe{}, subjectUnread
	}
	owner := backend.Key{Kind: backend.KindSession, Source: k.Source, ID: k.Parent}
	s := w.st.Session(owner)
	switch {
	case s == nil && w.listedWhole(owner):
		return backend.Text("its session is not there any more"), subjectGone
	case s != nil && !s.Stale && s.Answer == backend.AnswerOK:
		return backend.Text("its session does not have it any more"), subjectGone
	case s != nil && !s.Stale && s.Answer == backend.AnswerIdle && !w.next.unknown[k.Source]:
		return backend.Text("its session is idle"), subjectGone
	}
	return backend.Safe{}, subjectUnread
}

// listedWhole reports whether everything of the key's kind and source was read completely at least once.
func (w *work) listedWhole(k backend.Key) bool { return !w.st.ReadAt(&backend.Meta{Key: k}).IsZero() }
