package bridge

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
)

// sample is one recorded exchange.
type sample struct {
	Capture struct{ Transport string }
	Request struct {
		Method, Path string
		Headers      map[string]string
		Body         json.RawMessage
	}
	Response struct {
		Status                           int
		ContentType, ReadError, BodyText string
		Body                             json.RawMessage
	}
	ElapsedMs int64
}

func (s *sample) body() []byte {
	if len(s.Response.Body) > 0 {
		return s.Response.Body
	}
	return []byte(s.Response.BodyText)
}

func load(t testing.TB, name string) *sample {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	s := &sample{}
	if err := json.Unmarshal(raw, s); err != nil {
		t.Fatal(err)
	}
	return s
}

const testKey = "bridge-key-0123456789"

// replay serves one exchange: another request than the recorded one is answered 418. What never ended does not end here either.
func replay(t testing.TB, s *sample) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(r.Body)
		if why := s.differs(r, sent); why != "" {
			w.WriteHeader(http.StatusTeapot)
			_, _ = io.WriteString(w, why)
			return
		}
		if s.Response.ContentType != "" {
			w.Header().Set("Content-Type", s.Response.ContentType)
		}
		w.WriteHeader(s.Response.Status)
		if s.Response.Status != http.StatusNoContent {
			_, _ = w.Write(s.body())
		}
		if s.Response.ReadError == "TimeoutError" {
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// differs says in what a request is another one than the recorded one.
func (s *sample) differs(r *http.Request, sent []byte) string {
	if r.Method != s.Request.Method || r.URL.EscapedPath() != s.Request.Path {
		return r.Method + " " + r.URL.EscapedPath()
	}
	if r.Header.Get("Session-Id") != s.Request.Headers["Session-Id"] {
		return "session " + r.Header.Get("Session-Id")
	}
	var text string
	if json.Unmarshal(s.Request.Body, &text) == nil {
		if text != string(sent) {
			return "body " + string(sent)
		}
		return ""
	}
	var want, got any
	if json.Unmarshal(s.Request.Body, &want) == nil && (json.Unmarshal(sent, &got) != nil || !reflect.DeepEqual(want, got)) {
		return "body " + string(sent)
	}
	return ""
}

func deps(t testing.TB) backend.Deps {
	t.Helper()
	return backend.Deps{ID: "cf", Now: time.Now, Cleaner: backend.NewCleaner(), Dial: (&net.Dialer{}).DialContext,
		Getenv: func(name string) string { return map[string]string{"KEY": testKey}[name] }}
}

func open(t testing.TB, url, ops string) *Client {
	t.Helper()
	c, err := New(Site{URL: url, Key: wire.Credential{Env: "KEY"}, Ops: ops}, deps(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// got is an answer to a call that was sent.
type got struct {
	status int
	body   []byte
}

// send sends a call as an action does: once, with a deadline. What came before the deadline is the answer.
func send(t testing.TB, base string, c Call, within time.Duration) got {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, c.Method, base+c.Path, strings.NewReader(string(c.Body)))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range c.Header {
		req.Header[k] = v
	}
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, _ := io.ReadAll(r.Body) // as far as it came
	return got{status: r.StatusCode, body: body}
}

// call is the recorded request as this package makes it.
func (s *sample) call() (Call, error) {
	rest, inSandbox := strings.CutPrefix(s.Request.Path, "/v1/sandbox/")
	id, rest, _ := strings.Cut(rest, "/")
	switch {
	case s.Request.Path == "/health":
		return Health(), nil
	case s.Request.Path == "/v1/pool/stats":
		return Stats(), nil
	case s.Request.Path == "/v1/sandbox" && s.Request.Method == http.MethodPost:
		return Create(), nil
	case !inSandbox:
	case rest == "exec":
		var o struct {
			Argv    []string
			Timeout int64 `json:"timeout_ms"`
			Cwd     string
		}
		if err := json.Unmarshal(s.Request.Body, &o); err != nil {
			return Call{}, err
		}
		return Exec(id, Order{Argv: o.Argv, Session: s.Request.Headers["Session-Id"], Dir: o.Cwd, Within: time.Duration(o.Timeout) * time.Millisecond})
	case rest == "running":
		return Running(id)
	case rest == "" && s.Request.Method == http.MethodDelete:
		return Destroy(id)
	case strings.HasPrefix(rest, "file/") && s.Request.Method == http.MethodGet:
		return ReadFile(id, strings.TrimPrefix(rest, "file"))
	case strings.HasPrefix(rest, "file/"):
		var content string
		_ = json.Unmarshal(s.Request.Body, &content)
		return WriteFile(id, strings.TrimPrefix(rest, "file"), []byte(content))
	case strings.HasPrefix(rest, "session/"):
		return DeleteSession(id, strings.TrimPrefix(rest, "session/"))
	}
	return Call{}, errNever
}

var errNever = errors.New("this package never sends such a request")

// The checks of a sample: of its answer, which was replayed for the call that this package makes.
type check func(t *testing.T, s *sample, c *Client, a got)

func ran(stdout, stderr string, exit int) check {
	return func(t *testing.T, s *sample, _ *Client, a got) {
		r := ReadRan(a.body)
		code, known := r.Exit.Get()
		if a.status != 200 || r.Problem != nil || !known || code != exit || r.Stdout != stdout || r.Stderr != stderr || !r.Began() || r.OK() != (exit == 0) || r.Cut {
			t.Errorf("%d %+v", a.status, r)
		}
	}
}

// notBegun is a command that could not begin although the status is 200. tells says that its text tells the directory.
func notBegun(tells bool) check {
	return func(t *testing.T, s *sample, _ *Client, a got) {
		r := ReadRan(a.body)
		if a.status != 200 || r.Problem == nil || r.Problem.Cause != CauseSpawn || r.Problem.Code != "exec_transport_error" || r.OK() || r.Began() || r.Exit.IsKnown() || r.Problem.NoDirectory() != tells {
			t.Errorf("%d %+v %+v", a.status, r, r.Problem)
		}
	}
}

// neverEnds is a command of which an output came, and then nothing: neither an end nor an error.
func neverEnds(t *testing.T, _ *sample, _ *Client, a got) {
	r := ReadRan(a.body)
	if r.Exit.IsKnown() || r.Problem != nil || !strings.Contains(r.Stderr, "Failed to change directory") || r.OK() {
		t.Errorf("%+v", r)
	}
}

func running(want bool) check {
	return func(t *testing.T, _ *sample, _ *Client, a got) {
		if is, err := ReadRunning(a.body); err != nil || is != want {
			t.Errorf("%t %v", is, err)
		}
	}
}

func pool(assigned int, most backend.Value[int]) check {
	return func(t *testing.T, _ *sample, c *Client, _ got) {
		p, err := c.Pool(t.Context())
		if err != nil || p != (Pool{Assigned: assigned, Total: assigned, Most: most}) {
			t.Errorf("%+v %v", p, err)
		}
	}
}

func problem(status int, cause Cause, code string, used, limit int) check {
	return func(t *testing.T, _ *sample, _ *Client, a got) {
		p := ReadProblem(a.status, a.body)
		if a.status != status || p.Cause != cause || p.Code != code || p.Used != used || p.Limit != limit || p.Text == "" {
			t.Errorf("%d %+v", a.status, p)
		}
		if _, again := p.Again(1, 0); again {
			t.Errorf("%+v is sent again", p)
		}
	}
}

// noProof is the answer to a removal: also where nothing was removed.
func noProof(t *testing.T, _ *sample, _ *Client, a got) {
	if a.status != http.StatusNoContent || len(a.body) > 0 {
		t.Errorf("%d %q", a.status, a.body)
	}
}

func content(want string) check {
	return func(t *testing.T, _ *sample, _ *Client, a got) {
		text, known := ReadContent(a.body).Get()
		if a.status != 200 || known != (want != "") || string(text) != want {
			t.Errorf("%d %q, known %t: a missing file is answered like an empty one", a.status, text, known)
		}
	}
}

func answered(status int) check {
	return func(t *testing.T, _ *sample, _ *Client, a got) {
		if a.status != status {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
}

func healthy(t *testing.T, _ *sample, c *Client, _ got) {
	if ok, missing, err := c.Health(t.Context()); !ok || len(missing) > 0 || err != nil {
		t.Errorf("%t %v %v", ok, missing, err)
	}
}

func unlimited() backend.Value[int] { return backend.Unknown[int]() }

// neverSent are the recorded requests that this package refuses to send, or has no call for; their answers are read all the same.
var neverSent = map[string]error{
	"bridge-rpc_03-bad-sandbox-id": errSandboxID, "bridge-rpc_04-list-sandboxes-not-a-route": errNever, "bridge-rpc_05-get-sandbox-not-a-route": errNever,
	"bridge-rpc_16-exec-empty-argv": errNoCommand, "bridge-rpc_28-pty-without-upgrade": errNever, "bridge-rpc_ws-9-hydrate": errNever,
	"bridge-rpc_bwedge-2-session-exec-missing-cwd": errDirInSession, "bridge-rpc_bwedge2-02-session-exec-missing-cwd": errDirInSession,
}

var samples = map[string]check{
	"bridge-http_15-exec-timeout":     timeoutIgnored,
	"bridge-http_19-exec-cwd-missing": notBegun(true),
	"bridge-http_ws-2-running":        running(false),
	"bridge-http_ws-3-exec":           notBegun(true),
	"bridge-nocontainers_running":     problem(502, CausePool, "pool_error", 0, 0),

	"bridge-rpc_00-health":                           healthy,
	"bridge-rpc_01-create-no-auth":                   problem(401, CauseKey, "unauthorized", 0, 0),
	"bridge-rpc_02-running-bad-token":                problem(401, CauseKey, "unauthorized", 0, 0),
	"bridge-rpc_03-bad-sandbox-id":                   problem(400, CauseRequest, "invalid_request", 0, 0),
	"bridge-rpc_04-list-sandboxes-not-a-route":       problem(404, CauseGone, "", 0, 0),
	"bridge-rpc_05-get-sandbox-not-a-route":          problem(404, CauseGone, "", 0, 0),
	"bridge-rpc_06-pool-stats-empty":                 pool(1, unlimited()),
	"bridge-rpc_07-create":                           answered(200),
	"bridge-rpc_08-pool-stats-after-create":          pool(1, unlimited()), // an id alone starts nothing
	"bridge-rpc_09-delete-never-started":             noProof,
	"bridge-rpc_10-running-never-started-id":         running(true), // of a container that the question itself started
	"bridge-rpc_12-exec-ok":                          ran("hello\n", "err\n", 0),
	"bridge-rpc_13-exec-nonzero":                     ran("", "", 3),
	"bridge-rpc_15-exec-timeout":                     ran("", "Command timed out after 500ms\n", 124),
	"bridge-rpc_16-exec-empty-argv":                  problem(400, CauseRequest, "invalid_request", 0, 0),
	"bridge-rpc_19-exec-cwd-missing":                 notBegun(false),
	"bridge-rpc_20-file-put":                         answered(200),
	"bridge-rpc_21-file-get":                         content("hello"),
	"bridge-rpc_22-file-get-missing":                 content(""),
	"bridge-rpc_26-session-delete":                   answered(200), // the documentation says 204
	"bridge-rpc_27-session-delete-missing":           problem(502, CauseSession, "session_error", 0, 0),
	"bridge-rpc_28-pty-without-upgrade":              problem(400, CauseRequest, "invalid_request", 0, 0),
	"bridge-rpc_90-delete":                           noProof,
	"bridge-rpc_91-pool-stats-after-delete":          pool(1, unlimited()), // of another sandbox: counts alone prove no removal
	"bridge-rpc_92-delete-again":                     noProof,
	"bridge-rpc_alloc-01-pool-stats-fresh":           pool(0, unlimited()),
	"bridge-rpc_alloc-03-pool-stats":                 pool(1, unlimited()),
	"bridge-rpc_alloc-04-delete-unknown-id":          noProof,
	"bridge-rpc_alloc-05-pool-stats":                 pool(1, unlimited()),
	"bridge-rpc_alloc-06-running-unknown-id":         running(true),
	"bridge-rpc_alloc-07-pool-stats":                 pool(2, unlimited()), // the question started a container
	"bridge-rpc_bwedge-2-session-exec-missing-cwd":   neverEnds,
	"bridge-rpc_bwedge-3-exec-in-other-session":      ran("/workspace\n", "", 0),
	"bridge-rpc_bwedge-7-delete":                     noProof,
	"bridge-rpc_bwedge2-02-session-exec-missing-cwd": neverEnds,
	"bridge-rpc_bwedge2-03-same-session":             ran("/root\n", "", 0), // the session kept where it fell back to
	"bridge-rpc_bwedge2-07-new-session-exec":         ran("/workspace\n", "", 0),
	"bridge-rpc_bwedge2-08-running":                  running(true),
	"bridge-rpc_capacity-1-first-running":            running(true),
	"bridge-rpc_capacity-2-second-running":           problem(503, CauseCeiling, "capacity_exceeded", 1, 1),
	"bridge-rpc_capacity-3-second-exec":              problem(503, CauseCeiling, "capacity_exceeded", 1, 1),
	"bridge-rpc_capacity-4-pool-stats":               pool(1, backend.Known(1)),
	"bridge-rpc_capacity-5-delete-first":             noProof,
	"bridge-rpc_capacity-6-second-after-free":        running(true),
	"bridge-rpc_capacity-7-pool-stats":               pool(1, backend.Known(1)),
	"bridge-rpc_ws-1-rm-rf":                          ran("", "", 0),
	"bridge-rpc_ws-10-repair-put-file":               answered(200),
	"bridge-rpc_ws-11-running-after-repair":          running(true),
	"bridge-rpc_ws-2-running":                        running(false), // of a container that is well but for its directory
	"bridge-rpc_ws-3-exec":                           notBegun(false),
	"bridge-rpc_ws-4-exec-cwd-workspace":             notBegun(false),
	"bridge-rpc_ws-5-file-get":                       content(""),
	"bridge-rpc_ws-7-health":                         healthy,
	"bridge-rpc_ws-8-exec-in-session":                ran("/root\n", "", 0),
	"bridge-rpc_ws-9-hydrate":                        problem(502, CauseFile, "workspace_archive_write_error", 0, 0),
}

// timeoutIgnored: over the old transport the command ran 5 s with a limit of 500 ms, and its answer does not tell that.
func timeoutIgnored(t *testing.T, s *sample, c *Client, a got) {
	ran("", "", 0)(t, s, c, a)
	call, err := s.call()
	if err != nil || !strings.Contains(string(call.Body), `"timeout_ms":500`) || s.ElapsedMs < 5000 {
		t.Errorf("%s took %d ms (%v)", call.Body, s.ElapsedMs, err)
	}
}

// TestEverySample replays each recorded exchange for the call that is made, and reads its answer.
func TestEverySample(t *testing.T) {
	files, err := filepath.Glob("testdata/bridge-*.json")
	if err != nil || len(files) != len(samples) {
		t.Errorf("%d files and %d checks (%v)", len(files), len(samples), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		verify := samples[name]
		if verify == nil {
			t.Errorf("%s is not read by any check", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			s := load(t, name)
			call, err := s.call()
			if want := neverSent[name]; want != nil || err != nil {
				if !errors.Is(err, want) || want == nil {
					t.Errorf("the call says %v, want %v", err, want)
				}
				verify(t, s, nil, got{status: s.Response.Status, body: s.body()})
				return
			}
			url := replay(t, s)
			within := 10 * time.Second
			if s.Response.ReadError == "TimeoutError" {
				within = 50 * time.Millisecond
			}
			if want := strings.HasPrefix(call.Path, "/v1/pool/") || call.Path == "/health"; call.Passive != want {
				t.Errorf("%s %s is passive %t", call.Method, call.Path, call.Passive)
			}
			a := send(t, url, call, within)
			if a.status == http.StatusTeapot {
				t.Fatalf("another request than the recorded one: %s", a.body)
			}
			verify(t, s, open(t, url, ""), a)
		})
	}
}

// TestAClientStartsNothing: what is no passive call is never sent by a reader, of any sandbox.
func TestAClientStartsNothing(t *testing.T) {
	asked := 0
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer srv.Close()
	c := open(t, srv.URL, "/ops")
	for _, make := range []func() (Call, error){
		func() (Call, error) { return Running("abc") }, func() (Call, error) { return Exec("abc", Order{Argv: []string{"true"}}) },
		func() (Call, error) { return ReadFile("abc", "/workspace/a") },
		func() (Call, error) { return Destroy("abc") }, func() (Call, error) { return DeleteSession("abc", "s") },
		func() (Call, error) { return Create(), nil }, func() (Call, error) { return Ops{"/ops"}.Stop("abc") },
	} {
		call, err := make()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.get(t.Context(), c.keyed, call, time.Second); !errors.Is(err, errActs) || asked > 0 {
			t.Errorf("%s %s was sent: %v", call.Method, call.Path, err)
		}
	}
	if _, err := Exec("abc", Order{Argv: []string{"pwd"}, Session: "s", Dir: Root}); !errors.Is(err, errDirInSession) {
		t.Errorf("a directory with a session: %v", err)
	}
	for _, bad := range []string{"", "/etc/passwd", "/workspace", "/workspace/../etc/passwd", "workspace/a", "/workspace//a"} {
		if _, err := ReadFile("abc", bad); !errors.Is(err, errPath) {
			t.Errorf("file %q: %v", bad, err)
		}
	}
	if call, err := ReadFile("abc", "/workspace/a b?c"); err != nil || call.Path != "/v1/sandbox/abc/file/workspace/a%20b%3Fc" {
		t.Errorf("%s %v", call.Path, err)
	}
}

// TestAnOpenBridge answers without a key. One that refuses is closed; of one that cannot be asked nothing is known.
func TestAnOpenBridge(t *testing.T) {
	stats := string(load(t, "bridge-rpc_06-pool-stats-empty").body())
	for name, c := range map[string]struct {
		status int
		body   string
		want   backend.Value[bool]
	}{
		"open": {200, stats, backend.Known(true)}, "closed": {401, `{"error":"Unauthorized","code":"unauthorized"}`, backend.Known(false)},
		"a page": {200, "<html>hello</html>", backend.Unknown[bool]()}, "down": {502, "bad gateway", backend.Unknown[bool]()},
	} {
		var keys []string
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			keys = append(keys, r.Header.Get("Authorization"))
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		}))
		if got := open(t, srv.URL, "").Open(t.Context()); got != c.want || len(keys) != 1 || keys[0] != "" {
			t.Errorf("%s: %v, asked with %q", name, got, keys)
		}
		srv.Close()
	}
}

// TestAWorkerWithoutBindings says which it misses.
func TestAWorkerWithoutBindings(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(503)
		_, _ = io.WriteString(w, `{"ok":false,"errors":["Missing Durable Object binding: Sandbox"]}`)
	}))
	defer srv.Close()
	ok, missing, err := open(t, srv.URL, "").Health(t.Context())
	if ok || err != nil || len(missing) != 1 || !strings.Contains(missing[0].String(), "binding: Sandbox") {
		t.Errorf("%t %v %v", ok, missing, err)
	}
}

// TestFeaturesAreRoutes: both releases call themselves 1.0.0, so that only their routes tell them apart.
func TestFeaturesAreRoutes(t *testing.T) {
	for version, want := range map[string]Features{
		"0.12.10":           {Exec: true, Sessions: true, Files: true, Running: true, Destroy: true, Pool: true},
		"0.13.0-next.751.1": {Files: true, Running: true, Destroy: true, Pool: true, Processes: true, Terminals: true},
	} {
		doc, err := os.ReadFile("testdata/openapi-" + version + ".json")
		if err != nil {
			t.Fatal(err)
		}
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v1/openapi.json" && r.Header.Get("Authorization") == "Bearer "+testKey {
				_, _ = w.Write(doc)
			}
		}))
		f, err := open(t, srv.URL, "").Features(t.Context())
		srv.Close()
		if err != nil || f != want || f.Preview() != (version != "0.12.10") || !strings.Contains(string(doc), `"version": "1.0.0"`) {
			t.Errorf("%s: %+v %v", version, f, err)
		}
	}
	for _, bad := range []string{"", "[]", `{"paths":3}`, "<html>"} {
		if _, err := ReadFeatures([]byte(bad)); err == nil {
			t.Errorf("%q is a document", bad)
		}
	}
}

// TestCapacityByReason: each reason of a container that cannot be used, and whether the same call is sent again.
func TestCapacityByReason(t *testing.T) {
	for _, c := range []struct {
		body  string
		cause Cause
		again time.Duration
	}{
		{`{"code":"CONTAINER_UNAVAILABLE","message":"x","context":{"reason":"container_starting","retryable":true,"retryAfterMs":5000}}`, CauseStarting, 5 * time.Second},
		{`{"code":"CONTAINER_UNAVAILABLE","message":"x","context":{"reason":"container_replaced","retryable":true}}`, CauseStarting, 3 * time.Second},
		{`{"code":"CONTAINER_UNAVAILABLE","message":"x","context":{"reason":"container_unhealthy"}}`, CauseUnreachable, 3 * time.Second},
		{`{"code":"CONTAINER_UNAVAILABLE","message":"x","context":{"reason":"rpc_upgrade_failed"}}`, CauseUnreachable, 3 * time.Second},
		{`{"code":"CONTAINER_UNAVAILABLE","message":"x","context":{"reason":"container_unreachable"}}`, CauseUnreachable, 3 * time.Second},
		{`{"code":"CONTAINER_UNAVAILABLE","message":"x","context":{"reason":"no_container_instance_available","retryable":true}}`, CauseNoInstance, 0},
		{`{"code":"CONTAINER_UNAVAILABLE","message":"x","context":{"reason":"max_container_instances_exceeded","retryable":true}}`, CauseCeiling, 0},
		{`{"code":"exec_transport_error","error":"exec failed: There is no container instance that can be provided to this Durable Object, try again later"}`, CauseNoInstance, 0},
		{`{"code":"exec_transport_error","error":"exec failed: Maximum number of running container instances exceeded. Try again later"}`, CauseCeiling, 0},
		{`{"code":"exec_transport_error","error":"exec failed: SandboxError: container_starting"}`, CauseStarting, 3 * time.Second},
		{`{"code":"OPERATION_INTERRUPTED","message":"x","context":{"reason":"sandbox_lifetime_changed"}}`, CauseStarting, 0},
		{`{"code":"OPERATION_INTERRUPTED","message":"x","context":{"reason":"recovery_exhausted"}}`, CauseStarting, 0},
		{`{"code":"RPC_TRANSPORT_ERROR","message":"x","context":{"kind":"peer_closed"}}`, CauseUnreachable, 3 * time.Second},
		{`{"code":"CONTROL_PROTOCOL_INCOMPATIBLE","message":"x"}`, CauseIncompatible, 0},
		{`{"code":"NEW_WORD","message":"something"}`, CauseOther, 3 * time.Second},
		{`{"code":"exec_error","error":"exec failed: CommandError: Failed to execute command 'ls': Unknown Error, TODO"}`, CauseUnknownError, 3 * time.Second},
	} {
		p := ReadProblem(503, []byte(c.body))
		if wait, again := p.Again(1, 0); p.Cause != c.cause || wait != c.again || again != (c.again > 0) {
			t.Errorf("%s: %s, again %v %t", c.body, p.Cause, wait, again)
		}
	}
	p := ReadProblem(503, []byte(`{"code":"CONTAINER_UNAVAILABLE","context":{"reason":"container_starting"}}`))
	for n, want := range []time.Duration{3, 6, 12, 24, 30, 30} {
		if wait, again := p.Again(n+1, 0); !again || wait != want*time.Second {
			t.Errorf("try %d waits %v", n+1, wait)
		}
	}
	if wait, _ := p.Again(1, 10*time.Second); wait != 10*time.Second {
		t.Errorf("Retry-After is ignored: %v", wait)
	}
	for status, cause := range map[int]Cause{500: CauseStartup, 503: CauseOther} { // it is permanent with 500 only
		if p := ReadProblem(status, []byte(`{"code":"INTERNAL_ERROR","message":"x","context":{"phase":"startup"}}`)); p.Cause != cause {
			t.Errorf("%d: %s", status, p.Cause)
		}
	}
	if p := ReadProblem(502, []byte(`{"code":"exec_transport_error","error":"container_starting"}`)); p.Status == 503 {
		t.Error("another status")
	} else if _, again := p.Again(1, 0); again {
		t.Error("a 502 may have begun something, and is sent again")
	}
}

// TestStreamsAreBounded: what is broken, cut, endless or hostile ends in no claim about the command.
func TestStreamsAreBounded(t *testing.T) {
	chunk := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", 1000)))
	long := strings.Repeat("event: stdout\ndata: "+chunk+"\n\n", 100)
	if r := ReadRan([]byte(long + "event: exit\ndata: {\"exit_code\":0}\n\n")); len(r.Stdout) != mostOutput || !r.Cut || !r.OK() {
		t.Errorf("%d bytes kept, cut %t", len(r.Stdout), r.Cut)
	}
	if r := ReadRan([]byte(strings.Repeat("event: x\ndata: y\n\n", mostEvents+1) + "event: exit\ndata: {\"exit_code\":0}\n\n")); r.OK() || !r.Cut {
		t.Errorf("%+v", r)
	}
	for _, body := range []string{"", "event: exit\ndata: {\"exit_code\":0}\n", "event: exit\ndata: {\"exit_code\":0}", "event: exit\ndata: {}\n\n", "event: exit\ndata: nothing\n\n",
		"event: stdout\ndata: !!!\n\n", "data: {\"exit_code\":0}\n\n", ": a comment\n\n", "<html>502</html>\n\n"} {
		if r := ReadRan([]byte(body)); r.OK() || r.Exit.IsKnown() || r.Problem != nil || r.Stdout != "" {
			t.Errorf("%q says %+v", body, r)
		}
	}
	if r := ReadRan([]byte("event: stdout\r\ndata: aGkK\r\n\r\nevent: exit\r\ndata: {\"exit_code\":0}\r\n\r\n")); r.Stdout != "hi\n" || !r.OK() {
		t.Errorf("CRLF: %+v", r)
	}
	if r := ReadRan([]byte("event: error\ndata: broken\n\n")); r.Problem == nil || r.Problem.Text != "broken" {
		t.Errorf("%+v", r)
	}
}

func FuzzReadRan(f *testing.F) {
	f.Add([]byte("event: stdout\ndata: aGkK\n\nevent: exit\ndata: {\"exit_code\":0}\n\n"))
	f.Add([]byte("event: error\ndata: {\"error\":\"x\",\"code\":\"y\"}\n\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		if r := ReadRan(body); len(r.Stdout) > mostOutput || len(r.Stderr) > mostOutput || r.Problem != nil && r.Exit.IsKnown() {
			t.Errorf("%+v", r)
		}
		_ = ReadProblem(500, body)
		_, _, _, _ = ReadBoxes(body)
		_, _ = ReadProcesses(body)
		_, _ = ReadPool(body)
	})
}
