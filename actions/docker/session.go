package docker

import (
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// slack is how much later than a container's start a list of sessions must be to say that none owns it.
const slack = 30 * time.Second

// owner is what the console knows of the session behind a container.
type owner struct {
	who  backend.Safe // session and tenant; empty: it names no session
	live bool
	// unsure is why it is not known whether the session is live; empty: it is known, or no source lists sessions.
	unsure backend.Safe
	note   backend.Safe // a remark for the plan
	nobody bool         // its session is in no list any more
	rests  bool         // its session is listed and does not run
}

// ownerOf looks the session of a container up, in every source that could know it.
func ownerOf(s *fleet.State, b *backend.Sandbox) owner {
	if b.Session.IsZero() {
		return owner{note: backend.Text("it names no session")}
	}
	o := owner{who: backend.Textf("session %s", b.Session.Safe())}
	homes := s.SessionSourcesOf(b.Key.Source)
	if len(homes) == 0 {
		o.note = backend.Text("no source lists sessions, so it is unknown whether its session is live")
		return o
	}
	for _, h := range homes {
		x := s.Session(backend.Key{Kind: backend.KindSession, Source: h.Key.Source, ID: b.Session})
		if x == nil {
			continue
		}
		if !x.Tenant.IsEmpty() {
			o.who = backend.Textf("session %s of %s", b.Session.Safe(), x.Tenant)
		}
		why, stale := s.StaleWhy(&x.Meta)
		switch {
		case stale:
			o.unsure = why
		case x.MayRun():
			o.live = true
		default:
			o.rests, o.note = true, backend.Text("its session rests: when it comes back it does not find this container")
		}
		return o
	}
	for _, h := range homes {
		listed := s.LastCompleteList(h.Key.Source, backend.KindSession)
		started, known := b.StartedAt.Get()
		switch {
		case h.Status == fleet.StatusDown || h.Status == fleet.StatusStarting || h.Overdue(s.Wall):
			o.unsure = backend.Textf("%s did not answer", backend.Clean(h.Key.Source, 80))
			return o
		case listed.IsZero() || known && listed.Before(started.Add(slack)):
			o.unsure = backend.Textf("%s has not listed all of its sessions since", backend.Clean(h.Key.Source, 80))
			return o
		}
	}
	o.nobody, o.note = true, backend.Text("its session is in no list any more")
	return o
}

// namedBy is a live session, other than the container's own, of which a persisted ref names the container; empty: none.
func namedBy(s *fleet.State, refs map[string][]*backend.Ref, b *backend.Sandbox) backend.Safe {
	for _, r := range refs[b.Key.ID.Raw()] {
		if r.Session == b.Session || r.Session.IsZero() {
			continue
		}
		for _, h := range s.SessionSourcesOf(b.Key.Source) {
			x := s.Session(backend.Key{Kind: backend.KindSession, Source: h.Key.Source, ID: r.Session})
			if x != nil && x.MayRun() {
				return r.Session.Safe()
			}
		}
	}
	return backend.Safe{}
}

// refsByBox collects the refs that name one of the keys, by the full id or by the prefix that the engine itself prints.
func refsByBox(s *fleet.State, keys []backend.Key) map[string][]*backend.Ref {
	const shown = 12
	full := make(map[string]string, 2*len(keys))
	for _, k := range keys {
		raw := k.ID.Raw()
		full[raw] = raw
		if len(raw) > shown {
			full[raw[:shown]] = raw
		}
	}
	out := map[string][]*backend.Ref{}
	for r := range s.Refs.All() {
		if id, ok := full[r.Sandbox.Raw()]; ok {
			out[id] = append(out[id], r)
		}
	}
	return out
}

// spares is why a container must not be destroyed because of a session; empty: no session keeps it.
func (o owner) spares() backend.Safe {
	switch {
	case o.live:
		return backend.Textf("%s is live", o.who)
	case !o.unsure.IsEmpty():
		return backend.Textf("whether %s is live is not known: %s", o.who, o.unsure)
	}
	return backend.Safe{}
}
