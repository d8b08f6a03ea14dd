package app

import (
	"context"
	"fmt"
	"slices"

	"sandglass/backend"
	"sandglass/backend/examine"
	"sandglass/config"
)

// examineTries is how often an examination reads a source.
const examineTries = 3

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
