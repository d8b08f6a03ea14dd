package tmpdir

import (
	"context"
	"errors"
	"slices"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// Waiting is a directory that was set aside, in its present state.
type Waiting struct {
	Key   backend.Key // the one that it had in its place; purge and undo take it
	Path  string      // where it was
	Name  string      // what it is called now
	Moved time.Time
	Due   time.Time
	Begun bool   // its removal has begun
	Plan  string // digest of the plan that set it aside, empty when none is known
}

// Keeper ends the grace periods of what was set aside on one source, by whatever Sandglass: the names of the directories
// are the whole record. One of the programs that use a state directory, or the timer, calls PurgeDue now and then.
type Keeper struct{ t *tool }

// NewKeeper makes a Keeper for a source on which clean or purge is allowed. It touches nothing.
func NewKeeper(site actions.Site) (*Keeper, error) {
	if !slices.Contains(site.Allowed, actions.Clean) && !slices.Contains(site.Allowed, actions.Purge) {
		return nil, errors.New("neither clean nor purge is allowed on " + site.Deps.ID)
	}
	o := defaults()
	if err := site.Options.Decode(&o); err != nil {
		return nil, err
	}
	if err := o.check(site.Options); err != nil {
		return nil, err
	}
	t, why := newTool(site, o)
	if !why.IsEmpty() {
		return nil, errors.New(why.String())
	}
	return &Keeper{t}, nil
}

// Waiting lists what was set aside below the configured roots. What could be listed is returned with the error.
func (k *Keeper) Waiting(ctx context.Context, s *fleet.State) ([]Waiting, error) {
	return k.t.waiting(ctx, k.host(s))
}

// host is the id of this host as the source's readings name it.
func (k *Keeper) host(s *fleet.State) backend.ID {
	for h := range s.Hosts.All() {
		if h.Key.Source == k.t.site.Deps.ID {
			return h.Key.ID
		}
	}
	return backend.MustID("localhost")
}

// Journal records what PurgeDue is about to do, and the outcome. After an error of Intended no directory is removed.
type Journal interface {
	Intended(ctx context.Context, w Waiting, c actions.Candidate) error
	Came(ctx context.Context, w Waiting, done actions.Done, failed error) error
}

// Due is what came of one directory whose time has come.
type Due struct {
	Waiting Waiting
	Done    actions.Done
	Left    backend.Safe // why it was left alone, empty: it was not
	Err     error        // why it could not be removed, whole
}

// longestPurge bounds the removal of one directory; the next pass goes on with it.
const longestPurge = 2 * time.Minute

// PurgeDue removes the directories past their grace period that still pass every condition: no process uses it, no mount
// is on it, no container mounts it, no ref names it, and it did not change since. The others stay and are reported with
// the reason. An error means that an intent could not be written to the journal, or that a root could not be listed.
func (k *Keeper) PurgeDue(ctx context.Context, s *fleet.State, now time.Time, j Journal) ([]Due, error) {
	all, listed := k.Waiting(ctx, s)
	var due []Due
	var keys []backend.Key
	for _, w := range all {
		if w.Begun || !now.Before(w.Due) {
			due = append(due, Due{Waiting: w})
			keys = append(keys, w.Key)
		}
	}
	if len(keys) == 0 {
		return nil, listed
	}
	for i, c := range k.t.lookWaiting(ctx, keys, s, now) {
		d := &due[i]
		if d.Left = c.Why; !c.Why.IsEmpty() {
			continue
		}
		if ctx.Err() != nil {
			return due[:i], errors.Join(listed, ctx.Err())
		}
		if err := j.Intended(ctx, d.Waiting, c); err != nil {
			return due[:i], errors.Join(listed, err)
		}
		one, cancel := context.WithTimeout(ctx, longestPurge)
		d.Done, d.Err = k.t.purge(one, actions.Target{Key: c.Key, Label: c.Label, Name: c.Name, Identity: c.Identity, Bytes: c.Bytes})
		cancel()
		if err := j.Came(ctx, d.Waiting, d.Done, d.Err); err != nil {
			return due[:i+1], errors.Join(listed, err)
		}
	}
	return due, listed
}
