package blaxel

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/backend/blaxel/sandbox"
	"sandglass/backend/fleet"
	"sandglass/backend/wire"
	demo "sandglass/demo/blaxel"
)

const (
	boxName = "agents-0a1b2c3d4e5f"
	theKey  = "blaxel-key-0123456789"
)

// world is a source with the demo's platform, whose servers are held to the recorded ones.
type world struct {
	t        *testing.T
	platform *demo.Platform
	box      *demo.Box
	url      string
	dir      string
	mu       sync.Mutex
	asked    []string
	answer   func(w http.ResponseWriter, r *http.Request) bool // instead of the platform; nil: never
	reads    time.Duration                                     // instead of that of the program; 0: that
	sandbox  *backend.Sandbox
	once     bool // the first read is not sent again
	refs     []*backend.Ref
	logged   []backend.Count
}

func (w *world) ID() string                                          { return "bl" }
func (w *world) Poll(context.Context) (r backend.Reading, err error) { return r, nil }
func (w *world) Site() sandbox.Site {
	return sandbox.Site{URL: w.url + "/v0", Workspace: demo.Workspace, Version: demo.Version, Hosts: []string{"bl.run"}, Key: wire.Credential{Env: "KEY"}}
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir()}
	w.platform = demo.NewPlatform(theKey, time.Now, func() string { return w.url }, func(time.Duration) {})
	srv := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.asked = append(w.asked, r.Method+" "+r.URL.EscapedPath())
		w.mu.Unlock()
		if w.answer == nil || !w.answer(out, r) {
			w.platform.ServeHTTP(out, r)
		}
	}))
	t.Cleanup(srv.Close)
	w.url = srv.URL
	w.box = w.platform.Add(boxName, time.Now().Add(-time.Hour))
	w.sandbox = &backend.Sandbox{Meta: backend.Meta{Key: key(), ReadAt: time.Now()}, IsSandbox: true, Name: backend.Text(boxName), Provider: backend.Text("blaxel"), Class: backend.SandboxRunning,
		Reported: backend.Text("DEPLOYED RUNNING"), CloudFacts: backend.CloudFacts{Power: backend.Text("RUNNING")}}
	w.sandbox.Address = backend.Clean(srv.URL+"/sbx/"+boxName, 300)
	return w
}

func key() backend.Key {
	return backend.Key{Kind: backend.KindSandbox, Source: "bl", ID: backend.MustID(boxName)}
}

// asks are the requests that hold a text.
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

func (w *world) part(v actions.Verb) actions.Part {
	w.t.Helper()
	site := actions.Site{Source: w, Allowed: []actions.Verb{v}, StateDir: w.dir, Options: backendtest.Options[Options](func(o *Options) { o.RescueLimit = 2_000_000 }),
		Deps: backend.Deps{ID: "bl", Now: time.Now, Dial: (&net.Dialer{}).DialContext, Getenv: func(string) string { return theKey }}}
	parts, missing, err := Kind().Build(site)
	if err != nil || len(missing) > 0 || len(parts) != 1 {
		w.t.Fatalf("parts %d, missing %v: %v", len(parts), missing, err)
	}
	return parts[v]
}

// look is what the plan of a verb would say.
func (w *world) look(v actions.Verb, p actions.Params) actions.Candidate {
	w.t.Helper()
	st := &fleet.State{Wall: time.Now(), Windows: fleet.NewWindows(w.logged...), Sandboxes: fleet.NewTable(w.sandbox), Refs: fleet.NewTable(w.refs...),
		Sources: []*fleet.SourceHealth{{Key: backend.Key{Kind: backend.KindSource, Source: "bl", ID: backend.MustID("bl")}, Status: fleet.StatusOK, LastOK: time.Now()}}}
	cs := w.part(v).Targets.Look(w.t.Context(), actions.Question{Keys: []backend.Key{key()}, State: st, Now: time.Now(), Params: p})
	if len(cs) != 1 {
		w.t.Fatalf("%d candidates", len(cs))
	}
	return cs[0]
}

// do plans a verb and carries it out.
func (w *world) do(v actions.Verb, p actions.Params) (actions.Done, error) {
	w.t.Helper()
	c := w.look(v, p)
	if !c.Why.IsEmpty() {
		w.t.Fatalf("%s is left out: %s", v, c.Why)
	}
	return w.carryOut(v, c)
}

func (w *world) carryOut(v actions.Verb, c actions.Candidate) (actions.Done, error) {
	w.t.Helper()
	e, err := w.part(v).Open(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	f := e.(*effect).factory
	f.pause, f.ends = time.Millisecond, 400*time.Millisecond
	if w.once {
		f.wakes = 0
	}
	if w.reads > 0 {
		f.reads, f.list, f.command = w.reads, w.reads, time.Second
	}
	done, err := e.Do(w.t.Context(), actions.Target{Key: c.Key, Identity: c.Identity}, actions.Params{})
	if len(done.Observed) > 0 {
		w.sandbox = w.sandbox.WithObserved(done.Observed)
	}
	return done, err
}

func on(done actions.Done, p backend.Plane) backend.Verdict {
	v, _ := (backend.Observation{Verdicts: backend.MergeVerdicts(done.Observed)}).Of(p)
	return v
}

func text(all []backend.Safe) string { return backend.Join(all, "; ").String() }

// TestAProbeTellsWhatItFinds: each fault of the root apart, and the answers are kept.
func TestAProbeTellsWhatItFinds(t *testing.T) {
	for name, x := range map[string]struct {
		change  func(*world)
		outcome backend.Outcome
		kind    backend.FailureKind
		what    string
		sees    bool
	}{
		"well":         {func(*world) {}, backend.OutcomeOK, "", "true ran in /workspace", true},
		"wakes":        {func(w *world) { w.box.Asleep, w.box.Cold = true, 2 }, backend.OutcomeOK, "", "true ran in /workspace", false},
		"root missing": {func(w *world) { w.box.Server.Remove("/workspace") }, backend.OutcomeFailed, backend.FailWorkDirMissing, "/workspace is missing", true},
		"just made": {func(w *world) { w.box.Server.Remove("/workspace"); w.box.Created = time.Now().Add(-20 * time.Second) }, backend.OutcomeUnknown, backend.FailWaking,
			"is not there yet", true},
		"a file": {func(w *world) { w.box.Server.Remove("/workspace"); w.box.Server.Leave("/workspace", 3, time.Now()) }, backend.OutcomeFailed, backend.FailWorkDirNoDir, "is a file", true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.box.Server.Zone = -5 * time.Hour
			w.box.Server.Mounted = []string{"/data"}
			w.box.Server.Start("loop", "env TOKEN=very-secret-value sh -c 'x'; sleep 900", "/workspace", time.Now().Add(-10*time.Minute))
			w.box.Server.Start("", "echo hello", "/workspace", time.Now().Add(-9*time.Minute))
			w.box.Server.Leave("/tmp/bl-persist-0a1b2c3d4e5f4a6b8c7d9e0f1a2b3c4d.tar", 4096, time.Now().Add(-time.Hour))
			x.change(w)
			done, err := w.do(actions.Probe, actions.Params{})
			v := on(done, backend.PlaneExec)
			if v.Outcome != x.outcome || v.Kind != x.kind || !strings.Contains(v.What.String(), x.what) || (err != nil) != (x.outcome == backend.OutcomeUnknown) {
				t.Errorf("%+v %v", v, err)
			}
			in, is := w.sandbox.Inside()
			if !is || len(in.Processes) < 2 || in.Processes[0].Name.String() != "loop" || in.Processes[0].Class != backend.WorkRunning || len(in.Archives) != 1 || in.Archives[0].Size != 4096 ||
				text(in.Mounts) != "/data" || len(in.Unread) > 0 || !in.Answered || in.AgentSees.Or(!x.sees) != x.sees {
				t.Fatalf("%+v", in)
			}
			if strings.Contains(in.Processes[0].Command.String(), "very-secret") {
				t.Errorf("%s", in.Processes[0].Command)
			}
			if began := time.Since(in.Processes[0].StartedAt); x.outcome == backend.OutcomeOK && (began < 9*time.Minute || began > 11*time.Minute) {
				t.Errorf("it began %s ago: the zone of the sandbox was not taken off", began)
			}
			if name == "well" && (on(done, backend.PlaneRead).Outcome != backend.OutcomeOK || on(done, backend.PlaneList).Outcome != backend.OutcomeOK || !done.Proved || text(in.Owners) != "root") {
				t.Errorf("%+v", done)
			}
		})
	}
}

// TestAProbeOfWhatDoesNotAnswer says what is not known, and asks nothing more.
func TestAProbeOfWhatDoesNotAnswer(t *testing.T) {
	for name, x := range map[string]struct {
		status  int
		body    string
		outcome backend.Outcome
		kind    backend.FailureKind
		ours    bool // only our own key was met: what the agent sees cannot be told
	}{
		"gone":      {404, `{"error":{"code":"WORKLOAD_NOT_FOUND","message":"m"}}`, backend.OutcomeFailed, backend.FailGone, false},
		"key":       {401, `{"error":{"code":"AUTHENTICATION_FAILED","message":"m"}}`, backend.OutcomeUnknown, backend.FailUnauthorised, true},
		"bare key":  {401, `{"error":"no"}`, backend.OutcomeUnknown, backend.FailUnauthorised, true},
		"throttled": {429, `{}`, backend.OutcomeUnknown, backend.FailThrottled, true},
		"used up":   {402, `{"error":{"code":"USAGE_LIMIT_EXCEEDED","message":"m"}}`, backend.OutcomeUnknown, backend.FailUsageLimit, false},
		"edge":      {504, `<html>`, backend.OutcomeUnknown, "", false},
		"not ready": {404, `{"error":{"code":"WORKLOAD_UNAVAILABLE","message":"m","retryable":true}}`, backend.OutcomeUnknown, "", false},
	} {
		w := newWorld(t)
		w.once = true
		w.answer = func(out http.ResponseWriter, r *http.Request) bool {
			if !strings.HasPrefix(r.URL.Path, "/sbx/") {
				return false
			}
			out.WriteHeader(x.status)
			_, _ = out.Write([]byte(x.body))
			return true
		}
		done, err := w.do(actions.Probe, actions.Params{})
		v := on(done, backend.PlaneList)
		in := on(done, backend.PlaneControl).Inside
		if v.Outcome != x.outcome || v.Kind != x.kind || in == nil || in.AgentSees.IsKnown() == x.ours || in.AgentSees.Or(false) || in.Answered || len(in.Unread) != 3 || (err == nil) != (x.outcome == backend.OutcomeFailed) || w.asks("/sbx/") != 1 || strings.Contains(v.What.String(), "60s") {
			t.Errorf("%s: %+v %+v %v, asked %d times", name, v, in, err, w.asks("/sbx/"))
		}
		if name == "not ready" && (!strings.HasPrefix(v.What.String(), backend.NoInstance+" for ") || !strings.HasSuffix(v.What.String(), "(WORKLOAD_UNAVAILABLE)") || strings.Contains(in.AgentWhy.String(), "only wakes")) {
			t.Errorf("%s; %s", v.What, in.AgentWhy)
		}
	}
}

// TestAProbeOfWhatHasEnded: an answer contradicts the status, none fits it.
func TestAProbeOfWhatHasEnded(t *testing.T) {
	for _, answers := range []bool{true, false} {
		w := newWorld(t)
		w.sandbox.Reported, w.sandbox.Power, w.sandbox.Class = backend.Text("TERMINATED"), backend.Safe{}, backend.SandboxExited
		w.answer = func(out http.ResponseWriter, r *http.Request) bool {
			if strings.HasPrefix(r.URL.Path, "/sbx/") && answers {
				return false
			}
			record := `{"metadata":{"name":"` + boxName + `","createdAt":"2026-01-01T12:00:00Z"},"status":"TERMINATED"}`
			if strings.HasPrefix(r.URL.Path, "/sbx/") {
				out.WriteHeader(404)
				record = `{"error":{"code":"WORKLOAD_NOT_FOUND","message":"m"}}`
			}
			_, _ = out.Write([]byte(record))
			return true
		}
		for _, v := range []actions.Verb{actions.Rescue, actions.KillProcess} {
			if c := w.look(v, actions.Params{}); !strings.Contains(c.Why.String(), "its server does not answer then") {
				t.Errorf("%s: %s", v, c.Why)
			}
		}
		done, _ := w.do(actions.Probe, actions.Params{})
		in, v := on(done, backend.PlaneControl).Inside, on(done, backend.PlaneList)
		if c := w.look(actions.Rescue, actions.Params{}); c.Why.IsEmpty() != answers || answers && !strings.Contains(fmt.Sprint(c.Notes), "it is reported TERMINATED: it may not answer") {
			t.Errorf("answers %t: after the probe a rescue is refused: %q, %v", answers, c.Why, c.Notes)
		}
		if in == nil || in.AgentSees.Or(!answers) != answers {
			t.Errorf("answers %t: %+v", answers, in)
		}
		if !answers && (v.Outcome != backend.OutcomeUnknown || !strings.Contains(v.What.String(), "as its status says")) {
			t.Errorf("its end is taken for a fault: %+v", v)
		}
	}
}

// TestAReadThatIsNotAnswered: what the sandbox did not answer is not known, and the agent, which sets no deadline for files, waits on.
func TestAReadThatIsNotAnswered(t *testing.T) {
	for plane, x := range map[backend.Plane]struct{ of, what string }{
		backend.PlaneRead: {"notes.md", "a file was not read within"},
		backend.PlaneList: {"%2Fworkspace", "/workspace was not listed within"},
	} {
		w := newWorld(t)
		w.reads = 200 * time.Millisecond
		w.box.Server.Leave("/workspace/notes.md", 3, time.Now())
		w.answer = func(_ http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodGet || !strings.HasSuffix(r.URL.EscapedPath(), x.of) {
				return false
			}
			<-r.Context().Done()
			return true
		}
		done, _ := w.do(actions.Probe, actions.Params{})
		if v := on(done, plane); v.Outcome != backend.OutcomeUnknown || !strings.HasPrefix(v.What.String(), x.what) || !strings.Contains(v.What.String(), "the agent's own calls for files have no deadline") ||
			strings.Contains(v.What.String(), "within 1m") {
			t.Errorf("%s: %+v, asked %v", plane, v, w.asked)
		}
	}
	w := newWorld(t)
	w.answer = func(out http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.URL.Path, "/sbx/") {
			panic(http.ErrAbortHandler)
		}
		return false
	}
	done, _ := w.do(actions.Probe, actions.Params{})
	if in := on(done, backend.PlaneControl).Inside; in == nil || in.AgentSees.IsKnown() || in.Answered || !strings.Contains(in.AgentWhy.String(), "the agent asks from elsewhere") {
		t.Errorf("a connection of our own that broke tells what the agent sees: %+v", in)
	}
	if v := on(done, backend.PlaneList); v.Outcome != backend.OutcomeUnknown || strings.Contains(v.What.String(), "deadline") || strings.Contains(v.What.String(), "within") {
		t.Errorf("a connection that broke is called a long wait: %s", v.What)
	}
}

// TestProcessesAreSignalledOnce, and only the one that was read just before and is not over.
func TestProcessesAreSignalledOnce(t *testing.T) {
	w := newWorld(t)
	if c := w.look(actions.KillProcess, actions.Params{}); !strings.Contains(c.Why.String(), "probe it first") {
		t.Errorf("before a probe: %s", c.Why)
	}
	w.box.Server.Start("stubborn", "trap '' TERM; while :; do sleep 0.2; done", "", time.Now())
	w.box.Server.Start("other", "sleep 900", "", time.Now())
	if _, err := w.do(actions.Probe, actions.Params{}); err != nil {
		t.Fatal(err)
	}
	if c := w.look(actions.KillProcess, actions.Params{}); !strings.Contains(c.Why.String(), "a command takes --process") || len(c.Choices) != 2 {
		t.Errorf("of two: %s %v", c.Why, c.Choices)
	} else {
		for _, x := range c.Choices { // each is a plan of its own
			if one := w.look(actions.KillProcess, actions.Params{Process: x.Name}); !one.Why.IsEmpty() || one.Identity[len(one.Identity)-4].Value != x.Name || !strings.Contains(x.Text.String(), ", since 20") {
				t.Errorf("%+v: %s %v", x, one.Why, one.Identity)
			}
		}
	}
	if c := w.look(actions.KillProcess, actions.Params{Process: "nope"}); !strings.Contains(c.Why.String(), "no process is called so") {
		t.Errorf("another name: %s", c.Why)
	}
	killOther := w.look(actions.KillProcess, actions.Params{Process: "other"})
	if done, err := w.do(actions.StopProcess, actions.Params{Process: "other"}); err != nil || !done.Proved || !strings.Contains(done.Text.String(), "stopped, exit code -1") {
		t.Errorf("stop: %s %v", done.Text, err)
	}
	if _, err := w.do(actions.Probe, actions.Params{}); err != nil {
		t.Fatal(err)
	}
	if c := w.look(actions.KillProcess, actions.Params{Process: "other"}); !strings.Contains(c.Why.String(), "process other was over when it was probed: stopped") {
		t.Errorf("one that the probe saw ended: %s", c.Why)
	}
	var changed *actions.ChangedError
	if _, err := w.carryOut(actions.KillProcess, killOther); !errors.As(err, &changed) || w.asks("/kill") != 0 {
		t.Errorf("one that is over: %v, %d kills", err, w.asks("/kill"))
	}
	if _, err := w.do(actions.StopProcess, actions.Params{}); err == nil || !strings.Contains(err.Error(), "kill-process") {
		t.Errorf("one that ignores it: %v", err)
	}
	if c := w.look(actions.StopProcess, actions.Params{}); !strings.Contains(c.Why.String(), "asked to end before and runs on") {
		t.Errorf("a second stop: %s", c.Why)
	}
	if done, err := w.do(actions.KillProcess, actions.Params{}); err != nil || !done.Proved || w.asks("/kill") != 1 {
		t.Errorf("kill: %s %v, %d kills", done.Text, err, w.asks("/kill"))
	}
	if c := w.look(actions.KillProcess, actions.Params{}); !strings.Contains(c.Why.String(), "nothing ran in it") {
		t.Errorf("afterwards: %s", c.Why)
	}
}

// TestADestroyTellsOfALiveSession: one that wrote to its log lately; what was silent for long is not said to run.
func TestADestroyTellsOfALiveSession(t *testing.T) {
	for ago, says := range map[time.Duration]bool{time.Minute: true, 20 * time.Minute: false} {
		w := newWorld(t)
		w.sandbox.Session = backend.MustID("s-1")
		w.logged = []backend.Count{{Series: backend.Series{Source: "bl", Name: backend.MetricNamed, Session: backend.MustID("s-1")}, At: time.Now().Add(-ago), N: 3}}
		c := w.look(actions.Destroy, actions.Params{})
		if got := strings.Contains(text(c.Notes), "a live session sits on it: session s-1 wrote to its log 1m ago. Its agent loses the sandbox"); got != says {
			t.Errorf("%s ago: %s", ago, text(c.Notes))
		}
	}
}

// TestADestroyIsOneRequest: whatever the answer is, it is not sent again; what could restore it is in the plan.
func TestADestroyIsOneRequest(t *testing.T) {
	w := newWorld(t)
	w.sandbox.SnapshotsAt = time.Now()
	w.sandbox.Snapshots = []backend.Snapshot{{ID: backend.MustID("s1"), Name: backend.Text("before-upgrade"), Status: backend.Text("READY"), CreatedAt: backend.Known(time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC))}}
	c := w.look(actions.Destroy, actions.Params{})
	if !strings.Contains(text(c.Notes), "snapshot before-upgrade of 2026-11-20 08:00Z (READY) could restore") || w.asks("/sbx/") != 0 {
		t.Errorf("%s", text(c.Notes))
	}
	for status, check := range map[int]func(error) bool{
		503: func(err error) bool { var u *actions.UncertainError; return errors.As(err, &u) },
		504: func(err error) bool { var u *actions.UncertainError; return errors.As(err, &u) },
		409: func(err error) bool { var u *actions.UncertainError; return err != nil && !errors.As(err, &u) },
		404: func(err error) bool {
			var changed *actions.ChangedError
			return err != nil && !errors.As(err, &changed) && strings.Contains(err.Error(), "still has its record")
		},
	} {
		before := w.asks("DELETE")
		w.answer = func(out http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodDelete {
				return false
			}
			out.Header().Set("Content-Type", "application/json")
			out.WriteHeader(status)
			fmt.Fprintf(out, `{"code":%d,"error":"x"}`, status)
			return true
		}
		done, err := w.carryOut(actions.Destroy, c)
		if !check(err) || w.asks("DELETE") != before+1 {
			t.Errorf("%d: %v, %d requests", status, err, w.asks("DELETE")-before)
		}
		if len(done.Steps) != 1 || !strings.Contains(done.Steps[0].Said.String(), fmt.Sprintf("answered %d", status)) || done.Steps[0].Result == actions.StepOK {
			t.Errorf("%d: the answer is no step: %+v", status, done.Steps)
		}
	}
	w.answer = nil
	if done, err := w.carryOut(actions.Destroy, c); err != nil || done.Proved {
		t.Errorf("accepted is not done: %+v %v", done, err)
	}
	var changed *actions.ChangedError
	if _, err := w.carryOut(actions.Destroy, c); !errors.As(err, &changed) {
		t.Errorf("a second one: %v", err)
	}
}

// TestWhereASandboxIsAsked: by the inventory, else by a saved state; never where the key may not go, and never by a guess.
func TestWhereASandboxIsAsked(t *testing.T) {
	w := newWorld(t)
	address := w.sandbox.Address
	w.sandbox.Address = backend.Safe{}
	if c := w.look(actions.Probe, actions.Params{}); !strings.Contains(c.Why.String(), "is not known") {
		t.Errorf("without an address: %s", c.Why)
	}
	w.refs = []*backend.Ref{{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "refs", Parent: backend.MustID("s1"), ID: backend.MustID("workspace")}}, Session: backend.MustID("s1"), Provider: backend.Text("blaxel"),
		Sandbox: backend.MustID(boxName), Origin: backend.Text("state.json"), Agent: &backend.AgentState{Address: address, Root: backend.Text("/workspace/src")}}}
	c := w.look(actions.Probe, actions.Params{})
	if !c.Why.IsEmpty() || !strings.Contains(text(c.Notes), "its address is from the saved state of its session, state.json") {
		t.Errorf("by the state: %s %s", c.Why, text(c.Notes))
	}
	if done, err := w.carryOut(actions.Probe, c); err != nil || on(done, backend.PlaneExec).What.String() != "true ran in /workspace/src" {
		t.Errorf("the root of the state: %+v %v", on(done, backend.PlaneExec), err)
	}
	w.sandbox.Address = backend.Text("https://elsewhere.example")
	if c := w.look(actions.Probe, actions.Params{}); !strings.Contains(c.Why.String(), "the key is not sent there") {
		t.Errorf("elsewhere: %s", c.Why)
	}
	w.sandbox.Address, w.sandbox.Class, w.sandbox.Reported, w.sandbox.Power = address, backend.SandboxAsleep, backend.Text("DEPLOYED STANDBY"), backend.Text("STANDBY")
	if c := w.look(actions.Probe, actions.Params{}); !c.Why.IsEmpty() || !strings.Contains(text(c.Notes), "it sleeps: this wakes it, which is billed") {
		t.Errorf("asleep: %s %s", c.Why, text(c.Notes))
	}
	w.sandbox.Reported, w.sandbox.Power, w.sandbox.Class = backend.Text("ARCHIVED"), backend.Safe{}, backend.SandboxPaused
	if c := w.look(actions.Probe, actions.Params{}); !strings.Contains(c.Why.String(), "ARCHIVED") {
		t.Errorf("archived: %s", c.Why)
	}
}

// TestARootThatIsNotAbsoluteIsNotLookedFor: a probe says so and looks at the rest; a rescue is refused.
func TestARootThatIsNotAbsoluteIsNotLookedFor(t *testing.T) {
	w := newWorld(t)
	w.refs = []*backend.Ref{{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "refs", Parent: backend.MustID("s1"), ID: backend.MustID("workspace")}}, Session: backend.MustID("s1"), Provider: backend.Text("blaxel"),
		Sandbox: backend.MustID(boxName), Origin: backend.Text("state.json"), Agent: &backend.AgentState{Root: backend.Text("relative/dir")}}}
	if c := w.look(actions.Rescue, actions.Params{}); !strings.Contains(c.Why.String(), "the root relative/dir of its saved state is not absolute") {
		t.Errorf("rescue: %q", c.Why)
	}
	c := w.look(actions.Probe, actions.Params{})
	if !c.Why.IsEmpty() || !strings.Contains(text(c.Notes), "does not list the root") {
		t.Errorf("the plan: %s %s", c.Why, text(c.Notes))
	}
	done, err := w.carryOut(actions.Probe, c)
	if err != nil || on(done, backend.PlaneExec).What.String() != "true ran where its server runs" {
		t.Errorf("%+v %v", on(done, backend.PlaneExec), err)
	}
	if v := on(done, backend.PlaneList); v.Outcome != backend.OutcomeUnknown || !strings.Contains(v.What.String(), "not listed: the root relative/dir") {
		t.Errorf("%+v", v)
	}
}

// TestRescueSavesFiles of the root alone, and leaves nothing behind in the sandbox.
func TestRescueSavesFiles(t *testing.T) {
	w := newWorld(t)
	done, err := w.do(actions.Rescue, actions.Params{})
	if err != nil || !done.Proved || !strings.HasPrefix(done.Text.String(), "1 file,") || w.asks("POST")+w.asks("PUT") != 0 {
		t.Errorf("%s %v", done.Text, err)
	}
	if files, err := os.ReadDir(w.dir + "/rescue"); err != nil || len(files) != 1 {
		t.Errorf("%v %v", files, err)
	}
	w.box.Server.Remove("/workspace")
	if _, err := w.do(actions.Rescue, actions.Params{}); err == nil {
		t.Error("nothing is there, and no error tells it")
	}
	if files, _ := os.ReadDir(w.dir + "/rescue"); len(files) != 1 {
		t.Errorf("an empty archive stays: %v", files)
	}
}

// TestATokenIsRevoked, by its name, without waking the sandbox.
func TestATokenIsRevoked(t *testing.T) {
	w := newWorld(t)
	w.box.Previews = []*demo.Preview{{Name: "port-3000", Port: 3000, Tokens: map[string]time.Time{"token-1": time.Now().Add(time.Hour), "token-2": time.Now()}}}
	w.sandbox.PreviewsAt = time.Now()
	w.sandbox.Previews = []backend.Preview{{Name: backend.Text("port-3000"), Tokens: []backend.PreviewToken{{Name: backend.Text("token-1")}, {Name: backend.Text("token-2")}}}}
	if c := w.look(actions.RevokeToken, actions.Params{}); !strings.Contains(c.Why.String(), "--token") || len(c.Choices) != 2 || c.Choices[1].Name != "port-3000/token-2" ||
		c.Choices[1].Text.String() != "port-3000/token-2, when it ends is not known" {
		t.Errorf("of two: %s %v", c.Why, c.Choices)
	}
	done, err := w.do(actions.RevokeToken, actions.Params{Token: "port-3000/token-1"})
	if err != nil || !done.Proved || w.asks("DELETE") != 1 || w.asks("/sbx/") != 0 || len(w.box.Previews[0].Tokens) != 1 {
		t.Errorf("%s %v", done.Text, err)
	}
	if slices.ContainsFunc(w.asked, func(a string) bool { return strings.Contains(a, "token-2") }) {
		t.Errorf("%v", w.asked)
	}
}

// TestNothingIsSentWhenItChanged: the own record is read before anything goes to the sandbox.
func TestNothingIsSentWhenItChanged(t *testing.T) {
	w := newWorld(t)
	c := w.look(actions.Probe, actions.Params{})
	w.platform.Change(boxName, func(b *demo.Box) { b.Status = "ARCHIVING" })
	var changed *actions.ChangedError
	if _, err := w.carryOut(actions.Probe, c); !errors.As(err, &changed) || w.asks("/sbx/") != 0 {
		t.Errorf("%v, %d requests", err, w.asks("/sbx/"))
	}
	w.platform.Drop(boxName)
	if _, err := w.carryOut(actions.Probe, c); !errors.As(err, &changed) || w.asks("/sbx/") != 0 {
		t.Errorf("%v, %d requests", err, w.asks("/sbx/"))
	}
}
