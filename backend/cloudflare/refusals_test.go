package cloudflare

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/backendtest"
)

func TestABadTokenNamesThePermissionAndTheStep(t *testing.T) {
	w := newWorld(t, nil)
	w.set("/containers/applications", refusal(http.StatusForbidden, 10000, "Authentication error"))
	err := w.fails().Error()
	for _, want := range []string{"cf: unauthorised: " + w.url + "/accounts/" + account + "/containers/applications", "answered 403 Forbidden: Authentication error (code 10000)",
		"check the token (environment variable CLOUDFLARE_API_TOKEN): valid, for this account, with the permission Workers Containers Read"} {
		if !strings.Contains(err, want) {
			t.Errorf("%q lacks %q", err, want)
		}
	}
	if strings.Contains(err, apiToken) {
		t.Errorf("the token is in %q", err)
	}
}

// TestARefusalLastsUntilItIsAskedAgain: a poll out of turn asks nothing and knows no better.
func TestARefusalLastsUntilItIsAskedAgain(t *testing.T) {
	w := withBridge(t, nil)
	w.set("/containers/applications", refusal(http.StatusBadRequest, 6003, "Invalid request headers"))
	for range 2 {
		w.clock.Add(100 * time.Millisecond)
		r, err := w.src.Poll(t.Context())
		if err != nil || !strings.Contains(r.Degraded.String(), "Invalid request headers (code 6003); check the token (environment variable CLOUDFLARE_API_TOKEN)") || !r.Unseen {
			t.Errorf("degraded %v, %v", r.Degraded, err)
		}
	}
	if n := w.requests("/containers/applications"); n != 1 {
		t.Errorf("it was asked %d times", n)
	}
	w.set("/containers/applications", apps(scheduledApp("3", "", 2, 10), objectApp))
	if r := w.poll(); !r.Degraded.IsEmpty() || len(r.Sandboxes) != 5 {
		t.Errorf("degraded %v", r.Degraded)
	}
}

func TestEachMissingPermissionIsNamed(t *testing.T) {
	w := newWorld(t, nil)
	w.set("/workers/durable_objects/namespaces", refusal(http.StatusForbidden, 10000, "Authentication error"))
	r := w.poll()
	if got := problems(r); !strings.Contains(got, "class and script of the sandboxes are not known: answered 403 Forbidden: Authentication error (code 10000); the token (environment variable CLOUDFLARE_API_TOKEN) works for other routes: give it the permission Workers Scripts Read") ||
		!strings.Contains(r.Degraded.String(), "Workers Scripts Read") {
		t.Errorf("problems %s, degraded %v", got, r.Degraded)
	}
	if b := sandboxOf(t, r, runs); !b.Script.IsEmpty() || !r.Whole(backend.KindSandbox) {
		t.Errorf("script %v, scopes %v", b.Script, r.Scopes)
	}
	w = newWorld(t, nil)
	w.poll()
	w.set("/containers/applications", refusal(http.StatusForbidden, 10000, "Authentication error"))
	if got := w.fails().Error(); !strings.Contains(got, "works for other routes: give it the permission Workers Containers Read") {
		t.Errorf("a permission that was taken away: %s", got)
	}
}

func TestAnAccountThatDoesNotAnswer(t *testing.T) {
	w := newWorld(t, nil)
	w.poll()
	w.set("/containers/applications", reply{status: http.StatusInternalServerError, body: "<html>oh</html>", header: map[string]string{"Content-Type": "text/html", "Cf-Ray": "8f0-FRA"}})
	if got := w.fails().Error(); !strings.Contains(got, "unreachable") || !strings.Contains(got, "answered 500 Internal Server Error (ray 8f0-FRA); what runs is unknown until it answers") {
		t.Error(got)
	}
	w.set("/containers/applications", apps(scheduledApp("3", "", 2, 10), objectApp))
	if r := w.poll(); len(r.Sandboxes) != 5 {
		t.Errorf("%d sandboxes after it", len(r.Sandboxes))
	}
}

func TestTooManyRequestsAreFollowedBySilence(t *testing.T) {
	w := newWorld(t, nil)
	w.poll()
	w.set("/containers/applications", reply{status: http.StatusTooManyRequests, body: `{"success":false,"errors":[{"code":971,"message":"Please wait"}]}`, header: map[string]string{"Retry-After": "120"}})
	if got := w.fails().Error(); !strings.Contains(got, "throttled") || !strings.Contains(got, "Please wait (code 971); it asks to wait 2m0s; all programs of the token share 1200 requests in 5 minutes") {
		t.Error(got)
	}
	n := w.requests("")
	if got := w.fails().Error(); !strings.Contains(got, "asked for silence for another 1m48s") || w.requests("") != n {
		t.Errorf("%s; %d requests", got, w.requests("")-n)
	}
}

func TestTheLimitIsKeptForOthers(t *testing.T) {
	w := newWorld(t, nil)
	w.set("/containers/applications", reply{status: http.StatusOK, body: apps(scheduledApp("3", "", 2, 10), objectApp).body, header: map[string]string{"Ratelimit": `"default";r=4;t=90`}})
	w.poll()
	n := w.requests("")
	r := w.poll()
	if w.requests("") != n || len(r.Notes) == 0 || !strings.Contains(r.Notes[0].String(), "4 are left to all programs of the token") || r.Whole(backend.KindSandbox) || len(r.Sandboxes) != 5 {
		t.Errorf("%d requests, notes %v, scopes %v", w.requests("")-n, r.Notes, r.Scopes)
	}
	w.clock.Add(90 * time.Second)
	if w.poll(); w.requests("") == n {
		t.Error("it does not ask again")
	}
	for _, odd := range []string{"", "r=", `"default";r=-1;t=9`, "r=1", "garbage;;;=;r=x;t=y"} {
		var l limits
		l.note(http.Header{"Ratelimit": {odd}}, zero)
		if rest, _ := l.rest(zero); rest != 0 {
			t.Errorf("%q asks for silence of %v", odd, rest)
		}
	}
}

func TestAnswersOfAnotherShape(t *testing.T) {
	for body, want := range map[string]string{
		`{"success":true,"result":{"applications":[]}}`:                   "the answer holds no list result; is ",
		`{"success":false,"errors":[{"code":1,"message":"\u001b[2Jno"}]}`: "answered 200 OK: ␛[2Jno (code 1)",
		`<html>`: "it answered with a web page; is ",
		`oops`:   "(byte 0)",
	} {
		w := newWorld(t, nil)
		w.set("/containers/applications", ok(body))
		got := w.fails().Error()
		if strings.ContainsRune(got, 0x1b) || !strings.Contains(got, want) && !strings.HasPrefix(body, `{"success":false`) {
			t.Errorf("%s: %q", body, got)
		}
	}
}

func TestOptionsThatAreRefused(t *testing.T) {
	w := newWorld(t, nil)
	for want, change := range map[string]func(*Options){
		"account_id: nothing says which account":   func(o *Options) { o.AccountID = "" },
		`account_id: "acme" is not 32 hexadecimal`: func(o *Options) { o.AccountID = "acme" },
		"inventory: must be at least 10s":          func(o *Options) { o.Inventory = backend.Duration(time.Second) },
		"ended: must be at least 1m":               func(o *Options) { o.Ended = 0 },
		"requests_per_second: 0 is outside":        func(o *Options) { o.RequestsPerSec = 0 },
		"url: not an absolute":                     func(o *Options) { o.URL = "api.cloudflare.com" },
		"url: has a query":                         func(o *Options) { o.URL = "https://x.test/?a=1" },
		"bridge_url: not an absolute":              func(o *Options) { o.BridgeURL = "bridge" },
		`sandboxes: "Box-1" is not a sandbox id`:   func(o *Options) { o.Sandboxes = []string{"Box-1"} },
		`sandboxes: "abc" is named twice`:          func(o *Options) { o.Sandboxes = []string{"abc", "abc"} },
		"ops_prefix: is read with bridge_url only": func(o *Options) { o.OpsPrefix = "/ops" },
		`ops_prefix: "ops" is not a path`:          func(o *Options) { o.BridgeURL, o.OpsPrefix = "https://b.test", "ops" },
		"bridge: give exactly one of env, file":    func(o *Options) { o.Bridge.Env, o.Bridge.File = "A", "/b" },
		"read: give exactly one of env, file":      func(o *Options) { o.Read.Env, o.Read.File = "A", "/b" },
	} {
		o := backendtest.Options[Options](func(o *Options) { o.AccountID = account; change(o) })
		if _, err := Kind().New(o, w.deps(nil)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}

func TestTheEnvironmentCompletesTheConfiguration(t *testing.T) {
	w := newWorld(t, nil)
	env := map[string]string{envToken: "other-token-98765", envAccount: account, envBridge: w.url, envKey: bridgeKey}
	src, err := Kind().New(backendtest.Options[Options](func(o *Options) { o.URL, o.RequestsPerSec = w.url, 100 }), w.deps(env))
	if err != nil {
		t.Fatal(err)
	}
	s := src.(*Source)
	defer s.Close()
	if _, err := s.Poll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if base, _, key := s.Bridge(); base != w.url || key.Env != envKey || w.heads[0].Get("Authorization") != "Bearer other-token-98765" {
		t.Errorf("bridge %s, key %s, token %s", base, key.Env, w.heads[0].Get("Authorization"))
	}
}

// TestASmallBudgetReadsLiveInstancesFirst: what was not read yet is said, and is no end of anything.
func TestASmallBudgetReadsLiveInstancesFirst(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.RequestsPerSec = 0.1 })
	r := w.poll()
	if !r.Partial || r.Whole(backend.KindSandbox) || w.requests("instances-v2") > 0 {
		t.Errorf("partial %t, scopes %v, %d lists", r.Partial, r.Scopes, w.requests("instances-v2"))
	}
	for range 6 {
		r = w.poll()
	}
	if w.requests("state=active") < 2 || r.Partial || !r.Unseen || !strings.Contains(backend.Join(r.Notes, " ").String(), "were not read to their end yet: requests_per_second is 0.1") || len(r.Ended) > 0 {
		t.Errorf("%d lists of live instances, partial %t, notes %v", w.requests("state=active"), r.Partial, r.Notes)
	}
	sandboxOf(t, r, runs)
	sandboxOf(t, r, owned)
}

// TestARefusalWithTheStatusOfASuccessNamesThePermission, and a web page is not called a JSON fault.
func TestARefusalWithTheStatusOfASuccessNamesThePermission(t *testing.T) {
	w := newWorld(t, nil)
	w.set("/containers/applications", refusal(http.StatusOK, 9109, "Unauthorized to access requested resource"))
	if got := w.fails().Error(); !strings.Contains(got, "unauthorised") || !strings.Contains(got, "(code 9109); check the token (environment variable CLOUDFLARE_API_TOKEN): valid, for this account, with the permission Workers Containers Read") {
		t.Error(got)
	}
	w = newWorld(t, nil)
	w.set("/containers/applications", reply{status: http.StatusOK, body: "\n<!doctype html><p>log in</p>", header: map[string]string{"Content-Type": "text/html"}})
	if got := w.fails().Error(); !strings.Contains(got, "it answered with a web page; is "+w.url) || strings.Contains(got, "invalid character") {
		t.Error(got)
	}
}

// TestAListOfWhichMuchCannotBeReadIsNotWhole: its source is degraded, and one odd instance of many is a note. Each is told once, though
// several lists have it.
func TestAListOfWhichMuchCannotBeReadIsNotWhole(t *testing.T) {
	for name, c := range map[string]struct {
		bad, good int
		degraded  bool
	}{"most": {4, 1, true}, "a fifth": {1, 4, true}, "few": {1, 9, false}} {
		var all []string
		for i := range c.good {
			all = append(all, instance(strings.Repeat(string(rune('a'+i%6)), 63)+string(rune('0'+i)), "running", "2026-11-20T11:00:00Z", "2026-11-20T11:00:05Z", ""))
		}
		for range c.bad {
			all = append(all, `{"status":"running"}`)
		}
		w := newWorld(t, nil)
		w.set("/containers/applications/"+scheduled+"/instances-v2", rows("", all...))
		r := w.poll()
		notes := backend.Join(r.Notes, "\n").String()
		if n := strings.Count(problems(r), "cannot be read; the others are shown"); n != 1 {
			t.Errorf("%s: told %d times", name, n)
		}
		if r.Degraded.IsEmpty() == c.degraded || r.Unseen != c.degraded || strings.Contains(notes, "cannot be read; the others are shown") == c.degraded {
			t.Errorf("%s: degraded %v, unseen %v, notes %s", name, r.Degraded, r.Unseen, notes)
		}
	}
}

// TestTheAccountOfTheExample never hides the one of the environment, and is named where it is asked with.
func TestTheAccountOfTheExample(t *testing.T) {
	for env, want := range map[string]string{account: account, "": exampleAccount} {
		w := newWorld(t, nil)
		src, err := Kind().New(backendtest.Options[Options](func(o *Options) { o.URL, o.AccountID, o.Analytics = w.url, exampleAccount, false }),
			w.deps(map[string]string{envToken: apiToken, envAccount: env}))
		if err != nil {
			t.Fatal(err)
		}
		if s := src.(*Source); !strings.HasSuffix(s.base, "/accounts/"+want) {
			t.Errorf("with %q in the environment: %s", env, s.base)
		}
		if w.src = src.(*Source); env == "" {
			if err := w.fails(); !strings.Contains(err.Error(), "account_id is still that of the example: write yours, or set CLOUDFLARE_ACCOUNT_ID") {
				t.Errorf("%v", err)
			}
		} else if r := w.poll(); len(r.Sandboxes) == 0 {
			t.Error("it lists no sandbox")
		}
	}
}
