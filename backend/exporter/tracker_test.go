package exporter

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/common/model"
)

var t0 = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func sample(labels string, value float64) *model.Sample {
	return &model.Sample{Metric: model.Metric{model.MetricNameLabel: "m", "l": model.LabelValue(labels)}, Value: model.SampleValue(value)}
}

func all(p Proof) func(Target) Proof { return func(Target) Proof { return p } }

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
			var tr Tracker
			for i, s := range steps {
				if s.foreign {
					tr.Forget()
				}
				r := Round{Complete: !s.partial, Lower: s.foreign || s.restarted, At: t0.Add(time.Duration(i) * 15 * time.Second), Proof: all(Proof{Restarted: s.restarted})}
				for labels, value := range s.values {
					r.Samples = append(r.Samples, sample(labels, value))
				}
				got, _, _ := tr.Follow(r, 100)
				if len(got) != len(s.want) {
					t.Errorf("page %d: %d increases, want %d", i, len(got), len(s.want))
				}
				for _, inc := range got {
					if want, ok := s.want[string(inc.Metric["l"])]; !ok || inc.N != want || inc.Lower != s.lower {
						t.Errorf("page %d: %s rose by %v (lower bound %v), want %v (%v)", i, inc.Metric, inc.N, inc.Lower, want, s.lower)
					}
				}
			}
		})
	}
}

func TestAbsentSeriesAreForgottenAfterAnHour(t *testing.T) {
	var tr Tracker
	tr.Follow(Round{Complete: true, At: t0, Samples: model.Vector{sample("a", 7)}}, 10)
	tr.Follow(Round{Complete: true, At: t0.Add(ForgetAfter + time.Second)}, 10)
	if len(tr.known) != 0 {
		t.Errorf("%d series", len(tr.known))
	}
}

func TestFollowedSeriesAreBounded(t *testing.T) {
	var tr Tracker
	got, skipped, _ := tr.Follow(Round{Complete: true, At: t0, Samples: model.Vector{sample("a", 0), sample("b", 0), sample("c", 0)}}, 2)
	if len(got) != 2 || skipped != 1 || len(tr.known) != 2 {
		t.Errorf("%d followed, %d skipped", len(got), skipped)
	}
}

// TestTargetsAreToldApart: one of two processes restarts, a third was not read before, and one of them answers in turn
// from two replicas.
func TestTargetsAreToldApart(t *testing.T) {
	of := func(instance, labels string, v float64) *model.Sample {
		x := sample(labels, v)
		x.Metric[model.InstanceLabel] = model.LabelValue(instance)
		return x
	}
	var tr Tracker
	at := t0
	round := func(restarted string, samples ...*model.Sample) string {
		at = at.Add(15 * time.Second)
		out, _, back := tr.Follow(Round{At: at, Complete: true, Samples: samples,
			Proof: func(x Target) Proof {
				return Proof{Restarted: string(x.Instance) == restarted, Same: string(x.Instance) != restarted}
			},
			Read: func(x Target) bool { return x.Instance != "3" }}, 100)
		text := ""
		for _, i := range out {
			text += fmt.Sprintf("%s%s %v %t, ", i.Metric[model.InstanceLabel], i.Metric["l"], i.N, i.Lower)
		}
		return text + fmt.Sprint(back)
	}
	for i, x := range []struct{ got, want string }{
		{round("", of("1", "a", 10), of("1", "b", 4), of("2", "a", 20)), "1a 0 false, 1b 0 false, 2a 0 false, 0"},
		{round("1", of("1", "a", 12), of("2", "a", 21), of("3", "a", 70)), "1a 12 true, 2a 1 false, 3a 0 true, 0"},
		{round("", of("1", "a", 12), of("1", "b", 5), of("2", "a", 19), of("2", "c", 3)), "1a 0 false, 1b 5 false, 2a 0 false, 2c 3 false, 1"},
		{round("", of("2", "a", 22)), "2a 1 false, 0"},
	} {
		if x.got != x.want {
			t.Errorf("round %d: %s, want %s", i, x.got, x.want)
		}
	}
}

// FuzzTracker plays a process that counts, restarts, and is not always seen, and compares the increases with what the
// process really did: never more than happened since the first page, and exactly that while it did not restart.
func FuzzTracker(f *testing.F) {
	f.Add([]byte{1, 2, 3, 0x80, 5, 0x40, 9})
	f.Add([]byte{0xff, 0x81, 0x42, 0, 0, 7})
	f.Fuzz(func(t *testing.T, script []byte) {
		var tr Tracker
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
			r := Round{Complete: true, At: t0.Add(time.Duration(i) * time.Second), Proof: all(Proof{Restarted: restarted && op&0x20 != 0 && !first})}
			if value > 0 {
				r.Samples = model.Vector{sample("a", value)}
			}
			got, _, _ := tr.Follow(r, 10)
			for _, inc := range got {
				if inc.N < 0 {
					t.Fatalf("negative increase %v", inc.N)
				}
				seen += inc.N
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

// TestAnIncreaseAcrossAGapIsNoNews: a page that was out for hours brings what rose meanwhile; none of it happened now.
func TestAnIncreaseAcrossAGapIsNoNews(t *testing.T) {
	var tr Tracker
	for i, x := range []struct {
		after           time.Duration
		values          map[string]float64
		restarted       bool
		want, unwatched float64
	}{
		{0, map[string]float64{"a": 100}, false, 0, 0},
		{5 * time.Minute, map[string]float64{"a": 104}, false, 4, 0},
		{5*time.Minute + time.Second, map[string]float64{"a": 110, "b": 7}, false, 0, 6}, // b may be as old as the gap
		{6 * time.Hour, map[string]float64{"a": 900, "b": 9}, true, 0, 909},
		{5 * time.Second, map[string]float64{"a": 902, "b": 9, "c": 1}, false, 3, 0},
	} {
		at := t0
		if i > 0 {
			at = tr.at.Add(x.after)
		}
		r := Round{At: at, Complete: true, Proof: all(Proof{Restarted: x.restarted})}
		for l, v := range x.values {
			r.Samples = append(r.Samples, sample(l, v))
		}
		out, _, _ := tr.Follow(r, 10)
		sum := 0.0
		for _, inc := range out {
			sum += inc.N
		}
		if sum != x.want || tr.Unwatched != x.unwatched {
			t.Errorf("round %d: counted %v, unwatched %v; want %v, %v", i, sum, tr.Unwatched, x.want, x.unwatched)
		}
	}
}
