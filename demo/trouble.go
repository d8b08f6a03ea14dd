package demo

import "time"

// trouble is what goes wrong with one workspace, from its first failed attempt on.
type trouble struct {
	cause   cause
	state   reportedState
	success moment        // the last success; unknown means that there was none
	natural bool          // the last success is whatever the rhythm had before first
	first   time.Duration // the first failed attempt
	period  time.Duration // between attempts; zero: no later attempt
	reset   bool          // the registry resets the entry every five minutes, in vain
	gives   time.Duration // after this long an evicted entry turns failed; zero never
}

func (w world) troubled(i int32, tr *trouble) entry {
	attempt, k := w.failedAttempt(i, tr)
	e := entry{state: tr.state, attempt: known(attempt), success: tr.success, cause: tr.cause, nonce: k}
	if tr.natural {
		e.success = w.At(tr.first).undisturbed(&w.workspaces[i]).success
	}
	since := w.t - tr.first
	if tr.reset && since > resetAfter && since%resetAfter < resetLasts {
		e.state = reportedOpening
	}
	if tr.gives > 0 && since > tr.gives {
		e.state, e.cause = reportedFailed, tr.cause.afterGivingUp()
	}
	return e
}

// failedAttempt returns the newest attempt and its number. Attempts come a
// little unevenly, as agents do.
func (w world) failedAttempt(i int32, tr *trouble) (time.Duration, int64) {
	if tr.period == 0 {
		return tr.first, 0
	}
	k := floorDiv(w.t-tr.first, tr.period)
	at := w.attemptAt(i, tr, k)
	if at > w.t {
		k--
		at = w.attemptAt(i, tr, k)
	}
	return at, k
}

func (w world) attemptAt(i int32, tr *trouble, k int64) time.Duration {
	at := tr.first + time.Duration(k)*tr.period
	if k == 0 {
		return at
	}
	return at + between(w.random.value(saltJitter, int(i), k), 0, tr.period/4)
}
