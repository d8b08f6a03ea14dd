package docker

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

const (
	// bookmarkEvents marks until when a process has read the engine's events.
	bookmarkEvents = "events"
	// bookmarkFrozen and an id mark since when a main process was seen frozen: a command that looks once finds it with the next one.
	bookmarkFrozen = "frozen "
)

// maxFrozen bounds the bookmarks of frozen processes.
const maxFrozen = 1000

// resumeWithin is how far back a process asks for the events that none saw: the engine remembers few of them.
const resumeWithin = time.Hour

// Resume goes on where a former process stopped.
func (s *Source) Resume(marks []backend.Bookmark) {
	for _, m := range marks {
		n := len(m.Sizes)
		if n == 0 {
			continue
		}
		if m.File == bookmarkEvents {
			s.since = m.Sizes[n-1].At
		} else if id, is := strings.CutPrefix(m.File, bookmarkFrozen); is {
			s.frozen[id] = m
		}
	}
}

// catchUp reads which containers ran out of memory since the former process, also those that are gone: they are told, and
// explain what the kernel killed.
func (p *poll) catchUp() {
	since := p.s.since
	p.s.since = time.Time{}
	if since.IsZero() || !since.Before(p.r.Started) {
		return
	}
	if oldest := p.r.Started.Add(-resumeWithin); since.Before(oldest) {
		since = oldest
	}
	kills, err := p.eng.kills(p.ctx, since.Add(p.offset), p.r.Started.Add(p.offset))
	if err != nil {
		p.note("which containers ran out of memory since %s is not known: %s", since.UTC().Format("15:04:05Z"), p.s.clean(err.Error(), 200))
		return
	}
	p.pend.events = append(kills, p.pend.events...)
}

// removed makes the last reading of a container that no list of this process named: all is known from its event.
func (p *poll) removed(ev *lifecycle, id backend.ID) {
	s := p.s
	b := &backend.Sandbox{
		Meta: backend.Meta{Key: s.key(id)}, Provider: backend.Text("docker"), Name: s.clean(ev.name, 200), Image: s.clean(ev.image, 300),
		Class: backend.SandboxDead, Reported: backend.Text("removed"),
		IsSandbox: s.sel.isSandbox(ev.labels, nil), OOMKilled: backend.Known(true), FinishedAt: backend.Known(ev.at.Add(-p.offset)),
	}
	b.Watched = !b.IsSandbox
	b.Session, b.Workspace = s.sel.join(ev.name, ev.labels)
	if !slices.ContainsFunc(p.r.Sandboxes, func(x *backend.Sandbox) bool { return x.Key == b.Key }) {
		p.r.Sandboxes = append(p.r.Sandboxes, b)
	}
	p.end(ev.id, id)
}

// bookmark notes until when events were read, and which main processes look frozen.
func (p *poll) bookmark() {
	p.r.Bookmarks = []backend.Bookmark{{File: bookmarkEvents, Sizes: []backend.SizeAt{{At: p.r.Started}}}}
	var frozen []backend.Bookmark
	for _, e := range p.s.entries {
		if !e.frozenSince.IsZero() && e.ins != nil {
			frozen = append(frozen, backend.Bookmark{File: bookmarkFrozen + e.id.Raw(), Head: e.stillness(e.ran), Sizes: []backend.SizeAt{{At: e.frozenSince}}})
		}
	}
	stable.Sort(frozen, func(a, b backend.Bookmark) int { return strings.Compare(a.File, b.File) })
	p.r.Bookmarks = append(p.r.Bookmarks, frozen[:min(len(frozen), maxFrozen)]...)
}

// stillness identifies a run of a container in which no thread of the main process has run since.
func (e *cachedContainer) stillness(ran string) uint64 {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, e.started().Or(time.Time{}).UnixNano(), ran) // never fails
	return h.Sum64()
}
