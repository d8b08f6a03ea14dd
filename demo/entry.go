package demo

import "time"

// moment is an instant that may be unknown.
type moment struct {
	at    time.Duration
	known bool
}

func known(at time.Duration) moment { return moment{at: at, known: true} }

// state is what a registry entry says about itself; every instance spells the
// healthy ones in its own way.
type reportedState uint8

const (
	reportedHealthy reportedState = iota
	reportedOpening
	reportedFailed
	reportedEvicted
	reportedUnused
)

func (w reportedState) spell(where instance) string {
	switch w {
	case reportedFailed:
		return "failed"
	case reportedEvicted:
		return "evicted"
	case reportedOpening:
		return "opening"
	case reportedUnused:
		if where == eu {
			return "pending"
		}
		return "declared"
	case reportedHealthy:
	}
	if where == eu {
		return "open"
	}
	return "ready"
}

// entry is one registry entry at one moment.
type entry struct {
	state   reportedState
	attempt moment
	success moment
	cause   cause
	nonce   int64 // number of the attempt that failed, for ids inside its text
}

const (
	openTime    = 2 * time.Second // from the start of a session to its first success
	reopenTime  = 4 * time.Second // after a restart of the agent
	resetAfter  = 5 * time.Minute // auto-reset of a failed entry
	resetLasts  = 3 * time.Second
	rolloutStep = 6 * time.Second // between two agent processes
	rolloutGap  = 20 * time.Minute
	rolloutPods = 14
)

// rhythm is a row of operations: one every period, each of the given length.
type rhythm struct {
	phase, period, length time.Duration
}

func newRhythm(h uint64, shortest, longest, quick, slow time.Duration) rhythm {
	period := between(scramble(h), shortest, longest)
	return rhythm{
		phase:  between(scramble(h+1), 0, period),
		period: period,
		length: between(scramble(h+2), quick, slow),
	}
}

// last returns the newest attempt at t and the end of the newest finished one.
func (r rhythm) last(t time.Duration) (attempt, success time.Duration) {
	attempt = r.phase + time.Duration(floorDiv(t-r.phase, r.period))*r.period
	success = attempt + r.length
	if success > t {
		success -= r.period
	}
	return attempt, success
}

// entry is what the registry says about a workspace.
func (w world) entry(i int32) entry {
	space := &w.workspaces[i]
	if space.trouble != noIndex {
		tr := &w.troubles[space.trouble]
		if at, done := w.resets[i]; done {
			return w.reset(i, tr, at)
		}
		if w.t >= tr.first {
			return w.troubled(i, tr)
		}
	}
	if space.behaviour == unused {
		return entry{state: reportedUnused}
	}
	if space.behaviour == hiccup {
		return w.evictedAtTimes(i, space)
	}
	if n, ok := w.containerOf[i]; ok {
		if at, cut := w.cutOff(&w.containers[n]); cut {
			return w.At(at).restarted(space, w.At(at).undisturbed(space))
		}
	}
	return w.restarted(space, w.undisturbed(space))
}

// undisturbed is a workspace that only follows its rhythm.
func (w world) undisturbed(space *workspace) entry {
	begin := w.startOf(int(space.session))
	if w.t < begin+openTime {
		return entry{state: reportedOpening, attempt: known(begin)}
	}
	attempt, success := space.rhythm.last(w.t)
	return entry{state: reportedHealthy, attempt: known(max(attempt, begin)), success: known(max(success, begin+openTime))}
}

// restarted adds the newest restart of the agent process, if it was after the
// newest operation. A process is drained before: long operations are not cut.
func (w world) restarted(space *workspace, e entry) entry {
	at, rolled := w.rollout(int(space.session))
	if !rolled || space.behaviour != steady || at < w.startOf(int(space.session))+openTime {
		return e
	}
	if w.t < at+reopenTime {
		before := w.At(at).undisturbed(space)
		return entry{state: reportedOpening, attempt: known(at), success: before.success}
	}
	e.attempt = known(max(e.attempt.at, at))
	e.success = known(max(e.success.at, at+reopenTime))
	return e
}

// rollout returns the newest restart of the process that runs a session.
func (w world) rollout(slot int) (time.Duration, bool) {
	if !w.incidents.rollout || slot >= w.hot || w.sessions[slot].where != eu {
		return 0, false
	}
	return rolloutAt(slot%rolloutPods, w.t)
}

// rolloutAt returns the newest restart of one process at t; the first rollout
// begins two minutes after the start.
func rolloutAt(pod int, t time.Duration) (time.Duration, bool) {
	first := 2*time.Minute + time.Duration(pod)*rolloutStep
	if t < first {
		return 0, false
	}
	return first + time.Duration(floorDiv(t-first, rolloutGap))*rolloutGap, true
}

const hiccupGap = 10 * time.Minute

// evictedAtTimes is a workspace with the hiccup part; the retry that brings it
// back comes within seconds.
func (w world) evictedAtTimes(i int32, space *workspace) entry {
	e := w.undisturbed(space)
	h := w.random.value(saltTrouble, int(i), 7)
	shift, lasts := between(h, 0, hiccupGap), between(h>>13, 4*time.Second, 9*time.Second)
	k := floorDiv(w.t-shift, hiccupGap)
	at := shift + time.Duration(k)*hiccupGap
	if at < w.startOf(int(space.session))+openTime {
		return e
	}
	if w.t < at+lasts {
		before := w.At(at).undisturbed(space)
		return entry{state: reportedEvicted, attempt: known(at), success: before.success, cause: causeInstanceGone, nonce: k}
	}
	e.attempt = known(max(e.attempt.at, at))
	e.success = known(max(e.success.at, at+lasts))
	return e
}

// startOf returns when the present run of a session began.
func (w world) startOf(slot int) time.Duration {
	s := &w.sessions[slot]
	if s.kind != turning {
		return s.started
	}
	return s.started + time.Duration(floorDiv(w.t-s.started, s.period))*s.period
}

// cycle numbers the runs of a turning session; the one before the first that
// can be seen is still positive.
func (w world) cycle(slot int) int64 {
	s := &w.sessions[slot]
	if s.kind != turning {
		return 0
	}
	return floorDiv(w.t-s.started, s.period) + 1
}
