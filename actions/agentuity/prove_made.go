package agentuity

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"sandglass/actions"
	"sandglass/backend"
)

// removeMade destroys a sandbox that a plan made: the one that the platform named when it was made, and any that has the plan's
// name. Each gets one DELETE, and is gone once the platform does not know it any more.
func (c *client) removeMade(ctx context.Context, made actions.Made, id backend.ID) (backend.Safe, error) {
	ctx, cancel := context.WithTimeout(ctx, removeWithin)
	defer cancel()
	told := map[backend.ID]bool{}
	for {
		left, err := c.ownOf(ctx, made, id)
		if err == nil && len(left) == 0 {
			return backend.Text("the platform knows it no longer"), nil
		}
		ending := len(left) > 0
		for _, x := range left {
			ending = ending && x.ending
			if told[x.id] || x.ending {
				continue
			}
			r, failed := c.send(ctx, http.MethodDelete, "/sandbox/"+segment(x.id), nil, nil)
			switch {
			case failed != nil:
				err = failed
			case !r.ok() && r.Status != http.StatusNotFound:
				err = errors.New(c.said(r))
			default:
				told[x.id] = true
			}
		}
		if wait(ctx, askAgain/2) {
			continue
		}
		if ending {
			return backend.Text("the platform is stopping it"), nil
		}
		return backend.Safe{}, cmp.Or(err, errors.New("the platform still knows it"))
	}
}

// madeBox is a sandbox of a plan that the platform still knows.
type madeBox struct {
	id     backend.ID
	ending bool
}

// ownOf looks for the sandboxes of a plan: by the id that the platform gave it, where that is known, and by the plan's name.
func (c *client) ownOf(ctx context.Context, made actions.Made, id backend.ID) ([]madeBox, error) {
	r, err := c.send(ctx, http.MethodGet, "/sandbox", url.Values{"name": {made.Name}, "limit": {"100"}}, nil)
	if err != nil {
		return nil, err
	}
	if !r.ok() {
		return nil, errors.New(c.said(r))
	}
	var ids []backend.ID
	if !id.IsZero() {
		ids = append(ids, id)
	}
	for n := range r.data.Get("sandboxes").Elements() {
		name, _ := n.Get("name").Text()
		raw, _ := n.Get("sandboxId").Text()
		if x, err := backend.NewID(raw); err == nil && name == made.Name && x != id {
			ids = append(ids, x)
		}
	}
	var out []madeBox
	for _, x := range ids {
		full, err := c.send(ctx, http.MethodGet, "/sandbox/"+segment(x), nil, nil) // lists carry no metadata
		switch {
		case err != nil:
			return nil, err
		case full.Status == http.StatusNotFound || full.Status == http.StatusGone:
			continue
		case !full.ok():
			return nil, errors.New(c.said(full))
		}
		status := full.text("status")
		if status == "terminated" || status == "deleted" || x != id && foreign(full, made) {
			continue
		}
		out = append(out, madeBox{x, status == "stopping" || status == "deleting"})
	}
	return out, nil
}

// foreign reports whether a sandbox of a plan's name says that it is of another plan or state directory. A platform may give no
// metadata back: the plan's name is its digest, which no other plan has.
func foreign(r *reply, made actions.Made) bool {
	plan, has := r.data.Get("metadata").Get(labelPlan).Text()
	state, _ := r.data.Get("metadata").Get(labelState).Text()
	return has && (plan != made.Digest || state != made.State)
}

// madeReader looks for a sandbox that a former process made.
type madeReader struct {
	factory *factory
	made    actions.Made
}

// Look finds it in any region: its process is gone, and with it what it knew.
func (l madeReader) Look(ctx context.Context, q actions.Question) []actions.Candidate {
	out := make([]actions.Candidate, len(q.Keys))
	for i, k := range q.Keys {
		out[i] = actions.Candidate{Key: k, Label: backend.Clean(l.made.Name, 120), Name: l.made.Name, Useless: true}
		var found []madeBox
		err := l.factory.eachRegion(ctx, l.made, func(c *client) error {
			more, err := c.ownOf(ctx, l.made, backend.ID{})
			found = append(found, more...)
			return err
		})
		switch {
		case len(found) > 0:
			out[i].Identity = []actions.Fact{{Name: "id", Value: found[0].id.Raw()}}
		case err != nil:
			out[i].Why, out[i].Undecided = backend.Clean(err.Error(), 300), true
		default:
			out[i].Why, out[i].Ended = backend.Text("the platform lists it no longer"), true
		}
	}
	return out
}

// eachRegion asks every region of the source in the organisation of what a plan made.
func (f *factory) eachRegion(ctx context.Context, made actions.Made, ask func(*client) error) error {
	_, org := f.source.SandboxBase(backend.ID{})
	var failed error
	for _, base := range f.source.RegionBases() {
		c, err := f.client(ctx, base, cmp.Or(org, fact(made.Identity, factOrg)))
		if err == nil {
			err = ask(c)
			_ = c.close() // idle connections; nothing is lost
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// removal destroys a sandbox that a former process made.
type removal struct {
	factory *factory
	made    actions.Made
}

// Do destroys it.
func (r *removal) Do(ctx context.Context, _ actions.Target, _ actions.Params) (done actions.Done, err error) {
	err = r.factory.eachRegion(ctx, r.made, func(c *client) (err error) {
		done.Text, err = c.removeMade(ctx, r.made, backend.ID{})
		return err
	})
	done.Proved = err == nil
	return done, err
}

// Close has nothing to release.
func (r *removal) Close() error { return nil }
