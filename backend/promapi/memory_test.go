package promapi

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

func memoryOf(r backend.Reading) string {
	var out []string
	for _, m := range r.Memory {
		out = append(out, fmt.Sprintf("%s {%s}%s %d at %s", m.Of.Name, m.Of.Labels, m.Of.Session.Safe(), m.Bytes, m.At.UTC().Format(time.TimeOnly)))
	}
	return strings.Join(out, "; ")
}

func TestMemoryNowAndBefore(t *testing.T) {
	r := newRig(t, func(o *Options) { o.MemoryLimit = 2e9 })
	r.reply["memory"] = r.vector(`instance=a,session=s1 300`, `instance=b -1`)
	r.reply["past-memory"] = r.matrix(`instance=a,session=s1 100 _ 200`)
	got := r.poll()
	same(t, "memory", memoryOf(got), `m {instance="a", job="agents"}s1 300 at 12:00:00; m {instance="a", job="agents"}s1 100 at 11:58:00; m {instance="a", job="agents"}s1 200 at 12:00:00`)
	if n, ok := got.Memory[0].Limit.Get(); !ok || n != 2e9 {
		t.Errorf("limit %v", got.Memory[0].Limit)
	}
	if !slices.ContainsFunc(r.queries, func(q url.Values) bool {
		return strings.HasPrefix(q.Get("query"), `{__name__="process_resident_memory_bytes"} and on (job, instance) (`)
	}) {
		t.Errorf("asked %v", r.queries)
	}

	r = newRig(t, func(o *Options) {
		o.Memory, o.Matchers = []string{"process_resident_memory_bytes", "heap"}, map[string]string{"job": "agents"}
	})
	r.poll()
	if !slices.ContainsFunc(r.queries, func(q url.Values) bool {
		return q.Get("query") == `({__name__="process_resident_memory_bytes",job="agents"} or {__name__="heap",job="agents"})`
	}) {
		t.Errorf("asked %v", r.queries)
	}
}

func TestMemoryThatCannotBeReadIsAProblemOnly(t *testing.T) {
	r := newRig(t, nil)
	r.reply["memory"], r.status["memory"] = `{"status":"error","errorType":"bad_data","error":"no"}`, 400
	r.reply["past-memory"], r.status["past-memory"] = r.reply["memory"], 400
	r.reply["evictions"] = r.vector(`session=s1,instance=a 1`)
	got := r.poll()
	if len(got.Counts) == 0 || len(got.Problems) != 2 || !strings.Contains(got.Problems[1].Where.String(), "process_resident_memory_bytes") {
		t.Errorf("counts %v, problems %v", got.Counts, got.Problems)
	}
	r = newRig(t, func(o *Options) { o.Memory = nil })
	r.poll()
	if slices.ContainsFunc(r.queries, func(q url.Values) bool { return strings.Contains(q.Get("query"), "memory") }) {
		t.Errorf("asked %v", r.queries)
	}
}
