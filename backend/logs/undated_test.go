package logs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

const undatedLine = "ERROR eviction retry exhausted\n"

// touched sets when a file was last written to.
func touched(t *testing.T, path string, at time.Time) {
	t.Helper()
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

// next is a source of another process that knows where the one before stopped.
func (r *rig) next(after time.Duration, marks []backend.Bookmark) backend.Reading {
	r.t.Helper()
	opts := r.src.opts
	src, err := newSource(opts, r.src.deps)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := r.src.Close(); err != nil {
		r.t.Error(err)
	}
	r.src = src
	r.src.Resume(marks)
	return r.poll(after)
}

func countsAt(r backend.Reading, m backend.Metric) (out []string) {
	for _, c := range r.Counts {
		if c.Series.Name == m && c.N > 0 {
			out = append(out, c.At.Format("15:04:05"))
		}
	}
	return out
}

// TestUndatedLinesAreNamed: at the first look nothing tells when lines without a time were written, but for the newest.
func TestUndatedLinesAreNamed(t *testing.T) {
	r, dir := logDir(t)
	path := filepath.Join(dir, "a.log")
	appendTo(t, path, strings.Repeat("INFO started\n", 5)+strings.Repeat(undatedLine, 32))
	touched(t, path, t0.Add(-20*time.Second))
	got := r.poll(0)
	r.want(got, backend.MetricEvictionExhausted, "", 1)
	if at := countsAt(got, backend.MetricEvictionExhausted); len(at) != 1 || at[0] != "11:59:40" {
		t.Errorf("the newest line is counted at %v, want when the file was written", at)
	}
	if !strings.HasPrefix(got.Undated.String(), "31 matching lines without a time: not counted") {
		t.Errorf("undated: %q", got.Undated)
	}
	if got = r.poll(5 * time.Second); got.Undated.IsEmpty() {
		t.Error("what could not be dated is forgotten at the next poll")
	}
	r2, dir2 := logDir(t)
	old := filepath.Join(dir2, "a.log")
	appendTo(t, old, strings.Repeat(undatedLine, 32))
	touched(t, old, t0.Add(-16*time.Minute))
	if got := r2.poll(0); !got.Undated.IsEmpty() || total(got.Counts, backend.MetricEvictionExhausted, "*") != 0 {
		t.Errorf("all lines of a file that was last written to before the lookback are old: %q", got.Undated)
	}
}

// TestUndatedLinesSinceTheLastCheckCount: what was appended since a former process looked is younger than that look.
func TestUndatedLinesSinceTheLastCheckCount(t *testing.T) {
	r, dir := logDir(t)
	path := filepath.Join(dir, "a.log")
	appendTo(t, path, strings.Repeat(undatedLine, 10))
	touched(t, path, t0.Add(-time.Hour))
	marks := r.poll(0).Bookmarks
	for i := range 3 {
		appendTo(t, path, strings.Repeat(undatedLine, 4))
		touched(t, path, r.now.Add(50*time.Second))
		got := r.next(time.Minute, marks)
		r.want(got, backend.MetricEvictionExhausted, "", float64(4*(i+1)))
		if !got.Undated.IsEmpty() {
			t.Errorf("undated: %q", got.Undated)
		}
		marks = got.Bookmarks
	}
	// A look that lies too far back dates nothing but the newest line.
	appendTo(t, path, strings.Repeat(undatedLine, 4))
	touched(t, path, r.now.Add(29*time.Minute))
	got := r.next(30*time.Minute, marks)
	r.want(got, backend.MetricEvictionExhausted, "", 1)
	if !strings.HasPrefix(got.Undated.String(), "3 matching lines") {
		t.Errorf("undated: %q", got.Undated)
	}
}

// TestUndatedLinesAcrossARotation: a file that a former process did not see, or that was emptied since, was written since.
func TestUndatedLinesAcrossARotation(t *testing.T) {
	r, dir := logDir(t)
	path := filepath.Join(dir, "a.log")
	appendTo(t, path, strings.Repeat("INFO started\n", 100))
	touched(t, path, t0.Add(-time.Hour))
	marks := r.poll(0).Bookmarks
	appendTo(t, path, undatedLine)
	touched(t, path, r.now.Add(20*time.Second))
	if err := os.Rename(path, filepath.Join(dir, "a.1.log")); err != nil {
		t.Fatal(err)
	}
	appendTo(t, path, strings.Repeat(undatedLine, 3))
	touched(t, path, r.now.Add(50*time.Second))
	got := r.next(time.Minute, marks)
	r.want(got, backend.MetricEvictionExhausted, "", 4)
	marks = got.Bookmarks
	if err := os.WriteFile(path, []byte(strings.Repeat(undatedLine, 2)), 0o600); err != nil {
		t.Fatal(err)
	}
	touched(t, path, r.now.Add(50*time.Second))
	got = r.next(time.Minute, marks)
	r.want(got, backend.MetricEvictionExhausted, "", 1+2)
	if !got.Undated.IsEmpty() {
		t.Errorf("undated: %q", got.Undated)
	}
}
