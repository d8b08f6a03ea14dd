package ui

import (
	"cmp"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/subjects"
)

// markedFor is how long a short-lived signal stays marked where the settings do not say.
const markedFor = 10 * time.Minute

// signalEvents is how many of the newest events are looked through for signals.
const signalEvents = 500

// signals collects what happened for a short while, so that who looks a little later does not miss it.
type signals struct {
	kept   views.Signals
	number uint64 // of the State that was looked through
	heard  time.Time
	behind bool // some States were not shown, and their events not looked through
}

// noticeSignals looks through what changed since the State before.
func noticeSignals(m *Model) {
	s, now := &m.signals, m.frame.Now
	was := s.kept.For
	s.kept.For = max(cmp.Or(m.viewer.MarkedFor, markedFor), 0)
	m.frame.Signals = &s.kept
	if m.state == nil || m.state.Number == s.number && s.kept.For <= was {
		return
	}
	if s.kept.For > was {
		s.number = 0 // more of the past counts now
	}
	since := now.Add(-s.kept.For)
	look := func(e backend.Entity) {
		if e == nil {
			return
		}
		if x, ok := subjects.SignalIn(e, since); ok {
			s.kept.Note(e.EntityMeta().Key, x, now)
		}
	}
	deltas, known := []fleet.Delta(nil), false
	if s.number > 0 {
		deltas, known = m.state.ChangesSince(s.number)
	}
	if known {
		for _, d := range deltas {
			for _, k := range d.Changed {
				look(m.state.Entity(k))
			}
		}
	} else {
		for b := range m.state.Sandboxes.All() {
			look(b)
		}
		for w := range m.state.Workspaces.All() {
			look(w)
		}
	}
	s.behind = s.behind || m.state.Number != s.number+1
	s.number = m.state.Number
	s.hear(m.state.Events, since, now)
	if s.heard.IsZero() {
		s.heard = now
	}
	if h, ok := m.feed.(History); ok && s.behind && now.Sub(s.heard) >= hearEvery {
		s.heard, s.behind = now, false
		s.hear(h.Timeline(signalEvents), since, now)
	}
	s.kept.Forget(now)
}

// hearEvery is how often at most the timeline is read for events of States that were not shown: reading it
// takes milliseconds, and the first screen does not wait for it.
const hearEvery = 5 * time.Second

func (s *signals) hear(events []backend.Event, since, now time.Time) {
	for i := range events {
		if x, is := subjects.SignalOf(&events[i]); is && !x.At.Before(since) {
			s.kept.Note(events[i].Subject, x, now)
		}
	}
}
