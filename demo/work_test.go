package demo

import (
	"testing"
	"time"
)

// TestWorkGoesOn holds that executions are queued, run and end one after the other, and that the page's tag follows.
func TestWorkGoesOn(t *testing.T) {
	f := testFleet(t, "calm", 600, 1)
	slot := 0
	for !f.works(slot) {
		slot++
	}
	seen := map[string]bool{}
	var last string
	var tag string
	for now := time.Duration(0); now < 10*time.Minute; now += 500 * time.Millisecond {
		w := f.At(now)
		list := w.executions(slot)
		newest := list[len(list)-1]
		seen[newest.Status] = true
		for _, x := range list[:len(list)-1] {
			if x.EndedAt == nil || x.ExitCode == nil {
				t.Fatalf("%v: %s did not end before the next one was queued: %+v", now, x.ID, x)
			}
		}
		p := page{where: f.sessions[slot].where, first: 0}
		if is := newest.ID + newest.Status; is != last {
			if next := w.tag(p); next == tag {
				t.Fatalf("%v: the tag is the same although %s changed", now, is)
			}
			last = is
		}
		tag = w.tag(p)
	}
	for _, word := range []string{"queued", "running", "completed"} {
		if !seen[word] {
			t.Errorf("nothing was ever %s: %v", word, seen)
		}
	}
	if jobs := f.At(0).jobs(slot); jobs[0].Status != "running" || jobs[0].EndedAt != nil {
		t.Errorf("its job is %+v", jobs[0])
	}
}
