package helix

import (
	"cmp"
	"slices"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// tracked is one session of the per-session mode.
type tracked struct {
	id  backend.ID
	key backend.Key

	listed   *listed     // what the list route says, nil without one
	listedAs sessionView // its identity

	outcome         // of the newest request
	before  outcome // of the one before

	etag       string
	hash       uint64
	clock      clockCorrection
	workspaces []backend.Workspace // last good snapshot, our own copy: entities handed out belong to the fleet
	fresh      bool                // workspaces were read in this poll
	snapshot   time.Time           // when workspaces were last confirmed
	undated    int                 // of them carry a time that is none, or in the future
	retired    bool                // the list route no longer calls it running: its snapshot is to be ended

	shown  sessionView
	entity *backend.Session
	touch  bool // asked in this poll

	unlisted bool      // no list of this process ever named it
	left     time.Time // when its list left it out; zero: it did not, or all at once with others
	gradual  bool      // it is lost because its list shrinks
	atOnce   bool      // it is lost with half or more of a long list
}

// outcome is what asking a session led to.
type outcome struct {
	asked   time.Time // zero: never
	answer  backend.RouteAnswer
	text    backend.Safe // what is wrong with the answer
	problem error
	fails   int       // bad answers in a row
	good    time.Time // last answer that was a snapshot or idle
}

// sessionView is all that an entity of a session is made from. Equal views need no new entity.
type sessionView struct {
	listed         uint64
	clock          clockCorrection
	running, inRun backend.Value[bool]
	answer         backend.RouteAnswer
	text           backend.Safe
}

// list stores what the list route says.
func (t *tracked) list(l *listed, hash uint64, clock clockCorrection, s *Source) {
	was, is := backend.Unknown[bool](), l.running
	if t.listed != nil {
		was = t.listed.running
	}
	t.listed, t.listedAs = l, sessionView{listed: hash, clock: clock}
	if is.Or(false) && !was.Or(false) && t.answer == backend.AnswerIdle {
		t.asked = time.Time{} // it has begun to run: the idle pace no longer holds
	}
	if was.Or(false) && !is.Or(true) {
		t.retired = s.opt.Runtime == runtimeDurableObject
		if !t.retired {
			t.asked = s.deps.Now().Add(-s.opt.IdleInterval.Std()) // ask once more, to see the registry close
		}
	}
}

// askable says whether asking the session's health route is allowed and makes sense.
func (t *tracked) askable(runtime string) bool {
	return runtime != runtimeDurableObject || t.listed != nil && t.listed.running.Or(false)
}

// due is when the session is to be asked again.
func (t *tracked) due(interval, idle time.Duration) time.Time {
	switch t.answer {
	case backend.AnswerNone, backend.AnswerOK:
		if t.asked.IsZero() {
			return time.Time{}
		}
		return t.asked.Add(interval * 9 / 10) // a poll a little early must not skip a turn
	case backend.AnswerIdle:
		if t.contradicted(t.asked) {
			return t.asked.Add(interval * 9 / 10)
		}
		return t.asked.Add(idle)
	case backend.AnswerFailed, backend.AnswerInvalid, backend.AnswerNoRoute, backend.AnswerWrongPath:
	}
	back := interval << min(t.fails, 6)
	return t.asked.Add(max(min(back, time.Minute), interval) * 9 / 10)
}

// dueSession is a session in the plan of a poll: how urgent it is to ask it, and since when it is due.
type dueSession struct {
	t     *tracked
	class int // 0 alerting, 1 visible, 2 others that run, 3 idle ones
	due   time.Time
	turn  uint64
}

// plan lists the sessions that are due in the order in which they are asked. Alerting and visible ones come first,
// but every fourth place goes to the others, so that nothing starves behind a long alert. Among the others those that
// were never asked come first, then those that have been due for longest.
func (s *Source) plan() []*tracked {
	now := s.deps.Now()
	s.attention.Lock()
	alerting, visible := s.alerting, s.visible
	s.attention.Unlock()
	var first, rest []dueSession
	for _, t := range s.sessions {
		o := dueSession{t: t, class: 2, due: t.due(s.deps.Interval, s.opt.IdleInterval.Std()), turn: s.turn(t)}
		if !t.askable(s.opt.Runtime) || o.due.After(now) {
			continue
		}
		switch {
		case alerting[t.id]:
			o.class = 0
		case visible[t.id]:
			o.class = 1
		case t.answer == backend.AnswerIdle, t.listed != nil && !t.listed.running.Or(true):
			o.class = 3
		}
		if o.class < 2 {
			first = append(first, o)
		} else {
			rest = append(rest, o)
		}
	}
	stable.Sort(first, func(a, b dueSession) int {
		return cmp.Or(cmp.Compare(a.class, b.class), a.due.Compare(b.due), a.t.id.Compare(b.t.id))
	})
	stable.Sort(rest, func(a, b dueSession) int { // a session that was never asked is due since the zero time
		return cmp.Or(a.due.Compare(b.due), cmp.Compare(a.class, b.class), cmp.Compare(a.turn, b.turn), a.t.id.Compare(b.t.id))
	})
	out := make([]*tracked, 0, len(first)+len(rest))
	for len(first)+len(rest) > 0 {
		if len(first) == 0 || len(rest) > 0 && len(out)%4 == 3 {
			out, rest = append(out, rest[0].t), rest[1:]
		} else {
			out, first = append(out, first[0].t), first[1:]
		}
	}
	return out
}

// waiting counts sessions that could be asked and never were.
func (s *Source) waiting() int {
	n := 0
	for _, t := range s.sessions {
		if t.asked.IsZero() && t.askable(s.opt.Runtime) {
			n++
		}
	}
	return n
}

// running is whether a run loop is active: the list route's word, or what the health route answered.
func (t *tracked) running() (running, listed backend.Value[bool]) {
	if t.listed != nil {
		listed = t.listed.running
	}
	switch t.answer {
	case backend.AnswerOK:
		if len(t.workspaces) == 0 && !listed.Or(true) { // an empty registry does not contradict its status
			return listed, listed
		}
		return backend.Known(true), listed
	case backend.AnswerIdle:
		if !listed.Or(false) {
			return backend.Known(false), listed
		}
	case backend.AnswerNone, backend.AnswerFailed, backend.AnswerInvalid, backend.AnswerNoRoute, backend.AnswerWrongPath:
	}
	return listed, listed
}

// bad reports an answer that says nothing about the workspaces.
func (t *tracked) bad() bool {
	switch t.answer {
	case backend.AnswerFailed, backend.AnswerInvalid, backend.AnswerNoRoute, backend.AnswerWrongPath:
		return true
	case backend.AnswerNone, backend.AnswerOK, backend.AnswerIdle:
	}
	return false
}

const (
	// contradictedFor is how long a list may call a session running whose route answers the documented 404: it may lag.
	contradictedFor = 2 * time.Minute
	// troubledFor is the same for a session with a workspace that failed, was evicted or is in error.
	troubledFor = 24 * time.Hour
)

// contradicted reports whether the list calls a session running whose registry was read before and answers the documented
// 404: one of them is wrong.
func (t *tracked) contradicted(now time.Time) bool {
	if t.answer != backend.AnswerIdle || len(t.workspaces) == 0 || t.listed == nil || !t.listed.running.Or(false) || t.retired {
		return false
	}
	span := contradictedFor
	if slices.ContainsFunc(t.workspaces, func(w backend.Workspace) bool {
		return w.Class == backend.ClassFailed || w.Class == backend.ClassEvicted || !w.LastError.IsEmpty()
	}) {
		span = troubledFor
	}
	return now.Sub(t.snapshot) < span
}

// show returns the session's entity; the same one while nothing about it changed.
func (t *tracked) show(d *decoder, now time.Time) (e *backend.Session, changed bool) {
	v := t.listedAs
	v.running, v.inRun = t.running()
	v.answer, v.text = t.answer, t.text
	if t.entity != nil && v == t.shown {
		return t.entity, false
	}
	l := listed{id: t.id}
	if t.listed != nil {
		l = *t.listed
	}
	e = sessionEntity(t.key.Source, l, now)
	e.Running, e.ListedRunning, e.Answer, e.AnswerText, e.Raw = v.running, v.inRun, v.answer, v.text, l.raw
	d.declareSession(t.id, &e.SessionFacts)
	t.shown, t.entity = v, e
	return e, true
}
