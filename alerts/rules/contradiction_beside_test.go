package rules

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// TestOthersThatWorkDisproveASharedCause: a region is no cause while the same look finds others of it well, and a directory that is
// missing is never a fault of a region. What was seen long before, on another plane, elsewhere, or of a queue that is empty is no such look.
func TestOthersThatWorkDisproveASharedCause(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		plane  backend.Plane
		kind   backend.FailureKind
		well   func(at time.Time) backend.Verdict
		region backend.Literal
		folded bool
	}{
		"nobody else was looked at":       {backend.PlaneList, backend.FailMountGone, nil, "usc", true},
		"another works":                   {backend.PlaneList, backend.FailMountGone, func(at time.Time) backend.Verdict { return passed(backend.PlaneList, at) }, "usc", false},
		"a driver of another is there":    {backend.PlaneDriver, "", func(at time.Time) backend.Verdict { return passed(backend.PlaneDriver, at) }, "usc", false},
		"commands of another run":         {backend.PlaneExec, backend.FailGone, func(at time.Time) backend.Verdict { return passed(backend.PlaneExec, at) }, "usc", false},
		"another worked an hour before":   {backend.PlaneList, backend.FailMountGone, func(at time.Time) backend.Verdict { return passed(backend.PlaneList, at.Add(-time.Hour)) }, "usc", true},
		"another plane works":             {backend.PlaneList, backend.FailMountGone, func(at time.Time) backend.Verdict { return passed(backend.PlaneControl, at) }, "usc", true},
		"one elsewhere works":             {backend.PlaneList, backend.FailMountGone, func(at time.Time) backend.Verdict { return passed(backend.PlaneList, at) }, "use", true},
		"the queue of another is empty":   {backend.PlaneQueue, backend.FailExecStuckQueued, func(at time.Time) backend.Verdict { return passed(backend.PlaneQueue, at) }, "usc", true},
		"directories are missing":         {backend.PlaneList, backend.FailWorkDirMissing, nil, "usc", false},
		"directories are links":           {backend.PlaneList, backend.FailWorkDirDangling, nil, "usc", false},
		"the servers' directory is gone":  {backend.PlaneExec, backend.FailServerDir, nil, "usc", false},
		"disks are full":                  {backend.PlaneList, backend.FailNoSpace, nil, "usc", false},
		"what serves them answers errors": {backend.PlaneExec, backend.FailControl5xx, nil, "usc", true},
	} {
		s := beginCloud(t)
		for i := range 3 {
			id := fmt.Sprintf("sbx_%d", i)
			s.cloudBox(id, nil)
			s.sees(id, failed(c.plane, c.kind, s.wall))
		}
		if c.well != nil {
			s.cloudBox("sbx_well", func(b *backend.Sandbox) { b.Region = backend.Text(c.region) })
			s.sees("sbx_well", c.well(s.wall))
			s.sandboxes[cloudKey(backend.KindSandbox, "sbx_well")].Region = backend.Text(c.region)
		}
		s.look()
		folded, alone := 0, 0
		for _, a := range s.alerts(contradictionRule) {
			switch {
			case a.SubjectCount > 1:
				folded++
			case !a.Hidden():
				alone++
			}
		}
		if (folded == 1) != c.folded || c.folded == (alone > 0) {
			t.Errorf("%s: %d incidents, %d of their own", name, folded, alone)
		}
	}
}

// TestARegionThatRecoversStaysTheCause: the first of its sandboxes that works again does not split the incident; one that was never part
// of it, and is found well while it is new, does.
func TestARegionThatRecoversStaysTheCause(t *testing.T) {
	t.Parallel()
	for _, other := range []bool{false, true} {
		s := beginCloud(t)
		for i := range 5 {
			id := fmt.Sprintf("sbx_%d", i)
			s.cloudBox(id, nil)
			s.sees(id, failed(backend.PlaneList, backend.FailMountGone, s.wall))
		}
		s.look()
		s.pass(time.Minute)
		for i := range 4 {
			s.sees(fmt.Sprintf("sbx_%d", i), failed(backend.PlaneList, backend.FailMountGone, s.wall))
		}
		s.sees("sbx_4", passed(backend.PlaneList, s.wall))
		if other {
			s.cloudBox("sbx_other", nil)
			s.sees("sbx_other", passed(backend.PlaneList, s.wall))
		}
		s.look()
		s.after(time.Second)
		fires := 0
		for _, a := range s.alerts(contradictionRule) {
			if a.SubjectCount > 1 && a.State == alerts.StateFiring {
				fires++
			}
		}
		if (fires == 0) != other {
			t.Errorf("another was well: %v, and %d incidents fire", other, fires)
		}
	}
}

// TestManyOfASourceSayWhoWorks: the incident of an engine names how many others, observed the same way, work.
func TestManyOfASourceSayWhoWorks(t *testing.T) {
	t.Parallel()
	for well, want := range map[int]string{0: ": one cause outside them is likely", 1: "; 1 other of it does not, observed the same way: it is not the cause as a whole", 3: "; 3 others of it do not"} {
		s := beginContradiction(t)
		for i := range 5 + well {
			id := fmt.Sprintf("c%d", i+1)
			s.boxOf(id, nil)
			v := failed(backend.PlaneList, backend.FailWorkDirMissing, s.wall)
			if i >= 5 {
				v = passed(backend.PlaneList, s.wall)
			}
			s.observes(id, v)
		}
		s.look()
		told := ""
		for _, a := range s.alerts(contradictionRule) {
			if a.SubjectCount > 1 {
				told = a.Evidence[0].Text.String()
			}
		}
		if !strings.Contains(told, want) {
			t.Errorf("%d work: %q", well, told)
		}
	}
}

// TestAClockThatOthersShareIsWeighed: this machine's clock is not suspected where another source agrees with it.
func TestAClockThatOthersShareIsWeighed(t *testing.T) {
	t.Parallel()
	for agrees, want := range map[bool]string{false: "this machine's clock may be the wrong one", true: "1 other agrees with this machine's clock, which is not the wrong one then"} {
		s := begin(t, skewRule)
		s.source("docker", backend.InputContainers)
		s.source("third", backend.InputContainers)
		for _, id := range []string{"helix", "docker"} {
			s.health(id, func(h *fleet.SourceHealth) { h.ClockOffset = backend.Known(-4 * time.Minute) })
		}
		if agrees {
			s.health("third", func(h *fleet.SourceHealth) { h.ClockOffset = backend.Known(time.Second) })
		}
		s.look()
		s.after(2 * time.Minute)
		for _, a := range s.alerts(skewRule) {
			wantEvidence(t, a, want)
		}
		if len(s.alerts(skewRule)) == 0 {
			t.Error("no alert")
		}
	}
}
