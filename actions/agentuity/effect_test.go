package agentuity

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/backend/fleet"
)

const boxID = "sbx_1"

// world is a platform that answers by method and path.
type world struct {
	t      *testing.T
	clock  *backendtest.Clock
	url    string
	state  string
	had    int // entries of each directory before
	mu     sync.Mutex
	routes map[string]func(*http.Request) (int, string)
	asked  []string
}

func (w *world) SandboxBase(backend.ID) (base, org string) { return w.url, "org_1" }
func (w *world) RegionBases() []string                     { return []string{w.url} }
func (w *world) HubBase() (base, org string, err error)    { return w.url, "org_1", nil }
func (w *world) RegionStep(named string) string            { return "step for region " + named }
func (w *world) Directory() string                         { return "/home/agentuity" }

// SawFiles tells that each directory had w.had entries an hour ago.
func (w *world) SawFiles(_ backend.ID, entries int, _ time.Time) (had int, since time.Time, lost bool) {
	return w.had, w.clock.Now().Add(-time.Hour), entries < w.had/2
}

func (w *world) ID() string                                          { return "agentuity" }
func (w *world) Poll(context.Context) (r backend.Reading, err error) { return r, nil }

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, clock: backendtest.NewClock(time.Now()), state: t.TempDir(), routes: map[string]func(*http.Request) (int, string){}}
	srv := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.asked = append(w.asked, r.Method+" "+r.URL.Path)
		f := w.routes[r.Method+" "+r.URL.Path]
		w.mu.Unlock()
		if r.Header.Get("Authorization") != "Bearer acting-key-12345" {
			out.WriteHeader(http.StatusUnauthorized)
			return
		}
		out.Header().Set("x-session-id", "sess_test")
		if f == nil {
			out.WriteHeader(http.StatusNotFound)
			_, _ = out.Write([]byte(`{"success":false,"message":"sandbox not found","code":"SANDBOX_NOT_FOUND"}`))
			return
		}
		status, body := f(r)
		out.WriteHeader(status)
		_, _ = out.Write([]byte(body))
	}))
	t.Cleanup(srv.Close)
	w.url = srv.URL
	return w
}

func (w *world) set(route string, status int, body string) {
	w.setFunc(route, func(*http.Request) (int, string) { return status, body })
}

func (w *world) setFunc(route string, f func(*http.Request) (int, string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.routes[route] = f
}

// sample serves the answer of a synthetic exchange of the source's testdata.
func (w *world) sample(route, name string) {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "backend", "agentuity", "testdata", name+".json"))
	if err != nil {
		w.t.Fatal(err)
	}
	var s struct {
		Response struct {
			Status int
			Body   json.RawMessage
		}
	}
	if err := json.Unmarshal(b, &s); err != nil {
		w.t.Fatal(err)
	}
	w.set(route, s.Response.Status, string(s.Response.Body))
}

func (w *world) status(word string) {
	w.set("GET /sandbox/"+boxID, 200, `{"success":true,"data":{"sandboxId":"`+boxID+`","status":"`+word+`","runtime":{"id":"srt_1","name":"bun:1"},"timeout":{"idle":"10m0s"},"networkPort":4096,"networkEnabled":true,"metadata":{"owner":"a"}}}`)
	w.set("GET /sandbox/status/"+boxID, 200, `{"success":true,"data":{"sandboxId":"`+boxID+`","status":"`+word+`"}}`)
}

func (w *world) asks(part string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range w.asked {
		if strings.Contains(a, part) {
			n++
		}
	}
	return n
}

func (w *world) parts(verbs ...actions.Verb) map[actions.Verb]actions.Part {
	w.t.Helper()
	site := actions.Site{Source: w, Allowed: verbs, StateDir: w.state, Options: backendtest.Options[Options](func(o *Options) { o.Act.Env = "ACT" }),
		Deps: backend.Deps{ID: "agentuity", Now: time.Now, Dial: (&net.Dialer{}).DialContext, Getenv: func(string) string { return "acting-key-12345" }}}
	parts, missing, err := Kind().Build(site)
	if err != nil || len(missing) > 0 || len(parts) != len(verbs) {
		w.t.Fatalf("parts %v, missing %v: %v", len(parts), missing, err)
	}
	return parts
}

func (w *world) do(v actions.Verb, state string) (actions.Done, error) {
	w.t.Helper()
	e, err := w.parts(v)[v].Open(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return e.Do(ctx, actions.Target{Key: backend.Key{Kind: backend.KindSandbox, Source: "agentuity", ID: backend.MustID(boxID)},
		Identity: []actions.Fact{{Name: "id", Value: boxID}, {Name: factState, Value: state}}}, actions.Params{})
}

// TestResumeIsVerified: accepted is not healthy. Only a status and a directory that answers prove it.
func TestResumeIsVerified(t *testing.T) {
	w := newWorld(t)
	w.status("suspended")
	w.setFunc("POST /sandbox/"+boxID+"/resume", func(*http.Request) (int, string) {
		w.status("idle")
		return 200, `{"success":true}`
	})
	w.sample("GET /fs/list/"+boxID, "healthy_fs_list")
	w.sample("GET /sandbox/sandboxes/"+boxID+"/executions", "healthy_executions")
	done, err := w.do(actions.Resume, "suspended")
	if got := stepWords(done.Steps); got != "control ok, exec not tried, filesystem list ok, filesystem read not tried, queue ok, driver not tried" {
		t.Errorf("steps: %s", got)
	}
	if err != nil || !done.Proved || len(done.Observed) != 3 || !strings.Contains(done.Text.String(), "/home/agentuity has 4 entries") {
		t.Errorf("resumed: %+v %v", done, err)
	}
	w.status("suspended")
	w.sample("GET /fs/list/"+boxID, "zombie_fs_list_404")
	done, err = w.do(actions.Resume, "suspended")
	if err == nil || done.Proved || done.Observed[1].Kind != backend.FailMountGone || !strings.Contains(err.Error(), "mount is gone") {
		t.Errorf("accepted and broken: %+v %v", done, err)
	}
	if _, err = w.do(actions.Resume, "paused"); !isChanged(err) {
		t.Errorf("another status than planned: %v", err)
	}
}

// TestAHomeThatIsEmptyAfterAResume is no success: most of its files are gone (agentuity/sdk#1161). A probe says the same where the
// sandbox slept since, and else that it works.
func TestAHomeThatIsEmptyAfterAResume(t *testing.T) {
	w := newWorld(t)
	w.had = 4
	w.status("suspended")
	w.setFunc("POST /sandbox/"+boxID+"/resume", func(*http.Request) (int, string) {
		w.status("idle")
		return 200, `{"success":true}`
	})
	w.set("GET /fs/list/"+boxID, 200, `{"success":true,"data":{"files":[{"path":".env"}]}}`)
	w.sample("GET /sandbox/sandboxes/"+boxID+"/executions", "healthy_executions")
	done, err := w.do(actions.Resume, "suspended")
	if err == nil || done.Proved || done.Observed[1].Kind != backend.FailFilesystemMissing || !strings.Contains(err.Error(), "/home/agentuity has 1 entry, and had 4 before it slept") {
		t.Errorf("resumed: %+v %v", done, err)
	}
	w.set("POST /sandbox/"+boxID+"/execute", 200, `{"success":true,"data":{"executionId":"exe_1","status":"completed","exitCode":0}}`)
	for ago, want := range map[time.Duration]backend.Outcome{time.Minute: backend.OutcomeFailed, 2 * time.Hour: backend.OutcomeOK} {
		w.set("GET /sandbox/sandboxes/"+boxID+"/events", 200, `{"success":true,"data":{"events":[{"eventId":"e","type":"suspend","createdAt":"`+w.clock.Now().Add(-ago).UTC().Format(time.RFC3339)+`"}]}}`)
		done, err = w.do(actions.Probe, "idle")
		if v, _ := (backend.Observation{Verdicts: done.Observed}).Of(backend.PlaneList); err != nil || v.Outcome != want {
			t.Errorf("suspended %s ago: %+v %v", ago, v, err)
		}
	}
}

// archive is a packed directory of some files.
func archive(t *testing.T, names ...string) string {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	all := tar.NewWriter(zipped)
	for _, name := range names {
		if err := all.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o600, Size: 2}); err != nil {
			t.Fatal(err)
		}
		_, _ = all.Write([]byte("hi"))
	}
	if err := errors.Join(all.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func stepWords(steps []actions.Step) string {
	var all []string
	for _, s := range steps {
		all = append(all, s.Name.String()+" "+string(s.Result))
	}
	return strings.Join(all, ", ")
}

func isChanged(err error) bool {
	var changed *actions.ChangedError
	return errors.As(err, &changed)
}

// TestConflictsAreToldApart: for good, for now, for another reason.
func TestConflictsAreToldApart(t *testing.T) {
	w := newWorld(t)
	route := "POST /sandbox/" + boxID + "/resume"
	events := func(ago time.Duration) {
		w.set("GET /sandbox/sandboxes/"+boxID+"/events", 200, `{"success":true,"data":{"events":[{"type":"suspend","createdAt":"`+time.Now().Add(-ago).UTC().Format(time.RFC3339)+`"}]}}`)
	}
	w.status("suspended")
	w.sample(route, "resume_409_no_checkpoint")
	done, err := w.do(actions.Resume, "suspended")
	if err == nil || len(done.Observed) != 2 || done.Observed[0].Kind != backend.FailNoCheckpoint || !strings.Contains(err.Error(), "trying again does not help") || !strings.Contains(err.Error(), "trace sess_test") {
		t.Errorf("no checkpoint: %+v %v", done, err)
	}
	w.sample(route, "resume_409_checkpoint_pending")
	events(40 * time.Second)
	refused := func(d actions.Done) bool { // no failure: it may pass
		return len(d.Observed) == 1 && d.Observed[0].Kind == backend.FailResumeRefused && d.Observed[0].Outcome == backend.OutcomeUnknown &&
			strings.Contains(d.Observed[0].What.String(), "its resume was refused: answered 409 Conflict: A conflict occurred")
	}
	if done, err := w.do(actions.Resume, "suspended"); err == nil || !refused(done) || !strings.Contains(err.Error(), "not stored yet: resume it again in a minute") {
		t.Errorf("soon after the suspend: %+v %v", done, err)
	}
	events(time.Hour)
	if done, err := w.do(actions.Resume, "suspended"); err == nil || !refused(done) || !strings.Contains(err.Error(), "may be missing") {
		t.Errorf("long after the suspend: %+v %v", done, err)
	}
	w.setFunc(route, func(*http.Request) (int, string) { w.status("idle"); return 409, `{"message":"A conflict occurred"}` })
	if done, err := w.do(actions.Resume, "suspended"); !isChanged(err) || len(done.Observed) > 0 {
		t.Errorf("somebody else resumed it: %+v %v", done, err)
	}
}

// TestAMisdirectedOrderSaysWhatTheSourceSays: one place judges the region that an answer names.
func TestAMisdirectedOrderSaysWhatTheSourceSays(t *testing.T) {
	w := newWorld(t)
	w.status("suspended")
	w.set("POST /sandbox/"+boxID+"/resume", http.StatusMisdirectedRequest, `{"message":"misdirected"}`)
	if _, err := w.do(actions.Resume, "suspended"); err == nil || !strings.Contains(err.Error(), "misdirected (trace sess_test); step for region ") {
		t.Error(err)
	}
}

// TestOtherOrders: pause with its fields beside data, destroy, replace with the old configuration, rescue.
func TestOtherOrders(t *testing.T) {
	w := newWorld(t)
	w.status("idle")
	w.sample("POST /sandbox/"+boxID+"/pause", "pause_200")
	done, err := w.do(actions.Pause, "idle")
	if err != nil || !strings.Contains(done.Text.String(), "suspended, checkpoint ckpt_4a8f56bbfb0b1b3d") || !strings.Contains(done.Notes[0].String(), "2026-04-05T01:10:00Z") {
		t.Errorf("pause: %+v %v", done, err)
	}
	var made map[string]any
	w.setFunc("POST /sandbox", func(r *http.Request) (int, string) {
		_ = json.NewDecoder(r.Body).Decode(&made)
		return 201, `{"success":true,"data":{"sandboxId":"sbx_2","status":"creating"}}`
	})
	w.set("GET /sandbox/status/sbx_2", 200, `{"success":true,"data":{"status":"idle"}}`)
	w.sample("GET /fs/list/sbx_2", "healthy_fs_list")
	for name, note := range map[string]string{"checkpoints_409_suspended": "whether the old one has checkpoints is not known: answered 409 Conflict",
		"checkpoints_list": "checkpoints of the old one, which may hold its files: before-migration (ckpt_371195a1fd65269c, 2026-04-04T00:49:00Z)"} {
		w.sample("GET /sandbox/checkpoints/"+boxID, name)
		if done, err = w.do(actions.Replace, "idle"); err != nil || len(done.Notes) != 3 || !strings.HasPrefix(done.Notes[2].String(), note) {
			t.Errorf("%s: %+v %v", name, done.Notes, err)
		}
	}
	done, err = w.do(actions.Replace, "idle")
	if err != nil || !done.Proved || !strings.Contains(done.Text.String(), "the new sandbox is sbx_2") || made["runtimeId"] != "srt_1" || made["metadata"].(map[string]any)["owner"] != "a" || made["network"].(map[string]any)["port"] != 4096.0 {
		t.Errorf("replace: %+v %v with %v", done, err, made)
	}
	w.set("POST /sandbox", 500, `{"success":false,"message":"Internal Server Error"}`)
	var open *actions.UncertainError
	if _, err = w.do(actions.Replace, "idle"); !errors.As(err, &open) || !strings.Contains(err.Error(), "look for a sandbox that is newer than this request") {
		t.Errorf("replace of one without a name that answers 500: %v", err)
	}
	w.set("GET /sandbox/"+boxID, 200, `{"success":true,"data":{"sandboxId":"`+boxID+`","name":"web","status":"idle","runtime":{"id":"srt_1"}}}`)
	for list, want := range map[string]string{
		`{"sandboxId":"sbx_3","name":"web-replacement"},{"sandboxId":"sbx_4","name":"web"}`: "of the name web-replacement are listed: sbx_3. Use the new one",
		"": "no sandbox of the name web-replacement is listed yet",
	} {
		w.set("GET /sandbox", 200, `{"success":true,"data":{"sandboxes":[`+list+`]}}`)
		if _, err = w.do(actions.Replace, "idle"); !errors.As(err, &open) || !strings.Contains(err.Error(), want) {
			t.Errorf("replace that answers 500: %v", err)
		}
	}
	w.status("idle")
	packed := archive(t, "a.txt")
	w.set("GET /fs/download/"+boxID, 200, packed)
	done, err = w.do(actions.Rescue, "idle")
	size, file, _ := strings.Cut(done.Text.String(), " in ")
	if b, read := os.ReadFile(file); err != nil || read != nil || string(b) != packed || !strings.HasPrefix(size, "1 file, ") {
		t.Errorf("rescue: %+v %v %v", done, err, read)
	}
	for name, body := range map[string]string{"a login page": "<html>login</html>", "half an archive": packed[:len(packed)-20], "noise": "\x1f\x8b" + strings.Repeat("x", 1000)} {
		w.set("GET /fs/download/"+boxID, 200, body)
		if done, err = w.do(actions.Rescue, "idle"); err == nil || !strings.Contains(err.Error(), "no whole archive") {
			t.Errorf("%s: %+v %v", name, done, err)
		}
	}
	w.sample("GET /fs/download/"+boxID, "zombie_fs_list_404")
	if _, err = w.do(actions.Rescue, "idle"); err == nil || !strings.Contains(err.Error(), "its mount is gone") {
		t.Errorf("rescue without a mount: %v", err)
	}
	if left, _ := os.ReadDir(filepath.Join(w.state, "rescue")); len(left) != 1 {
		t.Errorf("%d archives are left", len(left))
	}
	w.set("GET /fs/download/"+boxID, 500, `{"message":"Internal Server Error"}`)
	w.setFunc("GET /fs/list/"+boxID, func(r *http.Request) (int, string) {
		if r.URL.Query().Get("path") == "/home/agentuity/src" {
			return 200, `{"success":true,"data":{"files":[{"path":"main.ts","isDir":false}]}}`
		}
		return 200, `{"success":true,"data":{"files":[{"path":"src","isDir":true},{"path":"../../etc/passwd","isDir":false},{"path":"loop","isSymlink":true}]}}`
	})
	w.setFunc("GET /fs/"+boxID, func(r *http.Request) (int, string) {
		if r.URL.Query().Get("path") == "/home/agentuity/passwd" {
			return 404, `{"message":"not found"}`
		}
		return 200, "content of " + r.URL.Query().Get("path")
	})
	done, err = w.do(actions.Rescue, "idle")
	if err == nil || done.Proved || !strings.Contains(err.Error(), "partly done: 1 file, ") || !strings.Contains(err.Error(), "1 file was saved one by one. 1 file or directory is not saved, or not whole: /home/agentuity/passwd: ") {
		t.Errorf("rescue file by file: %+v %v", done, err)
	}
	w.setFunc("DELETE /sandbox/"+boxID, func(*http.Request) (int, string) { w.status("terminated"); return 204, "" })
	if done, err = w.do(actions.Destroy, "idle"); err != nil || !done.Proved {
		t.Errorf("destroy: %+v %v", done, err)
	}
}

// TestProbeNeverRepeats: a command is sent once, whatever is answered, and only where the directory answers.
func TestProbeNeverRepeats(t *testing.T) {
	w := newWorld(t)
	w.status("idle")
	w.sample("GET /fs/list/"+boxID, "healthy_fs_list")
	for _, name := range []string{"zombie_execute_500", "zombie_execute_500_error_key"} {
		w.sample("POST /sandbox/"+boxID+"/execute", name)
		before := w.asks("/execute")
		done, err := w.do(actions.Probe, "idle")
		v, _ := backend.Observation{Verdicts: done.Observed}.Of(backend.PlaneExec)
		if err != nil || v.Outcome != backend.OutcomeFailed || w.asks("/execute") != before+1 {
			t.Errorf("%s: %+v %v, sent %d times", name, v, err, w.asks("/execute")-before)
		}
	}
	w.sample("POST /sandbox/"+boxID+"/execute", "execute_auto_resumed")
	w.set("GET /sandbox/execution/exe_205e01f0eb982097f9b11536ae140de21b025bbf3227af11becdcbc9fe04", 200, `{"success":true,"data":{"status":"completed","exitCode":0}}`)
	done, err := w.do(actions.Probe, "idle")
	if v, _ := (backend.Observation{Verdicts: done.Observed}).Of(backend.PlaneExec); err != nil || v.Outcome != backend.OutcomeOK {
		t.Errorf("works: %+v %v", v, err)
	}
	w.sample("GET /fs/list/"+boxID, "zombie_fs_list_404")
	before := w.asks("/execute")
	if _, err := w.do(actions.Probe, "idle"); err != nil || w.asks("/execute") != before {
		t.Errorf("a command was sent to a sandbox without a mount: %v", err)
	}
}

// TestAProbeThatProvesNothing is not verified, and says what to do about the refusal.
func TestAProbeThatProvesNothing(t *testing.T) {
	for _, c := range []struct {
		route, body, says string
		status            int
	}{
		{"GET /sandbox/status/" + boxID, `{"success":false,"message":"unauthorized"}`, "check the acting key ([source.act])", 401},
		{"GET /fs/list/" + boxID, `{"success":false,"message":"Internal Server Error"}`, "the platform answered 500", 500},
	} {
		w := newWorld(t)
		w.status("idle")
		w.set(c.route, c.status, c.body)
		done, err := w.do(actions.Probe, "idle")
		if err == nil || done.Proved || !strings.Contains(err.Error(), "it proved nothing: ") || !strings.Contains(err.Error(), c.says) || w.asks("/execute") != 0 {
			t.Errorf("%s: proved %t, %v", c.route, done.Proved, err)
		}
	}
}

// TestNudgesAreRefused with the reason, and so is what would wake or cannot help.
func TestNudgesAreRefused(t *testing.T) {
	now := time.Now()
	box := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "a", ID: backend.MustID(boxID)}}, Name: backend.Text("agent"), IsSandbox: true, Provider: backend.Text("agentuity"),
		Reported: backend.Text("idle"), Class: backend.SandboxRunning}
	session := &backend.Session{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSession, Source: "a", ID: backend.MustID("codesess_1")}}, Status: backend.Text("error"),
		Hub: &backend.HubSession{Sandbox: backend.MustID(boxID), Driver: backend.Known(false)}}
	nudge := &backend.Execution{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindExecution, Source: "a", Parent: backend.MustID(boxID), ID: backend.MustID("exe_1")}},
		Work: backend.Work{Within: backend.KindSandbox, Class: backend.WorkQueued, Nudge: true}}
	look := func(v actions.Verb, k backend.Key, r backend.Reading) actions.Candidate {
		r.Source, r.At = "a", now
		r.Sandboxes, r.Sessions = []*backend.Sandbox{box}, []*backend.Session{session}
		st := fleet.NewFolder(time.Minute).Fold([]backend.Answer{{Source: "a", Config: &backend.SourceConfig{Kind: "agentuity", Interval: time.Minute}},
			{Source: "a", Reading: &r, Ended: backend.Instant{Wall: now}}}, backend.Instant{Wall: now})
		return targetReader{v}.Look(context.Background(), actions.Question{Keys: []backend.Key{k}, State: st, Now: now})[0]
	}
	why := func(v actions.Verb, k backend.Key, r backend.Reading) string { return look(v, k, r).Why.String() }
	if got := why(actions.Wake, session.Key, backend.Reading{}); got != "" {
		t.Errorf("a wake is refused: %s", got)
	}
	if got := why(actions.Wake, session.Key, backend.Reading{Executions: []*backend.Execution{nudge}}); !strings.Contains(got, "1 nudge is queued in its sandbox already") {
		t.Errorf("with a queued nudge: %q", got)
	}
	if got := why(actions.Probe, box.Key, backend.Reading{Executions: []*backend.Execution{nudge}}); !strings.Contains(got, "queued in it") {
		t.Errorf("probe with a queue: %q", got)
	}
	if c := look(actions.Probe, box.Key, backend.Reading{}); !c.Why.IsEmpty() || len(c.Notes) > 0 {
		t.Errorf("probe of one in which nothing failed: %+v", c)
	}
	if got := why(actions.Resume, box.Key, backend.Reading{}); !strings.Contains(got, "there is nothing to resume") {
		t.Errorf("resume of a live one: %q", got)
	}
	box = box.WithObserved([]backend.Verdict{{Plane: backend.PlaneList, Outcome: backend.OutcomeFailed, Kind: backend.FailMountGone, At: now}})
	box.Meta.Rev = 0
	if got := why(actions.Wake, session.Key, backend.Reading{}); !strings.Contains(got, "the mount of its sandbox is gone") {
		t.Errorf("wake without a mount: %q", got)
	}
	if got := why(actions.Rescue, box.Key, backend.Reading{}); !strings.Contains(got, "no file of it can be read") {
		t.Errorf("rescue without a mount: %q", got)
	}
	if c := look(actions.Probe, box.Key, backend.Reading{}); len(c.Notes) != 1 || !strings.Contains(c.Notes[0].String(), "it stops after the filesystem list while that fails, and then runs no command") {
		t.Errorf("probe without a mount: %+v", c)
	}
}

// TestAProbeReadsTheExitCode: a command that ended by the platform's word and with another code than 0 did not run. The answers
// are the sheet's, of an execute and of its execution a moment later.
func TestAProbeReadsTheExitCode(t *testing.T) {
	for code, want := range map[string]backend.Outcome{"0": backend.OutcomeOK, "126": backend.OutcomeFailed} {
		w := newWorld(t)
		w.status("idle")
		w.sample("GET /fs/list/"+boxID, "healthy_fs_list")
		const id = "exe_bf3beb9d2c0c56c265a4bbdc9a9f2fd05bc540a1ab5d385a0d12ee945f15"
		w.set("POST /sandbox/"+boxID+"/execute", 200, `{"success":true,"data":{"executionId":"`+id+`","status":"queued"}}`)
		w.sample("GET /sandbox/execution/"+id, "healthy_execution_get")
		if code != "0" {
			w.set("GET /sandbox/execution/"+id, 200, `{"success":true,"data":{"executionId":"`+id+`","status":"completed","exitCode":`+code+`}}`)
		}
		done, err := w.do(actions.Probe, "idle")
		v, _ := backend.Observation{Verdicts: backend.MergeVerdicts(done.Observed)}.Of(backend.PlaneExec)
		if err != nil || v.Outcome != want {
			t.Errorf("exit code %s: %+v %v", code, v, err)
		}
	}
}
