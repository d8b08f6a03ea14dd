package blaxel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/blaxel/sandbox"
	"sandglass/backend/wire"
)

// rescue downloads the files of the session's root, one by one: nothing is left in the sandbox.
func (c *client) rescue(ctx context.Context, t actions.Target) (actions.Done, error) {
	if a, err := c.first(ctx); err != nil {
		return actions.Done{}, fmt.Errorf("nothing was read: %w", err)
	} else if a.refusal != nil {
		return actions.Done{}, fmt.Errorf("nothing was read: %s", c.said(a.refusal))
	}
	f, err := actions.NewRescueFile(c.factory.state, t.Key.ID.Raw(), c.factory.now())
	if err != nil {
		return actions.Done{}, fmt.Errorf("nothing was read: %w", err)
	}
	saved, lost, err := actions.CopyTree(ctx, files{c}, fact(t, factRoot), f, c.factory.limit, c.factory.now)
	if err == nil && saved == 0 {
		err = errors.New("it holds no file")
	}
	info, statErr := f.Stat()
	if err = errors.Join(err, statErr, f.Close()); err != nil {
		return actions.Done{}, errors.Join(fmt.Errorf("nothing was saved: %w", err), os.Remove(f.Name()))
	}
	done := actions.Done{Text: backend.Textf("%s, %s in %s", backend.Counted(saved, "file", "files"), backend.Bytes(info.Size()), backend.Clean(f.Name(), 400)),
		Notes: []backend.Safe{backend.Text("the archive may hold secrets of the sandbox; only your account can read it"), backend.Text("links are left out, owners and permissions are not kept")}}
	return actions.Rescued(done, lost, c.clean)
}

// files reads the files of a sandbox.
type files struct{ c *client }

// List lists one directory.
func (f files) List(ctx context.Context, dir string) ([]actions.TreeEntry, error) {
	call, err := sandbox.List(dir)
	if err != nil {
		return nil, err
	}
	a, err := f.c.ask(ctx, call, sandbox.FirstWithin)
	if err == nil && a.refusal != nil {
		err = errors.New(f.c.said(a.refusal))
	}
	if err != nil {
		return nil, err
	}
	d, err := sandbox.ReadDirectory(a.body)
	if err != nil {
		return nil, err
	}
	out := make([]actions.TreeEntry, 0, len(d.Entries))
	for _, e := range d.Entries { // what the answer says of other directories does not count
		out = append(out, actions.TreeEntry{Path: path.Join(dir, path.Base("/"+e.Name)), Dir: e.Dir, Link: e.Link, Size: backend.Known(e.Size)})
	}
	if d.Left > 0 {
		out = append(out, actions.TreeEntry{Path: dir, Left: fmt.Sprintf("%d names of its list cannot be names there, or are too many", d.Left)})
	}
	return out, nil
}

// Read copies one file.
func (f files) Read(ctx context.Context, name string, to io.Writer, limit int64) (int64, error) {
	call, err := sandbox.Download(name)
	if err != nil {
		return 0, err
	}
	h := f.c.factory.site.Header()
	began := f.c.factory.now()
	r, size, err := f.c.actor.Fetch(ctx, wire.Order{Method: call.Method, URL: f.c.inside + call.Path, Header: h}, to, limit)
	switch {
	case err != nil:
		return 0, err
	case r.Status < 200 || r.Status > 299:
		refusal := sandbox.ReadRefusal(r.Status, r.Header, r.Body)
		refusal.Took = f.c.factory.now().Sub(began)
		f.c.met(&refusal)
		return 0, errors.New(f.c.said(&refusal))
	}
	return size, nil
}
