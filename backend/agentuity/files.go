package agentuity

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// filesSeen is how many entries the directory of a sandbox had when it was listed.
type filesSeen struct {
	entries int
	at      time.Time
}

// lacks reports whether another list has so few entries that most of those of this one are gone.
func (f filesSeen) lacks(entries int) bool {
	return f.entries >= manyEntries && entries <= f.entries/manyEntries
}

// SawFiles notes how many entries what acts found in the directory of a sandbox. Most of them are gone where a list of this or a
// former process had many more; since is when that was.
func (s *Source) SawFiles(id backend.ID, entries int, at time.Time) (had int, since time.Time, lost bool) {
	before := s.files(id)
	if lost = before.lacks(entries); !lost && at.After(before.at) {
		s.setFiles(id, filesSeen{entries, at})
	}
	return before.entries, before.at, lost
}

// files is what is remembered of the directory of a sandbox.
func (s *Source) files(id backend.ID) filesSeen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.filesOf[id]
}

func (s *Source) setFiles(id backend.ID, f filesSeen) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.filesOf[id] = f
}

// judgeFiles compares the newest list of a directory with the one before. That most of its entries are gone is a failure where the
// sandbox slept between them (agentuity/sdk#1161): awake, its own commands may have removed them.
func (p *poll) judgeFiles(b *box) {
	now, before := b.listed, p.s.files(b.id)
	if now.at.IsZero() || !now.at.After(before.at) {
		return
	}
	dir := p.clean(p.s.opt.Directory, 200)
	v := backend.Verdict{Plane: backend.PlaneList, At: now.at}
	switch {
	case !before.lacks(now.entries):
		p.s.setFiles(b.id, now)
		return
	case b.sleptIn(before.at, now.at):
		v.Outcome, v.Kind = backend.OutcomeFailed, backend.FailFilesystemMissing
		v.What = backend.Textf("%s has %s, and had %d before it slept", dir, backend.Counted(now.entries, "entry", "entries"), before.entries)
	case !b.events.at.Before(now.at):
		p.s.setFiles(b.id, now)
		v.Outcome, v.At = backend.OutcomeOK, b.events.at // its list may have been doubted
		v.What = backend.Textf("%s has %s, and had %d; it did not sleep since", dir, backend.Counted(now.entries, "entry", "entries"), before.entries)
	default:
		v.Outcome = backend.OutcomeUnknown
		v.What = backend.Textf("%s has %s, and had %d at %s; whether it slept since is not read yet", dir, backend.Counted(now.entries, "entry", "entries"), before.entries, before.at.UTC().Format("2006-01-02 15:04Z"))
	}
	if known, told := find(b.checks, backend.PlaneList); told && (known.At.After(v.At) || known.At.Equal(v.At) && known.Outcome == v.Outcome) {
		return
	}
	v.Evidence = []backend.Safe{backend.Textf("looked at because: %s", b.suspect.why)}
	b.observe(v)
	if p.s.claims != nil {
		p.s.claims.Tell(p.s.listClaim(b), v)
	}
}

// sleptIn reports whether the sandbox slept between two times: it was seen to wake, or its events tell.
func (b *box) sleptIn(from, to time.Time) bool {
	in := func(at time.Time) bool { return at.After(from) && !at.After(to) }
	return in(b.woke) || slices.ContainsFunc(b.events.list, func(e backend.LifecycleEvent) bool {
		return in(e.At) && (e.Kind == backend.LifecycleSuspended || e.Kind == backend.LifecycleResumed)
	})
}

// markFiles begins the marks of what directories held; maxFiles bounds them, the newest stay.
const (
	markFiles = "files "
	maxFiles  = 500
)

func (s *Source) fileMarks() []backend.Bookmark {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.recalled { // the lists were read
		maps.DeleteFunc(s.filesOf, func(id backend.ID, _ filesSeen) bool { return s.boxes[id] == nil })
	}
	keys := stable.Sorted(maps.Keys(s.filesOf), func(a, b backend.ID) int { return cmp.Or(s.filesOf[b].at.Compare(s.filesOf[a].at), a.Compare(b)) })
	out := make([]backend.Bookmark, 0, min(len(keys), maxFiles))
	for _, id := range keys[:min(len(keys), maxFiles)] {
		f := s.filesOf[id]
		out = append(out, backend.Bookmark{File: markFiles + id.Raw(), Sizes: []backend.SizeAt{{Size: int64(f.entries), At: f.at}}})
	}
	return out
}

// recallFiles takes up what a former process saw in a directory.
func (s *Source) recallFiles(mark string, of backend.SizeAt) bool {
	raw, is := strings.CutPrefix(mark, markFiles)
	if id, err := backend.NewID(raw); is && err == nil {
		s.setFiles(id, filesSeen{int(of.Size), of.At})
	}
	return is
}
