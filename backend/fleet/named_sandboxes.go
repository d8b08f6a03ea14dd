package fleet

import (
	"maps"
	"slices"

	"sandglass/backend"
)

// SamePlatform reports whether a workspace of a provider can name a sandbox of a platform: the framework's cloudflare-sandbox and
// cloudflare-filestore name containers of Cloudflare.
func SamePlatform(provider, platform backend.Safe) bool {
	return provider == platform || platform.String() == "cloudflare" && backend.NamesWorkerBox(provider)
}

// namedBy is what names the session of a sandbox whose platform does not know sessions.
var namedBy = backend.Text("the sandbox id of its workspace")

// joinNamed joins the sandboxes of a Cloudflare account to the one session whose workspace or stored reference names them: the
// platform knows no sessions. A join stays when nothing names the sandbox any more, since a session that ends takes its
// workspaces along. Entities and lists may be shared, so that it changes copies.
func (s *store) joinNamed(r *backend.Reading) {
	own := false
	for i, b := range r.Sandboxes {
		if !b.IsSandbox || !b.Session.IsZero() && b.JoinedBy != namedBy || b.Provider.String() != "cloudflare" {
			continue
		}
		c := *b
		if !s.named(&c) {
			if b.Session.IsZero() {
				continue
			}
			c.Session, c.Workspace, c.JoinedBy = backend.ID{}, backend.ID{}, backend.Safe{}
		}
		if !own {
			r.Sandboxes, own = slices.Clone(r.Sandboxes), true
		}
		r.Sandboxes[i] = &c
	}
}

// named fills in the session of a sandbox; false where none is known, or several share it.
func (s *store) named(b *backend.Sandbox) bool {
	var by backend.Key
	for _, id := range namesOf(b) {
		p := placeName{StorageSandbox, id}
		first, is := s.placeIndex.first[p]
		if !is {
			continue
		}
		for _, k := range append(slices.Collect(maps.Keys(s.placeIndex.more[p])), first) {
			if !SamePlatform(s.providerOf(k), b.Provider) {
				continue
			}
			switch {
			case by.Kind == "":
				by = k
			case by.Parent != k.Parent:
				return false
			case by.ID != k.ID: // two workspaces of one session
				by.ID = backend.ID{}
			}
		}
	}
	if by.Kind == "" {
		was := s.sandboxes().get(b.Key)
		if was == nil || was.JoinedBy != namedBy {
			return !b.Session.IsZero() // as a former process had it
		}
		b.Session, b.Workspace, b.JoinedBy = was.Session, was.Workspace, namedBy
		return true
	}
	b.Session, b.Workspace, b.JoinedBy = by.Parent, by.ID, namedBy
	return true
}

// Rejoin tells which sandboxes a former process had joined to sessions. Those that were joined since something named them stay joined so
// until something names them again. It must be called before the Fleet polls.
func (f *Fleet) Rejoin(all []*backend.Sandbox) {
	f.joins = map[backend.Key]*backend.Sandbox{}
	for _, b := range all {
		if b.JoinedBy == namedBy && !b.Session.IsZero() {
			f.joins[b.Key] = b
		}
	}
}

// rejoin adds to a reading what a former process knew of the sessions of its sandboxes. The entities may be shared: copies change.
func (f *Fleet) rejoin(r *backend.Reading) {
	if len(f.joins) == 0 {
		return
	}
	own := false
	for i, b := range r.Sandboxes {
		was := f.joins[b.Key]
		if was == nil || !b.Session.IsZero() {
			continue
		}
		if !own {
			r.Sandboxes, own = slices.Clone(r.Sandboxes), true
		}
		c := *b
		c.Session, c.Workspace, c.JoinedBy = was.Session, was.Workspace, namedBy
		r.Sandboxes[i] = &c
	}
}

// providerOf is the provider of a workspace or a reference, cloudflare-sandbox where it names none but a sandbox of its own.
func (s *store) providerOf(k backend.Key) backend.Safe {
	var provider backend.Safe
	switch e := s.of(k.Kind).after(k).(type) {
	case *backend.Workspace:
		if e != nil {
			provider = e.Provider
		}
	case *backend.Ref:
		if e != nil {
			provider = e.Provider
		}
	}
	if provider.IsEmpty() {
		return backend.Text("cloudflare-sandbox")
	}
	return provider
}
