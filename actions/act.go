package actions

import (
	"context"
	"errors"
	"slices"
	"time"

	"sandglass/actions/audit"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// act works through one wave.
func (r *Run) act(ctx context.Context, effect Effect, wave int) {
	r.set(func(p *Progress) { p.Phase, p.Wave, p.Why = PhaseActing, wave, backend.Safe{} })
	failures := 0
	for i := range r.p.Lines {
		if r.p.Lines[i].Wave != wave || r.p.Lines[i].Result != ResultNone {
			continue
		}
		if !r.mayGoOn() {
			return
		}
		switch r.one(ctx, effect, i) {
		case ResultFailed, ResultUnknown:
			if failures++; failures == breakAfter {
				r.Stop(backend.Textf("%d failures in a row", breakAfter))
			}
		case ResultSkipped:
			if r.changes*5 > len(r.p.Lines) {
				r.Stop(backend.Textf("%d of %d targets changed since the plan was made: look again, and make a new one", r.changes, len(r.p.Lines)))
			}
		default:
			failures = 0
		}
	}
}

// mayGoOn waits for the rate limit and looks for a reason to stop.
func (r *Run) mayGoOn() bool {
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
	for {
		d := r.control.pace(r.p.Plan)
		if d <= 0 {
			return true
		}
		r.set(func(p *Progress) {
			p.Why = backend.Textf("at most %d a minute: the next one in %s", p.Plan.PerMinute, backend.Age(d))
		})
		if !r.sleep(d) {
			return false
		}
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

// newConcern is why a critical alert that began after the run stops it: it names a target, or, after the first effect, it
// is about the plan's source.
func (r *Run) newConcern() backend.Safe {
	acted := r.Snapshot()
	for _, x := range r.control.opt.Feed.Scene().Concerns {
		if !x.Critical || !x.Firing || r.known[x.ID] || !x.Since.After(r.began) {
			continue
		}
		names := slices.ContainsFunc(r.p.Plan.Targets, func(t Target) bool { return x.names(t.Key) })
		if names || acted.Acted() > 0 && x.Source == r.p.Plan.Source {
			return backend.Textf("a new critical alert: %s, %s", backend.Clean(x.Rule, 60), x.Cause)
		}
	}
	return backend.Safe{}
}

// one reads a target again, acts on it, and writes down what came of it.
func (r *Run) one(ctx context.Context, effect Effect, i int) Result {
	t := r.p.Lines[i].Target
	if why := r.recheck(ctx, t); !why.IsEmpty() {
		r.outcome(i, ResultSkipped, why, Done{})
		return ResultSkipped
	}
	if !r.halted().IsEmpty() {
		return ResultNone
	}
	if err := r.journal(audit.Entry{Phase: audit.PhaseTargetIntent, Subjects: []backend.Key{t.Key}}, audit.Synced); err != nil {
		r.Stop(backend.Clean("the journal does not take the next step: "+err.Error(), backend.MaxTextRunes))
		return ResultNone
	}
	now := r.now()
	r.set(func(p *Progress) {
		p.Lines[i].Result, p.Lines[i].Issued, p.Lines[i].At = ResultIssued, now, now
	})
	// What was begun is finished, whatever ends meanwhile.
	acting, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestEffect)
	done, err := effect.Do(acting, t, r.p.Plan.Params)
	cancel()
	var changed *ChangedError
	var uncertain *UncertainError
	switch {
	case err == nil:
		r.outcome(i, ResultAccepted, done.Text, done)
		return ResultAccepted
	case errors.As(err, &changed):
		r.mu.Lock()
		r.changes++
		r.p.Lines[i].Issued = time.Time{} // nothing was done
		r.mu.Unlock()
		r.outcome(i, ResultSkipped, backend.Clean(err.Error(), backend.MaxTextRunes), done)
		return ResultSkipped
	case errors.As(err, &uncertain):
		r.outcome(i, ResultUnknown, backend.Clean(err.Error(), backend.MaxTextRunes), done)
		return ResultUnknown
	}
	r.outcome(i, ResultFailed, backend.Clean(err.Error(), backend.MaxTextRunes), done)
	return ResultFailed
}

// recheck reads the target once more; the answer is why it must be left alone.
func (r *Run) recheck(ctx context.Context, t Target) backend.Safe {
	scene, why := r.fresh(ctx, t.Key)
	if !why.IsEmpty() {
		return why
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cs := r.ability.Part.Looker.Look(ctx, Question{Keys: []backend.Key{t.Key}, State: scene.State, Now: r.now(), Params: r.p.Plan.Params, Again: true})
	switch {
	case len(cs) != 1 || cs[0].Key != t.Key:
		return backend.Text("it was not found when it was read again")
	case !cs[0].Why.IsEmpty():
		r.changed()
		return cs[0].Why
	case !slices.Equal(cs[0].Identity, t.Identity):
		r.changed()
		return backend.Textf("changed since the plan: %s", difference(t.Identity, cs[0].Identity))
	}
	return backend.Safe{}
}

func (r *Run) changed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes++
}

// difference names the first fact of an identity that is another one now.
func difference(was, is []Fact) backend.Safe {
	for i, f := range was {
		if i >= len(is) || is[i].Name != f.Name {
			return backend.Textf("%s is gone", backend.Clean(f.Name, 60))
		}
		if is[i].Value != f.Value {
			return backend.Textf("%s was %s and is %s", backend.Clean(f.Name, 60), backend.Clean(f.Value, 80), backend.Clean(is[i].Value, 80))
		}
	}
	return backend.Textf("%d facts more", len(is)-len(was))
}

// fresh returns a Scene whose reading of the target is at most a few seconds old, and asks for one when it is not.
func (r *Run) fresh(ctx context.Context, k backend.Key) (Scene, backend.Safe) {
	feed := r.control.opt.Feed
	if r.ability.Part.ReadsItself {
		return feed.Scene(), backend.Safe{}
	}
	changed, stop := feed.Subscribe()
	defer stop()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for asked := false; ; {
		scene := feed.Scene()
		if r.now().Sub(readAt(scene.State, k)) <= freshReading {
			return scene, backend.Safe{}
		}
		if !asked {
			feed.Wake(r.p.Plan.Source)
			asked = true
		}
		select {
		case <-changed:
		case <-limit.C:
			return scene, backend.Textf("%s did not answer within %s when it was to be read again", backend.Clean(r.p.Plan.Source, 80), backend.Age(patience))
		case <-r.stop:
			return scene, backend.Text("stopped before it was read again")
		case <-ctx.Done():
			return scene, backend.Text("stopped before it was read again")
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
		if done.Moved != 0 || done.Freed != 0 || len(done.Notes) > 0 || done.Proved || !done.Text.IsEmpty() {
			l.Done = done
		}
	})
	r.record(i)
	if p := r.p.Plan; !p.DryRun {
		r.control.tell(string(p.Verb), r.p.Lines[i].Target.Key, backend.Textf("%s %s: %s", backend.Clean(string(p.Verb), 40), backend.Clean(string(result), 40), text))
	}
}

// record writes the state of a line down. A journal that refuses it stops the run: what happens next could not be proved.
func (r *Run) record(i int) {
	l := r.Snapshot().Lines[i]
	facts := make([]backend.Field, 0, 2)
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
