package promapi

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/backendtest"
)

var t0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// rig is a source on a server that answers by what a query asks for.
type rig struct {
	t        *testing.T
	now      time.Time
	queries  []url.Values
	tenant   string
	reply    map[string]string // "evictions", "retries", "starts", "up" and the same with "past-" before it
	status   map[string]int
	metadata map[string]string // metric: type
	src      backend.Source
}

const emptyVector = `{"status":"success","data":{"resultType":"vector","result":[]}}`
const emptyMatrix = `{"status":"success","data":{"resultType":"matrix","result":[]}}`

func newRig(t *testing.T, change func(*Options)) *rig {
	t.Helper()
	r := &rig{t: t, now: t0, reply: map[string]string{}, status: map[string]int{}, metadata: map[string]string{}}
	server := httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(server.Close)
	opts := defaults()
	opts.URL = server.URL + "/prom/"
	if change != nil {
		change(&opts)
	}
	src, err := Kind().New(backendtest.Fixed(opts), backend.Deps{ID: "prom", Deadline: time.Minute, Now: func() time.Time { return r.now },
		Cleaner: backend.NewCleaner(), Dial: (&net.Dialer{}).DialContext, Getenv: func(string) string { return "s3cret-token" }})
	if err != nil {
		t.Fatal(err)
	}
	r.src = src
	t.Cleanup(func() {
		if err := src.(backend.Closer).Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *rig) serve(w http.ResponseWriter, q *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Date", r.now.UTC().Format(http.TimeFormat))
	values := q.URL.Query()
	r.queries = append(r.queries, values)
	r.tenant = q.Header.Get("X-Scope-Orgid")
	var what, body string
	switch q.URL.Path {
	case "/prom/api/v1/query":
		what, body = asked(values.Get("query")), emptyVector
	case "/prom/api/v1/query_range":
		what, body = "past-"+asked(values.Get("query")), emptyMatrix
	case "/prom/api/v1/metadata":
		if kind, ok := r.metadata[values.Get("metric")]; ok {
			fmt.Fprintf(w, `{"status":"success","data":{%q:[{"type":%q,"help":"","unit":""}]}}`, values.Get("metric"), kind)
			return
		}
		fmt.Fprint(w, `{"status":"success","data":{}}`)
		return
	default:
		http.NotFound(w, q)
		return
	}
	if text, ok := r.reply[what]; ok {
		body = text
	}
	if status := r.status[what]; status != 0 {
		w.WriteHeader(status)
	}
	fmt.Fprint(w, body)
}

func asked(query string) string {
	switch {
	case strings.HasPrefix(query, `{__name__="process_start_time_seconds"`):
		return "starts"
	case strings.HasPrefix(query, `{__name__="process_resident_memory_bytes"`):
		return "memory"
	case strings.HasPrefix(query, "(up offset"):
		return "up"
	case strings.HasPrefix(query, `{__name__="helix_workspace_evictions_total"`):
		return "evictions"
	}
	return "retries"
}

// vector writes an instant answer; each series is its labels and value, for example `session="s1",instance="a" 3`.
func (r *rig) vector(series ...string) string {
	var out []string
	for _, s := range series {
		labels, value, _ := strings.Cut(s, " ")
		out = append(out, fmt.Sprintf(`{"metric":%s,"value":[%d.123,%q]}`, labelsJSON(labels), r.now.Unix(), value))
	}
	return `{"status":"success","data":{"resultType":"vector","result":[` + strings.Join(out, ",") + `]}}`
}

// matrix writes a range answer that ends now with one value a minute; "_" is no value.
func (r *rig) matrix(series ...string) string {
	var out []string
	for _, s := range series {
		labels, values, _ := strings.Cut(s, " ")
		fields := strings.Fields(values)
		var pairs []string
		for i, v := range fields {
			if v != "_" {
				pairs = append(pairs, fmt.Sprintf(`[%d.123,%q]`, r.now.Add(-time.Duration(len(fields)-1-i)*time.Minute).Unix(), v))
			}
		}
		out = append(out, fmt.Sprintf(`{"metric":%s,"values":[%s]}`, labelsJSON(labels), strings.Join(pairs, ",")))
	}
	return `{"status":"success","data":{"resultType":"matrix","result":[` + strings.Join(out, ",") + `]}}`
}

func labelsJSON(labels string) string {
	m := map[string]string{"__name__": "m", "job": "agents"}
	for pair := range strings.SplitSeq(labels, ",") {
		if k, v, ok := strings.Cut(pair, "="); ok {
			m[k] = v
		}
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func (r *rig) poll() backend.Reading {
	r.t.Helper()
	got, err := r.src.Poll(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	return got
}

func (r *rig) later(d time.Duration) { r.now = r.now.Add(d) }

// counts writes a reading's counts as "metric session n" with ~ before a lower bound and the age of those in the past.
func (r *rig) counts(got backend.Reading) string {
	var out []string
	for _, c := range got.Counts {
		if c.N == 0 && c.At.Before(got.Started) && !c.LowerBound {
			continue // the past is told step by step
		}
		lower, age := "", ""
		if c.LowerBound {
			lower = "~"
		}
		if d := got.Started.Sub(c.At).Round(time.Second); d > time.Second {
			age = "@-" + d.String()
		}
		out = append(out, fmt.Sprintf("%s %s %s%v%s", c.Series.Name, c.Series.Session.Safe(), lower, c.N, age))
	}
	return strings.Join(out, "; ")
}

func same(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

func TestLiveCounts(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Lookback = 0 })
	r.reply["evictions"] = r.vector(`session=s1,instance=a 1000`, `session=s1,instance=b 50`, `session=s2,instance=a 7`)
	r.reply["retries"] = r.vector(`session=s1,instance=a 3`)
	got := r.poll()
	same(t, "first sight", r.counts(got), "eviction-retries s1 0; evictions s1 0; evictions s2 0")
	if !slices.Contains(got.Inputs, backend.InputEvictions) || !got.Degraded.IsEmpty() {
		t.Errorf("inputs %v, degraded %q", got.Inputs, got.Degraded)
	}
	r.later(15 * time.Second)
	r.reply["evictions"] = r.vector(`session=s1,instance=a 1004`, `session=s1,instance=b 2`, `session=s2,instance=a 7`, `session=s3,instance=a 5`)
	got = r.poll()
	same(t, "growth over two instances, a reset, and a label set of a known target", r.counts(got),
		"eviction-retries s1 0; evictions s1 ~6; evictions s2 0; evictions s3 5")
	for _, c := range got.Counts {
		if c.N > 0 && !strings.Contains(c.Sample.String(), "session") {
			t.Errorf("count without evidence: %+v", c)
		}
	}
	if got.Load.Requests < 3 || got.Load.Bytes == 0 {
		t.Errorf("load %+v", got.Load)
	}
}

func TestNewTargets(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Lookback = 0 })
	r.reply["evictions"] = r.vector(`session=s1,instance=a 1`)
	r.poll()
	r.later(15 * time.Second)
	r.reply["evictions"] = r.vector(`session=s1,instance=a 1`, `session=s2,instance=b 4`, `session=s3,instance=c 90000`)
	r.reply["up"] = r.vector(`instance=b 1`)
	same(t, "b was scraped before, c was not", r.counts(r.poll()), "evictions s1 0; evictions s2 4; evictions s3 ~0")
	last := r.queries[len(r.queries)-2]
	if !slices.ContainsFunc(r.queries, func(q url.Values) bool {
		return strings.HasPrefix(q.Get("query"), "(up offset 15000ms == 1) and on (job, instance)")
	}) {
		t.Errorf("never asked who was scraped at the poll before; last %v", last)
	}
}

func TestProcessStarts(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Lookback = 0 })
	start := t0.Add(-time.Hour).Unix()
	r.reply["evictions"] = r.vector(`session=s1,instance=a 10`, `session=s2,instance=b 10`)
	r.reply["starts"] = r.vector(fmt.Sprintf(`instance=a %d`, start), fmt.Sprintf(`instance=b %d`, start))
	r.poll()
	r.later(15 * time.Second)
	r.reply["evictions"] = r.vector(`session=s1,instance=a 12`, `session=s2,instance=b 8`, `session=s4,instance=a 2`)
	r.reply["starts"] = r.vector(fmt.Sprintf(`instance=a %d`, t0.Add(5*time.Second).Unix()), fmt.Sprintf(`instance=b %d`, start))
	got := r.poll()
	same(t, "a restarted and outgrew its old value; b fell without a restart", r.counts(got), "evictions s1 ~12; evictions s2 0; evictions s4 2")
	if len(got.Events) != 1 || got.Events[0].Name != "process-restarted" || got.Events[0].Kind != backend.EventChange ||
		!got.Events[0].At.Equal(t0.Add(5*time.Second)) || !strings.Contains(got.Events[0].Text.String(), "agents a started at 2026-03-01 12:00:05 UTC") {
		t.Errorf("events %+v", got.Events)
	}
	if !strings.Contains(fmt.Sprint(got.Notes), "several replicas seem to answer") {
		t.Errorf("notes %v", got.Notes)
	}
	r.later(15 * time.Second)
	r.reply["evictions"] = r.vector(`session=s2,instance=b 11`)
	same(t, "the higher value stood", r.counts(r.poll()), "evictions s2 1")
}

func TestManyRestartsAreOneLine(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Lookback = 0 })
	before, after := []string{}, []string{}
	for i := range 9 {
		before = append(before, fmt.Sprintf(`instance=i%d %d`, i, t0.Unix()-100))
		after = append(after, fmt.Sprintf(`instance=i%d %d`, i, t0.Unix()+int64(i)))
	}
	r.reply["evictions"] = r.vector(`session=s1,instance=i1 10`)
	r.reply["starts"] = r.vector(before...)
	r.poll()
	r.later(15 * time.Second)
	r.reply["starts"] = r.vector(after...)
	got := r.poll()
	if len(got.Events) != 1 || !strings.Contains(got.Events[0].Text.String(), "9 processes restarted between 2026-03-01 12:00:00 and 2026-03-01 12:00:08 UTC") {
		t.Errorf("events %+v", got.Events)
	}
}

func TestThePastIsKnownAtTheFirstPoll(t *testing.T) {
	r := newRig(t, nil)
	r.reply["evictions"] = r.vector(`session=s1,instance=a 30`)
	r.reply["past-evictions"] = r.matrix(
		`session=s1,instance=a 10 10 25 25 5 30`, // a reset one minute ago
		`session=s2,instance=a _ _ _ 4 4 4`,      // born, its target was scraped before
		`session=s3,instance=b _ _ 700 700 701`,  // its target is new: 700 is its past
		`session=s4,instance=a NaN NaN`)
	r.reply["past-up"] = r.matrix(`instance=a _ 1 1 1 1 1`)
	// Without start times a fall is a reset.
	got := r.poll()
	same(t, "counts with their times", r.counts(got),
		"evictions s1 ~0@-5m0s; evictions s1 15@-3m0s; evictions s2 4@-2m0s; evictions s3 ~0@-2m0s; evictions s1 ~5@-1m0s; evictions s1 0; evictions s1 25; evictions s2 0; evictions s3 1")
	range1 := r.queries[slices.IndexFunc(r.queries, func(q url.Values) bool { return q.Has("step") })]
	if range1.Get("step") != "60.000" || range1.Get("end") != fmt.Sprintf("%d.123", t0.Unix()) || range1.Get("start") != fmt.Sprintf("%d.123", t0.Unix()-3600) {
		t.Errorf("range %v", range1)
	}
	n := len(r.queries)
	r.later(15 * time.Second)
	r.poll()
	for _, q := range r.queries[n:] {
		if q.Has("step") {
			t.Errorf("the past is asked for again: %v", q)
		}
	}
}

func TestPastRestarts(t *testing.T) {
	r := newRig(t, nil)
	old, young := t0.Add(-5*time.Hour).Unix(), t0.Add(-90*time.Second).Unix()
	r.reply["evictions"] = r.vector(`session=s1,instance=a 30`)
	r.reply["past-evictions"] = r.matrix(`session=s1,instance=a 10 10 20 30`)
	r.reply["past-starts"] = r.matrix(fmt.Sprintf(`instance=a %d %d %d %d`, old, old, young, young))
	got := r.poll()
	same(t, "grown past its old value after a restart", r.counts(got), "evictions s1 ~0@-3m0s; evictions s1 ~20@-1m0s; evictions s1 0; evictions s1 10")
	if len(got.Events) != 1 || !got.Events[0].SourceAt.Equal(time.Unix(young, 0)) {
		t.Errorf("events %+v", got.Events)
	}
}

func TestThePastThatIsTooMuch(t *testing.T) {
	r := newRig(t, nil)
	r.reply["evictions"] = r.vector(`session=s1,instance=a 30`)
	r.status["past-evictions"] = http.StatusUnprocessableEntity
	r.reply["past-evictions"] = `{"status":"error","errorType":"execution","error":"query processing would load too many samples into memory"}`
	got := r.poll()
	if !strings.Contains(fmt.Sprint(got.Notes), "in the 1h0m0s before the start is unknown (it is not asked for again)") ||
		!strings.Contains(fmt.Sprint(got.Notes), "too many samples") {
		t.Errorf("notes %v", got.Notes)
	}
	var steps []string
	for _, q := range r.queries {
		if q.Has("step") {
			steps = append(steps, q.Get("step"))
		}
	}
	same(t, "steps", strings.Join(steps, " "), "60.000 300.000")
	same(t, "the present counts", r.counts(got), "evictions s1 0")
}

func TestAPastThatComesLater(t *testing.T) {
	r := newRig(t, nil)
	r.reply["evictions"] = r.vector(`session=s1,instance=a 30`)
	r.status["past-evictions"] = http.StatusServiceUnavailable
	r.reply["past-evictions"] = `{"status":"error","errorType":"timeout","error":"query timed out in expression evaluation"}`
	got := r.poll()
	if !strings.Contains(fmt.Sprint(got.Notes), "it is asked for again") {
		t.Errorf("notes %v", got.Notes)
	}
	past := r.matrix(`session=s1,instance=a 10 30`)
	r.later(15 * time.Second)
	r.reply["evictions"] = r.vector(`session=s1,instance=a 33`)
	delete(r.status, "past-evictions")
	r.reply["past-evictions"] = past
	same(t, "past and present do not overlap", r.counts(r.poll()), "evictions s1 ~0@-1m15s; evictions s1 20@-15s; evictions s1 3")
}

func TestMatchersAndHeaders(t *testing.T) {
	r := newRig(t, func(o *Options) {
		o.Matchers = map[string]string{"job": `a"b`, "env.name": "eu"}
		o.Headers = map[string]string{"X-Scope-OrgID": "t1"}
	})
	r.poll()
	same(t, "selector", r.queries[0].Get("query"), `{__name__="helix_workspace_evictions_total","env.name"="eu",job="a\"b"}`)
	same(t, "header", r.tenant, "t1")
}
