package tmpdir

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/backend/hostfs"
)

// containerMount is a directory of this host that a container mounts, or that is the source of a volume.
type containerMount struct {
	of    backend.Safe    // "container web-1"
	has   backend.Safe    // "(exited) was given": what it has to do with the directory
	paths []string        // as the engine names it, and without links
	id    hostfs.FileID   // of the directory; zero: it does not exist
	above []hostfs.FileID // the directories above it
}

// endpointer is a source of kind docker that says which engine it reads.
type endpointer interface {
	Endpoint() (host, api string, c *http.Client, err error)
}

// volumer is a source of kind docker that lists the host directories behind its engine's volumes.
type volumer interface {
	Volumes(ctx context.Context) ([]backend.Volume, error)
}

// containers collects the host directories that containers of every state mount and those behind volumes. why says why
// the list may be incomplete.
func (t *tool) containers(ctx context.Context, s *fleet.State, now time.Time) (binds []containerMount, why backend.Safe) {
	read := map[hostfs.FileID]bool{} // the sockets of the engines that are read
	for _, p := range t.site.Peers {
		if p.Kind != "docker" {
			continue
		}
		h := s.Source(p.ID)
		if h != nil && h.Status == fleet.StatusAbsent && !t.engineMeant() {
			continue // it looked by itself and found no engine; the sockets below say whether there is one
		}
		if why := t.unlisted(s, h, p, now); !why.IsEmpty() {
			return nil, why
		}
		behind, why := volumesOf(ctx, p)
		if !why.IsEmpty() {
			return nil, why
		}
		binds = append(binds, behind...)
		if id, ok := socketOf(p); ok {
			read[id] = true
		}
	}
	if why := t.unreadSocket(read); !why.IsEmpty() {
		return nil, why
	}
	for box := range s.Sandboxes.All() {
		if box.MountsCut {
			return nil, backend.Textf("container %s has more mounts than are listed", box.Name)
		}
		for _, m := range box.Mounts {
			b, why := mountOf(box, m)
			if !why.IsEmpty() {
				return nil, why
			}
			if b != nil {
				binds = append(binds, *b)
			}
		}
	}
	return binds, backend.Safe{}
}

// engineMeant reports whether an engine is configured. An engine that does not answer now still has stopped containers.
func (t *tool) engineMeant() bool {
	env := t.site.Deps.Getenv
	return t.site.Config != "" || env != nil && (env("DOCKER_HOST") != "" || env("DOCKER_CONTEXT") != "")
}

// unlisted says why the list of an engine's containers is not complete and fresh.
func (t *tool) unlisted(s *fleet.State, h *fleet.SourceHealth, p actions.Peer, now time.Time) backend.Safe {
	id := backend.Clean(p.ID, 80)
	if h == nil || h.Status != fleet.StatusOK {
		word, cause := backend.Text("not read"), backend.Safe{}
		if h != nil {
			word, cause = backend.Clean(string(h.Status), 20), h.Error
		}
		if h != nil && h.Status == fleet.StatusAbsent {
			return backend.Textf("the containers that may use it are not known: %s finds no engine, and may be meant to: start it, or, if this machine has none, take that source out of the configuration (%s)", id, cause)
		}
		return backend.Textf("the containers that may use it are not known: %s is %s %s", id, word, cause)
	}
	listed := s.LastCompleteList(p.ID, backend.KindSandbox)
	if age := now.Sub(listed); listed.IsZero() || h.Overdue(now) || age > 2*h.Interval+h.Deadline+time.Second {
		return backend.Textf("the containers that may use it are not known: %s has no complete list that is fresh", id)
	}
	return backend.Safe{}
}

// socketOf is the socket that the peer's engine answers at.
func socketOf(p actions.Peer) (hostfs.FileID, bool) {
	e, ok := p.Source.(endpointer)
	if !ok {
		return hostfs.FileID{}, false
	}
	host, _, c, err := e.Endpoint()
	if err != nil {
		return hostfs.FileID{}, false
	}
	c.CloseIdleConnections()
	path, ok := strings.CutPrefix(host, "unix://")
	if !ok {
		return hostfs.FileID{}, false
	}
	id, err := identity(path)
	return id, err == nil
}

// unreadSocket names an engine's socket that is there and that no source reads.
func (t *tool) unreadSocket(read map[hostfs.FileID]bool) backend.Safe {
	for _, g := range t.o.EngineSockets {
		found, _ := filepath.Glob(g) // the patterns were checked
		for _, path := range found {
			id, err := identity(path)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil || !read[id] {
				return backend.Textf("the containers that may use it are not known: the engine socket %s is there, and no source of kind docker reads it", drawn(path))
			}
		}
	}
	return backend.Safe{}
}

// identity follows links.
func identity(path string) (hostfs.FileID, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return hostfs.FileID{}, err
	}
	d, err := hostfs.OpenDirBare(filepath.Dir(real))
	if err != nil {
		return hostfs.FileID{}, err
	}
	defer func() { _ = d.Close() }() // opened for reading
	st, err := d.Lookup(filepath.Base(real))
	return st.ID, err
}

// volumesOf lists the directories of this host behind the volumes of the peer's engine. A container's mount names only
// the engine's own directory, and a container may get a volume at any time.
func volumesOf(ctx context.Context, p actions.Peer) (binds []containerMount, why backend.Safe) {
	id := backend.Clean(p.ID, 80)
	v, ok := p.Source.(volumer)
	if !ok {
		return nil, backend.Textf("the volumes that may lead to it are not known: %s cannot list them", id)
	}
	list, err := v.Volumes(ctx)
	if err != nil {
		return nil, backend.Textf("the volumes that may lead to it are not known: %s", backend.Clean(err.Error(), 300))
	}
	for _, one := range list {
		of := backend.Textf("volume %s of %s", one.Name, id)
		if one.RawSource.Raw() == "" {
			return nil, backend.Textf("%s binds a directory whose path is not known", of)
		}
		b, why := bindOf(of, backend.Text("maps to"), one.RawSource.Raw())
		if !why.IsEmpty() {
			return nil, why
		}
		binds = append(binds, *b)
	}
	return binds, backend.Safe{}
}

// mountOf makes a bind of a container's mount; nil: it is no directory of this host.
func mountOf(box *backend.Sandbox, m backend.Mount) (*containerMount, backend.Safe) {
	of, source := backend.Textf("container %s", box.Name), m.RawSource.Raw()
	if source == "" && m.Type.String() == "bind" {
		return nil, backend.Textf("%s has a bind mount whose source is not known", of)
	}
	if !filepath.IsAbs(source) {
		return nil, backend.Safe{}
	}
	return bindOf(of, backend.Textf("(%s) was given", box.Reported), source)
}

// bindOf describes an absolute path. The engine may see it through links, so both forms count. The directory and those
// above it count by identity too.
func bindOf(of, has backend.Safe, source string) (*containerMount, backend.Safe) {
	b := &containerMount{of: of, has: has, paths: []string{filepath.Clean(source)}}
	real, err := filepath.EvalSymlinks(source)
	if errors.Is(err, fs.ErrNotExist) {
		return b, backend.Safe{}
	}
	if err != nil {
		return nil, backend.Textf("the bind source %s of %s cannot be followed: %s", drawn(source), of, translate(err))
	}
	b.paths = append(b.paths, real)
	ids, err := chain(real)
	if err != nil {
		return nil, backend.Textf("the bind source %s of %s cannot be looked at: %s", drawn(source), of, translate(err))
	}
	b.id, b.above = ids[0], ids[1:]
	return b, backend.Safe{}
}

func statID(path string) (hostfs.FileID, error) {
	st, err := hostfs.StatAt(unix.AT_FDCWD, path)
	return st.ID, err
}

// noBind: the directory is not the source, nor inside or above it.
func noBind(s *subject) backend.Safe {
	for i := range s.w.binds {
		b := &s.w.binds[i]
		word := b.touches(s)
		if !word.IsEmpty() {
			return backend.Textf("it is %s %s, which %s %s", word, drawn(b.paths[0]), b.of, b.has)
		}
	}
	return backend.Safe{}
}

// touches says how the directory and the source overlap; empty: they do not.
func (b *containerMount) touches(s *subject) backend.Safe {
	for _, p := range b.paths {
		for _, own := range []string{s.path, s.at} {
			switch {
			case p == own:
				return backend.Text("the directory")
			case below(own, p):
				return backend.Text("inside")
			case below(p, own):
				return backend.Text("above")
			}
		}
	}
	if b.id == s.stat.ID {
		return backend.Text("the directory")
	}
	if slices.Contains(b.above, s.stat.ID) {
		return backend.Text("above")
	}
	// The source is above the directory under another name: it is the root, or a directory above the root.
	if slices.Contains(s.root.above, b.id) {
		return backend.Text("inside")
	}
	return backend.Safe{}
}

// chain are the identities of a directory and of everything above it.
func chain(path string) ([]hostfs.FileID, error) {
	var out []hostfs.FileID
	for p := path; ; p = filepath.Dir(p) {
		id, err := statID(p)
		if err != nil {
			return nil, err
		}
		if out = append(out, id); p == "/" {
			return out, nil
		}
	}
}

// below reports whether p is below dir. Both are absolute and clean.
func below(p, dir string) bool {
	if dir == "/" {
		return p != "/"
	}
	return strings.HasPrefix(p, dir) && len(p) > len(dir) && p[len(dir)] == '/'
}
