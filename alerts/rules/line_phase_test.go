package rules

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestFailedSavesArePendingUntilTheThird: archives that fail fire with the third without a success between; a snapshot that is given
// up, and a restore, fire at once.
func TestFailedSavesArePendingUntilTheThird(t *testing.T) {
	tar := "tar: ./a: Cannot open" + backend.PhaseTar.Sign()
	begun := func(rule string) *story {
		s := beginLines(t, rule, backend.MetricPersistFailed)
		s.look()
		s.pass(5 * time.Second)
		return s
	}
	fail := func(s *story, sample string) *story {
		s.lines(backend.MetricPersistFailed, "a", 1, sample)
		s.look()
		s.pass(5 * time.Second)
		return s
	}
	s := fail(begun("persist-failed"), tar)
	if a := fail(s, tar).want("persist-failed", alerts.StatePending); !strings.Contains(a.Why.String(), "fires with the failure number 3") {
		t.Errorf("pending because %s", a.Why)
	}
	wantEvidence(t, fail(s, tar).want("persist-failed", alerts.StateFiring), "newest: tar: ./a: Cannot open", "phase: tar. What it says is the cause")

	s = fail(fail(begun("persist-failed"), tar), tar)
	s.lines(backend.MetricPersistDone, "a", 1, "")
	s.look().quiet("persist-failed") // the save after it went well
	s.pass(5 * time.Second)
	fail(fail(s, tar), tar).want("persist-failed", alerts.StatePending)
	fail(s, tar).want("persist-failed", alerts.StateFiring)

	a := fail(begun("persist-failed"), "failed to persist snapshot: disk quota exceeded").want("persist-failed", alerts.StateFiring)
	wantEvidence(t, a, "phase: cannot tell")

	h := beginLines(t, "hydrate-failed", backend.MetricHydrateFailed)
	h.look()
	h.pass(5 * time.Second)
	h.lines(backend.MetricHydrateFailed, "a", 1, "tar: Unexpected EOF"+backend.PhaseUnpack.Sign())
	wantEvidence(t, h.look().want("hydrate-failed", alerts.StateFiring), "The contents are partial: unpacking adds files and never removes any")
}

// TestAPendingSaveIsNotCountedAsFiring: a session whose saves failed twice is told apart in the alert about one whose saves failed three
// times for the same cause, and is counted with its third.
func TestAPendingSaveIsNotCountedAsFiring(t *testing.T) {
	tar := "tar: ./a: Cannot open" + backend.PhaseTar.Sign()
	s := beginLines(t, "persist-failed", backend.MetricPersistFailed)
	s.look()
	of := func() map[alerts.AlertState]int {
		out := map[alerts.AlertState]int{}
		for _, a := range s.look().alerts("persist-failed") {
			out[a.State] += a.SubjectCount
			out[alerts.StatePending] += a.Pending
			for i, x := range a.Subjects {
				if told := i >= a.SubjectCount; told && x.State != alerts.StatePending || !told && x.State != a.State {
					t.Errorf("%s is %s in an alert that is %s", x.Label, x.State, a.State)
				}
			}
		}
		return out
	}
	for range 2 {
		s.pass(5 * time.Second)
		s.lines(backend.MetricPersistFailed, "b", 1, tar)
		s.look()
	}
	if n := of(); n[alerts.StateFiring] != 0 || n[alerts.StatePending] != 1 {
		t.Errorf("after two failures of one: %v", n)
	}
	for range 3 {
		s.pass(5 * time.Second)
		s.lines(backend.MetricPersistFailed, "c", 1, tar)
		s.look()
	}
	if n := of(); n[alerts.StateFiring] != 1 || n[alerts.StatePending] != 1 {
		t.Errorf("after three of another: %v", n)
	}
	s.pass(5 * time.Second)
	s.lines(backend.MetricPersistFailed, "b", 1, tar)
	if n := of(); n[alerts.StateFiring] != 2 || n[alerts.StatePending] != 0 {
		t.Errorf("after the third: %v", n)
	}
}

// TestAPendingSaveFiresInItsAlert: what was pending and fires then is one alert, with the id, the onset and the beginning that it had.
func TestAPendingSaveFiresInItsAlert(t *testing.T) {
	for name, beside := range map[string]bool{"alone": false, "beside one that fires": true} {
		tar := "tar: ./a: Cannot open" + backend.PhaseTar.Sign()
		s := beginLines(t, "persist-failed", backend.MetricPersistFailed)
		s.look()
		for range 3 {
			s.pass(5 * time.Second)
			if beside {
				s.lines(backend.MetricPersistFailed, "c", 1, tar)
			}
			s.look()
		}
		s.pass(5 * time.Second)
		s.lines(backend.MetricPersistFailed, "b", 1, tar)
		was := s.look().alerts("persist-failed")
		if len(was) != 1 || !beside && was[0].State != alerts.StatePending {
			t.Fatalf("%s:\n%s", name, summary(s.board))
		}
		for range 2 {
			s.pass(5 * time.Second)
			s.lines(backend.MetricPersistFailed, "b", 1, tar)
			s.look()
		}
		is := s.want("persist-failed", alerts.StateFiring)
		if is.ID != was[0].ID || !is.Active.Equal(was[0].Active) || is.Bounds != was[0].Bounds || is.Pending != 0 {
			t.Errorf("%s: %s since %s (%v), was %s since %s (%v)", name, is.ID, is.Active, is.Bounds, was[0].ID, was[0].Active, was[0].Bounds)
		}
	}
}
