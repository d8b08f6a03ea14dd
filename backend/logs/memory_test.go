package logs

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

func memoryOf(r backend.Reading) string {
	var out []string
	for _, m := range r.Memory {
		out = append(out, fmt.Sprintf("%s %s %s %d", m.At.UTC().Format(time.TimeOnly), m.Of.Name, m.Of.Session.Safe(), m.Bytes))
	}
	return strings.Join(out, "; ")
}

func TestMemoryFromLines(t *testing.T) {
	r := newRig(t, func(o *Options) {
		o.Files = []string{t.TempDir() + "/*.log"}
		o.Pattern = []PatternOption{
			{Name: "rss", Contains: "rss=", Class: "memory", Limit: 2e9},
			{Name: "heap", Contains: `"heapUsed"`, Class: "memory"},
			{Name: "table", Contains: "memory of ", Class: "memory", Cause: `uses ([0-9.]+ ?[kMG]i?B)`},
		}
	})
	path := strings.TrimSuffix(r.src.opts.Files[0], "*.log") + "a.log"
	appendTo(t, path, "start\n")
	r.poll(0)
	appendTo(t, path, "tick rss=1000\n"+jsonLine(t0.Add(time.Second), "s1", "tick", `,"heapUsed":5000`))
	appendTo(t, path, "memory of the agent: uses 1.5 GiB\nrss=?\nrss=900\nDurable Object's isolate exceeded its memory limit and was reset. rss=512MB\n")
	got := r.poll(5 * time.Second)
	// Of a quarter of a minute the highest is kept; the line that says that memory ran out counts as before.
	if text := memoryOf(got); text != "12:00:01 heap s1 5000; 12:00:05 rss  512000000; 12:00:05 table  1610612736" {
		t.Error(text)
	}
	for _, m := range got.Memory {
		if limit, known := m.Limit.Get(); known != (m.Of.Name == "rss") || known && limit != 2e9 || m.Of.Source != "log" {
			t.Errorf("%+v", m)
		}
	}
	var oom float64
	for _, c := range got.Counts {
		if c.Series.Name == backend.MetricAgentOOM {
			oom += c.N
		}
	}
	if oom != 1 {
		t.Errorf("%v lines say that memory ran out", oom)
	}
	if !strings.Contains(fmt.Sprint(got.Notes), "1 lines should tell the memory of the process and hold no number of bytes") {
		t.Errorf("notes %v", got.Notes)
	}
	if got := r.poll(5 * time.Second); len(got.Memory) != 0 || strings.Contains(fmt.Sprint(got.Notes), "no number of bytes") {
		t.Errorf("told twice: %v, notes %v", got.Memory, got.Notes)
	}
}

func TestMemoryNumbers(t *testing.T) {
	for text, want := range map[string]int64{
		"rss=123": 123, "rss= 123": 123, `rss="4kB"`: 4000, "rss=1.5MiB x": 1 << 20 * 3 / 2, "rss=12 heap=3": 12, "rss=12,heap": 12,
		"rss=3 GB": 3e9, "rss=3 of 9": 3, "rss=": -1, "rss=x": -1, "rss=12q": -1, "rss=1e9": -1, "rss=-5": -1, "rss=1.2.3": -1, "rss=99999999999TB": -1,
	} {
		p := pattern{contains: "rss="}
		n, ok := p.bytesIn([]byte(text), strings.Index(text, "rss="))
		if !ok {
			n = -1
		}
		if n != want {
			t.Errorf("%q: %d, want %d", text, n, want)
		}
	}
}

func TestMemoryOfManySessionsIsBounded(t *testing.T) {
	m := newMemories()
	p := &pattern{name: "rss"}
	for i := range maxProcesses + 20 {
		m.add(p, fmt.Sprintf("s%03d", i), t0, int64(i))
	}
	if got := m.take("log", t0); len(got) != maxProcesses+1 {
		t.Errorf("%d processes", len(got))
	}
	m.take("log", t0.Add(2*forgetSeries))
	if len(m.known) != 0 {
		t.Errorf("%d are never forgotten", len(m.known))
	}
}
