package app

import (
	"context"
	"errors"
	"slices"
	"time"

	"sandglass/actions"
	"sandglass/actions/audit"
	tmpdiract "sandglass/actions/tmpdir"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// keepEvery is how often a console looks for directories whose grace period is over.
const keepEvery = time.Minute

// keepers end the grace periods of cleaned directories on the sources that allow it. Their removal was confirmed with the
// plan that set them aside; it is journalled like any other effect.
func (s *Station) keepers() []*tmpdiract.Keeper {
	if s.ReadOnly || s.StateDir == "" {
		return nil
	}
	x := &sites{App: s.app, config: s.Config, sources: s.Sources, stateDir: s.StateDir}
	var out []*tmpdiract.Keeper
	for _, source := range s.Sources {
		if source.Config.Kind != tmpdiract.Kind().Name || !slices.Contains(source.Config.Actions, string(actions.Clean)) {
			continue
		}
		if k, err := tmpdiract.NewKeeper(x.site(source)); err == nil { // why it cannot stands with the verb itself
			out = append(out, k)
		}
	}
	return out
}

// keep purges what is due until ctx ends.
func (s *Station) keep(ctx context.Context, ks []*tmpdiract.Keeper) {
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		_, err := s.purgeDue(ctx, ks, s.Fleet.State())
		s.problem(err)
	}
}

// purgeDue removes what is past its grace period now, and says what came of it.
func (s *Station) purgeDue(ctx context.Context, ks []*tmpdiract.Keeper, state *fleet.State) ([]backend.Safe, error) {
	var said []backend.Safe
	var failed []error
	for _, k := range ks {
		due, err := k.PurgeDue(ctx, state, s.app.Now(), keeperJournal{s.Journal, s.app.Who, s.app.Now})
		failed = append(failed, err)
		for _, d := range due {
			text := backend.Textf("its grace period is over: %s freed", backend.Bytes(d.Done.Freed))
			switch {
			case d.Err != nil:
				text, failed = backend.Clean("not removed whole: "+d.Err.Error(), 300), append(failed, d.Err)
			case !d.Left.IsEmpty():
				said = append(said, s.purged(d.Waiting, backend.Textf("its grace period is over, and it stays: %s", d.Left)).Text)
				continue // it is looked at again
			}
			e := s.purged(d.Waiting, text)
			said, failed = append(said, e.Text), append(failed, s.Alerts.Record(e))
		}
	}
	return said, errors.Join(failed...)
}

func (s *Station) purged(w tmpdiract.Waiting, text backend.Safe) backend.Event {
	return backend.Event{Kind: backend.EventAction, At: s.app.Now(), Source: w.Key.Source, Subject: w.Key, Name: string(actions.Purge),
		Text: backend.Textf("%s: %s", backend.Clean(w.Path, 200), text)}
}

// keeperJournal writes the end of a grace period down, under the digest of the plan that set the directory aside.
type keeperJournal struct {
	journal *audit.Journal
	who     audit.Who
	now     func() time.Time
}

func (j keeperJournal) entry(w tmpdiract.Waiting) audit.Entry {
	return audit.Entry{At: j.now(), Who: j.who, Verb: string(actions.Purge), Kind: string(backend.KindTmpdir), Subjects: []backend.Key{w.Key},
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
