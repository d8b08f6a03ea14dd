package logs

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/backendtest"
)

// t0 is when the tests' clock starts.
var t0 = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// rig is a source under test with a clock of its own.
type rig struct {
	t   *testing.T
	now time.Time
	src *source
}

func testDeps(t *testing.T, now func() time.Time) backend.Deps {
	return backend.Deps{
		ID: "log", Interval: 5 * time.Second, Deadline: time.Minute, Now: now,
		Spawn:   backend.NewSpawner(func(name string, reason any, stack []byte) { t.Errorf("%s: %v\n%s", name, reason, stack) }),
		Cleaner: backend.NewCleaner("hunter2-configured"),
		Dial:    (&net.Dialer{}).DialContext,
		Command: backendtest.Command,
		Getenv:  func(string) string { return "" },
	}
}

func newRig(t *testing.T, change func(*Options)) *rig {
	t.Helper()
	r := &rig{t: t, now: t0}
	opts := defaults()
	change(&opts)
	src, err := newSource(opts, testDeps(t, func() time.Time { return r.now }))
	if err != nil {
		t.Fatal(err)
	}
	r.src = src
	t.Cleanup(func() {
		if err := src.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// poll advances the clock and polls.
func (r *rig) poll(after time.Duration) backend.Reading {
	r.t.Helper()
	r.now = r.now.Add(after)
	got, err := r.src.Poll(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	for _, c := range got.Counts {
		if c.At.After(r.now) {
			r.t.Errorf("count %v lies in the future of %v", c, r.now)
		}
	}
	return got
}

// total sums the counts of a metric; session "*" means any.
func total(counts []backend.Count, m backend.Metric, session string) (n float64) {
	for _, c := range counts {
		if c.Series.Name == m && (session == "*" || c.Series.Session.Raw() == session) {
			n += c.N
		}
	}
	return n
}

func (r *rig) want(got backend.Reading, m backend.Metric, session string, n float64) {
	r.t.Helper()
	if have := total(got.Counts, m, session); have != n {
		r.t.Errorf("%s of session %q = %v, want %v", m, session, have, n)
	}
}

func hasNote(r backend.Reading, part string) bool {
	for _, n := range r.Notes {
		if strings.Contains(n.String(), part) {
			return true
		}
	}
	return false
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// rejected is a full rejection line; at may be zero.
func rejected(at time.Time, session string) string {
	return jsonLine(at, session, "workspace tool: shell metacharacter rejected", "")
}

func jsonLine(at time.Time, session, msg, extra string) string {
	when := ""
	if !at.IsZero() {
		when = fmt.Sprintf(`"time":%d,`, at.UnixMilli())
	}
	return fmt.Sprintf(`{"level":40,%s"sessionId":%q,"workspace":"box","msg":%q%s}`+"\n", when, session, msg, extra)
}

// lines runs lines through a fresh analyst as live ones and returns the counts.
func lines(t *testing.T, change func(*Options), text ...string) (*lineAnalyser, backend.Reading) {
	t.Helper()
	a, r := allOf(t, change, text...)
	r.Reports = withoutGood(r.Reports)
	return a, r
}

// allOf is the same with the reports of commands that ran.
func allOf(t *testing.T, change func(*Options), text ...string) (*lineAnalyser, backend.Reading) {
	t.Helper()
	opts := defaults()
	if change != nil {
		change(&opts)
	}
	a := newAnalyst(&opts, testDeps(t, func() time.Time { return t0 }), t0)
	a.begin(0, time.Second)
	p := placement{lo: t0.Add(-5 * time.Second), hi: t0}
	var log lineage
	for _, l := range text {
		a.line([]byte(l), len(l)+1, time.Time{}, &p, &log)
	}
	var r backend.Reading
	a.finish(&r, t0)
	return a, r
}

func TestEveryPatternByItsExamples(t *testing.T) {
	opts := defaults()
	table := newPatterns(&opts)
	all := append(append([]pattern(nil), table.list...), table.markers...)
	if len(all) < 11 {
		t.Fatalf("only %d patterns", len(all))
	}
	for _, p := range all {
		if len(p.hits) == 0 || len(p.misses) == 0 || p.meaning == "" {
			t.Errorf("%s: a pattern needs examples both ways and a meaning", p.name)
		}
		counted := func(r backend.Reading) float64 {
			metric, _ := p.class.metric()
			return total(r.Counts, metric, "*")
		}
		metric, ok := p.class.metric()
		if p.class == ClassHub || p.class == ClassNotStarted {
			ok, counted = true, func(r backend.Reading) float64 { return float64(len(r.Reports)) }
		}
		if p.change != "" { // it counts nothing, and is one change
			ok, counted = true, func(r backend.Reading) (n float64) {
				for _, e := range r.Events {
					if e.Kind == backend.EventChange && e.Name == p.change {
						n++
					}
				}
				return n
			}
		}
		if !ok {
			t.Errorf("%s: class %s counts nothing", p.name, p.class)
		}
		for _, line := range p.hits {
			if _, r := lines(t, nil, line); counted(r) != 1 {
				t.Errorf("%s: not counted as %s: %s", p.name, metric, line)
			}
		}
		for _, line := range p.misses {
			if _, r := lines(t, nil, line); counted(r) != 0 {
				t.Errorf("%s: wrongly counted as %s: %s", p.name, metric, line)
			}
		}
	}
}

// A line's cause is what is kept of it where the cause is what matters, and new first words of refused commands are counted.
func TestSamplesAndWords(t *testing.T) {
	for line, want := range map[string]string{
		`{"msg":"tmpdir close failed","sessionId":"a","cause":"EBUSY: resource busy, rmdir '/tmp/helix-ws-a1B2c3'"}`:                         "EBUSY: resource busy, rmdir '/tmp/helix-ws-a1B2c3'",
		`{"session_id":"a","op":"hydrate_workspace","phase":"finish","ok":false,"error_code":"x","error_message":"failed to write archive"}`: "failed to write archive",
		`ERROR tmpdir close failed: EBUSY: resource busy, rmdir '/tmp/a' sessionId=s1 workspace=box`:                                         "EBUSY: resource busy, rmdir '/tmp/a'",
		`ERROR failed to persist snapshot: disk quota exceeded`:                                                                              "disk quota exceeded",
	} {
		_, r := lines(t, nil, line)
		found := ""
		for _, c := range r.Counts {
			if c.N > 0 && (c.Series.Name == backend.MetricTmpdirCloseFailed || c.Series.Name == backend.MetricHydrateFailed || c.Series.Name == backend.MetricPersistFailed) {
				found = c.Sample.String()
			}
		}
		if found != want {
			t.Errorf("sample %q, want %q", found, want)
		}
	}
	_, r := lines(t, nil,
		`{"msg":"command not in allowlist","sessionId":"loop","command":"curl a"}`, `{"msg":"command not in allowlist","sessionId":"loop","command":"curl b"}`,
		`{"msg":"command not in allowlist [rate-limited]","sessionId":"loop","command":"curl c","suppressedCount":9}`,
		`{"msg":"command not in allowlist","sessionId":"probe","command":"curl a"}`, `{"msg":"command not in allowlist","sessionId":"probe","command":"nc b"}`,
		`{"msg":"command not in allowlist","sessionId":"silent"}`)
	for session, want := range map[string]float64{"loop": 1, "probe": 2, "silent": 0} {
		if got := total(r.Counts, backend.MetricRejectedWords, session); got != want {
			t.Errorf("%s used %v new words, want %v", session, got, want)
		}
	}
}

func TestOneLineIsOneClass(t *testing.T) {
	metrics := []backend.Metric{backend.MetricEvictionExhausted, backend.MetricRejections, backend.MetricWorkspaceFailed,
		backend.MetricWorkspaceEvicted, backend.MetricCloseTimeout, backend.MetricTmpdirCloseFailed, backend.MetricNameCollision}
	for line, want := range map[string]backend.Metric{
		`{"msg":"workspace tool: eviction retry exhausted","err":{"name":"WorkspaceEvictedError"}}`:  backend.MetricEvictionExhausted,
		`{"msg":"tmpdir close failed","error":"WorkspaceFailedError: close timed out"}`:              backend.MetricTmpdirCloseFailed,
		`WARN command not in allowlist session=a cmd="echo tmpdir close failed close timed out"`:     backend.MetricRejections,
		`Error: WorkspaceFailedError: workspace close exceeded its deadline`:                         backend.MetricCloseTimeout,
		`{"msg":"x","err":{"type":"WorkspaceFailedError","message":"was WorkspaceEvictedError"}}`:    backend.MetricWorkspaceFailed,
		`{"log":"{\"msg\":\"close timed out\",\"sessionId\":\"a\"}\n","stream":"stdout","time":"x"}`: backend.MetricCloseTimeout,
	} {
		_, r := lines(t, nil, line)
		for _, m := range metrics {
			n := 0.0
			if m == want {
				n = 1
			}
			if got := total(r.Counts, m, "*"); got != n {
				t.Errorf("%s = %v, want %v: %s", m, got, n, line)
			}
		}
	}
}

func TestConfiguredPatterns(t *testing.T) {
	change := func(o *Options) {
		o.CloseTimeoutTexts = []string{"gave up closing"}
		o.Fields.Session = []string{"ctx.sid"}
		o.Pattern = []PatternOption{
			{Name: "mine", Contains: "refused by policy", Class: "rejection"},
			{Name: "known", Contains: "tmpdir close failed: EBUSY on probe", Class: "note", Meaning: "the probe", Cause: `on (\w+)`},
		}
	}
	_, r := lines(t, change, `{"ctx":{"sid":"s9"},"msg":"refused by policy"}`, `{"msg":"gave up closing box"}`,
		`{"msg":"close timed out"}`, `tmpdir close failed: EBUSY on probe`)
	for m, want := range map[backend.Metric]float64{backend.MetricRejections: 1, backend.MetricCloseTimeout: 1, backend.MetricTmpdirCloseFailed: 0} {
		if got := total(r.Counts, m, "*"); got != want {
			t.Errorf("%s = %v, want %v", m, got, want)
		}
	}
	if total(r.Counts, backend.MetricRejections, "s9") != 1 {
		t.Error("a session in a nested field is not found")
	}
	last := r.Events[len(r.Events)-1]
	if last.Name != "known" || last.Text.String() != "the probe · probe" {
		t.Errorf("event %q: %q", last.Name, last.Text)
	}
}

func TestEventsCarryTheCauseMaskedAndAreBounded(t *testing.T) {
	var many []string
	for i := range maxEvents + 5 {
		many = append(many, fmt.Sprintf(`{"msg":"tmpdir close failed","sessionId":"s%d","cause":"EBUSY \u001b]0;x\u0007 API_TOKEN=abcdefgh hunter2-configured"}`, i))
	}
	_, r := lines(t, nil, many...)
	if len(r.Events) != maxEvents || !hasNote(r, "5 more events") {
		t.Fatalf("%d events, notes %v", len(r.Events), r.Notes)
	}
	text := r.Events[0].Text.String()
	if !strings.Contains(text, "session s0") || !strings.Contains(text, "EBUSY") {
		t.Errorf("event says %q", text)
	}
	for _, bad := range []string{"\x1b", "hunter2", "abcdefgh"} {
		if strings.Contains(text, bad) {
			t.Errorf("event shows %q: %q", bad, text)
		}
	}
	for _, c := range r.Counts {
		if s := c.Sample.String(); strings.Contains(s, "hunter2") || strings.Contains(s, "abcdefgh") {
			t.Errorf("sample shows a secret: %q", s)
		}
	}
}

func TestHostileLines(t *testing.T) {
	long := strings.Repeat("x", 3<<20)
	_, r := lines(t, nil, "\xff\xfe command not in allowlist \xc3\x28 sessionId=\xff\xfe", `{"msg":"\ud800 command not in allowlist"`,
		strings.Repeat(`{"a":`, 20000), `{"sessionId":"`+strings.Repeat("s", 5000)+`","msg":"m"}`, `{"msg":"`+long+`"}`, "\x00\x1b[2J", `{"suppressedCount":1e300,"msg":"[rate-limited] x"}`)
	if got := total(r.Counts, backend.MetricRejections, "*"); got != 3 { // the rollup's absurd count is one, as a lower bound
		t.Errorf("%v rejections", got)
	}
	if got := total(r.Counts, backend.MetricLogLines, "*"); got != 7 {
		t.Errorf("%v lines", got)
	}
	for _, c := range r.Counts {
		if len(c.Series.Session.Raw()) > maxFieldBytes {
			t.Error("an absurd session id was taken")
		}
	}
}

func TestSeriesAreBounded(t *testing.T) {
	var many []string
	for i := range maxSeries {
		many = append(many, fmt.Sprintf(`{"msg":"command not in allowlist","sessionId":"s%d"}`, i))
	}
	a, r := lines(t, nil, many...)
	if len(a.tally.series) > maxSeries+len(backend.LogMetrics()) {
		t.Errorf("%d series", len(a.tally.series))
	}
	if got := total(r.Counts, backend.MetricRejections, "*"); got != maxSeries {
		t.Errorf("%v rejections, want %d", got, maxSeries)
	}
	if total(r.Counts, backend.MetricRejections, "") == 0 || !hasNote(r, "counted together") {
		t.Error("what was folded is not told")
	}
}

func TestSilenceIsReported(t *testing.T) {
	a, r := lines(t, nil, `{"msg":"command not in allowlist","sessionId":"a"}`)
	if total(r.Counts, backend.MetricRejections, "a") != 1 {
		t.Fatal("not counted")
	}
	zero := func(at time.Time) int {
		var next backend.Reading
		a.begin(0, time.Second)
		a.finish(&next, at)
		n := 0
		for _, c := range next.Counts {
			if c.Series.Name == backend.MetricRejections && c.Series.Session.Raw() == "a" && c.N == 0 && c.At.Equal(at) {
				n++
			}
		}
		return n
	}
	if zero(t0.Add(5*time.Second)) != 1 {
		t.Error("a known series without lines is not reported as 0")
	}
	if zero(t0.Add(forgetSeries+time.Minute)) != 0 {
		t.Error("a series silent for an hour is still reported")
	}
}

func TestSamplingCountsEveryLine(t *testing.T) {
	r := newRig(t, func(o *Options) {
		o.Files = []string{t.TempDir() + "/*.log"}
		o.ByteBudget = 1000
	})
	path := strings.TrimSuffix(r.src.opts.Files[0], "*.log") + "a.log"
	appendTo(t, path, "start\n")
	r.poll(0)
	var text strings.Builder
	const n = 1000
	for range n {
		text.WriteString(rejected(r.now, "a"))
	}
	text.WriteString(jsonLine(r.now, "a", "[rate-limited] workspace tool: shell metacharacter rejected", `,"suppressedCount":500`))
	appendTo(t, path, text.String())
	got := r.poll(5 * time.Second)
	want := (text.Len() + 4999) / 5000
	if !hasNote(got, fmt.Sprintf("1 in %d lines decoded", want)) {
		t.Errorf("notes: %v, want 1 in %d", got.Notes, want)
	}
	if r.src.analyst.seen.decoded > n/want+2 {
		t.Errorf("%d of %d lines were decoded", r.src.analyst.seen.decoded, n)
	}
	r.want(got, backend.MetricRejections, "a", n+500)
	r.want(got, backend.MetricLogLines, "*", n+1)
	r.want(got, backend.MetricLogBytes, "a", float64(text.Len()))
}
