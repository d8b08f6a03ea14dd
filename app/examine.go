package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"sandglass/backend"
	"sandglass/backend/examine"
	"sandglass/config"
)

// examineTries is how often an examination reads a source.
const examineTries = 3

// samplesDir is the directory of the samples of doctor in the state directory.
const samplesDir = "samples"

// examine is Examine for a viewer, which writes the sample into the state directory.
func (s *Station) examine(ctx context.Context, source string) (r *examine.Report, sample string, err error) {
	if r, err = s.app.Examine(ctx, s.Config, source); err != nil {
		return nil, "", err
	}
	instead := backend.CommandsWith("; sandglass doctor "+source+" --out FILE writes one", s.Fleet.State().Reach)
	if s.StateDir == "" || s.ReadOnly {
		return r, "not written, since this console writes nothing" + instead, nil
	}
	dir := filepath.Join(s.StateDir, samplesDir)
	path := filepath.Join(dir, fmt.Sprintf("%s-%s.json", url.PathEscape(source), s.app.Now().UTC().Format("20060102T150405Z")))
	if err = os.MkdirAll(dir, 0o700); err == nil {
		err = WriteSample(path, r)
	}
	if err != nil {
		return r, "not written: " + s.app.Cleaner.Clean(err.Error(), 300).String() + instead, nil
	}
	return r, s.app.Cleaner.Clean(path, 300).String() + " (redacted; only you can read it)", nil
}

// WriteSample writes the sample of a report into a new file that only its owner can read.
func WriteSample(path string, r *examine.Report) error {
	var b bytes.Buffer
	if err := r.WriteSample(&b); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already", path)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(b.Bytes())
	return errors.Join(err, f.Close())
}

// Examine tries the read routes of one source of a configuration.
func (a *App) Examine(ctx context.Context, c *config.Config, source string) (*examine.Report, error) {
	at := slices.IndexFunc(c.Sources, func(s config.Source) bool { return s.ID == source })
	if at < 0 {
		return nil, fmt.Errorf("there is no source %q", source)
	}
	s := c.Sources[at]
	for _, k := range a.Kinds {
		if k.Name != s.Kind {
			continue
		}
		deps := a.deps(s)
		deps.Declare = c.DeclarationsFor(s.ID)
		return examine.Source(ctx, examine.Options{Kind: s.Kind, ID: s.ID, Deps: deps, Tries: examineTries, Version: backend.Clean(a.Version, 80),
			Make: func(d backend.Deps) (backend.Source, error) {
				src, err := k.New(s.Options, d)
				if err != nil {
					return nil, refusals(c, s.ID, err)
				}
				return src, nil
			}})
	}
	return nil, fmt.Errorf("there is no kind %q", s.Kind)
}
