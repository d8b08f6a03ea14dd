package logs

import (
	"bytes"
	"testing"
	"time"

	"sandglass/backend/loglines"
)

// FuzzLine checks that no line, whatever it holds, panics, is counted more than once, or is lost.
func FuzzLine(f *testing.F) {
	for _, p := range builtin() {
		for _, l := range append(p.hits, p.misses...) {
			f.Add([]byte(l), 1)
		}
	}
	f.Add([]byte(`{"log":"{\"msg\":\"x\"}\n","time":"2026-01-01T00:00:00Z"}`), 2)
	f.Add([]byte("2026-01-01T00:00:00,5+0200 [x] sessionId: a suppressedCount=3 [rate-limited]"), 3)
	f.Fuzz(func(t *testing.T, line []byte, every int) {
		if bytes.IndexByte(line, '\n') >= 0 {
			return
		}
		opts := defaults()
		a := newAnalyst(&opts, testDeps(t, func() time.Time { return t0 }), t0)
		a.begin(0, time.Second)
		a.every = max(1, every)
		p := placement{lo: t0.Add(-time.Second), hi: t0}
		for range 3 {
			a.line(line, len(line)+1, time.Time{}, &p, nil)
		}
		sums := map[seriesKey]float64{}
		for k, s := range a.tally.series {
			if len(k.session) > maxFieldBytes || len(k.workspace) > maxFieldBytes {
				t.Fatalf("name of %d bytes", len(k.session)+len(k.workspace))
			}
			for _, c := range s.buckets {
				if c.n < 0 || c.newest.After(t0) || c.newest.Before(p.lo) {
					t.Fatalf("%v: %v at %v", k, c.n, c.newest)
				}
				sums[seriesKey{metric: k.metric}] += c.n
			}
		}
		want := 3.0
		if len(bytes.TrimRight(line, "\r")) == 0 {
			want = 0
		}
		if got := sums[seriesKey{metric: "log-lines"}]; got != want {
			t.Fatalf("%v lines counted, want %v", got, want)
		}
	})
}

// FuzzDemultiplex checks that no stream of an engine panics or hands out more than it holds.
func FuzzDemultiplex(f *testing.F) {
	f.Add([]byte("\x01\x00\x00\x00\x00\x00\x00\x02hi\x02\x00\x00\x00\xff\xff\xff\xffx"))
	f.Add([]byte("\x03\x00\x00\x00\x00\x00\x00\x05oops!"))
	f.Fuzz(func(t *testing.T, b []byte) {
		n := 0
		_ = loglines.Demultiplex(bytes.NewReader(b), func(p []byte, _ int) { n += len(p) })
		if n > len(b) {
			t.Fatalf("%d bytes out of %d", n, len(b))
		}
	})
}

func BenchmarkLine(b *testing.B) {
	opts := defaults()
	a := newAnalyst(&opts, testDeps(nil, func() time.Time { return t0 }), t0)
	p := placement{lo: t0.Add(-time.Second), hi: t0}
	line := bytes.TrimRight([]byte(rejected(t0, "session-0123456789")), "\n")
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		a.line(line, len(line)+1, time.Time{}, &p, nil)
	}
}
