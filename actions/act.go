package actions

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"sandglass/actions/audit"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// act works through one wave.
func (r *Run) act(ctx context.Context, effect Effect, wave int) {
	r.set(func(p *Progress) { p.Phase, p.Wave, p.Why, p.CanContinue = PhaseActing, wave, backend.Safe{}, false })
	failures := 0
	for i := range r.p.Lines {
		if r.p.Lines[i].Wave != wave || r.p.Lines[i].Result != ResultNone {
			continue
		}
		switch r.actOn(ctx, effect, i) {
		case ResultNone:
			return
		case ResultFailed, ResultUnknown:
			if r.ownFailure(&r.p.Lines[i]) {
				continue
			}
			if failures++; failures == breakAfter {
				r.Stop(backend.Textf("%d failures in a row", breakAfter))
			}
		case ResultSkipped:
			if r.changes*5 > len(r.p.Lines) {
				r.Stop(backend.Textf("%d of %s changed since the plan was made: look again, and make a new one", r.changes, backend.Counted(len(r.p.Lines), "target", "targets")))
			}
			if r.unread >= breakAfter {
				r.Stop(backend.Textf("%d targets in a row could not be read again: plan again when %s answers", r.unread, backend.Clean(r.p.Plan.Source, 80)))
			}
		default:
			failures, r.unread = 0, 0
		}
	}
}

// mayGoOn waits for the rate limit, at least for the given time, and looks for a reason to stop, after the wait as well.
func (r *Run) mayGoOn(wait time.Duration) bool {
	for {
		if !r.halted().IsEmpty() {
			return false
		}
		if r.p.Plan.DryRun {
			return true
		}
		if why := r.newConcern(); !why.IsEmpty() {
			r.Stop(why)
			return false
		}
		d := max(wait, r.control.pace(r.p.Plan))
		if d <= 0 {
			return true
		}
		r.set(func(p *Progress) {
			p.Why = backend.Textf("at most %d a minute: the next one in %s", p.Plan.PerMinute, backend.Age(d))
		})
		if !r.sleep(d) {
			return false
		}
		r.set(func(p *Progress) { p.Why = backend.Safe{} })
		wait = 0
	}
}

// sleep waits, unless the run is stopped.
func (r *Run) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.stop:
		return false
	}
}

// newConcern is why a critical alert that did not fire when the run began stops it: it names a target, or, after the
// first effect, it is about the plan's source. It goes by what was firing, not by times: clocks jump.
func (r *Run) newConcern() backend.Safe {
	firing := make(map[string]bool, len(r.known))
	why := backend.Safe{}
	concerns := r.control.opt.Feed.Snapshot().Concerns
	for i := range concerns {
		x := &concerns[i]
		switch {
		case !x.Firing:
		case r.known[x.ID]:
			firing[x.ID] = true
		case !x.Critical || !why.IsEmpty():
		case r.acted && x.Source == r.p.Plan.Source, slices.ContainsFunc(r.p.Plan.Targets, func(t Target) bool { return x.names(t.Key) }):
			why = backend.Textf("a new critical alert: %s, %s", backend.Clean(x.Rule, 60), x.Cause)
		}
	}
	r.known = firing // what was over meanwhile is new when it comes back
	return why
}

// one reads a target again, acts on it, and writes down what came of it. ResultNone means that it was not reached: the
// run must not go on.
func (r *Run) actOn(ctx context.Context, effect Effect, i int) Result {
	t := r.p.Lines[i].Target
	for wait := time.Duration(0); ; {
		if !r.mayGoOn(wait) {
			return ResultNone
		}
		why := r.recheck(ctx, t)
		switch {
		case !r.halted().IsEmpty():
			return ResultNone // stopped while it was read
		case !why.IsEmpty():
			r.outcome(i, ResultSkipped, why, Done{})
			return ResultSkipped
		}
		made, err := r.announce(t)
		if x, ok := effect.(Maker); ok && err == nil && made != nil {
			x.Makes(*made)
		}
		if err == nil {
			break
		}
		var soon *audit.TooSoonError
		if !errors.As(err, &soon) {
			r.Stop(backend.Clean("the journal does not take the next step: "+err.Error(), backend.MaxTextRunes))
			return ResultNone
		}
		wait = soon.Wait // and then it is read once more
	}
	now := r.now()
	r.acted = true
	r.set(func(p *Progress) {
		p.Lines[i].Result, p.Lines[i].Issued, p.Lines[i].At = ResultIssued, now, now
	})
	if x, ok := effect.(Stepper); ok {
		x.Tell(func(s Step) { r.step(i, s) })
	}
	before := r.control.opt.Feed.Snapshot()
	done, err := r.do(ctx, effect, t)
	if r.ability.Spec.Verb == Probe && err == nil {
		done.besideAgent(&before, t)
	}
	if len(done.Observed) > 0 {
		if r.ability.Spec.Verb == Repair && err == nil {
			markRepaired(done.Observed)
		}
		if o, ok := r.control.opt.Feed.(Observer); ok {
			o.Observe(t.Key, done.Observed)
		}
	}
	var changed *ChangedError
	var untried *UntriedError
	doubt := asUncertain(err)
	unsure := doubt != nil
	if r.ability.Spec.Makes && !unsure && done.Left.IsEmpty() {
		r.forget()
	}
	switch {
	case err == nil:
		r.outcome(i, ResultAccepted, done.Text, done)
		return ResultAccepted
	case errors.As(err, &changed):
		r.changes++
		r.set(func(p *Progress) { p.Lines[i].Issued = time.Time{} }) // nothing was done
		r.outcome(i, ResultSkipped, backend.Clean(err.Error(), backend.MaxTextRunes), done)
		return ResultSkipped
	case errors.As(err, &untried):
		r.outcome(i, ResultSkipped, backend.Clean(err.Error(), backend.MaxTextRunes), done)
		return ResultSkipped
	case unsure:
		r.uncertainAbout(i, doubt)
		r.outcome(i, ResultUnknown, backend.Clean(err.Error(), backend.MaxTextRunes), done)
		return ResultUnknown
	}
	r.outcome(i, ResultFailed, backend.Clean(err.Error(), backend.MaxTextRunes), done)
	return ResultFailed
}

// do carries out one effect. What was begun is finished, whatever ends meanwhile; an effect that breaks off or does not
// come back leaves its target unknown and ends the run.
func (r *Run) do(ctx context.Context, effect Effect, t Target) (Done, error) {
	acting, cancel := context.WithTimeout(context.WithoutCancel(ctx), max(longestEffect, r.ability.Part.Longest))
	defer cancel()
	type came struct {
		done Done
		err  error
	}
	got, err := within(acting, r.control.opt.Spawn, "act on a target", effectGrace, func() came {
		done, err := effect.Do(acting, t, r.p.Plan.Params)
		return came{done, err}
	})
	var lost *lostError
	if errors.As(err, &lost) {
		r.inside = r.inside || lost.running
		r.Stop(backend.Clean("acting on "+t.Label.String()+" went wrong: "+lost.Error(), backend.MaxTextRunes))
		return Done{}, &UncertainError{lost}
	}
	return got.done, got.err
}

// recheck reads the target once more; the answer is why it must be left alone.
func (r *Run) recheck(ctx context.Context, t Target) backend.Safe {
	snap, why := r.fresh(ctx, t.Key)
	if !why.IsEmpty() {
		r.unread++
		return why
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cs, err := r.control.look(ctx, r.ability.Part.Targets,
		Question{Keys: []backend.Key{t.Key}, State: snap.State, Now: r.now(), Params: r.p.Plan.Params, Again: true, Planned: t.Identity})
	if err != nil {
		r.unread++
		return backend.Clean("it cannot be read again: "+err.Error(), backend.MaxTextRunes)
	}
	switch x := pick(cs, t.Key); {
	case x == nil:
		r.changes++
		return backend.Text("it was not found when it was read again")
	case !x.Why.IsEmpty():
		r.changes++
		return x.Why
	case !slices.Equal(x.Identity, t.Identity) && !over(t.Identity, x.Identity):
		r.changes++
		return backend.Textf("changed since the plan: %s", difference(t.Identity, x.Identity))
	}
	return backend.Safe{}
}

// difference names the first fact of an identity that is another one now.
func difference(was, is []Fact) backend.Safe {
	if why := another(was, is); !why.IsEmpty() {
		return why
	}
	for i, f := range was {
		if i >= len(is) || is[i].Name != f.Name {
			return backend.Textf("%s is gone", backend.Clean(f.Name, 60))
		}
		if is[i].Value != f.Value {
			before, now := strings.TrimSuffix(f.Value, sumOf(f.Value)), strings.TrimSuffix(is[i].Value, sumOf(is[i].Value))
			if a, b := backend.Clean(before, longestValue), backend.Clean(now, longestValue); a != b {
				return backend.Textf("%s was %s and is %s", backend.Clean(f.Name, 60), a, b)
			}
			return backend.Textf("%s is another one, in a part that is not shown, such as the value of a header", backend.Clean(f.Name, 60))
		}
	}
	return backend.Textf("%s", backend.Counted(len(is)-len(was), "fact more", "facts more"))
}

// longestValue bounds a value that is shown because it changed.
const longestValue = 400

// SumMark stands before the sum that ends a value of which not everything is shown.
const SumMark = ", sum "

// sumOf is the sum at the end of a value; empty: it has none.
func sumOf(value string) string {
	if i := strings.LastIndex(value, SumMark); i >= 0 && !strings.Contains(value[i+len(SumMark):], " ") {
		return value[i:]
	}
	return ""
}

// fresh returns a Snapshot whose reading of the target is at most a few seconds old, and asks for one when it is not.
func (r *Run) fresh(ctx context.Context, k backend.Key) (Snapshot, backend.Safe) {
	feed := r.control.opt.Feed
	if r.ability.Part.ReadsItself {
		return feed.Snapshot(), backend.Safe{}
	}
	changed, stop := feed.Subscribe()
	defer stop()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for asked := false; ; {
		snap := feed.Snapshot()
		// A reading from the future was made before the clock was set back.
		if age := r.now().Sub(readAt(snap.State, k)); age <= freshReading && age >= -time.Second {
			return snap, backend.Safe{}
		}
		if !asked {
			feed.Reread(k)
			asked = true
		}
		select {
		case <-changed:
		case <-limit.C:
			return snap, backend.Textf("%s did not answer within %s when it was to be read again", backend.Clean(r.p.Plan.Source, 80), backend.Age(patience))
		case <-r.stop:
			return snap, backend.Text("stopped before it was read again")
		case <-ctx.Done():
			return snap, backend.Text("stopped before it was read again")
		}
	}
}

// readAt is when the key was last read; for one that is not listed, when its source last answered.
func readAt(s *fleet.State, k backend.Key) time.Time {
	if s == nil {
		return time.Time{}
	}
	if e := s.Entity(k); e != nil {
		return s.ReadAt(e.EntityMeta())
	}
	if h := s.Source(k.Source); h != nil && h.Failures == 0 {
		return h.LastOK
	}
	return time.Time{}
}

// outcome sets a line's result and writes it down.
func (r *Run) outcome(i int, result Result, text backend.Safe, done Done) {
	now := r.now()
	r.set(func(p *Progress) {
		l := &p.Lines[i]
		l.Result, l.Text, l.At = result, text, now
		if done.Moved != 0 || done.Freed != 0 || len(done.Notes) > 0 || len(done.Steps) > 0 || done.Proved || !done.Text.IsEmpty() {
			l.Done = done
		}
	})
	r.writeDown(i)
	r.tellDestroyed(i)
	if p := r.p.Plan; !p.DryRun {
		r.control.notify(string(p.Verb), r.p.Lines[i].Target.Key, backend.Textf("%s %s: %s", backend.Clean(string(p.Verb), 40), backend.Clean(string(result), 40), text))
	}
}

// writeDown journals the state of a line. A journal that refuses it stops the run: what happens next could not be proved.
func (r *Run) writeDown(i int) {
	l := &r.p.Lines[i] // only the run itself changes it
	facts := l.Target.nameFact()
	for _, x := range []struct {
		name backend.Literal
		n    int64
	}{{"bytes moved", l.Done.Moved}, {"bytes freed", l.Done.Freed}} {
		if x.n > 0 {
			facts = append(facts, backend.Field{Name: backend.Text(x.name), Value: backend.Textf("%d", x.n)})
		}
	}
	for n, note := range l.Done.Notes {
		if n < 20 {
			facts = append(facts, backend.Field{Name: backend.Text("note"), Value: note})
		}
	}
	facts = append(facts, stepFacts(l.Done.Steps)...)
	e := audit.Entry{Phase: audit.PhaseOutcome, Result: l.Result, Detail: l.Text, Subjects: []backend.Key{l.Target.Key}, Facts: facts}
	switch l.Result {
	case ResultVerified, ResultUnverified, ResultFailedAgain, ResultEnded:
		e.Verification = l.Text
	}
	if err := r.journal(e, audit.Synced); err != nil {
		r.set(func(p *Progress) {
			p.Problem = backend.Clean("an outcome is not in the journal: "+err.Error(), backend.MaxTextRunes)
		})
		r.Stop(backend.Text("the journal does not take the outcome"))
	}
}
