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
