package tmpdir

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"sandglass/backend"
	"sandglass/backend/hostfs"
)

// waiting lists what was set aside.
func (t *tool) waiting(ctx context.Context, host backend.ID) ([]Waiting, error) {
	var out []Waiting
	var failures []error
	for _, path := range t.scratch.Roots {
		found, err := listAsides(ctx, path)
		if err != nil {
			failures = append(failures, err)
		}
		for _, e := range found {
			a, _ := hostfs.ParseAside(e.Name)
			if !a.Is(e.Stat) {
				continue
			}
			at := filepath.Join(path, a.Original)
			id, err := backend.NewID(fmt.Sprintf("%d:%d:%s", e.Stat.ID.Dev, e.Stat.ID.Ino, at))
			if err != nil {
				failures = append(failures, err)
				continue
			}
			out = append(out, Waiting{Key: backend.Key{Kind: backend.KindTmpdir, Source: t.site.Deps.ID, Parent: host, ID: id},
				Path: at, Name: e.Name, Moved: a.Moved, Due: a.Due(), Begun: a.Begun, Plan: a.Plan})
		}
	}
	return out, errors.Join(failures...)
}

func listAsides(ctx context.Context, path string) ([]hostfs.Entry, error) {
	root, err := hostfs.OpenDirBare(path)
	if err != nil {
		return nil, errors.New(noRoot(path, err).String())
	}
	defer func() { _ = root.Close() }() // opened for reading
	return root.List(ctx, func(name string) bool {
		_, ok := hostfs.ParseAside(name)
		return ok
	}, mostWaiting)
}

// mostWaiting bounds what one look lists.
const mostWaiting = 20_000
