package prometheus

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/backend/exporter"
)

// rig is a source on a server whose page the test writes.
type rig struct {
	t      *testing.T
	now    time.Time
	media  string
	status int
	body   string
	asked  http.Header
	src    backend.Source
}

var t0 = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func newRig(t *testing.T, change func(*Options)) *rig {
	t.Helper()
	r := &rig{t: t, now: t0, media: "text/plain; version=0.0.4; charset=utf-8", status: 200}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.asked = q.Header
		w.Header().Set("Content-Type", r.media)
		w.Header().Set("Date", r.now.UTC().Format(http.TimeFormat))
		w.WriteHeader(r.status)
		fmt.Fprint(w, r.body)
	}))
	t.Cleanup(server.Close)
	opts := defaults()
	opts.URL = server.URL + "/metrics"
	if change != nil {
		change(&opts)
	}
	src, err := Kind().New(backendtest.Fixed(opts), backend.Deps{ID: "prom", Interval: 15 * time.Second, Deadline: time.Minute, Now: func() time.Time { return r.now },
		Cleaner: backend.NewCleaner(), Dial: (&net.Dialer{}).DialContext, Getenv: func(string) string { return "" }})
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

func (r *rig) poll(body string) backend.Reading {
	r.t.Helper()
	r.now = r.now.Add(15 * time.Second)
	r.body = body
	got, err := r.src.Poll(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	return got
}

// counts writes a reading's counts as "metric provider/session/workspace n", with ~ before a lower bound.
func counts(r backend.Reading) string {
	var out []string
	for _, c := range r.Counts {
		lower := ""
		if c.LowerBound {
			lower = "~"
		}
		out = append(out, fmt.Sprintf("%s %s/%s/%s %s%v", c.Series.Name, c.Series.Provider, c.Series.Session.Raw(), c.Series.Workspace.Raw(), lower, c.N))
	}
	return strings.Join(out, "\n")
}

const types = "# TYPE helix_workspace_evictions_total counter\n# TYPE helix_workspace_eviction_retries_total counter\n"

func TestPages(t *testing.T) {
	r := newRig(t, nil)
	got := r.poll(types)
	if c := counts(got); c != "eviction-retries // 0\nevictions // 0" {
		t.Errorf("declared without a sample:\n%s", c)
	}
	if len(got.Inputs) != 1 || got.Inputs[0] != backend.InputEvictions || len(got.Missing) != 0 || !got.Degraded.IsEmpty() {
		t.Errorf("inputs %v, missing %v, degraded %q", got.Inputs, got.Missing, got.Degraded)
	}
	if !strings.Contains(r.asked.Get("Accept"), "version=0.0.4") || strings.Contains(r.asked.Get("Accept"), "openmetrics") {
		t.Errorf("asked for %q", r.asked.Get("Accept"))
	}
	// Two instances of one workspace are two counters of one series.
	got = r.poll(types + `helix_workspace_evictions_total{provider="e2b",session="s",workspace="w",instance="1"} 3
helix_workspace_evictions_total{provider="e2b",session="s",workspace="w",instance="2"} 4
helix_workspace_eviction_retries_total{provider="e2b",session="s",workspace="w"} 2
`)
	if c := counts(got); c != "eviction-retries e2b/s/w 2\nevictions e2b/s/w 7" {
		t.Errorf("born under observation:\n%s", c)
	}
	// One of them starts again; sums of values would show 3+4 -> 3+5.
	got = r.poll(types + `helix_workspace_evictions_total{provider="e2b",session="s",workspace="w",instance="1"} 7
helix_workspace_evictions_total{provider="e2b",session="s",workspace="w",instance="2"} 1
helix_workspace_eviction_retries_total{provider="e2b",session="s",workspace="w"} 2
`)
	if c := counts(got); c != "eviction-retries e2b/s/w 0\nevictions e2b/s/w ~5" {
		t.Errorf("a reset of one of two:\n%s", c)
	}
	if s := got.Counts[1].Sample.String(); !strings.Contains(s, `instance="1"`) {
		t.Errorf("sample %q", s)
	}
	if off, ok := got.ClockOffset.Get(); !ok || off.Abs() > time.Second {
		t.Errorf("clock offset %v, %v", off, ok)
	}
	if got.Load.Requests != 1 || got.Load.Bytes == 0 {
		t.Errorf("load %+v", got.Load)
	}
}

func TestAbsentMetricInventsNothing(t *testing.T) {
	r := newRig(t, nil)
	with := func(n int) string {
		return fmt.Sprintf("up 1\nhelix_workspace_evictions_total %d\n", n)
	}
	r.poll(with(100))
	got := r.poll("up 1\nworkspace_evicted_sum 2\n")
	if len(got.Counts) != 0 || len(got.Inputs) != 0 || len(got.Missing) != 1 {
		t.Fatalf("counts %v, inputs %v, missing %v", got.Counts, got.Inputs, got.Missing)
	}
	why := got.Missing[0].Why.String()
	for _, part := range []string{"metric helix_workspace_evictions_total not found among 2 families", "similar: workspace_evicted_sum", "until 12:00:15 UTC"} {
		if !strings.Contains(why, part) {
			t.Errorf("%q does not say %q", why, part)
		}
	}
	if !note(got, "recovery unknown: metric helix_workspace_eviction_retries_total not found") {
		t.Errorf("notes %v", got.Notes)
	}
	if c := counts(r.poll(with(104))); c != "evictions // 2\nevictions // 2" { // of the two intervals since it was read
		t.Errorf("back again:\n%s", c)
	}
}

func note(r backend.Reading, part string) bool {
	for _, n := range r.Notes {
		if strings.Contains(n.String(), part) {
			return true
		}
	}
	return false
}

func TestRestartsAndStrangers(t *testing.T) {
	r := newRig(t, nil)
	page := func(started time.Time, n int) string {
		return fmt.Sprintf("# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds %d\n%shelix_workspace_evictions_total %d\n", started.Unix(), types, n)
	}
	born := t0.Add(-time.Hour)
	r.poll(page(born, 10))
	if got := r.poll(page(born.Add(time.Second), 11)); counts(got) != "eviction-retries // 0\nevictions // 1" || len(got.Events) != 0 {
		t.Errorf("a wobble is no restart:\n%s\n%v", counts(got), got.Events)
	}
	again := r.now.Add(10 * time.Second)
	got := r.poll(page(again, 30))
	if c := counts(got); !strings.HasSuffix(c, "evictions // ~30") {
		t.Errorf("after a restart everything counts:\n%s", c)
	}
	if len(got.Events) != 1 || got.Events[0].Kind != backend.EventChange || got.Events[0].Name != "process-restarted" || !got.Events[0].SourceAt.Equal(again) {
		t.Errorf("events %+v", got.Events)
	}
	for _, other := range []time.Time{born, again, born.Add(30 * time.Minute)} { // two known ones, one that ran all along
		got = r.poll(page(other, 500))
		if c := counts(got); !strings.HasSuffix(c, "evictions // ~0") || len(got.Problems) != 1 || len(got.Events) != 0 {
			t.Errorf("a stranger's page counted:\n%s\n%v", c, got.Problems)
		}
	}
}

func TestPagesThatAreNone(t *testing.T) {
	r := newRig(t, nil)
	good := types + "helix_workspace_evictions_total 1\n"
	for want, c := range map[string]struct {
		media, body string
		status      int
		kind        backend.ErrorKind
	}{
		"is a web page":           {"text/html; charset=utf-8", "<html>", 200, backend.ErrInvalid},
		"this is no metrics page": {"", "  <!doctype html>", 200, backend.ErrInvalid},
		"is JSON":                 {"application/json", "{}", 200, backend.ErrInvalid},
		"answers OpenMetrics":     {"application/openmetrics-text; version=1.0.0", good + "# EOF\n", 200, backend.ErrInvalid},
		"answers protobuf":        {"application/vnd.google.protobuf; proto=x", good, 200, backend.ErrInvalid},
		"this is image/png":       {"image/png", good, 200, backend.ErrInvalid},
		"cannot be read":          {"text/plain; charset=\"", good, 200, backend.ErrInvalid},
		"there is no metric":      {"text/plain", "\n", 200, backend.ErrInvalid},
		"no metrics page at this": {"text/plain", "nope", 404, backend.ErrGone},
		"answered 401":            {"text/plain", "nope", 401, backend.ErrUnauthorised},
		"answered 503":            {"text/plain", "nope", 503, backend.ErrUnreachable},
		"the body is larger than": {"text/plain", strings.Repeat("# x\n", 9_000_000), 200, backend.ErrInvalid},
	} {
		r.media, r.body, r.status = c.media, c.body, c.status
		_, err := r.src.Poll(t.Context())
		if err == nil || backend.KindOf(err) != c.kind || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s: …%s…", err, c.kind, want)
		}
	}
	r.media, r.status = "text/plain", 200
	if c := counts(r.poll(good)); !strings.HasSuffix(c, "evictions // 0") {
		t.Errorf("a failed poll left something behind:\n%s", c)
	}
}

func TestBrokenPagesKeepWhatWasRead(t *testing.T) {
	for name, c := range map[string]struct{ body, where, what string }{
		"garbage behind it": {types + "helix_workspace_evictions_total 5\nother{ 3\nmore 1\n", "line 4", "not read"},
		"cut in a line":     {types + "helix_workspace_evictions_total 5\nother{a=\"b", "line 4", "ends in the middle"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			r.poll(types + "helix_workspace_evictions_total 1\n")
			got := r.poll(c.body)
			if k := counts(got); k != "evictions // 4" {
				t.Errorf("counts:\n%s", k)
			}
			if len(got.Problems) != 1 || !strings.Contains(got.Problems[0].Where.String(), c.where) || !strings.Contains(got.Problems[0].What.String(), c.what) {
				t.Errorf("problems %v", got.Problems)
			}
		})
	}
	r := newRig(t, nil)
	r.poll("a 1\nhelix_workspace_evictions_total 1\n")
	got := r.poll("a 1\nhelix_workspace_evictions_total 12") // perhaps 1234
	if len(got.Counts) != 0 || len(got.Missing) != 1 || !strings.Contains(got.Missing[0].Why.String(), "readable part") {
		t.Errorf("a cut number was counted: %s, missing %v", counts(got), got.Missing)
	}
}

func TestWrongTypesAndValues(t *testing.T) {
	r := newRig(t, nil)
	got := r.poll("# TYPE helix_workspace_evictions_total gauge\nhelix_workspace_evictions_total 1\n")
	if len(got.Missing) != 1 || !strings.Contains(got.Missing[0].Why.String(), "is a gauge") || len(got.Inputs) != 0 {
		t.Errorf("missing %v", got.Missing)
	}
	got = r.poll("helix_workspace_evictions_total{session=\"a\"} NaN\nhelix_workspace_evictions_total{session=\"b\"} -1\nhelix_workspace_evictions_total{session=\"c\"} +Inf\n")
	if !note(got, "3 label sets") {
		t.Errorf("notes %v, counts %s", got.Notes, counts(got))
	}
	for _, c := range got.Counts {
		if c.N != 0 {
			t.Errorf("counted %v", c.N)
		}
	}
}

func TestNamesAndLabelsAreConfigurable(t *testing.T) {
	r := newRig(t, func(o *Options) {
		o.Evictions, o.Retries, o.Labels = "agent.evicted", "", exporter.Labels{Session: "run.id"}
	})
	r.poll("{\"agent.evicted\",\"run.id\"=\"s\u00e9\"} 1\n")
	got := r.poll("{\"agent.evicted\",\"run.id\"=\"s\u00e9\"} 4\n")
	if c := counts(got); c != "evictions /s\u00e9/ 3" {
		t.Errorf("counts:\n%s", c)
	}
	if !note(got, "no metric of retries is configured") {
		t.Errorf("notes %v", got.Notes)
	}
}

func TestHostileLabels(t *testing.T) {
	r := newRig(t, nil)
	long := strings.Repeat("x", backend.MaxIDBytes+1)
	got := r.poll(types + `helix_workspace_evictions_total{session="` + long + `",provider="` + "\x1b]0;x\x07" + `",token="password=abcdefgh"} 1` + "\n")
	if !got.Counts[len(got.Counts)-1].Series.Session.IsZero() {
		t.Error("an absurd session id was taken")
	}
	got = r.poll(types + `helix_workspace_evictions_total{session="` + long + `",provider="` + "\x1b]0;x\x07" + `",token="password=abcdefgh"} 2` + "\n")
	if got.Counts[len(got.Counts)-1].Sample.IsEmpty() {
		t.Error("no sample of what rose")
	}
	for _, c := range got.Counts {
		if s := c.Sample.String(); strings.ContainsAny(s, "\x1b\x07") || strings.Contains(s, "abcdefgh") {
			t.Errorf("sample %q", s)
		}
	}
}

// bigPage has n series of other metrics before ours.
func bigPage(n int) string {
	var b strings.Builder
	b.WriteString("# TYPE http_requests_total counter\n")
	for i := range n {
		fmt.Fprintf(&b, "http_requests_total{path=\"/a/%d\",method=\"GET\",code=\"200\"} %d\n", i, i)
	}
	b.WriteString(types + "helix_workspace_evictions_total{session=\"a\"} 5\n")
	return b.String()
}

func TestManySeriesOfOthersDoNotMatter(t *testing.T) {
	r := newRig(t, func(o *Options) { o.MaxSeries = 100 })
	r.poll(bigPage(1000))
	got := r.poll(strings.Replace(bigPage(1000), "\"a\"} 5\n", "\"a\"} 6\nhelix_workspace_evictions_total{ 1\n", 1))
	// The broken line is far down, and its number is that of the whole page.
	if len(got.Problems) == 0 || !strings.Contains(got.Problems[0].Where.String(), "line 1005") || !note(got, "more than 100 samples") {
		t.Errorf("problems %v, notes %v", got.Problems, got.Notes)
	}
	if c := counts(r.poll(strings.Replace(bigPage(1000), "\"a\"} 5\n", "\"a\"} 9\n", 1))); !strings.HasSuffix(c, "evictions /a/ 3") {
		t.Errorf("counts:\n%s", c)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"url: ":        func(o *Options) { o.URL = "ftp://x" },
		"evictions: ":  func(o *Options) { o.Evictions = "" },
		"retries: ":    func(o *Options) { o.Retries = o.Evictions },
		"max_body: ":   func(o *Options) { o.MaxBody = 0 },
		"max_series: ": func(o *Options) { o.MaxSeries = 0 },
		"read: ":       func(o *Options) { o.Read.Env, o.Read.File = "A", "b" },
	} {
		opts := defaults()
		change(&opts)
		if _, err := Kind().New(backendtest.Fixed(opts), backend.Deps{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s…", err, want)
		}
	}
}

func TestRouteHidesTheQuery(t *testing.T) {
	r := newRig(t, func(o *Options) { o.URL += "?token=abc" })
	routes := r.src.(backend.Explainer).Routes()
	if len(routes) != 1 || routes[0].Acts || routes[0].Verb != "GET" || strings.Contains(routes[0].Target, "abc") {
		t.Errorf("routes %+v", routes)
	}
}

func BenchmarkPage10k(b *testing.B) {
	body := []byte(bigPage(10_000))
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		m := parse(body, 20_000, "helix_workspace_evictions_total")
		if !m.complete {
			b.Fatal(m.problem)
		}
	}
}

func BenchmarkTrack10k(b *testing.B) {
	var body strings.Builder
	body.WriteString(types)
	for i := range 10_000 {
		fmt.Fprintf(&body, "helix_workspace_evictions_total{session=\"s%d\",workspace=\"w\"} %d\n", i, i)
	}
	m := parse([]byte(body.String()), 20_000)
	var tr exporter.Tracker
	b.ReportAllocs()
	for b.Loop() {
		r := exporter.Round{Complete: true, At: t0, Samples: m.counted("helix_workspace_evictions_total")}
		if got, _, _ := tr.Follow(r, 20_000); len(got) != 10_000 {
			b.Fatal(len(got))
		}
	}
}
