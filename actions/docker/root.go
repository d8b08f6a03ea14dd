package docker

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/workdir"
)

// factRoot and factTarget name a root in an identity.
const (
	factRoot   = "working directory"
	factTarget = "link target"
)

// rootOf finds out the state of a container's working directory. It sends HEAD only, and only where that leaves the host alone.
func (r *reader) rootOf(ctx context.Context, b *containerInfo) (workdir.Root, error) {
	return r.factory.host.Look(ctx, &b.Container, func(ctx context.Context, p string) (fs.FileMode, string, error) { return r.stat(ctx, b, p) })
}

// stat asks the engine for one path of a container. The target of a link is absolute and leads through all links.
func (r *reader) stat(ctx context.Context, b *containerInfo, p string) (fs.FileMode, string, error) {
	ctx, cancel := context.WithTimeout(ctx, r.deadline())
	defer cancel()
	ctx, x := watched(ctx)
	res, err := r.api.ContainerStatPath(ctx, b.ID, client.ContainerStatPathOptions{Path: p})
	if link, is := x.link(); is { // Podman's answer about a link to nothing
		return link.Mode, link.LinkTarget, nil
	}
	switch {
	case x.status.Load() == http.StatusNotFound:
		return 0, "", fmt.Errorf("%s: %w", p, fs.ErrNotExist)
	case err != nil:
		return 0, "", fmt.Errorf("the engine does not tell what %s is: %s", p, r.words(err))
	}
	return res.Stat.Mode, res.Stat.LinkTarget, nil
}

// link is what an engine tells of a path that it calls missing.
func (x *exchange) link() (out container.PathStat, is bool) {
	told, _ := x.path.Load().(string)
	raw, err := base64.StdEncoding.DecodeString(told)
	return out, err == nil && x.status.Load() == http.StatusNotFound && json.Unmarshal(raw, &out) == nil && out.Mode&fs.ModeSymlink != 0
}

// root puts what is known of the working directory into a candidate.
func (l *lookup) root(ctx context.Context, c *actions.Candidate, b *containerInfo) {
	dir := l.clean(b.Dir)
	if b.Dir == "/" {
		c.Why = backend.Text("it has no working directory of its own: / is always there")
		return
	}
	now, err := l.r.rootOf(ctx, b)
	if err != nil {
		c.Why = l.factory.deps.Cleaner.Clean(err.Error(), 400)
		return
	}
	target := l.clean(now.Target)
	c.Identity = append(c.Identity, actions.Fact{Name: factRoot, Value: string(now.State)})
	if now.Target != "" {
		c.Identity = append(c.Identity, actions.Fact{Name: factTarget, Value: now.Target})
	}
	if l.cannotMake(c, b, now) {
		return
	}
	lost := backend.Textf("what was in %s is gone already; the repair makes it again, empty", dir)
	switch now.State {
	case workdir.Missing:
		c.Loses = append(c.Loses, lost)
		c.Notes = append(c.Notes, backend.Textf("%s is missing", dir))
	case workdir.Dangling:
		if now.Loop {
			c.Why = backend.Textf("%s is a link that leads back to itself; the repair removes nothing", dir)
			c.Advice = backend.Textf("remove the link: %s exec -w / %s rm %s", l.r.cli(), backend.ShellWord(b.name), backend.ShellWord(b.Dir))
			return
		}
		if why := b.offLimits(now.Target); !why.IsEmpty() {
			c.Why = backend.Textf("%s is a link to %s, which is missing and %s", dir, target, why)
			return
		}
		c.Loses = append(c.Loses, backend.Textf("what was in %s is gone already; the repair makes it again, empty", target))
		c.Notes = append(c.Notes, backend.Textf("%s is a link to %s, which is missing: that directory is made, the link stays as it is", dir, target))
	case workdir.Unlinked:
		c.Why, c.Advice = b.unlinkedWhy(l.clean), l.r.unlinkedAdvice(b)
	case workdir.Unmounted:
		m, _ := b.Covering(b.Dir)
		c.Why = backend.Textf("the %s %s, mounted at %s, is mounted no more: a mkdir inside does not bring its files back", l.clean(m.Kind), l.clean(cmp.Or(m.Name, m.Source)), l.clean(m.Dest))
		c.Advice = backend.Textf("%s restart %s mounts it again; what was written below %s since is in the container's own layer: copy it first", l.r.cli(), backend.ShellWord(b.name), l.clean(m.Dest))
	case workdir.There:
		c.Why = backend.Textf("%s is there; if commands fail all the same, probe says how", dir)
	case workdir.Link:
		c.Why = backend.Textf("%s is a link to the directory %s, which works in Docker; a working link is never replaced", dir, target)
	case workdir.Other:
		c.Why = backend.Textf("%s exists and is not a directory; the repair removes nothing", dir)
	case workdir.Unseen:
		if workdir.Kernel(now.Target) != "" {
			c.Why = backend.Textf("%s is a link to %s, which cannot be seen from outside and %s", dir, target, b.offLimits(now.Target))
			return
		}
		c.Loses = append(c.Loses, backend.Textf("if %s is missing, what was in it is gone already; the repair makes it again, empty", dir))
		c.Notes = append(c.Notes, backend.Textf("what is wrong with %s cannot be seen from outside: first a command is tried, and what works, or what only a restart cures, is left alone", dir))
	}
}

// cannotMake says why nothing in the container can make its missing directory, where that is known.
func (l *lookup) cannotMake(c *actions.Candidate, b *containerInfo, now workdir.Root) bool {
	if now.State != workdir.Missing && now.State != workdir.Dangling || now.Loop {
		return false
	}
	at := cmp.Or(now.Target, b.Dir)
	if m, held := b.Covering(at); held && m.ReadOnly {
		c.Why = backend.Textf("%s is missing on the %s %s, which is mounted read-only: nothing in the container can make it", l.clean(at), l.clean(m.Kind), l.clean(cmp.Or(m.Name, m.Source)))
		if m.Kind == "bind" {
			c.Advice = backend.Textf("on the host: mkdir -p %s", backend.ShellWord(path.Join(m.Source, strings.TrimPrefix(at, m.Dest))))
		}
		return true
	}
	d, denied := l.factory.host.Denied(&b.Container, now)
	if denied {
		c.Why = backend.Textf("%s is missing, and the container's user %s may not make it: %s", l.clean(at), l.clean(d.User), l.clean(d.String()))
		c.Advice = backend.Textf("as root: %s exec -u 0 -w / %s mkdir -p -m 777 %s", l.r.cli(), backend.ShellWord(b.name), backend.ShellWord(at))
	}
	return denied
}

// offLimits is why a directory at a path must not be made; empty: it may.
func (b *containerInfo) offLimits(p string) backend.Safe {
	if top := workdir.Kernel(p); top != "" {
		return backend.Textf("belongs to the kernel's %s", backend.Clean(top, 10))
	}
	if m, ok := b.Covering(p); ok && m.Kind != "volume" {
		return backend.Text("is on a mount from outside the container; make it there yourself, then probe")
	}
	return backend.Safe{}
}

// unlinkedWhy says why a directory whose mount lost its directory cannot be repaired from inside.
func (b *containerInfo) unlinkedWhy(clean func(string) backend.Safe) backend.Safe {
	m, _ := b.Covering(b.Dir)
	return backend.Textf("%s of the host, mounted at %s, was removed while the container ran: a mkdir inside succeeds and changes nothing; only a restart of the container, or a new one, helps",
		clean(m.Source), clean(m.Dest))
}

// unlinkedAdvice says what to do about it.
func (r *reader) unlinkedAdvice(b *containerInfo) backend.Safe {
	m, _ := b.Covering(b.Dir)
	return backend.Textf("on the host of %s: mkdir -p %s && %s restart %s; then look for what cleans that directory (systemd-tmpfiles, tmpreaper, a timed find, Sandglass's own journal), or it happens again",
		r.clean(b.name), backend.ShellWord(m.Source), r.cli(), backend.ShellWord(b.name))
}
