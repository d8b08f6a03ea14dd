package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"sandglass/actions"
	"sandglass/actions/audit"
	tmpdiract "sandglass/actions/tmpdir"
	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/cli"
)

// keepEvery is how often a console looks for directories whose grace period is over.
const keepEvery = time.Minute

// keepers end the grace periods of cleaned directories on the sources that allow it. Their removal was confirmed with the
// plan that set them aside; it is journalled like any other effect.
func (c *console) keepers(a cli.Acting) []*tmpdiract.Keeper {
	if a.ReadOnly || a.StateDir == "" {
		return nil
	}
	var out []*tmpdiract.Keeper
	for _, s := range a.Sources {
		if s.Config.Kind != tmpdiract.Kind().Name || !slices.Contains(s.Config.Actions, string(actions.Clean)) {
			continue
		}
		var allowed []actions.Verb
		for _, v := range s.Config.Actions {
			allowed = append(allowed, actions.Verb(v))
		}
		if k, err := tmpdiract.NewKeeper(c.site(s, a, allowed)); err == nil { // why it cannot stands with the verb itself
			out = append(out, k)
		}
	}
	return out
}

// keep purges what is due until ctx ends.
func (c *console) keep(ctx context.Context, ks []*tmpdiract.Keeper, latest func() *fleet.State, journal *audit.Journal, desk *alerts.Service, problem func(error)) {
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		state := latest()
		if state == nil {
			continue
		}
		_, err := c.purgeDue(ctx, ks, state, journal, desk)
		problem(err)
	}
}

// purgeDue removes what is past its grace period now, and says what came of it.
func (c *console) purgeDue(ctx context.Context, ks []*tmpdiract.Keeper, state *fleet.State, journal *audit.Journal, desk *alerts.Service) ([]backend.Safe, error) {
	var said []backend.Safe
	var failed []error
	for _, k := range ks {
		due, err := k.PurgeDue(ctx, state, c.sys.now(), keeperJournal{journal, c.sys.now})
		failed = append(failed, err)
		for _, d := range due {
			text := backend.Textf("its grace period is over: %s freed", backend.Bytes(d.Done.Freed))
			switch {
			case d.Err != nil:
				text, failed = backend.Clean("not removed whole: "+d.Err.Error(), 300), append(failed, d.Err)
			case !d.Left.IsEmpty():
				said = append(said, c.purged(d.Waiting, backend.Textf("its grace period is over, and it stays: %s", d.Left)).Text)
				continue // it is looked at again
			}
			e := c.purged(d.Waiting, text)
			said, failed = append(said, e.Text), append(failed, desk.Record(e))
		}
	}
	return said, errors.Join(failed...)
}

func (c *console) purged(w tmpdiract.Waiting, text backend.Safe) backend.Event {
	return backend.Event{Kind: backend.EventAction, At: c.sys.now(), Source: w.Key.Source, Subject: w.Key, Name: string(actions.Purge),
		Text: backend.Textf("%s: %s", backend.Clean(w.Path, 200), text)}
}

// keeperJournal writes the end of a grace period down, under the digest of the plan that set the directory aside.
type keeperJournal struct {
	journal *audit.Journal
	now     func() time.Time
}

func (j keeperJournal) entry(w tmpdiract.Waiting) audit.Entry {
	return audit.Entry{At: j.now(), Who: whoIs(), Verb: string(actions.Purge), Kind: string(backend.KindTmpdir), Subjects: []backend.Key{w.Key},
		Facts: []backend.Field{{Name: backend.Text("path"), Value: backend.Clean(w.Path, 500)}, {Name: backend.Text("plan"), Value: backend.Clean(w.Plan, 80)}}}
}

// Intended is written before a directory is removed.
func (j keeperJournal) Intended(ctx context.Context, w tmpdiract.Waiting, _ actions.Candidate) error {
	e := j.entry(w)
	e.Phase, e.Reason = audit.PhaseTargetIntent, backend.Text("its grace period is over")
	_, err := j.journal.Append(ctx, e, audit.Synced)
	return err
}

// Came is written after it.
func (j keeperJournal) Came(ctx context.Context, w tmpdiract.Waiting, done actions.Done, failed error) error {
	e := j.entry(w)
	e.Phase, e.Result, e.Detail = audit.PhaseOutcome, audit.ResultVerified, backend.Textf("%s freed", backend.Bytes(done.Freed))
	if failed != nil {
		e.Result, e.Detail = audit.ResultFailed, backend.Clean(failed.Error(), 300)
	}
	_, err := j.journal.Append(context.WithoutCancel(ctx), e, audit.Synced)
	return err
}

// unfinished are the plans of former runs that were begun and never ended, and those that were stopped because the screen
// was lost. Each is written down as told, so that it is told once; a console that only looks writes nothing. What became of
// the targets is for readings to show.
func unfinished(ctx context.Context, journal *audit.Journal, now time.Time, desk *alerts.Service, readOnly bool) ([]backend.Safe, error) {
	open, err := journal.OpenIntents(ctx)
	if err != nil {
		return nil, err
	}
	unseen, err := journal.UnseenStops(ctx)
	if err != nil {
		return nil, err
	}
	var out []backend.Safe
	for _, o := range slices.Concat(open, unseen) {
		if o.Running {
			continue
		}
		text := backend.Textf("%s (plan %s, begun %s by %s)", o.Text(), backend.Clean(o.Intent.Digest, 20), o.Intent.At.Format("01-02 15:04Z"), o.Intent.Who.Text())
		out = append(out, text)
		if readOnly {
			continue
		}
		if o.Stopped == nil { // the timeline has the end of the others
			e := backend.Event{Kind: backend.EventAction, At: now, Name: o.Intent.Verb, Text: backend.Textf("broken off: %s", text)}
			if len(o.Intent.Subjects) > 0 {
				e.Subject, e.Source = o.Intent.Subjects[0], o.Intent.Subjects[0].Source
			}
			if err := desk.Record(e); err != nil {
				return out, err
			}
		}
		if err := journal.Settle(ctx, o, now, whoIs()); err != nil {
			return out, err
		}
	}
	return out, nil
}
