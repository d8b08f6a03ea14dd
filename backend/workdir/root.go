package workdir

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"
)

// State is what a working directory is. The values are part of a target's identity.
type State string

// The states.
const (
	Missing  State = "missing"
	Dangling State = "a link to a directory that is missing"
	Unlinked State = "its host directory was removed"
	// Unmounted says that the mount which should hold it is gone: what is there belongs to the container's own layer.
	Unmounted State = "its mount is gone"
	There     State = "there"
	Link      State = "a link to a directory"
	Other     State = "no directory"
	// Unseen cannot be looked at without side effects.
	Unseen State = "not to be seen from outside"
)

// Root is a working directory.
type Root struct {
	State  State
	Target string      // of a link: where it leads to in the end
	Via    string      // the link above the working directory that leads to nothing; empty: the directory itself is the link
	Loop   bool        // of a link to nothing: it leads back to itself
	Mode   fs.FileMode // of the directory, where it is there
	// Looked are the requests to the engine that found it out. Seen is where this machine's kernel showed it, empty: nowhere.
	Looked []string
	Seen   string
}

// Stat asks an engine for one path of a container: an error that is fs.ErrNotExist when the path is missing. The target of a
// link is absolute and leads through all links.
type Stat func(ctx context.Context, p string) (mode fs.FileMode, target string, err error)

// Look finds out the state of a container's working directory. It asks the engine only where that leaves the host alone, and
// on a passive look only what this machine's kernel does not show: a look of the kernel costs the engine nothing.
func (h Host) Look(ctx context.Context, c *Container, stat Stat) (Root, error) {
	v, local := h.view(c)
	if local && v.unlinked(c.Dir) {
		return Root{State: Unlinked}, nil
	}
	if local && v.lost(c) {
		return Root{State: Unmounted}, nil
	}
	if local && h.Passive {
		if seen := v.lookItself(c.Dir); seen.State != Unseen {
			seen.Seen = v.root
			return seen, nil
		}
	}
	var asked []string
	ask := func(ctx context.Context, p string) (fs.FileMode, string, error) {
		asked = append(asked, p)
		return stat(ctx, p)
	}
	out, err := h.look(ctx, c, v, local, ask)
	out.Looked = asked
	return out, err
}

func (h Host) look(ctx context.Context, c *Container, v view, local bool, stat Stat) (Root, error) {
	if !h.settled(c, v, local, c.Dir) {
		return v.lookItself(c.Dir), nil
	}
	mode, target, err := stat(ctx, c.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return h.missing(ctx, c, v, local, stat, c.Dir, Root{State: Missing})
	case err != nil:
		return h.refused(ctx, c, v, stat, err)
	case mode.IsDir():
		return Root{State: There, Mode: mode}, nil
	case mode&fs.ModeSymlink == 0:
		return Root{State: Other, Mode: mode}, nil
	case target == "" || !h.settled(c, v, local, target):
		r := v.lookItself(c.Dir)
		r.Target = target
		return r, nil
	}
	mode, _, err = stat(ctx, target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return h.missing(ctx, c, v, local, stat, target, Root{State: Dangling, Target: target})
	case err != nil:
		return Root{}, err
	case mode.IsDir():
		return Root{State: Link, Target: target, Mode: mode}, nil
	}
	return Root{State: Other, Target: target, Mode: mode}, nil
}

// refused explains an error of the engine about the working directory: a part of its path is a file.
func (h Host) refused(ctx context.Context, c *Container, v view, stat Stat, err error) (Root, error) {
	if seen := v.lookItself(c.Dir); seen.State != Unseen {
		return seen, nil
	}
	if above := path.Dir(c.Dir); above != "/" && ctx.Err() == nil {
		if mode, _, e := stat(ctx, above); e == nil && mode.IsRegular() {
			return Root{State: Other, Mode: mode}, nil
		}
	}
	return Root{}, err
}

// missing doubts that a path is missing which the engine does not find: it may lie on a mount that only the container sees.
func (h Host) missing(ctx context.Context, c *Container, v view, local bool, stat Stat, p string, found Root) (Root, error) {
	unseen := Root{State: Unseen, Target: found.Target}
	if local {
		if seen := v.lookItself(c.Dir); seen.State != Unseen {
			seen.Target = found.Target
			return seen, nil
		}
	}
	if c.Mounter {
		return unseen, nil
	}
	for at := path.Dir(p); at != "/"; at = path.Dir(at) {
		mode, target, err := stat(ctx, at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return Root{}, err
		case mode&fs.ModeSymlink != 0 && !h.settled(c, v, local, target):
			return unseen, nil
		case mode&fs.ModeSymlink != 0 && found.State == Missing:
			if _, _, err := stat(ctx, target); errors.Is(err, fs.ErrNotExist) { // a link above it leads to nothing
				return Root{State: Dangling, Target: path.Join(target, strings.TrimPrefix(p, at)), Via: at}, nil
			}
		}
		break
	}
	return found, nil
}
