package agentuity

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/wire"
)

// files reads the files of a sandbox one by one, where the platform makes no archive.
type files struct {
	c  *client
	id backend.ID
}

// List lists one directory.
func (f files) List(ctx context.Context, dir string) (out []actions.TreeEntry, err error) {
	r, err := f.c.send(ctx, http.MethodGet, "/fs/list/"+segment(f.id), url.Values{"path": {dir}}, nil)
	if err == nil && !r.ok() {
		err = errors.New(f.c.said(r))
	}
	if err != nil {
		return nil, err
	}
	for n := range r.data.Get("files").Elements() {
		name, _ := n.Get("path").Text()
		e := actions.TreeEntry{Path: path.Join(dir, path.Base("/"+name))}
		e.Dir, _ = n.Get("isDir").Bool()
		e.Link, _ = n.Get("isSymlink").Bool()
		out = append(out, e)
	}
	return out, nil
}

// Read copies one file.
func (f files) Read(ctx context.Context, name string, to io.Writer, limit int64) (int64, error) {
	query := url.Values{"path": {name}}
	if f.c.org != "" {
		query.Set("orgId", f.c.org)
	}
	r, size, err := f.c.actor.Fetch(ctx, wire.Order{Method: http.MethodGet, URL: f.c.base + "/fs/" + segment(f.id) + "?" + query.Encode(), Header: f.c.header}, to, limit)
	if err == nil && r.Status != http.StatusOK {
		err = fmt.Errorf("%s: %s", f.c.clean(name, 200), f.c.said(read(r)))
	}
	return size, err
}
