package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"github.com/moby/moby/client"

	"sandglass/actions"
	"sandglass/backend"
)

// rootState is what is known of a container's working directory without running anything in it. The values are part of
// a target's identity.
type rootState string

const (
	rootMissing  rootState = "missing"
	rootDangling rootState = "a link to a directory that is missing"
	rootUnlinked rootState = "its host directory was removed"
	rootThere    rootState = "there"
	rootLink     rootState = "a link to a directory"
	rootOther    rootState = "no directory"
	// rootUnseen cannot be looked at without side effects; the repair tries a command before it does anything.
	rootUnseen rootState = "not to be seen from outside"
)

// root is a working directory.
type root struct {
	state  rootState
	target string // of a link: where it leads to in the end
}

// factRoot and factTarget name a root in an identity.
const (
	factRoot   = "working directory"
	factTarget = "link target"
)

// rootOf finds out the state of a container's working directory. It sends HEAD only, and only where that leaves the host alone.
func (r *reader) rootOf(ctx context.Context, b *containerInfo) (root, error) {
	if v, local := r.factory.host.view(b); local && v.unlinked(b.workDir) {
		return root{state: rootUnlinked}, nil
	}
	if !r.factory.host.settled(b, b.workDir) {
		return root{state: rootUnseen}, nil
	}
	mode, target, err := r.stat(ctx, b, b.workDir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return root{state: rootMissing}, nil
	case err != nil:
		return root{}, err
	case mode.IsDir():
		return root{state: rootThere}, nil
	case mode&fs.ModeSymlink == 0:
		return root{state: rootOther}, nil
	case target == "" || !r.factory.host.settled(b, target):
		return root{state: rootUnseen, target: target}, nil
	}
	mode, _, err = r.stat(ctx, b, target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return root{rootDangling, target}, nil
	case err != nil:
		return root{}, err
	case mode.IsDir():
		return root{rootLink, target}, nil
	}
	return root{rootOther, target}, nil
}

// stat asks the engine for one path of a container. The target of a link is absolute and leads through all links.
func (r *reader) stat(ctx context.Context, b *containerInfo, p string) (fs.FileMode, string, error) {
	ctx, cancel := context.WithTimeout(ctx, r.deadline())
	defer cancel()
	ctx, x := watched(ctx)
	res, err := r.api.ContainerStatPath(ctx, b.id, client.ContainerStatPathOptions{Path: p})
	switch {
	case x.status.Load() == http.StatusNotFound:
		return 0, "", fmt.Errorf("%s: %w", p, fs.ErrNotExist)
	case err != nil:
		return 0, "", fmt.Errorf("the engine does not tell what %s is: %s", p, r.words(err))
	}
	return res.Stat.Mode, res.Stat.LinkTarget, nil
}

// root puts what is known of the working directory into a candidate.
func (l *lookup) root(ctx context.Context, c *actions.Candidate, b *containerInfo) {
	dir := l.clean(b.workDir)
	if b.workDir == "/" {
		c.Why = backend.Text("it has no working directory of its own: / is always there")
		return
	}
	now, err := l.r.rootOf(ctx, b)
	if err != nil {
		c.Why = l.factory.deps.Cleaner.Clean(err.Error(), 400)
		return
	}
	target := l.clean(now.target)
	c.Identity = append(c.Identity, actions.Fact{Name: factRoot, Value: string(now.state)})
	if now.target != "" {
		c.Identity = append(c.Identity, actions.Fact{Name: factTarget, Value: now.target})
	}
	lost := backend.Textf("what was in %s is gone already; the repair makes it again, empty", dir)
	switch now.state {
	case rootMissing:
		c.Loses = append(c.Loses, lost)
		c.Notes = append(c.Notes, backend.Textf("%s is missing", dir))
	case rootDangling:
		if why := b.offLimits(now.target); !why.IsEmpty() {
			c.Why = backend.Textf("%s is a link to %s, which is missing and %s", dir, target, why)
			return
		}
		c.Loses = append(c.Loses, backend.Textf("what was in %s is gone already; the repair makes it again, empty", target))
		c.Notes = append(c.Notes, backend.Textf("%s is a link to %s, which is missing: that directory is made, the link stays as it is", dir, target))
	case rootUnlinked:
		c.Why, c.Advice = b.unlinkedWhy(l.clean), b.unlinkedAdvice(l.clean)
	case rootThere:
		c.Why = backend.Textf("%s is there; if commands fail all the same, probe says how", dir)
	case rootLink:
		c.Why = backend.Textf("%s is a link to the directory %s, which works in Docker; a working link is never replaced", dir, target)
	case rootOther:
		c.Why = backend.Textf("%s exists and is not a directory; the repair removes nothing", dir)
	case rootUnseen:
		c.Loses = append(c.Loses, backend.Textf("if %s is missing, what was in it is gone already; the repair makes it again, empty", dir))
		c.Notes = append(c.Notes, backend.Textf("what is wrong with %s cannot be seen from outside: first a command is tried, and what works, or what only a restart cures, is left alone", dir))
	}
}

// offLimits is why a directory at a path must not be made; empty: it may.
func (b *containerInfo) offLimits(p string) backend.Safe {
	for _, top := range []string{"/proc", "/sys", "/dev"} {
		if p == top || strings.HasPrefix(p, top+"/") {
			return backend.Textf("belongs to the kernel's %s", backend.Clean(top, 10))
		}
	}
	if m, ok := b.covering(p); ok && m.kind != "volume" {
		return backend.Text("is on a mount from outside the container; make it there yourself, then probe")
	}
	return backend.Safe{}
}

// unlinkedWhy says why a directory whose mount lost its directory cannot be repaired from inside.
func (b *containerInfo) unlinkedWhy(clean func(string) backend.Safe) backend.Safe {
	m, _ := b.covering(b.workDir)
	return backend.Textf("%s of the host, mounted at %s, was removed while the container ran: a mkdir inside succeeds and changes nothing; only a restart of the container, or a new one, helps",
		clean(m.source), clean(m.dest))
}

// unlinkedAdvice says what to do about it.
func (b *containerInfo) unlinkedAdvice(clean func(string) backend.Safe) backend.Safe {
	m, _ := b.covering(b.workDir)
	return backend.Textf("on the host of %s: mkdir -p %s && docker restart %s; then look for what cleans that directory (systemd-tmpfiles, tmpreaper, a timed find, Sandglass's own journal), or it happens again",
		clean(b.name), backend.ShellWord(m.source), backend.ShellWord(b.name))
}
