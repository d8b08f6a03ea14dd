package tmpdir

import (
	"path"
	"strings"
	"time"

	"sandglass/backend"
)

// Options are the keys of a source of kind "tmpdir" that concern its actions.
type Options struct {
	SessionLifetime backend.Duration `toml:"session_lifetime" doc:"how long a paused session may still be continued; no default, and without it clean is not offered: where persisted refs cannot be read, a directory must be unchanged for longer"`
	CleanOlderThan  backend.Duration `toml:"clean_older_than" doc:"least time since the newest change anywhere in a directory that is cleaned, at least 10m"`
	CleanMax        int              `toml:"clean_max" doc:"most directories that one plan cleans, those unchanged for longest first, 1 to 1000"`
	CleanGrace      backend.Duration `toml:"clean_grace" doc:"how long a cleaned directory waits under another name before it is removed, at most 30d; undo puts it back until then"`
	EngineSockets   []string         `toml:"engine_sockets" path:"file" doc:"globs of the sockets of container engines; one that is there and that no source of kind docker reads keeps everything from being cleaned"`
}

// Bounds of the options.
const (
	LeastAge   = 10 * time.Minute // an agent that thinks touches nothing for longer than a minute
	longGrace  = 30 * 24 * time.Hour
	mostTarget = 1000
)

func defaults() Options {
	return Options{
		CleanOlderThan: backend.Duration(48 * time.Hour),
		CleanMax:       200,
		CleanGrace:     backend.Duration(15 * time.Minute),
		EngineSockets: []string{"/var/run/docker.sock", "/run/podman/podman.sock", "/run/user/*/docker.sock",
			"/run/user/*/podman/podman.sock"},
	}
}

func (o *Options) check(opts backend.Options) error {
	if o.SessionLifetime.Std() != 0 && o.SessionLifetime.Std() < LeastAge {
		return opts.Refuse("session_lifetime", "must be at least 10m; write for example 168h, or leave it out and clean is not offered")
	}
	if o.CleanOlderThan.Std() < LeastAge {
		return opts.Refuse("clean_older_than", "must be at least 10m: a directory in use may not change for minutes")
	}
	if o.CleanMax < 1 || o.CleanMax > mostTarget {
		return opts.Refuse("clean_max", "must be between 1 and %d", mostTarget)
	}
	if o.CleanGrace.Std() > longGrace || o.CleanGrace.Std()%time.Second != 0 {
		return opts.Refuse("clean_grace", "must be whole seconds, at most 30d")
	}
	for _, g := range o.EngineSockets {
		if _, err := path.Match(g, ""); err != nil || !strings.HasPrefix(g, "/") {
			return opts.Refuse("engine_sockets", "%q is not a glob of absolute paths", g)
		}
	}
	return nil
}
