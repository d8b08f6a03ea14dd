package helix

import (
	"net/http"
	"testing"
	"time"

	"sandglass/backend"
)

// What a cache serves again and again is as old as it is: by its Date, which does not advance, or by its Age.
func TestAgesAreThoseOfTheBody(t *testing.T) {
	var frozen, age string
	rig := newRig(t, func(w http.ResponseWriter, r *http.Request) {
		if frozen != "" {
			w.Header().Set("Date", frozen)
		}
		if age != "" {
			w.Header().Set("Age", age)
		}
		routes{"a": say(200, open)}.serve(w, r)
	}, fixed("a"))
	for range 3 {
		if r := rig.poll(); r.Load.BodyAge != 0 || !r.ClockOffset.IsKnown() {
			t.Fatalf("a server that answers itself: %v", r.Load.BodyAge)
		}
	}
	frozen = rig.clock.Now().Add(5 * time.Second).UTC().Format(http.TimeFormat) // the next answer, and from then on
	rig.poll()
	served := rig.clock.Now()
	var r backend.Reading
	for range 12 {
		r = rig.poll()
	}
	w := workspace(r, "a/box")
	if r.Load.BodyAge != time.Minute || !w.ReadAt.Equal(served) || r.ClockOffset != backend.Known(time.Duration(0)) || r.Load.BodyWhere == "" {
		t.Errorf("age %v, read at %v, offset %v, where %q", r.Load.BodyAge, w.ReadAt, r.ClockOffset, r.Load.BodyWhere)
	}
	if at, _ := w.LastAttemptAt.Get(); !at.Equal(noon.Add(-10 * time.Second)) {
		t.Errorf("its attempt moved to %v", at)
	}
	frozen, age = "", "40"
	if r = rig.poll(); r.Load.BodyAge != 40*time.Second {
		t.Errorf("age %v", r.Load.BodyAge)
	}
	age = ""
	if r = rig.poll(); r.Load.BodyAge != 0 {
		t.Errorf("fresh again: %v", r.Load.BodyAge)
	}
}
