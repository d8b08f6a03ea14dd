package prometheus

import (
	"fmt"
	"strings"
	"testing"

	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/backend/exporter"
)

func memoryOf(r backend.Reading) string {
	var out []string
	for _, m := range r.Memory {
		limit := ""
		if n, ok := m.Limit.Get(); ok {
			limit = fmt.Sprintf(" of %d", n)
		}
		out = append(out, fmt.Sprintf("%s{%s}%s %d%s", m.Of.Name, m.Of.Labels, m.Of.Session.Safe(), m.Bytes, limit))
		if m.At != r.At || m.Of.Source != "prom" {
			out = append(out, "wrong time or source")
		}
	}
	return strings.Join(out, "; ")
}

func TestMemory(t *testing.T) {
	const page = `# TYPE process_resident_memory_bytes gauge
process_resident_memory_bytes{pod="b"} 2.5e+08
process_resident_memory_bytes{pod="a",session="s1"} 1000
process_resident_memory_bytes{pod="c"} NaN
# TYPE heap gauge
heap 12
`
	r := newRig(t, nil)
	got := r.poll(page)
	if text := memoryOf(got); text != `process_resident_memory_bytes{pod="b"} 250000000; process_resident_memory_bytes{pod="a"}s1 1000` {
		t.Error(text)
	}
	if n := len(got.Notes); n == 0 || !strings.Contains(got.Notes[n-1].String(), "the memory of 1 processes is not followed") {
		t.Errorf("notes %v", got.Notes)
	}

	r = newRig(t, func(o *Options) {
		o.Memory, o.MemoryLimit, o.MaxSeries = []string{"heap", "not_there"}, 2e9, 2 // with few series the page is only read for what is wanted
	})
	if text := memoryOf(r.poll(page)); text != "heap{} 12 of 2000000000" {
		t.Error(text)
	}

	r = newRig(t, func(o *Options) { o.Memory = nil })
	if text := memoryOf(r.poll(page)); text != "" {
		t.Error(text)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("# TYPE process_resident_memory_bytes gauge\n")
	for i := range exporter.MaxProcesses + 7 {
		fmt.Fprintf(&b, "process_resident_memory_bytes{pod=\"%d\"} 5\n", i)
	}
	r := newRig(t, nil)
	got := r.poll(b.String())
	if len(got.Memory) != exporter.MaxProcesses || !strings.Contains(fmt.Sprint(got.Notes), "the memory of 7 processes is not followed") {
		t.Errorf("%d processes, notes %v", len(got.Memory), got.Notes)
	}
}

func TestMemoryOptions(t *testing.T) {
	for want, names := range map[string][]string{
		"memory: at most 8 gauges":          strings.Split("a b c d e f g h i", " "),
		"memory: \"\" is not a metric name": {""},
	} {
		o := defaults()
		o.Memory = names
		if err := o.check(backendtest.Fixed(o)); err == nil || err.Error() != want {
			t.Errorf("%v: %v", names, err)
		}
	}
}
