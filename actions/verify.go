package actions

import (
	"fmt"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// settle waits until the next wave may start: this one is verified, or it was accepted, half a minute passed without a
// new failure and the operator continues. After the last wave it waits until every line is decided.
func (r *Run) settle(wave int) {
	last := wave == r.p.Waves
	feed := r.control.opt.Feed
	changed, stop := feed.Subscribe()
	defer stop()
	r.set(func(p *Progress) {
		p.Phase = PhaseVerifying
		p.Why = r.waitsFor(last)
	})
	began := r.now()
	looks := looksAfter()
	if last {
		looks = append(looks, verifyFor-lastLook)
	}
	drain(r.next)
	for {
		r.judge()
		done, failed := r.waveState(wave, last)
		since := r.now().Sub(began)
		switch {
		case !failed.IsEmpty() && !last:
			r.Stop(failed)
		case done:
			return
		}
		if !r.halted().IsEmpty() {
			return
		}
		wait := time.Second
		if len(looks) > 0 {
			wait = min(wait, looks[0]-since)
		}
		switch {
		case last && since >= verifyFor:
			r.giveUp()
			return
		case !last && since >= settle && !r.unknownOutcome(wave).IsEmpty():
			r.Stop(r.unknownOutcome(wave))
			return
		case !last && since >= settle && r.p.Plan.Headless:
			r.Stop(backend.Text("accepted, but not verified yet: without a screen the next batch does not start"))
			return
		case !last && since >= settle:
			r.set(func(p *Progress) {
				p.Phase, p.CanContinue = PhaseWaiting, true
				p.Why = backend.Text("accepted, not verified yet")
			})
		}
		if len(looks) > 0 && wait <= 0 {
			feed.Wake(r.p.Plan.Source)
			looks = looks[1:]
			continue
		}
		if r.waitForReadings(changed, max(wait, 10*time.Millisecond)) && !last && since >= settle {
			r.judge() // what was read while the key was on its way counts
			if _, failed := r.waveState(wave, last); !failed.IsEmpty() {
				r.Stop(failed)
			}
			r.set(func(p *Progress) { p.CanContinue = false })
			return
		}
	}
}

// waitForReadings waits for a reading, the time or the operator; it reports whether the operator wants the next wave.
func (r *Run) waitForReadings(changed <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-changed:
	case <-t.C:
	case <-r.stop:
	case <-r.next:
		return true
	}
	return false
}

func drain(ch chan struct{}) {
	select {
	case <-ch:
	default:
	}
}

// judge asks the verifier about every line that is not decided.
func (r *Run) judge() {
	state := r.control.opt.Feed.Snapshot().State
	for i := range r.p.Lines { // which only the run itself changes
		l := &r.p.Lines[i]
		if l.Issued.IsZero() || l.decided() {
			continue
		}
		v := r.verdict(l, state)
		if v.Result == ResultAccepted && l.Result == ResultUnknown {
			r.observe(i, state)
		}
		if v.Result == ResultAccepted && (l.Result == ResultUnknown || v.Why == l.Text || v.Why.IsEmpty()) {
			continue // no news; an unknown outcome stays unknown until a reading decides it
		}
		if v.Result == l.Result && v.Result == ResultAccepted {
			now := r.now()
			r.set(func(p *Progress) { p.Lines[i].Text, p.Lines[i].At = v.Why, now })
			continue
		}
		r.outcome(i, v.Result, v.Why, Done{})
	}
}

// verdict asks the verifier. One that breaks off decides nothing.
func (r *Run) verdict(l *Line, state *fleet.State) (v Verdict) {
	defer func() {
		if x := recover(); x != nil {
			v = Verdict{ResultAccepted, backend.Clean(fmt.Sprintf("readings cannot be judged: Sandglass itself failed%s: %v", whereBroken(), x), 300)}
		}
	}()
	part := r.ability.Part
	switch {
	case part.Verifier != nil && state != nil:
		return part.Verifier.Verify(l.Target, l.Issued, state)
	case part.Verifier == nil && l.Done.Proved:
		return Verdict{ResultVerified, l.Text}
	case part.Verifier == nil && l.Result == ResultAccepted && !l.Done.Seen.IsEmpty():
		return Verdict{ResultUnverified, l.Done.Seen}
	case part.Verifier == nil && l.Result == ResultAccepted:
		return Verdict{ResultUnverified, backend.Text("accepted; readings cannot show the result")}
	}
	return Verdict{Result: ResultAccepted}
}

// waveState says whether every line of the waves so far is final, and what failed. After the last wave a line that no
// reading can show is final too.
func (r *Run) waveState(wave int, last bool) (done bool, failed backend.Safe) {
	done = true
	for i := range r.p.Lines {
		l := &r.p.Lines[i]
		if l.Wave > wave {
			continue
		}
		switch l.Result {
		case ResultFailedAgain:
			failed = backend.Textf("%s failed again: the cause is still there", l.Target.Label)
		case ResultFailed:
			if r.ownFailure(l) {
				continue
			}
			failed = backend.Textf("%s failed: %s", l.Target.Label, l.Text)
		case ResultUnverified:
			done = done && (last || r.p.Plan.Verb == Probe)
		case ResultAccepted, ResultIssued, ResultUnknown:
			done = false
		}
	}
	return done, failed
}

// ownFailure reports whether a failure tells of its target alone: a probe that was answered or waited in vain for an answer changes
// nothing, and the others are looked at all the same.
func (r *Run) ownFailure(l *Line) bool {
	return r.p.Plan.Verb == Probe && l.Result == ResultFailed && len(l.Done.Observed) > 0
}

// unknownOutcome says why the next wave must not start: an action was sent, and may not have been accepted.
func (r *Run) unknownOutcome(wave int) backend.Safe {
	for i := range r.p.Lines {
		if l := &r.p.Lines[i]; l.Wave <= wave && l.Result == ResultUnknown {
			return backend.Textf("the result of %s is unknown: check it, then plan again for the others", l.Target.Label)
		}
	}
	return backend.Safe{}
}

// giveUp ends the wait after the last wave: accepted lines become unverified; unknown ones stay unknown, but for those that every
// reading showed as they were.
func (r *Run) giveUp() {
	for i := range r.p.Lines {
		r.concludeStanding(i)
		if l := &r.p.Lines[i]; l.Result == ResultAccepted {
			why := backend.Textf("accepted, but not shown by a reading within %s", backend.Age(verifyFor))
			if !l.Text.IsEmpty() {
				why = backend.Textf("%s; the last one: %s", why, l.Text)
			}
			r.outcome(i, ResultUnverified, why, Done{})
		}
	}
}

// lastJudgement judges the readings at hand when a run stops early, without waiting.
func (r *Run) lastJudgement() {
	if !r.p.Plan.DryRun {
		r.judge()
	}
}
