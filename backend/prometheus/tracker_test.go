package prometheus

import (
	"testing"
	"time"

	"sandglass/backend"
)

var t0 = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// step is one page in a table: values per label set, a missing key is a label set that is not on the page.
type step struct {
	values    map[string]float64
	partial   bool
	restarted bool
	foreign   bool
	want      map[string]float64 // increases; exactly those
	lower     bool               // all of them are lower bounds
}

func TestIncreases(t *testing.T) {
	type v = map[string]float64
	for name, steps := range map[string][]step{
		"first sight is coverage, then differences": {
			{values: v{"a": 100}, want: v{"a": 0}},
			{values: v{"a": 100}, want: v{"a": 0}},
			{values: v{"a": 107}, want: v{"a": 7}},
		},
		"a reset adds the value after it": {
			{values: v{"a": 100}, want: v{"a": 0}},
			{values: v{"a": 3}, want: v{"a": 3}, lower: true},
			{values: v{"a": 4}, want: v{"a": 1}},
		},
		"a series born under observation counts from its first value": {
			{values: v{"a": 5}, want: v{"a": 0}},
			{values: v{"a": 5, "b": 1}, want: v{"a": 0, "b": 1}},
			{values: v{"a": 5, "b": 2}, want: v{"a": 0, "b": 1}},
		},
		"born on a page that had none": {
			{values: v{}, want: v{}},
			{values: v{"a": 2}, want: v{"a": 2}},
		},
		"a gap invents nothing": {
			{values: v{"a": 10}, want: v{"a": 0}},
			{values: v{}, want: v{}},
			{values: v{"a": 13}, want: v{"a": 3}},
		},
		"a gap with a reset in it": {
			{values: v{"a": 10}, want: v{"a": 0}},
			{values: v{}, want: v{}},
			{values: v{"a": 4}, want: v{"a": 4}, lower: true},
		},
		"a restart that the values do not show": {
			{values: v{"a": 10, "b": 2}, want: v{"a": 0, "b": 0}},
			{values: v{"a": 12, "c": 1}, restarted: true, want: v{"a": 12, "c": 1}, lower: true},
			{values: v{"a": 13, "b": 5, "c": 1}, want: v{"a": 1, "b": 5, "c": 0}},
		},
		"after a cut page nothing new is taken for born": {
			{values: v{"a": 1}, want: v{"a": 0}},
			{values: v{"a": 2}, partial: true, want: v{"a": 1}},
			{values: v{"a": 2, "b": 50}, want: v{"a": 0, "b": 0}},
			{values: v{"a": 2, "b": 51, "c": 1}, want: v{"a": 0, "b": 1, "c": 1}},
		},
		"another process continues nothing": {
			{values: v{"a": 10}, want: v{"a": 0}},
			{values: v{"a": 500, "b": 3}, foreign: true, want: v{"a": 0, "b": 0}, lower: true},
			{values: v{"a": 501, "b": 3}, want: v{"a": 1, "b": 0}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTracker()
			for i, s := range steps {
				p := page{complete: !s.partial, restarted: s.restarted, foreign: s.foreign, at: t0.Add(time.Duration(i) * 15 * time.Second)}
				for labels, value := range s.values {
					p.samples = append(p.samples, sample{labels: labels, series: backend.Series{Provider: labels}, value: value})
				}
				got, _ := tr.read(p, 100)
				if len(got) != len(s.want) {
					t.Errorf("page %d: %d increases, want %d", i, len(got), len(s.want))
				}
				for _, inc := range got {
					if want, ok := s.want[inc.series.Provider]; !ok || inc.n != want || inc.lower != s.lower {
						t.Errorf("page %d: %s rose by %v (lower bound %v), want %v (%v)", i, inc.series.Provider, inc.n, inc.lower, want, s.lower)
					}
				}
			}
		})
	}
}

func TestAbsentSeriesAreForgottenAfterAnHour(t *testing.T) {
	tr := newTracker()
	tr.read(page{complete: true, at: t0, samples: []sample{{labels: "a", value: 7}}}, 10)
	tr.read(page{complete: true, at: t0.Add(forgetAfter + time.Second)}, 10)
	if len(tr.known) != 0 {
		t.Errorf("%d series", len(tr.known))
	}
}

func TestFollowedSeriesAreBounded(t *testing.T) {
	tr := newTracker()
	p := page{complete: true, at: t0, samples: []sample{{labels: "a"}, {labels: "b"}, {labels: "c"}}}
	got, skipped := tr.read(p, 2)
	if len(got) != 2 || skipped != 1 || len(tr.known) != 2 {
		t.Errorf("%d followed, %d skipped", len(got), skipped)
	}
}

// FuzzTracker plays a process that counts, restarts, and is not always seen, and compares the increases with what the
// process really did: never more than happened since the first page, and exactly that while it did not restart.
func FuzzTracker(f *testing.F) {
	f.Add([]byte{1, 2, 3, 0x80, 5, 0x40, 9})
	f.Add([]byte{0xff, 0x81, 0x42, 0, 0, 7})
	f.Fuzz(func(t *testing.T, script []byte) {
		tr := newTracker()
		var value, truth, seen float64
		first, restarted, everRestarted := true, false, false
		for i, op := range script {
			if op&0x80 != 0 { // the process starts anew
				value, restarted, everRestarted = 0, true, true
			}
			n := float64(op & 0x1f)
			value += n
			if !first {
				truth += n
			}
			if op&0x40 != 0 { // the page is not read
				continue
			}
			p := page{complete: true, at: t0.Add(time.Duration(i) * time.Second), restarted: restarted && op&0x20 != 0 && !first}
			if value > 0 {
				p.samples = []sample{{labels: "a", value: value}}
			}
			got, _ := tr.read(p, 10)
			for _, inc := range got {
				if inc.n < 0 {
					t.Fatalf("negative increase %v", inc.n)
				}
				seen += inc.n
			}
			if seen > truth {
				t.Fatalf("saw %v of %v", seen, truth)
			}
			if !everRestarted && seen != truth {
				t.Fatalf("saw %v of %v without a restart", seen, truth)
			}
			first, restarted = false, false
		}
	})
}
