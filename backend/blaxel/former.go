package blaxel

import (
	"cmp"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// maxMarks bounds of how many sandboxes a later process learns what this one saw.
const maxMarks = 2000

// markGone stands for the status of a sandbox whose own record is no more: no word of the platform.
const markGone = "-"

// former is what a former process knew of a sandbox: since when it has its two words, when the platform says that it was made, and
// when it was seen to be another one of the same name.
type former struct {
	status, state         string
	since, created, fresh time.Time
}

// mark is a bookmark of a sandbox. Words of the platform have no space, and names have none. When it was made is a number: times of our
// own clock are moved where that was set since.
func (f *former) mark(id backend.ID) backend.Bookmark {
	m := backend.Bookmark{File: f.status + " " + f.state + " " + id.Raw(), Sizes: []backend.SizeAt{{At: f.since}}}
	if !f.created.IsZero() {
		m.Sizes[0].Size = f.created.UnixMicro()
	}
	if !f.fresh.IsZero() {
		m.Sizes = append(m.Sizes, backend.SizeAt{At: f.fresh})
	}
	return m
}

// Resume goes on with what a former process saw.
func (s *Source) Resume(marks []backend.Bookmark) {
	for _, m := range marks {
		words := strings.SplitN(m.File, " ", 3)
		if len(words) != 3 || len(m.Sizes) == 0 {
			continue
		}
		f := former{status: words[0], state: words[1], since: m.Sizes[0].At}
		if at := m.Sizes[0].Size; at != 0 {
			f.created = time.UnixMicro(at)
		}
		if len(m.Sizes) > 1 {
			f.fresh = m.Sizes[1].At
		}
		if id := idOf(words[2]); !id.IsZero() && f.status == markGone {
			s.gone[id] = f.since
		} else if !id.IsZero() {
			s.formers[id] = f
		}
	}
}

// recall takes what a former process knew of a sandbox that this one sees first.
func (s *Source) recall(b *box, r *row) {
	f, known := s.formers[r.id]
	if !known {
		return
	}
	delete(s.formers, r.id)
	b.fresh = f.fresh
	switch anew := !f.created.IsZero() && r.created.UnixMicro() > f.created.UnixMicro(); {
	case anew:
		b.fresh = r.entity.CreatedAt.Or(f.fresh)
	case f.status == r.status && (f.state == r.state || f.state == "" || r.state == "") && f.since.Before(b.since):
		b.since = f.since
	}
}

// bookmarks hands that to a later process. Where there are too many, those stay that are on their way, and of them the oldest: how long
// they have been so counts. Then come those that are deployed, and those that are over last.
func (s *Source) bookmarks() []backend.Bookmark {
	out := make([]backend.Bookmark, 0, len(s.boxes)+len(s.formers))
	for id, b := range s.boxes {
		f := former{b.status, b.state, b.since, b.created, b.fresh}
		out = append(out, f.mark(id))
	}
	for id, f := range s.formers { // not seen yet
		out = append(out, f.mark(id))
	}
	for id, at := range s.gone {
		f := former{status: markGone, since: at}
		out = append(out, f.mark(id))
	}
	stable.Sort(out, func(a, b backend.Bookmark) int {
		return cmp.Or(settled(a.File)-settled(b.File), a.Sizes[0].At.Compare(b.Sizes[0].At), strings.Compare(a.File, b.File))
	})
	return out[:min(len(out), maxMarks)]
}

// settled is 0 for a mark of a sandbox that is on its way, 1 of one that is deployed, 2 of one that is over, 3 of one that is no more.
func settled(mark string) int {
	switch status, _, _ := strings.Cut(mark, " "); status {
	case "DEPLOYED":
		return 1
	case "TERMINATED":
		return 2
	case markGone:
		return 3
	}
	return 0
}
