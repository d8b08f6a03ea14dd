package agentuity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/wire"
)

// replace makes a new sandbox with the configuration of an old one, and leaves the old one as it is.
func (c *client) replace(ctx context.Context, t actions.Target, record *reply) (actions.Done, error) {
	kept := c.checkpoints(ctx, t.Key.ID)
	body := configuration(record.data)
	r, err := c.send(ctx, http.MethodPost, "/sandbox", nil, body)
	switch {
	case err != nil:
		return actions.Done{}, c.maybeMade(ctx, body["name"], lost(err))
	case !r.ok():
		return actions.Done{}, c.maybeMade(ctx, body["name"], c.refusal(r))
	}
	id, err := backend.NewID(r.text("sandboxId"))
	if err != nil {
		return actions.Done{Text: backend.Text("the platform accepted it, and its answer names no sandbox: look for the newest one")}, nil
	}
	done := actions.Done{Text: backend.Textf("the new sandbox is %s", id.Safe()), Notes: []backend.Safe{
		backend.Text("set the values of its variables again: no route gives those of the old one safely"),
		backend.Textf("keep %s until the vendor's support has looked at it", t.Key.ID.Safe())}}
	if !kept.IsEmpty() {
		done.Notes = append(done.Notes, kept)
	}
	status := c.control(ctx, id, wakeWithin)
	if status.Outcome == backend.OutcomeOK {
		list := c.list(ctx, id, func(time.Time) bool { return false })
		done.Proved = list.Outcome == backend.OutcomeOK
		done.Text = backend.Textf("%s; %s; %s", done.Text, status.What, list.What)
	} else {
		done.Text = backend.Textf("%s; %s", done.Text, status.What)
	}
	return done, nil
}

// maybeMade adds to an error that leaves open whether a sandbox was made which ones have its name now: they may run, and bill.
func (c *client) maybeMade(ctx context.Context, name any, err error) error {
	var open *actions.UncertainError
	want, named := name.(string)
	if !errors.As(err, &open) {
		return err
	}
	if !named {
		return &actions.UncertainError{Err: fmt.Errorf("%w; look for a sandbox that is newer than this request: sandglass get sandboxes", open.Err)}
	}
	r, failed := c.send(ctx, http.MethodGet, "/sandbox", url.Values{"name": {want}, "limit": {"100"}}, nil)
	if failed != nil || !r.ok() {
		return &actions.UncertainError{Err: fmt.Errorf("%w; look whether %s was made: sandglass get sandboxes", open.Err, c.clean(want, 120))}
	}
	var ids []backend.Safe
	for n := range r.data.Get("sandboxes").Elements() {
		if at, _ := n.Get("name").Text(); at == want && len(ids) < mostNamed {
			id, _ := n.Get("sandboxId").Text()
			ids = append(ids, backend.Clean(id, 80))
		}
	}
	if len(ids) == 0 {
		return &actions.UncertainError{Err: fmt.Errorf("%w; no sandbox of the name %s is listed yet: look again before you repeat it", open.Err, c.clean(want, 120))}
	}
	return &actions.UncertainError{Err: fmt.Errorf("%w; of the name %s are listed: %s. Use the new one, or destroy it: it bills", open.Err, c.clean(want, 120), backend.Join(ids, ", "))}
}

// checkpoints names the disk checkpoints of an old sandbox: they may hold its files. Empty: it has none.
func (c *client) checkpoints(ctx context.Context, id backend.ID) backend.Safe {
	r, err := c.send(ctx, http.MethodGet, "/sandbox/checkpoints/"+segment(id), nil, nil)
	switch {
	case err != nil:
		return backend.Textf("whether the old one has checkpoints is not known: %s", c.clean(err.Error(), 200))
	case !r.ok():
		return backend.Textf("whether the old one has checkpoints is not known: %s", backend.Clean(c.said(r), 300))
	}
	var all []backend.Safe
	for n := range r.data.Get("checkpoints").Elements() {
		name, _ := n.Get("name").Text()
		key, _ := n.Get("id").Text()
		made, _ := n.Get("createdAt").Text()
		if all = append(all, backend.Textf("%s (%s, %s)", c.clean(name, 80), c.clean(key, 80), c.clean(made, 40))); len(all) == mostNamed {
			break
		}
	}
	if len(all) == 0 {
		return backend.Safe{}
	}
	return backend.Textf("checkpoints of the old one, which may hold its files: %s", backend.Join(all, ", "))
}

// mostNamed bounds the checkpoints that a note names.
const mostNamed = 5

// configuration is the body that makes a sandbox like another one. A snapshot brings its own runtime.
func configuration(old wire.Node) map[string]any {
	body := map[string]any{}
	keep := func(name string, n wire.Node) {
		if n.Exists() && !n.IsNull() {
			body[name] = json.RawMessage(n.Raw())
		}
	}
	for _, name := range []string{"resources", "timeout", "metadata", "dependencies", "packages"} {
		keep(name, old.Get(name))
	}
	if name, is := old.Get("name").Text(); is && name != "" {
		body["name"] = name + "-replacement" // people name sandboxes by their names
	}
	keep("projectId", old.Get("project").Get("id"))
	if id := old.Get("snapshot").Get("id"); id.Exists() && !id.IsNull() {
		keep("snapshot", id)
	} else {
		keep("runtimeId", old.Get("runtime").Get("id"))
	}
	network := map[string]any{}
	if on, is := old.Get("networkEnabled").Bool(); is {
		network["enabled"] = on
	}
	if port, is := old.Get("networkPort").Float(); is && port > 0 {
		network["port"] = int(port)
	}
	if len(network) > 0 {
		body["network"] = network
	}
	return body
}
