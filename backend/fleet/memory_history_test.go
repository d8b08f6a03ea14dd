package fleet

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

var memoryStart = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// used reads one process every step, in MB.
func used(labels string, step time.Duration, mb ...int64) []backend.Memory {
	var out []backend.Memory
	for i, n := range mb {
		out = append(out, backend.Memory{Of: backend.Process{Source: "m", Name: "rss", Labels: backend.Clean(labels, 80)},
			At: memoryStart.Add(time.Duration(i) * step), Bytes: n * 1e6})
	}
	return out
}

func only(t *testing.T, m MemoryHistory) *ProcessMemory {
	t.Helper()
	for p := range m.All() {
		return p
	}
	t.Fatal("no process")
	return nil
}

func TestMemoriesKeepTheHighestOfAGrainAndAnHour(t *testing.T) {
	read := used("", 5*time.Second, 10, 30, 20, 5)
	early := NewMemoryHistory(read[:2]...)
	m := early.with(append(read[2:], backend.Memory{Of: read[0].Of, At: memoryStart.Add(-time.Minute), Bytes: 7e6, Limit: backend.Known[int64](9e6)}), memoryStart)
	text := func(m MemoryHistory) (out string) {
		for _, p := range only(t, m).points {
			out += fmt.Sprintf("%s %d; ", p.At().UTC().Format(time.TimeOnly), p.Bytes/1e6)
		}
		return out
	}
	if got := text(m); got != "11:59:00 7; 12:00:05 30; 12:00:15 5; " {
		t.Error(got)
	}
	if got := text(early); got != "12:00:05 30; " {
		t.Errorf("an older one changed: %s", got)
	}
	if limit, ok := only(t, m).Limit.Get(); !ok || limit != 9e6 {
		t.Errorf("limit %v", only(t, m).Limit)
	}
	m = m.with(used("", 0, 1)[:0], memoryStart.Add(30*time.Minute))
	later := m.with([]backend.Memory{{Of: read[0].Of, At: memoryStart.Add(WindowSpan), Bytes: 1e6}}, memoryStart.Add(WindowSpan))
	if got := text(later); got != "12:00:05 30; 12:00:15 5; 13:00:00 1; " {
		t.Error(got)
	}
	if n := len(later.with(nil, memoryStart.Add(3*WindowSpan)).of); n != 0 {
		t.Errorf("%d processes are kept for ever", n)
	}
}

func TestMemoriesAreBounded(t *testing.T) {
	var read []backend.Memory
	for i := range maxProcesses + 50 {
		read = append(read, used(fmt.Sprintf("p%04d", i), 0, 1)...)
	}
	m := NewMemoryHistory(read...)
	more := m.with(used("another", 0, 1), memoryStart)
	if len(m.of) != maxProcesses || len(more.of) != maxProcesses {
		t.Errorf("%d and %d processes", len(m.of), len(more.of))
	}
	var long []int64
	for range 2000 {
		long = append(long, 5)
	}
	if n := len(only(t, NewMemoryHistory(used("", 3*time.Second, long...)...)).points); n > 241 {
		t.Errorf("%d points", n)
	}
}

func TestClimb(t *testing.T) {
	for _, c := range []struct {
		name string
		mb   []int64 // one a minute
		ask  int     // minute
		want string
	}{
		{"steady", []int64{100, 120, 140, 160, 180}, 10, "grew 80 in 4m0s to 180"},
		{"asked in between", []int64{100, 120, 140, 900}, 2, "grew 40 in 2m0s to 140"},
		{"from the lowest", []int64{300, 200, 250, 280}, 3, "grew 80 in 2m0s to 280"},
		{"flat", []int64{100, 101, 100, 102}, 3, "flat at 102"},
		{"at once", []int64{100, 100, 100, 100, 400}, 4, "grew 300 in 4m0s to 400, sudden"},
		{"at once after a slow rise", []int64{100, 110, 120, 130, 400}, 4, "grew 300 in 4m0s to 400, sudden"},
		{"began anew just now", []int64{100, 150, 200, 20, 25}, 4, "grew 100 in 2m0s to 200, ended"},
		{"began anew long ago", []int64{500, 100, 110, 120, 130, 140, 150, 160}, 7, "grew 60 in 6m0s to 160"},
		{"asked before it began anew", []int64{100, 150, 200, 20}, 2, "grew 100 in 2m0s to 200, ended"},
		{"a single reading", []int64{100}, 0, "flat at 100"},
	} {
		got := "nothing"
		if x, ok := only(t, NewMemoryHistory(used("", time.Minute, c.mb...)...)).GrowthBefore(memoryStart.Add(time.Duration(c.ask) * time.Minute)); ok {
			grew, in := x.Grew()
			got = fmt.Sprintf("flat at %d", x.Last.Bytes/1e6)
			if x.Grows() {
				got = fmt.Sprintf("grew %d in %s to %d", grew/1e6, in, x.Last.Bytes/1e6)
			}
			if x.Sudden() {
				got += ", sudden"
			}
			if x.Ended {
				got += ", ended"
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if _, ok := only(t, NewMemoryHistory(used("", time.Minute, 1)...)).GrowthBefore(memoryStart.Add(-time.Minute)); ok {
		t.Error("nothing was read before it")
	}
}

func TestClimbParts(t *testing.T) {
	x, _ := only(t, NewMemoryHistory(used("", time.Minute, 100, 120, 140, 160, 180, 200)...)).GrowthBefore(memoryStart.Add(time.Hour))
	if got := fmt.Sprint(x.Parts(3)); got != "[1.2e+08 1.6e+08 2e+08]" {
		t.Error(got)
	}
	if got := x.Parts(100); len(got) != 6 || strings.Contains(fmt.Sprint(got), " 0 ") {
		t.Error(got)
	}
	x, _ = only(t, NewMemoryHistory(append(used("", time.Minute, 100), used("", 10*time.Minute, 100, 200)...)...)).GrowthBefore(memoryStart.Add(time.Hour))
	if got := fmt.Sprint(x.Parts(2)); got != "[1e+08 2e+08]" {
		t.Error(got)
	}
}
