package fleet

import (
	"math"
	"testing"
	"time"

	"sandglass/backend"
)

func TestWindowsCountWithinTheirSpan(t *testing.T) {
	s := backend.Series{Source: "m", Name: backend.MetricEvictions}
	var w Windows
	for i := range 120 { // two hours, one a minute
		w, _ = w.with([]backend.Count{{Series: s, At: t0.Add(time.Duration(i) * time.Minute), N: 1}}, time.Time{})
	}
	now := t0.Add(119 * time.Minute)
	for _, c := range []struct {
		span time.Duration
		n    float64
	}{{5 * time.Minute, 5}, {30 * time.Minute, 30}, {time.Hour, 60}, {2 * time.Hour, 61}} {
		if got := w.Over(s, now, c.span).N; got != c.n {
			t.Errorf("over %s: %v, want %v", c.span, got, c.n)
		}
	}
	if got := w.Over(s, now.Add(time.Hour), 5*time.Minute); got.Samples != 0 {
		t.Errorf("an hour later the window is not empty: %+v", got)
	}
}

func TestOneSampleGivesNoRate(t *testing.T) {
	s := backend.Series{Source: "m", Name: backend.MetricEvictions}
	w := NewWindows(backend.Count{Series: s, At: t0, N: 7})
	if _, ok := w.Over(s, t0, time.Minute).Rate(time.Minute); ok {
		t.Error("one sample gave a rate")
	}
	w, _ = w.with([]backend.Count{{Series: s, At: t0.Add(30 * time.Second), N: 5}}, time.Time{})
	if r, ok := w.Over(s, t0.Add(30*time.Second), time.Minute).Rate(time.Minute); !ok || r != 0.2 {
		t.Errorf("rate %v %v, want 0.2", r, ok)
	}
}

func TestCompactionLosesNothing(t *testing.T) {
	s := backend.Series{Source: "m", Name: backend.MetricRejections}
	var w Windows
	old := w
	for i := range 3600 {
		w, _ = w.with([]backend.Count{{Series: s, At: t0.Add(time.Duration(i) * time.Second), N: 1}}, time.Time{})
		if i == 100 {
			old = w
		}
	}
	now := t0.Add(3599 * time.Second)
	if got := w.Over(s, now, time.Hour).N; got != 3600 {
		t.Errorf("an hour of seconds: %v", got)
	}
	if got := len(w.get(s).pts); got > 2*compactAt {
		t.Errorf("%d points are kept", got)
	}
	if got := old.Over(s, t0.Add(100*time.Second), time.Hour).N; got != 101 {
		t.Errorf("an older snapshot changed: %v, want 101", got)
	}
	sum := 0.0
	for _, b := range w.Buckets(s, now, 5*time.Minute, 10) {
		sum += b
	}
	if math.Abs(sum-300) > 0 {
		t.Errorf("buckets sum to %v, want 300", sum)
	}
}

func TestLateCountsAreInserted(t *testing.T) {
	s := backend.Series{Source: "m", Name: backend.MetricRejections}
	w := NewWindows(backend.Count{Series: s, At: t0.Add(10 * time.Minute), N: 1})
	w, _ = w.with([]backend.Count{{Series: s, At: t0, N: 5}, {Series: s, At: t0.Add(10*time.Minute - time.Second), N: 2}}, time.Time{})
	if got := w.Over(s, t0.Add(10*time.Minute), time.Minute).N; got != 3 {
		t.Errorf("last minute %v, want 3", got)
	}
	if got := w.Over(s, t0.Add(10*time.Minute), 11*time.Minute).N; got != 8 {
		t.Errorf("all %v, want 8", got)
	}
}

func TestAllWalksOneMetric(t *testing.T) {
	a := backend.Series{Source: "m", Name: backend.MetricEvictions, Provider: "x"}
	b := backend.Series{Source: "m", Name: backend.MetricEvictions, Provider: "y"}
	c := backend.Series{Source: "m", Name: backend.MetricEvictionRetries, Provider: "x"}
	w := NewWindows(backend.Count{Series: b, At: t0}, backend.Count{Series: c, At: t0}, backend.Count{Series: a, At: t0})
	var got []backend.Series
	for s := range w.All(backend.MetricEvictions) {
		got = append(got, s)
	}
	if len(got) != 2 || got[0] != a || got[1] != b {
		t.Errorf("got %v", got)
	}
}
