package views

import (
	"maps"
	"time"

	"sandglass/backend"
)

// Signal is something short-lived that happened to a subject: an eviction, a restart, a process killed at the memory limit.
type Signal struct {
	Word backend.Safe // what happened, in one or two words
	At   time.Time    // our time
}

// Signals are the newest short-lived signal of each subject, for a while after it happened. A nil one has none.
type Signals struct {
	For time.Duration // how long a signal is kept; 0: none is
	of  map[backend.Key]Signal
}

// mostSignals bounds the subjects that are kept: after a storm of them no single one is missed.
const mostSignals = 5000

// Note keeps a signal unless the subject has a newer one.
func (s *Signals) Note(k backend.Key, x Signal, now time.Time) {
	if s.old(x, now) || s.of[k].At.After(x.At) || len(s.of) >= mostSignals {
		return
	}
	if s.of == nil {
		s.of = map[backend.Key]Signal{}
	}
	s.of[k] = x
}

func (s *Signals) old(x Signal, now time.Time) bool { return now.Sub(x.At) >= s.For }

// Of is the signal of a subject, if it had one lately.
func (s *Signals) Of(k backend.Key, now time.Time) (x Signal, marked bool) {
	if s == nil {
		return Signal{}, false
	}
	x, marked = s.of[k]
	return x, marked && !s.old(x, now)
}

// Any reports whether some subject of a kind has one.
func (s *Signals) Any(kind backend.Kind, now time.Time) bool {
	if s == nil {
		return false
	}
	for k, x := range s.of {
		if k.Kind == kind && !s.old(x, now) {
			return true
		}
	}
	return false
}

// Forget drops those that are over.
func (s *Signals) Forget(now time.Time) {
	maps.DeleteFunc(s.of, func(_ backend.Key, x Signal) bool { return s.old(x, now) })
}
