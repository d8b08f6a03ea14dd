package blaxel

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/backendtest"
)

const day = "2026-11-20T08:00:00Z"

func TestBothShapesOfTheListAreRead(t *testing.T) {
	w := newWorld(t, nil)
	w.set("/sandboxes", ok("["+one("a", "DEPLOYED", day, `,"state":"STANDBY"`)+","+one("b", "DEPLOYING", day, "")+"]"))
	r := w.poll()
	if len(r.Sandboxes) != 2 || !r.Whole(backend.KindSandbox) || sandboxOf(t, r, "b").Class != backend.SandboxCreated {
		t.Errorf("a bare list: %d sandboxes, whole %v", len(r.Sandboxes), r.Whole(backend.KindSandbox))
	}
	h := w.heads[0]
	if h.Get("Authorization") != "Bearer "+apiKey || h.Get("X-Blaxel-Workspace") != "acme" || h.Get("Blaxel-Version") != "2026-04-28" {
		t.Errorf("headers %v", h)
	}
	w.set("/sandboxes", ok(`{"items":[]}`))
	if got := w.fails().Error(); !strings.Contains(got, "the answer holds no list; is "+w.url+" the control plane?") {
		t.Error(got)
	}
}

func TestACursorThatRepeatsEndsTheListAsNotWhole(t *testing.T) {
	w := newWorld(t, nil)
	w.set("/sandboxes", page("again", one("a", "DEPLOYED", day, `,"state":"RUNNING"`)))
	r := w.poll()
	if r.Whole(backend.KindSandbox) || !r.Unseen || !strings.Contains(r.Degraded.String(), "the list of sandboxes is not whole") || !strings.Contains(problems(r), "the platform gave the same cursor twice") || w.requests("/sandboxes?") != 2 {
		t.Errorf("whole %v, %d requests\n%s", r.Whole(backend.KindSandbox), w.requests("/sandboxes?"), problems(r))
	}
}

// TestAListThatContradictsItselfIsNotWhole: its total, or that there is more, says that rows are missing.
func TestAListThatContradictsItselfIsNotWhole(t *testing.T) {
	a := one("a", "DEPLOYED", day, `,"state":"RUNNING"`)
	for body, want := range map[string]string{
		`{"data":[],"meta":{"hasMore":false,"nextCursor":"","total":3}}`:             "its rows end after 0, and its total says 3",
		`{"data":[` + a + `],"meta":{"hasMore":false,"nextCursor":"","total":3}}`:    "its rows end after 1, and its total says 3",
		`{"data":[` + a + `],"meta":{"hasMore":true,"nextCursor":"","total":1}}`:     "after 1 row it says that there are more, and gives no cursor for them",
		`{"data":[],"meta":{"hasMore":false,"nextCursor":"","total":0}}`:             "",
		`{"data":[` + a + `],"meta":{"hasMore":false,"nextCursor":"","total":null}}`: "",
		`{"data":[` + a + `],"meta":{"hasMore":false,"nextCursor":"","total":1}}`:    "",
	} {
		w := newWorld(t, nil)
		w.set("/sandboxes", ok(body))
		r := w.poll()
		if r.Whole(backend.KindSandbox) != (want == "") || r.Unseen != (want != "") || !strings.Contains(problems(r), want) {
			t.Errorf("%s: whole %v\n%s", body, r.Whole(backend.KindSandbox), problems(r))
		}
	}
}

func TestARowThatCannotBeReadCostsThatRowAlone(t *testing.T) {
	w := newWorld(t, nil)
	w.set("/sandboxes", page("", one("a", "DEPLOYED", day, `,"state":"RUNNING"`), `{"metadata":{"name":".."}}`, `{"metadata":{"name":"x","name":"y"}}`))
	r := w.poll()
	if len(r.Sandboxes) != 1 || r.Whole(backend.KindSandbox) || !strings.Contains(problems(r), "2 rows cannot be read") {
		t.Errorf("%d sandboxes, whole %v\n%s", len(r.Sandboxes), r.Whole(backend.KindSandbox), problems(r))
	}
}

func TestTheTwoWordsOfASandbox(t *testing.T) {
	for _, x := range []struct {
		status, state, more string
		class               backend.SandboxClass
		says                string
	}{
		{"UPLOADING", "", "", backend.SandboxCreated, "UPLOADING"}, {"BUILDING", "", "", backend.SandboxCreated, "BUILDING"}, {"BUILT", "", "", backend.SandboxCreated, "BUILT"},
		{"DEPLOYING", "", "", backend.SandboxCreated, "DEPLOYING"}, {"DEPLOYED", "RUNNING", "", backend.SandboxRunning, "DEPLOYED RUNNING"},
		{"DEPLOYED", "STANDBY", "", backend.SandboxAsleep, "DEPLOYED STANDBY"}, {"DEPLOYED", "", "", backend.SandboxUnknown, "DEPLOYED"},
		{"DEPLOYED", "DREAMING", "", backend.SandboxUnknown, "DEPLOYED DREAMING"}, {"FAILED", "", "", backend.SandboxDead, "FAILED"},
		{"DEACTIVATING", "", "", backend.SandboxPaused, "DEACTIVATING"}, {"DEACTIVATED", "", "", backend.SandboxPaused, "DEACTIVATED"},
		{"DELETING", "", "", backend.SandboxRemoving, "DELETING"}, {"TERMINATING", "", "", backend.SandboxRemoving, "TERMINATING"}, {"TERMINATED", "", "", backend.SandboxExited, "TERMINATED"},
		{"ARCHIVING", "", "", backend.SandboxPaused, "ARCHIVING"}, {"ARCHIVED", "", "", backend.SandboxPaused, "ARCHIVED"}, {"UNARCHIVING", "", "", backend.SandboxCreated, "UNARCHIVING"},
		{"NEW_WORD", "", "", backend.SandboxUnknown, "NEW_WORD"}, {"DEPLOYED", "RUNNING", "disabled", backend.SandboxPaused, "DEPLOYED, disabled"}, {"DEPLOYED", "", "disabled", backend.SandboxPaused, "DEPLOYED, disabled"},
	} {
		w := newWorld(t, nil)
		more := ""
		if x.state != "" {
			more = fmt.Sprintf(`,"state":%q`, x.state)
		}
		row := one("a", x.status, day, more)
		if x.more != "" {
			row = strings.Replace(row, `"enabled":true`, `"enabled":false`, 1)
		}
		w.set("/sandboxes", page("", row))
		if b := sandboxOf(t, w.poll(), "a"); b.Class != x.class || b.Reported.String() != x.says {
			t.Errorf("%s %s %s: %v %q", x.status, x.state, x.more, b.Class, b.Reported)
		}
	}
}

// TestANoteThatIsNotFatalIsNoCause of a failure.
func TestANoteThatIsNotFatalIsNoCause(t *testing.T) {
	for errors, want := range map[string]string{
		`[{"code":"BOOT","fatal":false,"message":"slow"}]`:                                          "",
		`[{"code":"BOOT","message":"slow"}]`:                                                        "slow (BOOT)",
		`[{"code":"K","fatal":true,"message":"panic"},{"code":"B","fatal":false,"message":"slow"}]`: "panic (K)",
	} {
		w := newWorld(t, nil)
		w.set("/sandboxes", page("", one("a", "FAILED", day, `,"errors":`+errors)))
		if got := sandboxOf(t, w.poll(), "a").StartError.String(); got != want {
			t.Errorf("%s: %q, want %q", errors, got, want)
		}
	}
}

// TestAStateThatTheListLeavesOut holds that the own record tells it, for a minute.
func TestAStateThatTheListLeavesOut(t *testing.T) {
	w := newWorld(t, nil)
	w.set("/sandboxes", page("", one("a", "DEPLOYED", day, "")))
	w.set("/sandboxes/a", ok(one("a", "DEPLOYED", day, `,"state":"STANDBY"`)))
	w.poll()
	if b := sandboxOf(t, w.poll(), "a"); b.Class != backend.SandboxAsleep || b.Reported.String() != "DEPLOYED STANDBY" {
		t.Errorf("%v %q", b.Class, b.Reported)
	}
	w.set("/sandboxes/a", refused(http.StatusInternalServerError, `{"code":500,"error":"no"}`))
	for range 6 {
		w.poll()
	}
	r := w.poll()
	if b := sandboxOf(t, r, "a"); b.Class != backend.SandboxUnknown || !strings.Contains(fmt.Sprint(r.Notes), "is not told of 1 deployed sandbox") {
		t.Errorf("%v %q %v", b.Class, b.Reported, r.Notes)
	}
}

// TestWhenAPreviewEnds: by its date, or by its ttl from its making; what lacks both has no end. A session of the vendor's SDK is a
// credential, also where its port is not told.
func TestWhenAPreviewEnds(t *testing.T) {
	w := newWorld(t, nil)
	w.set("/sandboxes", page("", `{"metadata":{"name":"a","createdAt":"`+day+`"},"spec":{},"status":"DEPLOYED","state":"RUNNING"}`))
	w.set("/sandboxes/a/previews", ok(`[{"metadata":{"name":"by-ttl","createdAt":"2026-11-21T08:00:00Z"},"spec":{"port":3000,"public":true,"ttl":"24h"}},
		{"metadata":{"name":"unmade"},"spec":{"port":3003,"public":true,"ttl":"24h"}},{"metadata":{"name":"number"},"spec":{"port":3004,"ttl":3600}},{"metadata":{"name":"endless"},"spec":{"port":3001,"public":true}},{"metadata":{"name":"odd-ttl","createdAt":"2026-11-21T08:00:00Z"},"spec":{"port":3002,"public":true,"ttl":"soon"}},
		{"metadata":{"name":"session-17"},"spec":{"public":true}},{"metadata":{"name":"session-x"},"spec":{"public":true}}]`))
	got := map[string]string{}
	for _, p := range sandboxOf(t, w.poll(), "a").Previews {
		end := "not known"
		if at, is := p.Expires.Get(); is {
			end = at.UTC().Format(time.RFC3339)
		} else if p.Expires.IsNotApplicable() {
			end = "none"
		}
		got[p.Name.String()] = fmt.Sprint(end, " ", p.Control, " ", p.TTL)
	}
	want := map[string]string{"by-ttl": "2026-11-22T08:00:00Z false 24h", "unmade": "not known false 24h", "number": "not known false 3600", "endless": "none false ", "odd-ttl": "not known false soon", "session-17": "none true ", "session-x": "none false "}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestNoValueOfASecretIsKept holds that values of the environment and of tokens are in nothing that is delivered.
func TestNoValueOfASecretIsKept(t *testing.T) {
	w := newWorld(t, nil)
	row := `{"metadata":{"name":"a","createdAt":"` + day + `","labels":{"sandglass.session":"s-1","sandglass.workspace":"box","team":"x","api_token":"plain-eight","password":"plain-nine","AWS_SECRET_ACCESS_KEY":"plain ten"}},
		"spec":{"runtime":{"envs":[{"name":"TOKEN","value":"plain-one","secret":true},{"name":"LEVEL","value":"plain-two"},{"name":"TOKEN","value":"plain-one"}],"extraArgs":{"k":"plain-three"}},
		"network":{"proxy":{"routing":[{"headers":{"Authorization":"plain-four"}}]}}},"status":"DEPLOYED","state":"RUNNING"}`
	w.set("/sandboxes", page("", row))
	w.set("/sandboxes/a/previews", ok(`[{"metadata":{"name":"port-3000"},"spec":{"port":3000,"public":false,"url":"https://x.preview.bl.run/p?bl_preview_token=plain-five","expires":"","requestHeaders":{"A":"plain-six"}},"status":"DEPLOYED"},
		{"metadata":{"name":"session-1"},"spec":{"port":443,"public":false,"url":"https://y.preview.bl.run","expires":"2026-11-22T00:00:00Z"}},{"metadata":{"name":"open"},"spec":{"port":8000,"public":true,"url":"https://z.preview.bl.run"}}]`))
	w.set("/sandboxes/a/previews/port-3000/tokens", ok(`[{"metadata":{"name":"token-1"},"spec":{"token":"plain-seven","value":"plain-seven","expiresAt":"2026-11-21T08:00:00Z","expired":false}}]`))
	w.set("/sandboxes/a/previews/session-1/tokens", ok(`[]`))
	r := w.poll()
	b := sandboxOf(t, r, "a")
	if b.Session.Raw() != "s-1" || b.Workspace.Raw() != "box" || b.JoinedBy.String() != "label sandglass.session" || len(b.Labels) != 6 {
		t.Errorf("joined to %v and %v by %v", b.Session, b.Workspace, b.JoinedBy)
	}
	if got := fmt.Sprint(b.EnvNames, b.NoEnv); got != "[LEVEL TOKEN] false" {
		t.Error(got)
	}
	if len(b.Previews) != 3 || b.PreviewsAt.IsZero() {
		t.Fatalf("%+v", b.Previews)
	}
	open, port, session := b.Previews[0], b.Previews[1], b.Previews[2]
	if !open.Public.Or(false) || open.Tokens != nil || w.requests("/previews/open/tokens") != 0 {
		t.Errorf("%+v", open)
	}
	if port.Public.Or(true) || port.Port.Or(0) != 3000 || port.URL.String() != "https://x.preview.bl.run/p" || !port.Expires.IsNotApplicable() || len(port.Tokens) != 1 ||
		!port.Tokens[0].Expires.Or(time.Time{}).Equal(time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)) || port.Tokens[0].Expired.Or(true) {
		t.Errorf("%+v", port)
	}
	if !session.Control || port.Control || session.TokensAt.IsZero() || !session.Expires.IsKnown() {
		t.Errorf("%+v", session)
	}
	all, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(all), `"expires":`); n != 2 || strings.Contains(string(all), `"expires":null`) { // session-1 and token-1; no end is no unknown end
		t.Errorf("%d times expires in\n%s", n, all)
	}
	if strings.Contains(string(all), "plain-") || !strings.Contains(string(all), "token-1") {
		t.Errorf("a value is in the reading:\n%s", all)
	}
}

func TestAKeyThatMayNotReadPreviews(t *testing.T) {
	w := newWorld(t, nil)
	w.set("/sandboxes", page("", one("a", "DEPLOYED", day, `,"state":"RUNNING"`), one("b", "DEPLOYED", day, `,"state":"RUNNING"`)))
	for _, n := range []string{"a", "b"} {
		w.set("/sandboxes/"+n, ok(one(n, "DEPLOYED", day, `,"state":"RUNNING"`)))
		w.set("/sandboxes/"+n+"/previews", refused(http.StatusForbidden, `{"code":403,"error":"forbidden"}`))
	}
	w.poll()
	r := w.poll()
	if got := problems(r); strings.Count(got, "previews cannot be read: answered 403 Forbidden: forbidden; the key (environment variable BL_API_KEY) may not read this") != 1 || w.requests("/previews") != 1 {
		t.Errorf("%d requests\n%s", w.requests("/previews"), got)
	}
	if len(r.Sandboxes) != 2 || !r.Sandboxes[0].PreviewsAt.IsZero() {
		t.Error("the sandboxes themselves are read; their previews are not")
	}
}

func TestOneMadeAnewUnderTheSameName(t *testing.T) {
	w := newWorld(t, nil)
	old := one("a", "TERMINATED", day, "")
	w.set("/sandboxes", page("", one("a", "DEPLOYED", day, `,"state":"RUNNING"`)))
	w.poll()
	w.set("/sandboxes", page("", old, one("a", "DEPLOYED", "2026-11-21T07:00:10Z", `,"state":"RUNNING"`)))
	r := w.poll()
	b := sandboxOf(t, r, "a")
	if len(r.Sandboxes) != 1 || b.Class != backend.SandboxRunning || !b.FreshAt.Equal(time.Date(2026, 11, 21, 7, 0, 10, 0, time.UTC)) || len(r.Events) != 1 || !strings.Contains(r.Events[0].Text.String(), "was re-created under the same name") {
		t.Errorf("%d, %v, fresh %v, events %v", len(r.Sandboxes), b.Class, b.FreshAt, r.Events)
	}
	if r := w.poll(); len(r.Events) != 0 || !sandboxOf(t, r, "a").FreshAt.Equal(b.FreshAt) {
		t.Errorf("it is told again: %v", r.Events)
	}
}

// TestALaterProcessGoesOn: since when a sandbox has its words, and that it is another one of the same name, outlives the process.
func TestALaterProcessGoesOn(t *testing.T) {
	w := newWorld(t, nil)
	next := func() backend.Reading {
		marks := w.poll().Bookmarks
		for i := range marks { // the wall clock was set back a little: times of ours move, those of the platform do not
			for j := range marks[i].Sizes {
				marks[i].Sizes[j].At = marks[i].Sizes[j].At.Add(-time.Second)
			}
		}
		w.clock.Add(time.Hour)
		w.src = w.source(nil)
		w.src.Resume(marks)
		return w.poll()
	}
	w.set("/sandboxes", page("", one("a", "DELETING", day, ""), one("over", "TERMINATED", day, ""), one("b", "DEPLOYED", day, `,"state":"RUNNING"`), one("c", "DEPLOYED", day, `,"state":"RUNNING"`), one("gone", "DEPLOYED", day, "")))
	w.poll()
	first := w.clock.Now()
	w.clock.Add(time.Minute)
	w.setFunc("/sandboxes", func(url.Values) reply {
		if w.clock.Now().Sub(first) < time.Hour {
			return page("", one("a", "DELETING", day, ""), one("over", "TERMINATED", day, ""), one("b", "DEPLOYED", day, `,"state":"RUNNING"`), one("c", "DEPLOYED", day, `,"state":"RUNNING"`), one("gone", "DEPLOYED", day, ""))
		}
		return page("", one("a", "DELETING", day, ""), one("over", "TERMINATED", day, ""), one("b", "DEPLOYED", day, `,"state":"STANDBY"`), one("c", "DEPLOYED", "2026-11-21T07:30:00Z", `,"state":"RUNNING"`))
	})
	r := next()
	now := w.clock.Now()
	for name, since := range map[string]time.Time{"a": first.Add(-time.Second), "over": first.Add(-time.Second), "b": now, "c": now} {
		if b := sandboxOf(t, r, name); !b.KnownSince.Equal(since) {
			t.Errorf("%s has its words since %v, want %v", name, b.KnownSince, since)
		}
	}
	made := time.Date(2026, 11, 21, 7, 30, 0, 0, time.UTC)
	if b := sandboxOf(t, r, "c"); !b.FreshAt.Equal(made) {
		t.Errorf("another one of the same name since the last process: fresh at %v", b.FreshAt)
	}
	if a := sandboxOf(t, r, "a"); !a.FreshAt.IsZero() {
		t.Errorf("the same one is called another: fresh at %v", a.FreshAt)
	}
	if b := sandboxOf(t, next(), "c"); !b.FreshAt.Equal(made.Add(-time.Second)) || !b.KnownSince.Equal(now.Add(-time.Second)) {
		t.Errorf("a third process: fresh at %v, known since %v", b.FreshAt, b.KnownSince)
	}
	marks := w.poll().Bookmarks
	if len(marks) != 4 {
		t.Errorf("what no list names is kept: %v", marks)
	}
	if len(marks) > 0 && (!strings.HasPrefix(marks[0].File, "DELETING ") || !strings.HasPrefix(marks[len(marks)-1].File, "TERMINATED ")) {
		t.Errorf("what is over comes before what is on its way: %v", marks)
	}
}

func TestWhatCouldBeRestored(t *testing.T) {
	w := newWorld(t, nil)
	w.set("/sandboxes", page("", one("a", "DEPLOYED", day, `,"state":"RUNNING"`)))
	w.setFunc("/snapshots", func(q url.Values) reply {
		if q.Get("cursor") == "" {
			return page("2", `{"id":"old","name":"first","status":"READY","createdAt":"2026-11-20T09:00:00Z","sandboxName":"a"}`, `{"id":"other","name":"n","status":"READY","createdAt":"2026-11-20T09:00:00Z","sandboxName":"b"}`)
		}
		return page("", `{"id":"new","name":"second","status":"READY","createdAt":"2026-11-20T10:00:00Z","source":{"kind":"sandbox","name":"a","deleted":false}}`)
	})
	b := sandboxOf(t, w.poll(), "a")
	if len(b.Snapshots) != 2 || b.Snapshots[0].Name.String() != "second" || b.Snapshots[1].Status.String() != "READY" || b.SnapshotsAt.IsZero() {
		t.Errorf("%+v", b.Snapshots)
	}
	w = newWorld(t, nil)
	w.set("/sandboxes", page("", one("a", "DEPLOYED", day, `,"state":"RUNNING"`)))
	w.set("/snapshots", refused(http.StatusNotFound, notFound))
	r := w.poll()
	if b := sandboxOf(t, r, "a"); !b.SnapshotsAt.IsZero() || !strings.Contains(fmt.Sprint(r.Notes), "has no list of snapshots") || strings.Contains(problems(r), "restored") {
		t.Errorf("%v %v %v", b.SnapshotsAt, r.Notes, problems(r))
	}
}

func TestRefusalsNameTheNextStep(t *testing.T) {
	for _, x := range []struct {
		a    reply
		want string
	}{
		{refused(http.StatusUnauthorized, `{"error":{"code":"AUTHENTICATION_FAILED","message":"bad key","status":401,"retryable":false,"origin":"platform"}}`),
			"answered 401 Unauthorized: bad key (AUTHENTICATION_FAILED); check the key (environment variable BL_API_KEY), and whether it is one of the workspace acme"},
		{refused(http.StatusBadRequest, `{"error":"invalid_api_version","message":"x"}`), "the platform does not know api_version 2026-04-28: set another one, or leave it empty"},
		{refused(http.StatusNotFound, notFound), "check workspace and url"},
		{refused(http.StatusPaymentRequired, `{"error":{"code":"USAGE_LIMIT_EXCEEDED","message":"m"}}`), "the workspace has met its usage limit"},
		{refused(http.StatusBadGateway, "<html>bad"), "answered 502 Bad Gateway: a web page; nothing can be said of the sandboxes until the control plane answers"},
		{reply{http.StatusTooManyRequests, `{"code":429,"error":"slow"}`, map[string]string{"Retry-After": "7"}}, "lower requests_per_second, or stop another program with this key"},
	} {
		w := newWorld(t, nil)
		w.set("/sandboxes", x.a)
		if got := w.fails().Error(); !strings.Contains(got, x.want) {
			t.Errorf("%s\nholds not: %s", got, x.want)
		}
	}
}

// TestTheLoginOfTheVendorsCLI holds that the file is read, for the workspace that is asked for, and never written.
func TestTheLoginOfTheVendorsCLI(t *testing.T) {
	w := newWorld(t, nil)
	home := t.TempDir()
	file := filepath.Join(home, ".blaxel", "config.yaml")
	token := func(end time.Time) string {
		return "h." + base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"exp":%d}`, end.Unix())) + ".s"
	}
	write := func(credentials string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		text := "context:\n  workspace: acme\nworkspaces:\n  - name: other\n    credentials:\n      apiKey: not-this-one\n  - name: acme\n    credentials:\n      " + credentials + "\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	open := func() (backend.Source, error) {
		return Kind().New(backendtest.Options[Options](func(o *Options) { o.URL = w.url }), w.deps(map[string]string{"HOME": home}))
	}
	if _, err := open(); err == nil || !strings.Contains(err.Error(), "nothing says which workspace") {
		t.Errorf("without a file: %v", err)
	}
	w.set("/sandboxes", page(""))
	for _, x := range []struct{ credentials, sent, fails, degraded string }{
		{"apiKey: key-of-the-file", "Bearer key-of-the-file", "", ""},
		{"access_token: " + token(zero.Add(48*time.Hour)), "Bearer " + token(zero.Add(48*time.Hour)), "", ""},
		{"access_token: " + token(zero.Add(30*time.Minute)), "Bearer " + token(zero.Add(30*time.Minute)), "", "the login of the vendor's CLI ends at 2026-11-21 07:30Z"},
		{"access_token: " + token(zero.Add(-time.Minute)), "", "ended at 2026-11-21 06:59Z; run: bl login", ""},
		{"client_credentials: abc", "", "holds only client credentials for acme", ""},
		{"device_code: abc", "", "holds no key for the workspace acme; run: bl login", ""},
	} {
		write(x.credentials)
		w.clock.Add(zero.Sub(w.clock.Now()))
		src, err := open()
		if err != nil {
			t.Fatal(err)
		}
		before, _ := os.ReadFile(file)
		w.heads = nil
		r, err := src.Poll(t.Context())
		if x.fails != "" {
			if err == nil || !strings.Contains(err.Error(), x.fails) || len(w.heads) != 0 {
				t.Errorf("%s: %v", x.credentials, err)
			}
			continue
		}
		if err != nil || w.heads[0].Get("Authorization") != x.sent || !strings.Contains(r.Degraded.String(), x.degraded) || x.degraded == "" && !r.Degraded.IsEmpty() {
			t.Errorf("%s: %v, sent %q, degraded %q", x.credentials, err, w.heads[0].Get("Authorization"), r.Degraded)
		}
		if after, _ := os.ReadFile(file); string(after) != string(before) {
			t.Error("the file of the CLI was written")
		}
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := open(); err == nil {
		t.Error("a file that others can read names the workspace")
	}
}

func TestOptionsAreRefused(t *testing.T) {
	w := newWorld(t, nil)
	for want, change := range map[string]func(*Options){
		"is not the name of a workspace": func(o *Options) { o.Workspace = "a/b" },
		"is not a version":               func(o *Options) { o.APIVersion = "new" },
		"must be at least 5s":            func(o *Options) { o.Inventory = backend.Duration(time.Second) },
		"must be at least 1m":            func(o *Options) { o.Sweep = backend.Duration(time.Second) },
		"is outside 0.1 to 1000":         func(o *Options) { o.RequestsPerSec = 0 },
		"is not a domain":                func(o *Options) { o.Hosts = []string{"run"} },
		"has a query":                    func(o *Options) { o.URL = "https://api.blaxel.ai/v0?x=1" },
	} {
		_, err := Kind().New(backendtest.Options[Options](func(o *Options) { o.URL, o.Workspace = w.url, "acme"; change(o) }), w.deps(map[string]string{envKey: apiKey}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	src, err := Kind().New(backendtest.Options[Options](func(*Options) {}), w.deps(map[string]string{envKey: apiKey, envWorkspace: "acme", envURL: w.url + "/"}))
	if err != nil || src.(*Source).opt.URL != w.url || src.(*Source).opt.Workspace != "acme" {
		t.Errorf("the environment alone: %v", err)
	}
}

// TestOneWordOfTwoIsLeftOut holds that a list without the state does not make a sandbox look as if it had just changed.
func TestOneWordOfTwoIsLeftOut(t *testing.T) {
	w := newWorld(t, nil)
	w.set("/sandboxes", page("", one("a", "DEPLOYED", day, "")))
	w.set("/sandboxes/a", ok(one("a", "DEPLOYED", day, `,"state":"RUNNING"`)))
	since := sandboxOf(t, w.poll(), "a").KnownSince
	for range 5 {
		w.poll()
	}
	if b := sandboxOf(t, w.poll(), "a"); !b.KnownSince.Equal(since) || w.requests("GET /sandboxes/a") < 3 {
		t.Errorf("known since %v, then since %v; %d requests", since, b.KnownSince, w.requests("GET /sandboxes/a"))
	}
	w.set("/sandboxes", page("", one("a", "FAILED", day, "")))
	if b := sandboxOf(t, w.poll(), "a"); !b.KnownSince.After(since) {
		t.Error("its status changed, and the time did not")
	}
}

// TestACommandDoesNotWaitForPreviews holds that a small budget keeps no command waiting for what the list does not leave open.
func TestACommandDoesNotWaitForPreviews(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.RequestsPerSec = 0.5 })
	w.src.deps.Interval = 100 * time.Millisecond
	w.set("/sandboxes", page("", one("a", "DEPLOYED", day, `,"state":"RUNNING"`), one("b", "DEPLOYED", day, `,"state":"RUNNING"`)))
	if r := w.poll(); r.Partial || !r.Whole(backend.KindSandbox) || w.requests("/previews") != 0 {
		t.Errorf("partial %v, whole %v, %d requests", r.Partial, r.Whole(backend.KindSandbox), w.requests("/previews"))
	}
	w = newWorld(t, func(o *Options) { o.RequestsPerSec = 0.5 })
	w.src.deps.Interval = 100 * time.Millisecond
	w.set("/sandboxes", page("", one("a", "DEPLOYED", day, "")))
	if r := w.poll(); !r.Partial {
		t.Error("whether it runs is not known, and a command does not wait for it")
	}
}

// TestAnAddressElsewhere holds that a sandbox which is said to be outside the allowed domains is shown, and told.
func TestAnAddressElsewhere(t *testing.T) {
	w := newWorld(t, nil)
	w.set("/sandboxes", page("", one("a", "DEPLOYED", day, `,"state":"RUNNING"`), strings.Replace(one("b", "DEPLOYED", day, `,"state":"RUNNING"`), "us-pdx-1.bl.run", "evil.example", 1)))
	r := w.poll()
	if got := problems(r); strings.Count(got, "the key is not sent there") != 1 || !strings.Contains(got, "the sandbox is said to be at https://sbx-b-acme.evil.example, which is not https below one of hosts") || r.Problems[0].Subject.ID.Raw() != "b" || r.Problems[0].Where.String() != "sandbox b" {
		t.Error(got)
	}
	if got := sandboxOf(t, r, "b").Address.String(); got != "https://sbx-b-acme.evil.example" {
		t.Error(got)
	}
}
