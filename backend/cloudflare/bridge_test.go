package cloudflare

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"sandglass/backend"
)

const (
	boxA = "abcdefghijklmnopqrstuvwxyz"
	boxB = "bcdefghijklmnopqrstuvwxyza"
)

// withBridge serves the passive routes of a bridge on the same server.
func withBridge(t *testing.T, change func(*Options)) *world {
	t.Helper()
	w := newWorld(t, func(o *Options) {
		o.BridgeURL = o.URL
		if change != nil {
			change(o)
		}
	})
	w.set("/health", ok(`{"ok":true}`))
	w.set("/v1/pool/stats", ok(`{"warm":0,"assigned":2,"total":2,"config":{"warmTarget":0},"maxInstances":3}`))
	return w
}

func TestASandboxIDOfTheConfigurationIsListedAndNotJudged(t *testing.T) {
	w := withBridge(t, func(o *Options) { o.Sandboxes = []string{boxA} })
	r := w.poll()
	b := sandboxOf(t, r, boxA)
	if b.Class != backend.SandboxUnknown || !b.Reported.IsEmpty() || b.Unattributed || b.BridgeID.Raw() != boxA || b.Observed.IsKnown() {
		t.Errorf("%s: class %s, reported %v, unattributed %v", boxA, b.Class, b.Reported, b.Unattributed)
	}
	if notes := backend.Join(r.Notes, "\n").String(); !strings.Contains(notes, "the bridge has 2 containers in use and lists none of its sandboxes; ids that are known: 1. Name more") {
		t.Errorf("notes %s", notes)
	}
	if !sandboxOf(t, r, runs).Unattributed {
		t.Error("an instance without a sandbox id is attributed")
	}
	if w.requests("/v1/sandbox") > 0 {
		t.Error("a request below a sandbox id was sent: it starts a container")
	}
}

func TestOperatorRoutesJoinSandboxesAndInstances(t *testing.T) {
	w := withBridge(t, func(o *Options) { o.OpsPrefix = "/ops" })
	w.set("/ops/sandboxes", ok(`{"sandboxes":[]}`))
	sandboxOf(t, w.poll(), runs)
	w.set("/ops/sandboxes", ok(`{"sandboxes":[{"id":"`+boxA+`","instance":"`+runs+`","class":"Agent","state":"healthy","sleepAfter":"10m"},
		{"id":"`+boxB+`","container":"c-9","sleepAfter":3600,"class":"Sandbox","state":"stopped_with_code","exitCode":137,"lastChange":1795175000000}]}`))
	r := w.poll()
	if len(r.Ended) != 1 || r.Ended[0].ID.Raw() != runs {
		t.Errorf("the instance has another key now, and %v ended", r.Ended)
	}
	b := sandboxOf(t, r, boxA)
	if b.Container.Raw() != runs || b.Unattributed || b.Class != backend.SandboxRunning || b.Script.String() != "agents-worker" {
		t.Errorf("%s is %v, container %v", boxA, b.Reported, b.Container)
	}
	if x := sandboxOf(t, r, boxB); x.Class != backend.SandboxDead || x.ExitCode.Or(0) != 137 || x.Container.Raw() != "c-9" || x.ObjectClass.String() != "Sandbox" {
		t.Errorf("%s is %v, exit %v", boxB, x.Reported, x.ExitCode)
	}
	for id, want := range map[string]string{boxA: "10m", boxB: "1h"} {
		if all := sandboxOf(t, r, id).Labels; !slices.ContainsFunc(all, func(f backend.Field) bool {
			return f.Name == backend.Text(backend.SleepAfterLabel) && f.Value.String() == want
		}) {
			t.Errorf("%s does not say that it sleeps after %s: %v", id, want, all)
		}
	}
	for _, x := range r.Sandboxes {
		if x.Key.ID.Raw() == runs {
			t.Error("the joined instance is listed twice")
		}
	}
}

// TestRoutesThatDisagreeAreShown: the account's word is what counts, and that of the routes stands beside it only where it says otherwise.
func TestRoutesThatDisagreeAreShown(t *testing.T) {
	for state, want := range map[string]bool{"healthy": false, "stopped": true, "zorp": true, "": false} {
		w := withBridge(t, func(o *Options) { o.OpsPrefix = "/ops" })
		w.set("/ops/sandboxes", ok(`{"sandboxes":[{"id":"`+boxA+`","instance":"`+runs+`","class":"Agent","state":"`+state+`"}]}`))
		r := w.poll()
		b := sandboxOf(t, r, boxA)
		if told := strings.Contains(problems(r), `operator routes: the state "`+state+`" is not known, of `+boxA); told != (state == "zorp") {
			t.Errorf("%q: %s", state, problems(r))
		}
		is := slices.ContainsFunc(b.Labels, func(f backend.Field) bool {
			return f.Name == backend.Text(backend.RoutesSayLabel) && f.Value.String() == state
		})
		if b.Class != backend.SandboxRunning || is != want {
			t.Errorf("%s: %s %v", state, b.Class, b.Labels)
		}
	}
}

// TestRoutesThatCallAnEndedOneHealthyAreShown beside the account's word, and those that say the same are not.
func TestRoutesThatCallAnEndedOneHealthyAreShown(t *testing.T) {
	for state, want := range map[string]bool{"healthy": true, "stopped": false, "zorp": false} {
		w := withBridge(t, func(o *Options) { o.OpsPrefix = "/ops" })
		w.lists(byObject, nil, []string{instance(owned, "stopped", "2026-11-20T11:10:00Z", "2026-11-20T11:20:00Z", "")}, nil)
		w.set("/ops/sandboxes", ok(`{"sandboxes":[{"id":"`+boxA+`","instance":"`+owned+`","class":"Sandbox","state":"`+state+`"}]}`))
		b := sandboxOf(t, w.poll(), boxA)
		is := slices.ContainsFunc(b.Labels, func(f backend.Field) bool {
			return f.Name == backend.Text(backend.RoutesSayLabel) && f.Value.String() == state
		})
		if b.Class != backend.SandboxExited || is != want {
			t.Errorf("%s: %s %v", state, b.Class, b.Labels)
		}
	}
}

// TestAJoinedSandboxIsNamedByItsSandboxID: the platform names its instance by the id of a container, which says nothing to anybody.
func TestAJoinedSandboxIsNamedByItsSandboxID(t *testing.T) {
	const container = "ed74fc00-1fef-409a-888c-dcd2bcf9838f"
	w := withBridge(t, func(o *Options) { o.OpsPrefix = "/ops" })
	w.lists(byObject, []string{strings.Replace(instance(owned, "running", "2026-11-20T11:10:00Z", "2026-11-20T11:10:05Z", ""), `"image"`, `"name":"`+container+`","image"`, 1)}, nil, nil)
	w.set("/ops/sandboxes", ok(`{"sandboxes":[{"id":"`+boxA+`","container":"`+container+`","class":"Sandbox","state":"healthy"}]}`))
	b := sandboxOf(t, w.poll(), boxA)
	if b.Name.String() != boxA || b.Container.Raw() != owned {
		t.Errorf("it is named %v, container %v", b.Name, b.Container)
	}
	if len(b.Labels) != 1 || b.Labels[0].Name.String() != "instance name" || b.Labels[0].Value.String() != container {
		t.Errorf("its labels are %v", b.Labels)
	}
	w.set("/ops/sandboxes", ok(`{"sandboxes":[]}`))
	if b = sandboxOf(t, w.poll(), owned); b.Name.String() != container || len(b.Labels) > 0 {
		t.Errorf("nothing joins it any more, and it is named %v, labels %v", b.Name, b.Labels)
	}
}

func TestANameThatTheConfigurationKnowsIsTheSandbox(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.Sandboxes = []string{"boxofacme"} })
	w.lists(byObject, []string{strings.Replace(instance(owned, "running", "2026-11-20T11:10:00Z", "2026-11-20T11:10:05Z", ""), `"image"`, `"name":"boxofacme","image"`, 1)}, nil, nil)
	r := w.poll()
	if b := sandboxOf(t, r, "boxofacme"); b.Container.Raw() != owned || b.Unattributed || len(r.Sandboxes) != 5 {
		t.Errorf("container %v, %d sandboxes", b.Container, len(r.Sandboxes))
	}
}

func TestWhatTheBridgeSaysOfItself(t *testing.T) {
	w := withBridge(t, nil)
	r := w.poll()
	if p := r.Pools[len(r.Pools)-1]; p.Name.String() != "bridge pool" || p.Used.Or(0) != 2 || p.Limit.Or(0) != 3 {
		t.Errorf("the pool is %v of %v", p.Used, p.Limit)
	}
	if !strings.Contains(r.Exposed.String(), "the bridge answers without a key") || !r.Degraded.IsEmpty() {
		t.Errorf("an open bridge: %s, degraded %v", r.Exposed, r.Degraded)
	}
	w = withBridge(t, nil)
	w.set("/v1/pool/stats", reply{status: http.StatusUnauthorized, body: `{"error":"Unauthorized","code":"unauthorized"}`})
	r = w.poll()
	if got := problems(r); !strings.Contains(got, "bridge, pool: answered 401 Unauthorized") || !strings.Contains(got, "check the key of the bridge (environment variable SANDBOX_API_KEY)") || strings.Contains(got, "without a key") {
		t.Errorf("a wrong key: %s", got)
	}
	sandboxOf(t, r, runs)
	w = withBridge(t, nil)
	w.set("/health", reply{status: http.StatusServiceUnavailable, body: `{"ok":false,"errors":["Sandbox binding is missing"]}`})
	if got := problems(w.poll()); !strings.Contains(got, "its Worker lacks a binding: Sandbox binding is missing") {
		t.Errorf("a missing binding: %s", got)
	}
}

// TestTheBridgeIsReadWithoutTheAccount: a bad token of the account API takes nothing of what only the bridge knows, and what it told
// before is old.
func TestTheBridgeIsReadWithoutTheAccount(t *testing.T) {
	w := withBridge(t, func(o *Options) { o.Sandboxes = []string{boxA} })
	w.poll()
	w.set("/containers/applications", refusal(http.StatusUnauthorized, 10000, "Authentication error"))
	r := w.poll()
	if b := sandboxOf(t, r, boxA); b.BridgeID.Raw() != boxA || slices.ContainsFunc(r.Stale, func(s backend.StaleMark) bool { return s.Key == b.Key }) {
		t.Errorf("the sandbox of the bridge: %+v, stale %v", b, r.Stale)
	}
	if !strings.Contains(r.Degraded.String(), "the account API: ") || !strings.Contains(r.Degraded.String(), "answered 401") || !r.Unseen || r.Whole(backend.KindSandbox) || len(r.Ended) > 0 || len(r.Stale) == 0 {
		t.Errorf("degraded %v, unseen %v, %d ended, %d stale", r.Degraded, r.Unseen, len(r.Ended), len(r.Stale))
	}
	w.set("/health", reply{status: http.StatusBadGateway})
	w.set("/v1/pool/stats", reply{status: http.StatusBadGateway})
	w.clock.Add(2 * bridgeEvery)
	if err := w.fails(); backend.KindOf(err) != backend.ErrUnauthorised {
		t.Errorf("neither answers: %v", err)
	}
}

func TestThePreviewIsSaid(t *testing.T) {
	w := withBridge(t, nil)
	w.set("/v1/openapi.json", ok(`{"paths":{"/v1/sandbox/{id}/processes":{"get":{}},"/v1/sandbox/{id}/running":{"get":{}}}}`))
	if r := w.poll(); !strings.Contains(r.Refuses.String(), "1.0 preview") {
		t.Errorf("notes %v", r.Notes)
	}
	w = withBridge(t, nil)
	w.set("/v1/openapi.json", ok(`{"paths":{"/v1/sandbox/{id}/exec":{"post":{}}}}`))
	if r := w.poll(); strings.Contains(r.Refuses.String(), "preview") {
		t.Errorf("notes of a stable bridge %v", r.Notes)
	}
	w = withBridge(t, nil)
	w.set("/v1/openapi.json", reply{status: http.StatusNotFound, body: "404 Not Found"})
	if notes := backend.Join(w.poll().Notes, "\n").String(); !strings.Contains(notes, "nothing is done through it: "+w.url+"/v1/openapi.json answered 404") {
		t.Errorf("a bridge that tells nothing: %s", notes)
	}
}
