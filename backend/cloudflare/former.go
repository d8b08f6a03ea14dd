package cloudflare

import (
	"cmp"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// What later processes know of an instance: when its container started, and when it was seen to start again; and of an application:
// its version, rollout and image.
const (
	markStarted = "started "
	markFresh   = "fresh "
	markNamed   = "named " // by a reference, until when
	markApp     = "application "
	maxMarks    = 2000
)

// former is what a former process knew of an instance.
type former struct{ started, fresh, before, ran time.Time }

// Resume goes on with what a former process saw.
func (s *Source) Resume(marks []backend.Bookmark) {
	for _, m := range marks {
		if len(m.Sizes) == 0 {
			continue
		}
		at := m.Sizes[len(m.Sizes)-1].At
		if raw, is := strings.CutPrefix(m.File, markStarted); is {
			f := s.formers[raw]
			if told := m.Sizes[0].Size; told != 0 {
				f.started = time.UnixMicro(told)
			}
			f.ran = m.Sizes[0].Written
			s.formers[raw] = f
		} else if raw, is := strings.CutPrefix(m.File, markFresh); is {
			f := s.formers[raw]
			f.fresh, f.before = at, m.Sizes[0].Written
			s.formers[raw] = f
		} else if raw, is := strings.CutPrefix(m.File, markNamed); is && sandboxID.MatchString(raw) {
			s.recallNamed(raw, at)
		} else if raw, is := strings.CutPrefix(m.File, markApp); is {
			s.recallApp(raw)
		}
	}
}

// Quiet keeps to the time until which the account API asked a former process to wait. The bridge is asked all the same.
func (s *Source) Quiet(until time.Time) { s.budget.Quiet(until) }

// recall takes what a former process knew of an instance that this one sees first: a container that started since has an
// empty disk.
func (s *Source) recall(b *box) {
	f, known := s.formers[b.id.Raw()]
	if !known {
		return
	}
	delete(s.formers, b.id.Raw())
	b.fresh, b.before, b.ran = f.fresh, f.before, f.ran
	if now, known := b.entity.StartedAt.Get(); known && !f.started.IsZero() && b.started.UnixMicro() > f.started.UnixMicro() {
		b.startedAgain(now)
	}
}

// recallApp takes what a former process knew of an application, as markOf wrote it.
func (s *Source) recallApp(mark string) {
	part := strings.Split(mark, "\n")
	if len(part) != 4 {
		return
	}
	s.formerApps[part[0]] = application{version: part[1], rollout: part[2], image: backend.Clean(part[3], maxName)}
}

// markOf is what a later process is to know of an application.
func markOf(key string, a *application) string {
	clip := func(text string) string { return backend.Clean(text, maxWord).String() }
	return markApp + strings.Join([]string{key, clip(a.version), clip(a.rollout), a.image.String()}, "\n")
}

// sinceFormer tells what of an application changed since a former process read it.
func (p *poll) sinceFormer(x *application) {
	was, known := p.s.formerApps[x.key]
	if !known {
		return
	}
	delete(p.s.formerApps, x.key)
	now := *x
	now.version, now.rollout = backend.Clean(x.version, maxWord).String(), backend.Clean(x.rollout, maxWord).String()
	before := len(p.r.Events)
	p.rollout(&app{application: was}, &now)
	for i := before; i < len(p.r.Events); i++ {
		p.r.Events[i].Text = backend.Textf("%s; it was after the run before", p.r.Events[i].Text)
	}
}

// bookmarks hands that to a later process. The newest starts stay.
func (s *Source) bookmarks() []backend.Bookmark {
	var out []backend.Bookmark
	if rest := s.budget.State().Silence; rest > 0 {
		out = append(out, backend.QuietBookmark(s.deps.Now().Add(rest)))
	}
	mark := func(file string, at, ran time.Time) {
		if at.IsZero() {
			return
		}
		own := int64(0)
		if strings.HasPrefix(file, markStarted) {
			own = at.UnixMicro() // the platform's own time, which does not move with our clock as At does
		}
		out = append(out, backend.Bookmark{File: file, Sizes: []backend.SizeAt{{Size: own, At: at, Written: ran}}})
	}
	for _, b := range s.boxes {
		mark(markStarted+b.id.Raw(), b.started, b.ran)
		mark(markFresh+b.id.Raw(), b.fresh, b.before)
	}
	for raw, m := range s.named {
		if at := m.over; at.IsZero() {
			mark(markNamed+raw, s.deps.Now(), time.Time{})
		} else {
			mark(markNamed+raw, at, time.Time{})
		}
	}
	for key, a := range s.apps {
		mark(markOf(key, &a.application), s.deps.Now(), time.Time{})
	}
	for key, a := range s.formerApps { // not read yet
		mark(markOf(key, &a), s.deps.Now(), time.Time{})
	}
	for raw, f := range s.formers { // not seen yet
		mark(markStarted+raw, f.started, f.ran)
		mark(markFresh+raw, f.fresh, f.before)
	}
	stable.Sort(out, func(a, b backend.Bookmark) int {
		return cmp.Or(b.Sizes[0].At.Compare(a.Sizes[0].At), strings.Compare(a.File, b.File))
	})
	return out[:min(len(out), maxMarks)]
}
