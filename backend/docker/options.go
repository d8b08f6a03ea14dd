package docker

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
)

// Options are the keys of a source of kind "docker".
type Options struct {
	Host           string           `toml:"host" doc:"engine address, unix:///path or tcp://host:port; empty: DOCKER_HOST, the current docker context, the usual sockets"`
	Client         string           `toml:"client" doc:"what commands on pages begin with, such as sudo docker; empty: docker or podman, with the address where they need it"`
	Selector       string           `toml:"selector" doc:"label that makes a container a sandbox, key or key=value; empty: session_label is present or a bind mount matches tmpdir_pattern"`
	AllContainers  bool             `toml:"all_containers" doc:"every container is watched, with figures and alerts; one that is not a sandbox is for looking only; true where there is no configuration file"`
	SessionLabel   string           `toml:"session_label" doc:"label whose value is the session id"`
	WorkspaceLabel string           `toml:"workspace_label" doc:"label whose value is the workspace name"`
	NamePattern    string           `toml:"name_pattern" doc:"regular expression on the container name with groups named session and workspace, for containers without the labels"`
	TmpdirPattern  string           `toml:"tmpdir_pattern" doc:"glob of scratch directories; a container that bind-mounts one, or something inside one, is a sandbox"`
	Relist         backend.Duration `toml:"relist" doc:"how often all containers are listed although no event came, at least 1s"`
	LogLines       int              `toml:"log_lines" doc:"how many of the last lines of a sandbox's log are read, once for each failure of it, at most 100; 0: none"`
	StatsSweep     backend.Duration `toml:"stats_sweep" doc:"how often CPU and memory of a sandbox that is not on a screen are sampled; 0s: never"`
	WorkdirSweep   backend.Duration `toml:"workdir_sweep" doc:"how often at least the working directory of a running or paused sandbox is looked at; nothing runs in it; 0s: never"`
	FrozenAfter    backend.Duration `toml:"frozen_after" doc:"how long all threads of a main process are stopped or in uninterruptible sleep until it counts as frozen: stalls of disks end earlier; 0s: never"`
	FrozenLooks    int              `toml:"frozen_looks" doc:"how many main processes a minute are looked at through an engine on another machine, 1 to 6000; one look costs that machine about 20 ms of CPU"`
}

func defaults() Options {
	return Options{
		SessionLabel:   "sandglass.session",
		WorkspaceLabel: "sandglass.workspace",
		TmpdirPattern:  "/tmp/helix-ws-*",
		Relist:         backend.Duration(time.Minute),
		LogLines:       10,
		StatsSweep:     backend.Duration(time.Minute),
		WorkdirSweep:   backend.Duration(30 * time.Second),
		FrozenAfter:    backend.Duration(time.Minute),
		FrozenLooks:    12,
	}
}

// firstSource are the lines of a first source.
const firstSource = `#host = "unix:///var/run/docker.sock"  # empty: DOCKER_HOST, the current docker context, the usual sockets
#all_containers = true  # watch containers that are no sandboxes too, for looking only, as without a configuration
#actions = ["start", "stop", "restart", "pause", "resume", "destroy"]
`

// Kind is the source kind "docker".
func Kind() backend.SourceKind {
	return backend.NewSourceKind("docker", "containers of a Docker engine: state, health, exit codes, mounts, figures, lifecycle events",
		defaults, func(o *Options, opts backend.Options, deps backend.Deps) (backend.Source, error) {
			sel, err := o.check(opts)
			if err != nil {
				return nil, err
			}
			return newSource(*o, sel, deps), nil
		}).
		WithSample(firstSource).Delivering(backend.InputContainers)
}

// check refuses what can be judged without asking the engine.
func (o Options) check(opts backend.Options) (selection, error) {
	sel := selection{all: o.AllContainers, sessionLabel: o.SessionLabel, workspaceLabel: o.WorkspaceLabel, tmpdir: o.TmpdirPattern}
	if o.Host != "" {
		if _, err := parseAddress(o.Host); err != nil {
			return sel, opts.Refuse("host", "%v", err)
		}
	}
	if o.Selector != "" {
		sel.key, sel.value, sel.hasValue = strings.Cut(o.Selector, "=")
		if strings.TrimSpace(sel.key) == "" || sel.key != strings.TrimSpace(sel.key) {
			return sel, opts.Refuse("selector", "%q is not a label selector; write key or key=value", o.Selector)
		}
	}
	if o.TmpdirPattern != "" && !path.IsAbs(o.TmpdirPattern) {
		return sel, opts.Refuse("tmpdir_pattern", "%q is relative and matches no directory; write it from / on, such as /tmp/helix-ws-*", o.TmpdirPattern)
	}
	if _, err := path.Match(o.TmpdirPattern, "/"); err != nil {
		return sel, opts.Refuse("tmpdir_pattern", "%q is not a glob: %v", o.TmpdirPattern, err)
	}
	if o.NamePattern != "" {
		re, err := regexp.Compile(o.NamePattern)
		if err != nil {
			return sel, opts.Refuse("name_pattern", "%q is not a regular expression: %v", o.NamePattern, err)
		}
		if !slices.Contains(re.SubexpNames(), "session") && !slices.Contains(re.SubexpNames(), "workspace") {
			return sel, opts.Refuse("name_pattern", "%q has no group named session or workspace; write for example ^agent-(?P<session>[a-z0-9]+)$", o.NamePattern)
		}
		sel.name = re
	}
	if o.LogLines < 0 || o.LogLines > maxLogLines {
		return sel, opts.Refuse("log_lines", "must be from 0 to %d", maxLogLines)
	}
	if o.Relist.Std() < time.Second {
		return sel, opts.Refuse("relist", "must be at least 1s")
	}
	if d := o.StatsSweep.Std(); d != 0 && d < time.Second {
		return sel, opts.Refuse("stats_sweep", "must be at least 1s, or 0s for never")
	}
	if d := o.WorkdirSweep.Std(); d != 0 && d < 5*time.Second {
		return sel, opts.Refuse("workdir_sweep", "must be at least 5s, or 0s for never")
	}
	if d := o.FrozenAfter.Std(); d != 0 && d < 10*time.Second {
		return sel, opts.Refuse("frozen_after", "must be at least 10s, or 0s for never")
	}
	if o.FrozenLooks < 1 || o.FrozenLooks > 6000 {
		return sel, opts.Refuse("frozen_looks", "must be from 1 to 6000")
	}
	return sel, nil
}
