package promapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/backend/exporter"
)

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name, body string
		status     int
		kind       backend.ErrorKind
		says       string
	}{
		{"error with 200", `{"status":"error","errorType":"internal","error":"storage is broken"}`, 200, backend.ErrUnreachable, "internal: storage is broken"},
		{"bad query", `{"status":"error","errorType":"bad_data","error":"parse error"}`, 400, backend.ErrInvalid, "answered 400: bad_data: parse error"},
		{"execution", `{"status":"error","errorType":"execution","error":"found duplicate series"}`, 422, backend.ErrInvalid, "answered 422: execution: found duplicate series"},
		{"a long error", `{"status":"error","errorType":"bad_data","error":"` + strings.Repeat("many words ", 40) + `"}`, 400, backend.ErrInvalid, "answered 400: bad_data: many words"},
		{"timeout", `{"status":"error","errorType":"timeout","error":"query timed out"}`, 503, backend.ErrTimeout, "timeout: query timed out"},
		{"starting", `Service Unavailable`, 503, backend.ErrUnreachable, "503"},
		{"credential", `{"status":"error"}`, 401, backend.ErrUnauthorised, "401"},
		{"no API", ``, 404, backend.ErrGone, "there is no query API at this path"},
		{"truncated", `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"session":"s1"},"val`, 200, backend.ErrInvalid, "cut off"},
		{"twice", `{"status":"success","status":"error","data":{}}`, 200, backend.ErrInvalid, "duplicate"},
		{"another API", `{"ok":true}`, 200, backend.ErrInvalid, "wrong path"},
		{"scalar", `{"status":"success","data":{"resultType":"scalar","result":[1,"2"]}}`, 200, backend.ErrInvalid, "scalar"},
		{"matrix", emptyMatrix, 200, backend.ErrInvalid, "a matrix came"},
		{"null series", `{"status":"success","data":{"resultType":"vector","result":[null]}}`, 200, backend.ErrInvalid, "null"},
		{"value that is none", `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"x"]}]}}`, 200, backend.ErrInvalid, "cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, nil)
			r.reply["evictions"], r.status["evictions"] = c.body, c.status
			_, err := r.src.Poll(t.Context())
			if backend.KindOf(err) != c.kind || err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v (%s), want %s with %q", err, backend.KindOf(err), c.kind, c.says)
			}
		})
	}
}

func TestAWebPageIsTheWrongPath(t *testing.T) {
	r := newRig(t, nil)
	src := r.src.(*source)
	src.base = strings.TrimSuffix(src.base, "/prom")
	if _, err := src.Poll(t.Context()); backend.KindOf(err) != backend.ErrGone {
		t.Errorf("got %v", err)
	}
}

func TestHistogramsAndNonsenseAreNotCounted(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Lookback = 0 })
	r.reply["evictions"] = `{"status":"success","data":{"resultType":"vector","result":[
		{"metric":{"session":"s1"},"histogram":[1772366400,{"count":"3","sum":"4","buckets":[[0,"0","1","3"]]}]}]}}`
	got := r.poll()
	if !strings.Contains(got.Degraded.String(), "is a histogram, not a counter") || len(got.Inputs) != 0 || len(got.Counts) != 0 {
		t.Errorf("degraded %q, inputs %v, counts %v", got.Degraded, got.Inputs, got.Counts)
	}
	// A stale marker is a NaN; Prometheus itself keeps them back, other stores behind the same API may not.
	r.reply["evictions"] = r.vector(`session=s1,instance=a NaN`, `session=s2,instance=a +Inf`, `session=s3,instance=a -4`, `session=s4,instance=a 4`)
	got = r.poll()
	same(t, "what can be counted", r.counts(got), "evictions s4 ~0")
	if !strings.Contains(fmt.Sprint(got.Notes), "3 label sets of helix_workspace_evictions_total are not followed") {
		t.Errorf("notes %v", got.Notes)
	}
	r.reply["evictions"] = r.vector(`session=s1,instance=a 2`, `session=s4,instance=a 5`)
	r.later(15 * time.Second)
	same(t, "a number again", r.counts(r.poll()), "evictions s1 2; evictions s4 1")
}

func TestAPartialAnswerIsSaidAndLowersWhatItCounts(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Lookback = 0 })
	r.reply["evictions"] = r.vector(`session=s1,instance=a 1`)
	r.poll()
	r.later(15 * time.Second)
	partial := r.vector(`session=s1,instance=a 3`)
	r.reply["evictions"] = strings.TrimSuffix(partial, "}") + `,"warnings":["store eu-2 is unavailable\u001b[2J"],"infos":["metric might not be a counter"]}`
	got := r.poll()
	same(t, "lower bound", r.counts(got), "evictions s1 ~2")
	if len(got.Problems) != 1 || !strings.Contains(got.Problems[0].What.String(), "store eu-2 is unavailable␛[2J") ||
		!strings.Contains(got.Degraded.String(), "partial answer: store eu-2") || !strings.Contains(fmt.Sprint(got.Notes), "might not be a counter") {
		t.Errorf("problems %+v, degraded %q, notes %v", got.Problems, got.Degraded, got.Notes)
	}
	r.later(15 * time.Second)
	r.reply["evictions"] = r.vector(`session=s1,instance=a 3`, `session=s2,instance=a 500`)
	same(t, "what a partial answer lacked is not new", r.counts(r.poll()), "evictions s1 0; evictions s2 0")
}

func TestAMetricThatIsNotThere(t *testing.T) {
	r := newRig(t, nil)
	got := r.poll()
	if len(got.Missing) != 1 || !strings.Contains(got.Missing[0].Why.String(), "check the metric's name") || !got.Degraded.IsEmpty() ||
		!strings.Contains(fmt.Sprint(got.Notes), "evictions unknown: ") {
		t.Errorf("missing %+v, degraded %q, notes %v", got.Missing, got.Degraded, got.Notes)
	}
	r.metadata["helix_workspace_evictions"] = "counter" // OpenMetrics declares it without its suffix
	got = r.poll()
	same(t, "declared, nothing happened", r.counts(got), "evictions  0")
	if len(got.Missing) != 0 || len(got.Inputs) != 1 {
		t.Errorf("missing %+v, inputs %v", got.Missing, got.Inputs)
	}
	r.metadata["helix_workspace_evictions_total"] = "gauge"
	if got = r.poll(); !strings.Contains(got.Degraded.String(), "is a gauge, not a counter; it was there until 12:00:00 UTC") {
		t.Errorf("degraded %q", got.Degraded)
	}
}

func TestRetriesThatFailLeaveTheEvictions(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Lookback = 0 })
	r.reply["evictions"] = r.vector(`session=s1,instance=a 1`)
	r.status["retries"], r.reply["retries"] = http.StatusUnprocessableEntity, `{"status":"error","errorType":"execution","error":"no"}`
	got := r.poll()
	same(t, "evictions", r.counts(got), "evictions s1 0")
	if len(got.Problems) != 1 || got.Problems[0].Kind != backend.ErrInvalid || !strings.Contains(fmt.Sprint(got.Notes), "recovery unknown") {
		t.Errorf("problems %+v notes %v", got.Problems, got.Notes)
	}
}

func TestBounds(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Lookback, o.MaxSeries, o.MaxBody = 0, 2, 1000 })
	r.reply["evictions"] = r.vector(`session=s1 1`, `session=s2 1`, `session=s3 1`)
	same(t, "max_series", r.counts(r.poll()), "evictions s1 0; evictions s2 0")
	same(t, "limit", r.queries[0].Get("limit"), "2")
	r.reply["evictions"] = strings.Repeat(" ", 2000) + emptyVector
	if _, err := r.src.Poll(t.Context()); backend.KindOf(err) != backend.ErrInvalid || !strings.Contains(err.Error(), "larger than 1kB") {
		t.Errorf("max_body: %v", err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"leave /api/v1":           func(o *Options) { o.URL = "http://h:9090/api/v1/query" },
		"metrics page":            func(o *Options) { o.URL = "http://h:9464/metrics" },
		"without a query":         func(o *Options) { o.URL = "http://h:9090?x=1" },
		"user or password":        func(o *Options) { o.URL = "http://a:b@h:9090" },
		"evictions":               func(o *Options) { o.Evictions = "" },
		"retries":                 func(o *Options) { o.Retries = o.Evictions },
		"lookback":                func(o *Options) { o.Lookback = backend.Duration(2 * time.Hour) },
		"max_series":              func(o *Options) { o.MaxSeries = 0 },
		"max_body":                func(o *Options) { o.MaxBody = 10 },
		`"__name__" is not`:       func(o *Options) { o.Matchers = map[string]string{"__name__": "x"} },
		"cannot be sent":          func(o *Options) { o.Headers = map[string]string{"X-A": "a\r\nb"} },
		"put the credential into": func(o *Options) { o.Headers = map[string]string{"authorization": "Bearer x"} },
		"exactly one":             func(o *Options) { o.Read.Env, o.Read.File = "A", "/b" },
	} {
		opts := defaults()
		change(&opts)
		if _, err := Kind().New(backendtest.Fixed(opts), backend.Deps{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestRoutesTellEverythingAndNoSecret(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Read.Env = "TOKEN" })
	r.poll()
	for _, route := range r.src.(backend.Explainer).Routes() {
		if route.Verb != "GET" || route.Acts || !strings.Contains(route.Target, "/prom/api/v1/") || strings.Contains(route.Target, "s3cret") {
			t.Errorf("route %+v", route)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add(`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"session":"s1"},"value":[1772366400.1,"3"]}]},"warnings":["w"]}`)
	f.Add(`{"status":"error","errorType":"execution","error":"x"}`)
	f.Add(`{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"histogram":[1,{"count":"1","sum":"1"}]}]}}`)
	f.Fuzz(func(t *testing.T, body string) {
		r := newRig(t, func(o *Options) { o.Lookback = 0 })
		r.reply["evictions"] = body
		got, err := r.src.Poll(t.Context())
		if err == nil && len(got.Inputs)+len(got.Missing) == 0 {
			t.Error("neither an input nor a reason why there is none")
		}
		for _, c := range got.Counts {
			if !exporter.Countable(c.N) {
				t.Errorf("count %+v", c)
			}
		}
	})
}
