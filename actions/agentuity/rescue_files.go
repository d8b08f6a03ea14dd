package agentuity

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"

	"sandglass/backend"
	"sandglass/backend/wire"
)

const (
	mostFiles   = 5000
	largestFile = 64 << 20 // of those that are read one by one
)

// fileCopy is a rescue file by file, where the platform makes no archive.
type fileCopy struct {
	c     *client
	id    backend.ID
	to    *tar.Writer
	left  int64 // bytes that the archive may still take
	saved int
	lost  int // files and directories that could not be read
	first error
}

// copyFiles lists a directory and what is in it, and reads one file after the other into an archive.
func (c *client) copyFiles(ctx context.Context, id backend.ID, to io.Writer) (saved, lost int, err error) {
	zipped := gzip.NewWriter(to)
	f := &fileCopy{c: c, id: id, to: tar.NewWriter(zipped), left: int64(c.factory.opt.RescueLimit)}
	f.dir(ctx, c.factory.source.Directory(), 0)
	err = errors.Join(f.to.Close(), zipped.Close())
	if f.saved == 0 && f.first != nil {
		err = f.first
	}
	return f.saved, f.lost, err
}

func (f *fileCopy) miss(err error) {
	f.lost++
	if f.first == nil {
		f.first = err
	}
}

// dir copies one directory. Links are not followed.
func (f *fileCopy) dir(ctx context.Context, dir string, depth int) {
	r, err := f.c.send(ctx, http.MethodGet, "/fs/list/"+segment(f.id), url.Values{"path": {dir}}, nil)
	if err == nil && !r.ok() {
		err = errors.New(f.c.said(r))
	}
	if err != nil {
		f.miss(err)
		return
	}
	for n := range r.data.Get("files").Elements() {
		name, _ := n.Get("path").Text()
		name = path.Join(dir, path.Base("/"+name))
		isDir, _ := n.Get("isDir").Bool()
		link, _ := n.Get("isSymlink").Bool()
		switch {
		case ctx.Err() != nil, f.saved+f.lost >= mostFiles, f.left <= 0:
			f.miss(errors.New("the rest was not read: it is too much"))
			return
		case link, name == dir:
		case isDir && depth < 20:
			f.dir(ctx, name, depth+1)
		case !isDir:
			if err := f.file(ctx, name); err != nil {
				f.miss(err)
			}
		}
	}
}

func (f *fileCopy) file(ctx context.Context, name string) error {
	query := url.Values{"path": {name}}
	if f.c.org != "" {
		query.Set("orgId", f.c.org)
	}
	var content bytes.Buffer
	r, size, err := f.c.actor.Fetch(ctx, wire.Order{Method: http.MethodGet, URL: f.c.base + "/fs/" + segment(f.id) + "?" + query.Encode(), Header: f.c.header}, &content, min(largestFile, f.left))
	if err != nil {
		return err
	}
	if r.Status != http.StatusOK {
		return fmt.Errorf("%s: %s", f.c.clean(name, 200), f.c.said(read(r)))
	}
	if err := f.to.WriteHeader(&tar.Header{Name: strings.TrimPrefix(name, "/"), Typeflag: tar.TypeReg, Mode: 0o600, Size: size, ModTime: f.c.now()}); err != nil {
		return err
	}
	_, err = content.WriteTo(f.to)
	f.left -= size
	f.saved++
	return err
}
