package agentuity

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/wire"
)

// rescue downloads the home directory of a sandbox into an archive that only its owner can read.
func (c *client) rescue(ctx context.Context, t actions.Target, _ *reply) (actions.Done, error) {
	f, err := actions.NewRescueFile(c.factory.state, t.Key.ID.Raw(), c.now())
	if err != nil {
		return actions.Done{}, fmt.Errorf("nothing was read: %w", err)
	}
	file := f.Name()
	size, err := c.download(ctx, t.Key.ID, f)
	files, note, lost := 0, backend.Safe{}, actions.Lost{}
	if err == nil {
		files, err = contents(f)
	}
	if err != nil && !errors.Is(err, errNoMount) && f.Truncate(0) == nil {
		if _, back := f.Seek(0, io.SeekStart); back == nil {
			size, files, note, lost, err = c.singly(ctx, t.Key.ID, f, err)
		}
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return actions.Done{}, errors.Join(err, os.Remove(file))
	}
	done := actions.Done{Text: backend.Textf("%s, %s in %s", backend.Counted(files, "file", "files"), backend.Bytes(size), backend.Clean(file, 400)),
		Notes: []backend.Safe{backend.Text("the archive may hold secrets of the sandbox; only your account can read it")}}
	switch {
	case lost.N > 0:
		done.Text = backend.Textf("%s; %s", done.Text, note)
	case !note.IsEmpty():
		done.Notes = append(done.Notes, note)
	}
	return actions.Rescued(done, lost, c.clean)
}

// singly reads the files one by one after the platform's archive failed.
func (c *client) singly(ctx context.Context, id backend.ID, f *os.File, why error) (size int64, saved int, note backend.Safe, lost actions.Lost, err error) {
	saved, lost, err = actions.CopyTree(ctx, files{c, id}, c.factory.source.Directory(), f, int64(c.factory.opt.RescueLimit), c.now)
	if err != nil {
		return 0, 0, note, lost, errors.Join(why, err)
	}
	if saved == 0 {
		return 0, 0, note, lost, why
	}
	info, err := f.Stat()
	if err != nil {
		return 0, 0, note, lost, err
	}
	note = backend.Textf("its archive could not be used (%s): %s saved one by one", c.clean(why.Error(), 200), backend.Counted(saved, "file was", "files were"))
	return info.Size(), saved, note, lost, nil
}

// contents counts the files in an archive, which it reads to its end: an answer with status 200 may be anything.
func contents(f *os.File) (files int, err error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	broken := func(err error) error { return fmt.Errorf("the platform sent no whole archive: %w", err) }
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		return 0, broken(err)
	}
	for all := tar.NewReader(unzipped); ; {
		h, err := all.Next()
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(io.Discard, unzipped) // #nosec G110 -- nothing is kept; the download is bounded
			if err != nil {
				return 0, broken(err)
			}
			return files, nil
		}
		if err == nil {
			_, err = io.Copy(io.Discard, all) // #nosec G110 -- as above
		}
		if err != nil {
			return 0, broken(err)
		}
		if h.Typeflag == tar.TypeReg {
			files++
		}
	}
}

// errNoMount says that no file can be read.
var errNoMount = errors.New("no file can be read, its mount is gone")

// download copies the archive that the platform makes.
func (c *client) download(ctx context.Context, id backend.ID, to *os.File) (int64, error) {
	query := url.Values{"path": {c.factory.source.Directory()}, "format": {"tar.gz"}}
	if c.org != "" {
		query.Set("orgId", c.org)
	}
	r, size, err := c.actor.Fetch(ctx, wire.Order{Method: http.MethodGet, URL: c.base + "/fs/download/" + segment(id) + "?" + query.Encode(), Header: c.header}, to, int64(c.factory.opt.RescueLimit))
	if err != nil {
		return 0, err
	}
	if r.Status < 200 || r.Status > 299 {
		a := read(r)
		if mountGone(a.message) {
			return 0, fmt.Errorf("%w: %s", errNoMount, c.said(a))
		}
		return 0, errors.New(c.said(a))
	}
	if size == 0 {
		return 0, errors.New("the platform sent an empty archive")
	}
	return size, nil
}
