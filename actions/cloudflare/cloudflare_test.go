package cloudflare

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/backend/fleet"
	"sandglass/backend/wire"
	demo "sandglass/demo/cloudflare"
)

const (
	boxID  = "abcdefghij234567"
	theKey = "bridge-key-0123456789"
)

// world is a source with the demo's bridge, whose answers are held to the recorded ones.
type world struct {
	t      *testing.T
	bridge *demo.Bridge
	url    string
	ops    string
	brief  bool // what never answers is not waited for long
	mu     sync.Mutex
	asked  []string
	answer func(w http.ResponseWriter, r *http.Request) bool // instead of the bridge; nil: never
}

func (w *world) ID() string                                          { return "cf" }
func (w *world) Poll(context.Context) (r backend.Reading, err error) { return r, nil }
func (w *world) Bridge() (base, ops string, key wire.Credential) {
	return w.url, w.ops, wire.Credential{Env: "KEY"}
}

func newWorld(t *testing.T, o demo.BridgeOptions) *world {
	t.Helper()
	o.Key = theKey
	w := &world{t: t, bridge: demo.NewBridge(o), ops: o.Ops}
	srv := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.asked = append(w.asked, r.Method+" "+r.URL.Path)
		w.mu.Unlock()
		if r.URL.Path == "/v1/sandbox/"+boxID+"/exec" && r.Header.Get("Session-Id") != "" {
			body, _ := io.ReadAll(r.Body)
			if strings.Contains(string(body), `"cwd"`) {
				t.Errorf("a directory was sent with a session: %s", body)
			}
			r.Body = io.NopCloser(strings.NewReader(string(body)))
		}
		if w.answer == nil || !w.answer(out, r) {
			w.bridge.ServeHTTP(out, r)
		}
	}))
	t.Cleanup(srv.Close)
	t.Cleanup(w.bridge.Close)
	w.url = srv.URL
	return w
}

// asks are the requests whose path holds a text.
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

func (w *world) site(verbs ...actions.Verb) actions.Site {
	return actions.Site{Source: w, Allowed: verbs, Options: backendtest.Options[Options](func(*Options) {}),
		Deps: backend.Deps{ID: "cf", Now: time.Now, Dial: (&net.Dialer{}).DialContext, Getenv: func(string) string { return theKey }}}
}

// told is what an effect said while it was under way.
type told []actions.Step

func (w *world) do(v actions.Verb, facts ...string) (actions.Done, told, error) {
	w.t.Helper()
	parts, missing, err := Kind().Build(w.site(v))
	if err != nil || len(missing) > 0 || len(parts) != 1 {
		w.t.Fatalf("parts %d, missing %v: %v", len(parts), missing, err)
	}
	e, err := parts[v].Open(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	f := e.(*effect).client.factory
	if w.brief {
		f.first, f.next, f.ended = 300*time.Millisecond, 300*time.Millisecond, 300*time.Millisecond
	}
	var steps told
	e.(actions.Stepper).Tell(func(s actions.Step) { steps = append(steps, s) })
	t := actions.Target{Key: key(), Identity: []actions.Fact{{Name: factBridge, Value: boxID}, {Name: factRuns, Value: runsYes}}}
	for i := 0; i+1 < len(facts); i += 2 {
		t.Identity = append([]actions.Fact{{Name: facts[i], Value: facts[i+1]}}, t.Identity...)
	}
	done, err := e.Do(w.t.Context(), t, actions.Params{})
	return done, steps, err
}

func key() backend.Key {
	return backend.Key{Kind: backend.KindSandbox, Source: "cf", ID: backend.MustID(boxID)}
}

func on(done actions.Done, p backend.Plane) backend.Verdict {
	v, _ := (backend.Observation{Verdicts: backend.MergeVerdicts(done.Observed)}).Of(p)
	return v
}

func (w *world) change(change func(*demo.Box)) {
	w.t.Helper()
	w.bridge.Start(boxID)
	w.bridge.Change(boxID, change)
}

// TestTheCasesAreToldApart, each by what the bridge answers: A an old control server, C a directory that is missing, a link or a
// file, D nothing at all.
func TestTheCasesAreToldApart(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*demo.Box)
		outcome backend.Outcome
		kind    backend.FailureKind
		what    string
	}{
		"well":     {func(b *demo.Box) { b.Files["/workspace/a.txt"] = "hello" }, backend.OutcomeOK, "", "true ran"},
		"missing":  {func(b *demo.Box) { b.Root = demo.Missing }, backend.OutcomeFailed, backend.FailWorkDirMissing, "/workspace is missing"},
		"dangling": {func(b *demo.Box) { b.Root, b.LinkTo = demo.Link, "/mnt/r2" }, backend.OutcomeFailed, backend.FailWorkDirDangling, "a link to /mnt/r2, which is missing"},
		"a file":   {func(b *demo.Box) { b.Root = demo.Other }, backend.OutcomeFailed, backend.FailWorkDirNoDir, "not a directory"},
		"wedged":   {func(b *demo.Box) { b.Wedged = true }, backend.OutcomeFailed, backend.FailServerFrozen, "answers nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, demo.BridgeOptions{})
			w.change(c.change)
			w.brief = name == "wedged"
			done, steps, err := w.do(actions.Probe)
			v := on(done, backend.PlaneExec)
			if err != nil || !done.Proved || v.Outcome != c.outcome || v.Kind != c.kind || !strings.Contains(v.What.String(), c.what) {
				t.Errorf("%+v %v", v, err)
			}
			if len(steps) == 0 || steps[0].Result != actions.StepStarting {
				t.Errorf("nothing said that a container is waited for: %+v", steps)
			}
			opened := map[string]int{"well": 0, "wedged": 2} // where nothing ends, a second one is tried
			want, special := opened[name]
			if !special {
				want = 1
			}
			second := slices.ContainsFunc(w.asked, func(a string) bool { return strings.HasSuffix(a, "-2") })
			if removed := w.asks("/session/sandglass-"); removed != want || second != (want == 2) {
				t.Errorf("%d sessions were removed, want %d", removed, want)
			}
			if ways := slices.Contains(v.Evidence, backend.Text(otherWays)); ways != (name == "wedged") {
				t.Errorf("the ways that were not tried are told: %t", ways)
			}
			if name == "well" && on(done, backend.PlaneRead).Outcome != backend.OutcomeOK {
				t.Errorf("read: %+v", on(done, backend.PlaneRead))
			}
			if w.bridge.Starts() != 1 {
				t.Errorf("%d containers were started", w.bridge.Starts())
			}
		})
	}
	w := newWorld(t, demo.BridgeOptions{})
	w.change(func(*demo.Box) {})
	w.answer = func(out http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/exec") {
			return false
		}
		out.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(out, "event: error\ndata: {\"error\":\"exec failed: CommandError: Failed to execute command 'true' in session 'sandbox-abc': Unknown Error, TODO\",\"code\":\"exec_transport_error\"}\n\n")
		return true
	}
	done, _, err := w.do(actions.Probe)
	if v := on(done, backend.PlaneExec); err != nil || v.Kind != backend.FailServerDir || v.Outcome != backend.OutcomeFailed {
		t.Errorf("case A: %+v %v", v, err)
	}
}

// TestTheMatrixOfPlanes is the seed's: without a session, in a new one, with a directory given, in the root, and after mkdir.
func TestTheMatrixOfPlanes(t *testing.T) {
	for _, old := range []bool{false, true} {
		w := newWorld(t, demo.BridgeOptions{Old: old})
		w.change(func(b *demo.Box) { b.Root = demo.Missing })
		done, _, err := w.do(actions.Repair, factFailure, string(backend.FailWorkDirMissing), factLink, missingText)
		v := on(done, backend.PlaneExec)
		var lines []string
		for _, e := range v.Evidence {
			lines = append(lines, e.String())
		}
		all := strings.Join(lines, "\n")
		if err != nil || v.Outcome != backend.OutcomeOK || len(lines) != 5 {
			t.Fatalf("%+v %v\n%s", v, err, all)
		}
		for i, want := range []string{"after mkdir, no session: runs", "before the repair, no session: did not begin", "before the repair, a new session: runs, in /root", "before the repair, no session, with cwd /workspace: did not begin", "before the repair, a new session, in the root: runs, in /"} {
			if !strings.HasPrefix(lines[i], want) {
				t.Errorf("line %d is %q, want %q", i, lines[i], want)
			}
		}
		if strings.Contains(all, "ENOENT") != old {
			t.Errorf("what the transport tells: %s", all)
		}
	}
}

const missingText = "/workspace is missing: no command without a session begins; commands of a new session run elsewhere"

// TestSilenceIsAFault: three commands without an answer, while the bridge answers, are one, also where nothing says that the sandbox
// runs; a plain command that did not begin is one whatever a session does. While the bridge is silent too, nothing is known.
func TestSilenceIsAFault(t *testing.T) {
	for name, c := range map[string]struct {
		runs, want string
		plain      bool // a plain command fails at once
		deaf       bool // the bridge does not answer afterwards
		outcome    backend.Outcome
		kind       backend.FailureKind
	}{
		"it runs":               {runs: runsYes, outcome: backend.OutcomeFailed, kind: backend.FailServerFrozen, want: "its control server answers nothing: neither"},
		"it may not run":        {runs: runsUnknown, outcome: backend.OutcomeFailed, kind: backend.FailExecTimeout, want: "or its container does not start"},
		"a plain command fails": {runs: runsUnknown, plain: true, outcome: backend.OutcomeFailed, want: "commands without a session do not begin"},
		"the bridge is silent":  {runs: runsYes, deaf: true, outcome: backend.OutcomeUnknown, kind: backend.FailExecTimeout, want: "nothing is known of the sandbox"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, demo.BridgeOptions{})
			w.change(func(b *demo.Box) { b.Wedged = true })
			w.brief = true
			stats := 0
			w.answer = func(out http.ResponseWriter, r *http.Request) bool {
				if strings.HasSuffix(r.URL.Path, "/pool/stats") {
					if stats++; c.deaf && w.asks("/exec") > 2 {
						out.WriteHeader(http.StatusBadGateway)
						return true
					}
				}
				if c.plain && strings.HasSuffix(r.URL.Path, "/exec") && r.Header.Get("Session-Id") == "" {
					out.Header().Set("Content-Type", "text/event-stream")
					_, _ = io.WriteString(out, "event: error\ndata: {\"error\":\"CommandError: Failed to execute streaming command 'true' in sessionless execution: ENOENT: no such file or directory, posix_spawn '/bin/bash'\",\"code\":\"exec_transport_error\"}\n\n")
					return true
				}
				return false
			}
			done, _, err := w.do(actions.Probe, factRuns, c.runs)
			v := on(done, backend.PlaneExec)
			if v.Outcome != c.outcome || v.Kind != c.kind || !strings.Contains(v.What.String(), c.want) || (err == nil) != (c.outcome == backend.OutcomeFailed) {
				t.Errorf("%s %s %s: %v", v.Outcome, v.Kind, v.What, err)
			}
		})
	}
}

// TestALinkThatLeadsSomewhereIsNamed: a probe works in it, and says that it is one.
func TestALinkThatLeadsSomewhereIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, demo.BridgeOptions{})
	w.bridge.Start(boxID)
	for _, to := range []string{"", "/mnt/r2/project"} {
		w.bridge.Change(boxID, func(x *demo.Box) { x.LinkTo, x.Files = to, map[string]string{"/workspace/a": "a"} })
		done, _, err := w.do(actions.Probe)
		b := (&backend.Sandbox{}).WithObserved(done.Observed)
		if err != nil || backend.LinkedRoot(b) != to {
			t.Errorf("%q: %q, %v: %v", to, backend.LinkedRoot(b), done.Observed, err)
		}
	}
}

// TestRepair makes the directory where that helps, and does nothing where something else is there than the plan saw.
func TestRepair(t *testing.T) {
	const linkText = "/workspace is a link to /mnt/r2, which is missing: no command without a session begins"
	missing, dangling := string(backend.FailWorkDirMissing), string(backend.FailWorkDirDangling)
	for name, c := range map[string]struct {
		change func(*demo.Box)
		facts  []string
		err    string
		root   string
	}{
		"missing":          {func(b *demo.Box) { b.Root = demo.Missing }, []string{factFailure, missing, factLink, missingText}, "", demo.Directory},
		"a link":           {func(b *demo.Box) { b.Root, b.LinkTo = demo.Link, "/mnt/r2" }, []string{factFailure, dangling, factLink, linkText}, "", demo.Directory},
		"another link":     {func(b *demo.Box) { b.Root, b.LinkTo = demo.Link, "/mnt/b" }, []string{factFailure, dangling, factLink, linkText}, "another fault was found", demo.Link},
		"a link meanwhile": {func(b *demo.Box) { b.Root, b.LinkTo = demo.Link, "/mnt/r2" }, []string{factFailure, missing, factLink, missingText}, "another fault was found", demo.Link},
		"well meanwhile":   {func(*demo.Box) {}, []string{factFailure, missing, factLink, missingText}, "nothing to repair", demo.Directory},
		"wedged meanwhile": {func(b *demo.Box) { b.Root, b.Wedged = demo.Missing, true }, []string{factFailure, missing, factLink, missingText}, "another fault was found", demo.Missing},
		"a file":           {func(b *demo.Box) { b.Root = demo.Other }, []string{factFailure, string(backend.FailWorkDirNoDir), factLink, "/workspace is not a directory: no command without a session begins"}, "removes nothing", demo.Other},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, demo.BridgeOptions{})
			w.change(c.change)
			w.brief = name == "wedged meanwhile"
			done, _, err := w.do(actions.Repair, c.facts...)
			if c.err == "" && (err != nil || !done.Proved || on(done, backend.PlaneExec).Outcome != backend.OutcomeOK || !strings.Contains(done.Text.String(), "is there again, empty") ||
				strings.Contains(fmt.Sprint(done.Notes), "the old files are gone") == (name == "a link")) ||
				c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("%+v %v", done, err)
			}
			if is := w.bridge.Boxes()[0].Root; is != c.root {
				t.Errorf("/workspace is %s now", is)
			}
			if c.err != "" && w.asks("PUT ") > 0 {
				t.Error("something was written all the same")
			}
		})
	}
}

// TestNothingStartsByAccident: a sandbox that runs no more by its object, or by the counts, is not touched.
func TestNothingStartsByAccident(t *testing.T) {
	for _, ops := range []string{"", "/ops"} {
		for _, v := range []actions.Verb{actions.Probe, actions.Destroy} {
			w := newWorld(t, demo.BridgeOptions{Ops: ops})
			w.change(func(b *demo.Box) { b.State = "stopped" })
			_, _, err := w.do(v)
			var changed *actions.ChangedError
			if !errors.As(err, &changed) || w.asks("/v1/sandbox") > 0 || w.bridge.Starts() != 1 {
				t.Errorf("%s with operator routes %q: %v, %d requests, %d starts", v, ops, err, w.asks("/v1/sandbox"), w.bridge.Starts())
			}
		}
	}
	w := newWorld(t, demo.BridgeOptions{})
	if _, _, err := w.do(actions.Probe, factRuns, runsUnknown); err != nil || w.bridge.Starts() != 1 {
		t.Errorf("what the plan said may start was not tried: %v, %d starts", err, w.bridge.Starts())
	}
}

// TestThePreviewIsOnlyRead: nothing is sent that acts, and the reason is clear.
func TestThePreviewIsOnlyRead(t *testing.T) {
	for _, v := range []actions.Verb{actions.Repair, actions.Destroy} {
		w := newWorld(t, demo.BridgeOptions{Next: true})
		w.change(func(*demo.Box) {})
		_, _, err := w.do(v)
		var untried *actions.UntriedError
		if !errors.As(err, &untried) || !strings.Contains(err.Error(), "1.0 preview") || w.asks("/v1/sandbox") > 0 {
			t.Errorf("%s: %v", v, err)
		}
	}
	w := newWorld(t, demo.BridgeOptions{})
	w.answer = func(out http.ResponseWriter, _ *http.Request) bool { out.WriteHeader(404); return true }
	if _, _, err := w.do(actions.Probe); err == nil || !strings.Contains(err.Error(), "does not tell which routes it has") || w.asks("/v1/sandbox") > 0 {
		t.Errorf("a bridge that tells nothing: %v", err)
	}
}

// TestCapacityIsNoFault: what the platform refuses proves nothing about the sandbox, and says what to do.
func TestCapacityIsNoFault(t *testing.T) {
	w := newWorld(t, demo.BridgeOptions{Most: 1})
	w.bridge.Start("other")
	done, _, err := w.do(actions.Probe)
	v := on(done, backend.PlaneExec)
	if err == nil || !strings.Contains(err.Error(), "it proved nothing") || v.Outcome != backend.OutcomeUnknown || !strings.Contains(v.What.String(), "instance limit reached (1/1)") ||
		!strings.Contains(v.What.String(), "raise max_instances") || strings.Contains(v.What.String(), ".;") || w.asks("/exec") != 1 {
		t.Errorf("%+v %v, asked %d times", v, err, w.asks("/exec"))
	}
	tries := 0
	w = newWorld(t, demo.BridgeOptions{})
	w.change(func(*demo.Box) {})
	w.answer = func(out http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/exec") {
			return false
		}
		if tries++; tries > 2 {
			return false
		}
		out.WriteHeader(503)
		_, _ = io.WriteString(out, `{"code":"CONTAINER_UNAVAILABLE","message":"starting","context":{"reason":"container_starting","retryAfterMs":5}}`)
		return true
	}
	done, steps, err := w.do(actions.Probe)
	if err != nil || on(done, backend.PlaneExec).Outcome != backend.OutcomeOK || len(steps) != 3 || !strings.Contains(steps[1].Said.String(), "asked again") {
		t.Errorf("starting: %+v %v, %d steps", done, err, len(steps))
	}
}

// TestVersionsThatDoNotFitAreAKindOfTheirOwn, of which one probe proves nothing.
func TestVersionsThatDoNotFitAreAKindOfTheirOwn(t *testing.T) {
	w := newWorld(t, demo.BridgeOptions{})
	w.change(func(*demo.Box) {})
	w.answer = func(out http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/exec") {
			out.WriteHeader(502)
			_, _ = io.WriteString(out, `{"error":"another protocol","code":"CONTROL_PROTOCOL_INCOMPATIBLE"}`)
			return true
		}
		return false
	}
	done, _, _ := w.do(actions.Probe)
	if v := on(done, backend.PlaneExec); v.Outcome != backend.OutcomeUnknown || v.Kind != backend.FailProtocol {
		t.Errorf("%+v", v)
	}
}

// TestWhatAVerbIsFor: targets by their state, and what a plan says about each.
func TestWhatAVerbIsFor(t *testing.T) {
	now := time.Now()
	base := backend.Sandbox{Meta: backend.Meta{Key: key()}, Provider: backend.Text("cloudflare"), IsSandbox: true, Reported: backend.Text("running"), Class: backend.SandboxRunning, CloudFacts: backend.CloudFacts{BridgeID: backend.MustID(boxID)}}
	look := func(v actions.Verb, ops bool, change func(*backend.Sandbox)) actions.Candidate {
		b := base
		change(&b)
		r := backend.Reading{Source: "cf", At: now, Sandboxes: []*backend.Sandbox{&b}}
		st := fleet.NewFolder(time.Minute).Fold([]backend.Answer{{Source: "cf", Config: &backend.SourceConfig{Kind: "cloudflare", Interval: time.Minute}},
			{Source: "cf", Reading: &r, Ended: backend.Instant{Wall: now}}}, backend.Instant{Wall: now})
		return targetReader{v, ops}.Look(context.Background(), actions.Question{Keys: []backend.Key{key()}, State: st, Now: now})[0]
	}
	failed := func(kind backend.FailureKind) func(*backend.Sandbox) {
		return func(b *backend.Sandbox) {
			b.Observed = backend.Known(backend.Observation{Verdicts: []backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: kind, At: now, What: backend.Text("found")}}})
		}
	}
	class := func(c backend.SandboxClass) func(*backend.Sandbox) {
		return func(b *backend.Sandbox) { b.Class, b.Reported = c, backend.Clean(string(c), 40) }
	}
	for _, c := range []struct {
		name   string
		verb   actions.Verb
		change func(*backend.Sandbox)
		why    string
	}{
		{"a running one", actions.Probe, func(*backend.Sandbox) {}, ""},
		{"no id", actions.Probe, func(b *backend.Sandbox) { b.BridgeID = backend.ID{} }, "no id of the bridge is known"},
		{"a stopped one", actions.Probe, class(backend.SandboxExited), "would start a new, empty container"},
		{"a stopped one", actions.Destroy, class(backend.SandboxExited), "would start a new, empty container"},
		{"not known", actions.Probe, class(backend.SandboxUnknown), ""},
		{"not probed", actions.Repair, func(*backend.Sandbox) {}, "probe it first"},
		{"missing", actions.Repair, failed(backend.FailWorkDirMissing), ""},
		{"dangling", actions.Repair, failed(backend.FailWorkDirDangling), ""},
		{"case A", actions.Repair, failed(backend.FailServerDir), "does not help"},
		{"case D", actions.Repair, failed(backend.FailServerFrozen), "destroy it"},
		{"a file", actions.Repair, failed(backend.FailWorkDirNoDir), "removes nothing"},
		{"something else", actions.Repair, failed(""), "another reason than a missing directory"},
	} {
		if got := look(c.verb, false, c.change).Why.String(); c.why == "" && got != "" || !strings.Contains(got, c.why) {
			t.Errorf("%s of %s: %q, want %q", c.verb, c.name, got, c.why)
		}
	}
	notes := func(c actions.Candidate) string {
		return backend.Join(append(slices.Clone(c.Notes), c.Loses...), " | ").String()
	}
	if got := notes(look(actions.Probe, false, class(backend.SandboxUnknown))); !strings.Contains(got, "starts a new, empty container, which is billed") {
		t.Errorf("the plan hides a start: %s", got)
	}
	if got := notes(look(actions.Probe, false, func(b *backend.Sandbox) { b.NamedBy = backend.NamedByRef })); !strings.Contains(got, "starts a new, empty container") || !strings.Contains(got, "nothing says that this bridge ever had it") {
		t.Errorf("the plan for what a reference names: %s", got)
	}
	if got := notes(look(actions.Repair, false, failed(backend.FailWorkDirMissing))); !strings.Contains(got, "the files of /workspace are gone already") || !strings.Contains(got, "sessions that are open stay") {
		t.Errorf("the plan of a repair: %s", got)
	}
	if got := notes(look(actions.Destroy, false, func(*backend.Sandbox) {})); !strings.Contains(got, "204 also when nothing was destroyed") {
		t.Errorf("the plan of a destroy: %s", got)
	}
}

// TestWhatIsMissingIsSaid for each verb that is allowed and cannot be done.
func TestWhatIsMissingIsSaid(t *testing.T) {
	w := newWorld(t, demo.BridgeOptions{})
	_, missing, err := Kind().Build(w.site(actions.Stop, actions.Probe))
	if err != nil || len(missing) != 1 || !strings.Contains(missing[actions.Stop].String(), "ops_prefix") {
		t.Errorf("%v %v", missing, err)
	}
	w.url = ""
	if _, missing, _ = Kind().Build(w.site(actions.Probe)); !strings.Contains(missing[actions.Probe].String(), "bridge_url") {
		t.Errorf("%v", missing)
	}
}
