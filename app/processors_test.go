package app

import (
	"os"
	"testing"
	"time"
)

// A quiet console of a small fleet runs on one processor; as soon as it works or the fleet grows it has all of them.
func TestProcessorsByUse(t *testing.T) {
	var said []bool
	p := ownProcessors{set: func(one bool) { said = append(said, one) }}
	now, used := time.Second, time.Second
	look := func(share float64, subjects int) (one bool) {
		now += processorTick
		used += time.Duration(share * float64(processorTick))
		p.look(now, used, subjects)
		return p.one
	}
	for i, step := range []struct {
		share    float64
		subjects int
		one      bool
	}{
		{1.5, 200, false}, // the first look has nothing to compare with
		{0.5, 200, false}, // the start
		{0.02, 200, true},
		{0.06, 200, true}, // between the bounds
		{0.09, 200, false},
		{0.06, 200, false},
		{0.01, 200, true},
		{0.01, mostOnOne + 1, false}, // at once, however quiet
		{0.01, mostOnOne, true},
	} {
		if got := look(step.share, step.subjects); got != step.one {
			t.Errorf("step %d: one processor %v, want %v", i, got, step.one)
		}
	}
	if len(said) != 5 {
		t.Errorf("set %d times, want once for each change: %v", len(said), said)
	}
	in, typist, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	typist.WriteString("j")
	typist.Close()
	if n, err := (keyboard{in, &p}).Read(make([]byte, 8)); n != 1 || err != nil || p.one {
		t.Errorf("a key: %d bytes read, %v, one processor %v", n, err, p.one)
	}
	if look(0.01, 200) || !look(0.01, 200) {
		t.Error("a console whose keys are pressed has all processors, and one again when a look finds no key since the one before")
	}
}

// A first look that finds little use decides nothing: it compares with no look before.
func TestProcessorsFirstLook(t *testing.T) {
	p := ownProcessors{set: func(bool) { t.Error("decided without a look before") }}
	p.look(time.Hour, time.Millisecond, 0)
}
