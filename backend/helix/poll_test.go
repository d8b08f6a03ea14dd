package helix

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sandglass/backend"
)

const open = `{"workspaces":[{"name":"box","state":"open","lastAttemptAt":1767268790000,"lastSuccessAt":1767268790000}]}` // 10 s before noon

// routes answers by session id; a missing one is idle.
type routes map[string]http.HandlerFunc

// table is routes that a test changes while the server runs.
type table struct {
	mu sync.Mutex
	m  routes
}

func (t *table) set(id string, h http.HandlerFunc) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.m[id] = h
}

func (t *table) drop(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.m, id)
}

func (t *table) serve(w http.ResponseWriter, r *http.Request) {
	t.mu.Lock()
	h := t.m[strings.TrimPrefix(r.URL.Path, "/healthz/")]
	t.mu.Unlock()
	routes{strings.TrimPrefix(r.URL.Path, "/healthz/"): h}.serve(w, r)
}

func say(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func (m routes) serve(w http.ResponseWriter, r *http.Request) {
	if h := m[strings.TrimPrefix(r.URL.Path, "/healthz/")]; h != nil {
		h(w, r)
		return
	}
	say(404, `{"error":"no active session"}`)(w, r)
}

func fixed(ids ...string) func(*Options, string) {
	return func(o *Options, _ string) { o.Sessions, o.RequestsPerSec = ids, 1000 }
}

func TestAnswersOfSingleSessions(t *testing.T) {
	m := routes{"ok": say(200, open), "nope": say(404, "404 page not found"), "other": say(200, `{"ok":true}`),
		"broken": say(500, `{"error":"TypeError"}`), "bad": say(200, `{"workspaces":[{"name":"a","state":1}]}`),
		"html": say(200, "<html>hello</html>"), "locked": say(401, "")}
	rig := newRig(t, m.serve, fixed("ok", "nope", "other", "broken", "bad", "html", "locked", "idle"))
	r := rig.poll()
	if r.Registry != backend.RegistryAnswers || r.WorkspacesUnknown || !r.Degraded.IsEmpty() || r.Partial {
		t.Errorf("registry %s, unknown %v, degraded %v, partial %v", r.Registry, r.WorkspacesUnknown, r.Degraded, r.Partial)
	}
	for id, want := range map[string]struct {
		answer backend.RouteAnswer
		why    string
	}{
		"ok": {backend.AnswerOK, ""}, "idle": {backend.AnswerIdle, ""},
		"nope":   {backend.AnswerNoRoute, "/healthz/nope: the health route is not there"},
		"other":  {backend.AnswerWrongPath, "/healthz/other: wrong path"},
		"broken": {backend.AnswerFailed, "500 Internal Server Error"},
		"bad":    {backend.AnswerInvalid, "/healthz/bad at /workspaces/0/state (byte"},
		"html":   {backend.AnswerInvalid, "byte 0"},
		"locked": {backend.AnswerFailed, "unauthorised"},
	} {
		s := sessionOf(r, id)
		if s == nil || s.Answer != want.answer {
			t.Errorf("%s: got %+v", id, s)
			continue
		}
		if why := staleWhy(r, id); !strings.Contains(why, want.why) || (why == "") != (want.why == "") {
			t.Errorf("%s: stale because %q, want %q", id, why, want.why)
		}
		if want.why != "" && !strings.Contains(problemsText(r), want.why[strings.LastIndex(want.why, ":")+1:]) {
			t.Errorf("%s: no problem with %q in\n%s", id, want.why, problemsText(r))
		}
	}
	if s := sessionOf(r, "idle"); s.Running.Or(true) {
		t.Errorf("an idle session runs: %+v", s)
	}
	w := workspace(r, "ok/box")
	if w == nil || w.Condition(rig.clock.Now(), time.Minute) != backend.CondWorking || len(r.Workspaces) != 1 {
		t.Fatalf("workspaces %+v", r.Workspaces)
	}
	again := rig.poll() // the broken ones are marked, and not delivered again
	if sessionOf(again, "broken") != nil || staleWhy(again, "broken") == "" || sessionOf(again, "ok") == nil {
		t.Errorf("second poll: %+v, stale %+v", again.Sessions, again.Stale)
	}
}

func TestZorp(t *testing.T) {
	m := routes{"s": say(200, `{"workspaces":[{"name":"box","state":"zorp","lastAttemptAt":1767268790000,"lastSuccessAt":1767268790000},
		{"name":"bad","state":"zorp","lastAttemptAt":1767268790000,"lastSuccessAt":1767260000000}]}`)}
	rig := newRig(t, m.serve, fixed("s"))
	r := rig.poll()
	w := workspace(r, "s/box")
	if w.Reported.String() != "zorp" || w.Class != backend.ClassUnknown || w.Condition(noon, time.Minute) != backend.CondWorking {
		t.Errorf("got %v %v %v", w.Reported, w.Class, w.Condition(noon, time.Minute))
	}
	if got := workspace(r, "s/bad").Condition(noon.Add(time.Minute), time.Minute); got != backend.CondFailing {
		t.Errorf("a failing zorp is %v", got)
	}
}

func TestServerClockADayOff(t *testing.T) {
	for _, skew := range []time.Duration{24 * time.Hour, -24 * time.Hour} {
		at := noon.Add(skew).Add(-10 * time.Second).UnixMilli()
		body := fmt.Sprintf(`{"workspaces":[{"name":"box","state":"x","lastAttemptAt":%d,"lastSuccessAt":%d}]}`, at, at)
		m := routes{"s": say(200, body)}
		rig := newRig(t, m.serve, fixed("s"))
		rig.skew = skew
		r := rig.poll()
		if off, ok := r.ClockOffset.Get(); !ok || (off-skew).Abs() > 2*time.Second {
			t.Errorf("offset %v, want %v", off, skew)
		}
		got, ok := workspace(r, "s/box").LastAttemptAt.Get()
		if !ok || got.Sub(noon.Add(-10*time.Second)).Abs() > 2*time.Second {
			t.Errorf("skew %v: attempt at %v", skew, got)
		}
	}
}

func TestTimesInTheFutureAreReported(t *testing.T) {
	body := fmt.Sprintf(`{"workspaces":[{"name":"box","state":"x","lastAttemptAt":%d}]}`, noon.Add(24*time.Hour).UnixMilli())
	rig := newRig(t, routes{"s": say(200, body), "ok": say(200, open)}.serve, fixed("s", "ok"))
	r := rig.poll()
	if w := workspace(r, "s/box"); w.LastAttemptAt.IsKnown() || len(w.Extra) != 1 || !strings.Contains(problemsText(r), "1 entries carry times") {
		t.Errorf("got %+v, problems %s", w, problemsText(r))
	}
	if w := workspace(r, "ok/box"); !w.LastAttemptAt.IsKnown() {
		t.Errorf("one wrong time spoils another entry: %+v", w)
	}
}

func TestServerWithoutDate(t *testing.T) {
	dateless := func(at time.Time) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Date"] = nil
			_, _ = fmt.Fprintf(w, `{"workspaces":[{"name":"box","state":"x","lastAttemptAt":%d}]}`, at.UnixMilli())
		}
	}
	m := &table{m: routes{"s": dateless(noon.Add(-72 * time.Hour))}}
	rig := newRig(t, m.serve, fixed("s"))
	r := rig.poll()
	if w := workspace(r, "s/box"); w.LastAttemptAt.IsKnown() || r.ClockOffset.IsKnown() || !strings.Contains(problemsText(r), "no Date header") {
		t.Errorf("got %+v, offset %v", w, r.ClockOffset)
	}
	m.set("s", dateless(noon))
	rig.poll()
	r = rig.poll()
	if w := workspace(r, "s/box"); !w.LastAttemptAt.IsKnown() || !r.ClockGuessed {
		t.Errorf("a time around now lets guess the clock: %+v, guessed %v", w, r.ClockGuessed)
	}
}

func TestIdleEndsWorkspacesOnlyWhileOthersAreAnswered(t *testing.T) {
	m := &table{m: routes{"a": say(200, open), "b": say(200, open)}}
	rig := newRig(t, m.serve, fixed("a", "b"))
	rig.poll()
	m.drop("a")
	r := rig.poll()
	if len(r.Ended) != 1 || r.Ended[0].Path().Raw() != "a/box" {
		t.Errorf("ended %v", r.Ended)
	}
	m.drop("b")
	r = rig.poll()
	if r.Registry != backend.RegistryAllIdle || !r.WorkspacesUnknown || !strings.Contains(r.Degraded.String(), "idle, registry not published, or wrong template") {
		t.Errorf("registry %s, unknown %v, degraded %v", r.Registry, r.WorkspacesUnknown, r.Degraded)
	}
	if len(r.Inputs) != 0 || len(r.Missing) != 2 {
		t.Errorf("inputs %v, missing %v", r.Inputs, r.Missing)
	}
}

func TestAllIdleLeavesWorkspacesUnreadable(t *testing.T) {
	m := &table{m: routes{"a": say(200, open)}}
	rig := newRig(t, m.serve, fixed("a"))
	rig.poll()
	m.drop("a")
	r := rig.poll()
	if w := workspace(r, "a/box"); len(r.Ended) != 0 || w == nil || !w.Unreadable || w.Condition(noon, time.Minute) != backend.CondUnknown {
		t.Errorf("ended %v, workspace %+v", r.Ended, w)
	}
	m.set("a", say(200, open))
	rig.clock.Add(5 * time.Minute)
	if w := workspace(rig.poll(), "a/box"); w == nil || w.Unreadable {
		t.Errorf("after it came back: %+v", w)
	}
}

func TestEverySessionAnswers404(t *testing.T) {
	list := `{"sessions":[{"sessionId":"a","status":"%s"}]}`
	for name, tc := range map[string]struct {
		body     string
		status   string // of the list route, empty for no list route
		inactive bool
		registry backend.RegistryState
		unknown  bool
	}{
		"idle":                 {`{"error":"no active session"}`, "", false, backend.RegistryAllIdle, true},
		"idle, none expected":  {`{"error":"no active session"}`, "", true, backend.RegistryAllIdle, false},
		"idle, none runs":      {`{"error":"no active session"}`, "completed", false, backend.RegistryAllIdle, false},
		"idle, listed running": {`{"error":"no active session"}`, "running", false, backend.RegistryAllIdle, true},
		"no route":             {"404 page not found", "", false, backend.RegistryNoRoute, true},
		"other 404":            {`{"error":"not found"}`, "", false, backend.RegistryNoRoute, true},
	} {
		t.Run(name, func(t *testing.T) {
			rig := newRig(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/list" {
					_, _ = fmt.Fprintf(w, list, tc.status)
					return
				}
				say(404, tc.body)(w, r)
			}, func(o *Options, url string) {
				o.RequestsPerSec, o.ExpectActive, o.Sessions = 1000, !tc.inactive, []string{"a"}
				if tc.status != "" {
					o.ListURL, o.Sessions = url+"/list", nil
				}
			})
			r := rig.poll()
			if r.Registry != tc.registry || r.WorkspacesUnknown != tc.unknown || r.Degraded.IsEmpty() == tc.unknown {
				t.Errorf("registry %s, unknown %v, degraded %v", r.Registry, r.WorkspacesUnknown, r.Degraded)
			}
		})
	}
}

func TestWrongPathEverywhere(t *testing.T) {
	rig := newRig(t, say(200, `{"ok":true}`), fixed("a", "b"))
	r := rig.poll()
	if r.Registry != backend.RegistryWrongPath || !r.WorkspacesUnknown || !strings.Contains(r.Degraded.String(), "/healthz/") || len(r.Workspaces) != 0 {
		t.Errorf("got %s %v, %d workspaces", r.Registry, r.Degraded, len(r.Workspaces))
	}
}

// TestServerErrorsLeaveWorkspacesUnknown: a poll that gives up after many errors knows of no workspace, which is not none.
func TestServerErrorsLeaveWorkspacesUnknown(t *testing.T) {
	rows := make([]string, 20)
	for i := range rows {
		rows[i] = fmt.Sprintf(`{"sessionId":"s-%03d","status":"running"}`, i)
	}
	rig := newRig(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/list" {
			_, _ = fmt.Fprintf(w, `{"sessions":[%s]}`, strings.Join(rows, ","))
			return
		}
		say(500, `{"error":"TypeError: boom"}`)(w, r)
	}, func(o *Options, url string) { o.RequestsPerSec, o.ListURL, o.Sessions = 1000, url+"/list", nil })
	if r, err := rig.pollErr(); !r.WorkspacesUnknown || len(r.Unread) == 0 {
		t.Errorf("unknown %v, unread %v: %v", r.WorkspacesUnknown, r.Unread, err)
	}
}

// TestTimesThatAreNoTimesDegradeTheSource: where a fifth of the workspaces cannot be judged, the source is not ok.
func TestTimesThatAreNoTimesDegradeTheSource(t *testing.T) {
	bad := `{"workspaces":[{"name":"box","state":"open","lastAttemptAt":"yesterday"}]}`
	for good, degraded := range map[int]bool{0: true, 3: true, 5: false} {
		m, ids := routes{"bad": say(200, bad)}, []string{"bad"}
		for i := range good {
			id := fmt.Sprintf("ok%d", i)
			m[id], ids = say(200, open), append(ids, id)
		}
		r := newRig(t, (&table{m: m}).serve, fixed(ids...)).poll()
		if said := strings.Contains(r.Degraded.String(), "times that cannot be used: whether they work is not known"); said != degraded {
			t.Errorf("beside %d that are read: %q", good, r.Degraded)
		}
		if len(r.Problems) != 1 || !strings.Contains(r.Problems[0].What.String(), "times that are no times") || r.Problems[0].Where.IsEmpty() {
			t.Errorf("problems %v", r.Problems)
		}
	}
}

func TestDeadServerIsAnErrorAndRecoversAtOnce(t *testing.T) {
	var down atomic.Bool
	m := &table{m: routes{"a": say(200, open), "b": say(200, open)}}
	rig := newRig(t, func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			panic(http.ErrAbortHandler)
		}
		m.serve(w, r)
	}, fixed("a", "b"))
	rig.poll()
	down.Store(true)
	for range 5 {
		if _, err := rig.pollErr(); backend.KindOf(err) != backend.ErrUnreachable || err == nil {
			t.Fatalf("got %v", err)
		}
	}
	down.Store(false)
	if r := rig.poll(); len(r.Workspaces) != 2 || len(r.Stale) != 0 {
		t.Errorf("after the outage: %d workspaces, stale %v", len(r.Workspaces), r.Stale)
	}
}

// TestOneBrokenSessionAmongIdleOnes asks an idle session too before the server is called dead.
func TestOneBrokenSessionAmongIdleOnes(t *testing.T) {
	m := routes{"broken": say(500, "")}
	rig := newRig(t, m.serve, fixed("broken", "i1", "i2"))
	rig.poll()
	rig.poll() // the broken one backs off
	r := rig.poll()
	if staleWhy(r, "broken") == "" {
		t.Errorf("stale %v", r.Stale)
	}
	if n := rig.asked("/healthz/i1") + rig.asked("/healthz/i2"); n != 3 {
		t.Errorf("idle sessions were asked %d times, want 2 and one as a canary", n)
	}
}

func TestIdleSessionsAreAskedRarely(t *testing.T) {
	m := &table{m: routes{"a": say(200, open)}}
	rig := newRig(t, m.serve, fixed("a", "idle"))
	rig.source.Attend(backend.Attention{Visible: []backend.Key{{Kind: backend.KindSession, Source: "helix", ID: backend.MustID("idle")}}})
	for range 60 { // five minutes
		rig.poll()
	}
	if a, idle := rig.asked("/healthz/a"), rig.asked("/healthz/idle"); a != 60 || idle != 1 {
		t.Errorf("asked a %d times, idle %d times", a, idle)
	}
	rig.poll()
	if n := rig.asked("/healthz/idle"); n != 2 {
		t.Errorf("after five minutes asked %d times", n)
	}
}

func TestETagOfOneSession(t *testing.T) {
	var sent atomic.Int64
	rig := newRig(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") == `"1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		sent.Add(1)
		_, _ = io.WriteString(w, open)
	}, fixed("a"))
	rig.poll()
	r := rig.poll()
	if w := workspace(r, "a/box"); sent.Load() != 1 || w == nil || !w.ReadAt.Equal(rig.clock.Now()) {
		t.Errorf("sent %d bodies, workspace %+v", sent.Load(), w)
	}
	if r.Load.Bytes != 0 || r.Load.Requests != 1 {
		t.Errorf("load %+v", r.Load)
	}
}

func TestThrottled(t *testing.T) {
	rig := newRig(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "30")
		say(429, "")(w, r)
	}, fixed("a", "b", "c", "d", "e", "f"))
	_, err := rig.pollErr()
	if backend.KindOf(err) != backend.ErrThrottled {
		t.Fatalf("got %v", err)
	}
	before := rig.asked("")
	if _, err = rig.pollErr(); backend.KindOf(err) != backend.ErrThrottled || rig.asked("") != before {
		t.Errorf("asked during Retry-After: %v", err)
	}
}

func TestSecretsAppearNowhere(t *testing.T) {
	const ours, agents = "hush-hush-42", "sk-abcdefghijklmnop"
	m := routes{"a": say(200, `{"workspaces":[{"name":"box","state":"failed","lastError":"OPENAI_API_KEY=`+agents+` npm failed; sent `+ours+`","token":"`+ours+`"}]}`),
		"b": say(500, "no "+ours)}
	rig := newRig(t, m.serve, func(o *Options, url string) {
		fixed("a", "b")(o, url)
		o.URL += "?api_key=" + ours
		o.Headers = map[string]string{"X-Api-Key": ours}
	})
	r := rig.poll()
	doc, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	routes, err := json.Marshal(rig.source.Routes())
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(doc), string(routes)} {
		if strings.Contains(text, ours) || strings.Contains(text, agents) {
			t.Errorf("a secret is shown: %s", text)
		}
	}
}
