package rules

import (
	"fmt"
	"testing"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestABrokenSandboxIsNoPartOfWhatOthersLack: one whose mount is gone beside two whose drivers are gone stays an alert of its own,
// although its driver is gone too; three mounts that are gone are an incident of the region.
func TestABrokenSandboxIsNoPartOfWhatOthersLack(t *testing.T) {
	t.Parallel()
	for mounts, incident := range map[int]bool{1: false, 2: false, 3: true} {
		s := beginCloud(t)
		for i := range 3 {
			id := fmt.Sprintf("sbx_%d", i)
			s.cloudBox(id, nil)
			s.sees(id, failed(backend.PlaneDriver, "", s.wall))
			if i < mounts {
				s.sees(id, failed(backend.PlaneList, backend.FailMountGone, s.wall))
			}
		}
		s.look()
		alone := 0
		for _, a := range s.alerts(contradictionRule) {
			switch {
			case a.SubjectCount > 1 && !incident:
				t.Errorf("%d mounts: %s", mounts, a.Cause)
			case !a.Hidden() && a.SubjectCount == 1 && a.State == alerts.StateFiring && a.Cause.String() == "reported idle, but its mount is gone":
				alone++
			}
		}
		if want := map[bool]int{false: mounts}[incident]; alone != want {
			t.Errorf("%d mounts: %d fire alone", mounts, alone)
		}
	}
}
