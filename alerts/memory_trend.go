package alerts

import (
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

const (
	// memoryParts is how many parts the trend of memory is drawn in.
	memoryParts = 30
	// memoryFull is the share of its limit from which memory counts as full.
	memoryFull = 0.9
	// memoryWatched is how long memory must be read before its not growing says anything.
	memoryWatched = 5 * time.Minute
)

// MemoryTrend is how a process used its memory before something happened.
type MemoryTrend struct {
	fleet.MemoryGrowth
	// Among is how many processes could be meant; of several it is the one that ended, or else grew most.
	Among int
}

// MemoryBefore finds how the memory went before a time: in a process of the session, or else in one that names no
// session, of the sources that speak about what is asked. False when no source reads the memory of any.
func MemoryBefore(st *fleet.State, speaks func(source string) bool, session backend.ID, at time.Time) (MemoryTrend, bool) {
	var own, others MemoryTrend
	for p := range st.MemoryHistory.All() {
		if !speaks(p.Process.Source) {
			continue
		}
		c, ok := p.GrowthBefore(at)
		switch {
		case !ok:
		case !session.IsZero() && p.Process.Session == session:
			own.consider(c)
		case session.IsZero() || p.Process.Session.IsZero():
			others.consider(c)
		}
	}
	if own.Among > 0 {
		return own, true
	}
	return others, others.Among > 0
}

func (m *MemoryTrend) consider(c fleet.MemoryGrowth) {
	if m.Among++; m.Among > 1 {
		now, _ := c.Grew()
		was, _ := m.Grew()
		if m.Ended && !c.Ended || m.Ended == c.Ended && was >= now {
			return
		}
	}
	m.MemoryGrowth = c
}

// Full reports whether nearly all of its limit was used; false when the limit is not known.
func (m MemoryTrend) Full() bool {
	share, known := m.Share()
	return known && share >= memoryFull
}

// FullAt reports whether nearly all of its limit was used at a time soon after the last reading, as far as its newest rise
// went on; false when the limit is not known.
func (m MemoryTrend) FullAt(at time.Time) bool {
	limit, known := m.Limit.Get()
	return known && limit > 0 && float64(m.At(at)) >= memoryFull*float64(limit)
}

// Watched reports whether it was read for long enough to say that it does not grow.
func (m MemoryTrend) Watched() bool {
	_, in := m.Grew()
	return in >= memoryWatched
}

// Text says how it went: "grew 210 MB in 20m, to 1.9 of 2.0 GB".
func (m MemoryTrend) Text() backend.Safe {
	grew, in := m.Grew()
	var s backend.Safe
	switch {
	case !m.Rises() && in < backend.MemoryGrain:
		s = backend.Textf("%s, read once", m.last())
	case !m.Rises():
		s = backend.Textf("%s, hardly more than %s before", m.last(), backend.Age(in))
	case m.Sudden():
		s = backend.Textf("grew %s in %s, most of it in the last %s, to %s", backend.Bytes(grew), backend.Age(in), backend.Age(m.Last.At().Sub(m.Before.At())), m.last())
	default:
		s = backend.Textf("grew %s in %s, to %s", backend.Bytes(grew), backend.Age(in), m.last())
	}
	if m.Among > 1 {
		s = backend.Textf("%s (of %d processes the one that fits best: %s %s)", s, m.Among, backend.Clean(m.Process.Name, 80), m.Process.Labels)
	}
	return s
}

// last is the newest use, with its limit where that is known.
func (m MemoryTrend) last() string {
	used := backend.Bytes(m.Last.Bytes)
	limit, known := m.Limit.Get()
	if !known {
		return used
	}
	text := backend.Bytes(limit)
	if i := strings.IndexByte(text, ' '); strings.HasSuffix(used, text[i:]) {
		used = strings.TrimSuffix(used, text[i:])
	}
	return used + " of " + text
}

// Evidence is the same as evidence.
func (m MemoryTrend) Evidence() Evidence {
	_, in := m.Grew()
	return Evidence{Text: backend.Textf("memory before: %s", m.Text()), Value: backend.Known(float64(m.Last.Bytes)), Unit: "B",
		Source: m.Process.Source, At: m.Last.At(), Trend: m.Parts(memoryParts), TrendSpan: in}
}
