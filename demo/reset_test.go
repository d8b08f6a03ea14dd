package demo

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// acted is a fleet on which an operator acts.
type acted struct {
	at
	deeds resetRequests
}

func (a *acted) now() world { return a.deeds.on(a.at.now()) }

func (a *acted) post(t *testing.T, h http.Handler, i int32, token string) (int, string) {
	t.Helper()
	w := a.now()
	name := w.workspaceName(i)
	if w.workspaces[i].marks&markUnnamed != 0 {
		name = "workspace"
	}
	path := "/operator/sessions/" + url.PathEscape(w.sessionID(int(w.workspaces[i].session))) + "/workspaces/" + url.PathEscape(name) + "/reset"
	r := httptest.NewRequest(http.MethodPost, path, nil)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	return rec.Code, body(t, rec.Result())
}

// of returns a workspace with a trouble of that cause.
func (f *fleet) of(t *testing.T, c cause) int32 {
	t.Helper()
	for i := range f.workspaces {
		if n := f.workspaces[i].trouble; n != noIndex && f.troubles[n].cause == c {
			return int32(i)
		}
	}
	t.Fatalf("nothing has the cause %d", c)
	return noIndex
}

func TestResets(t *testing.T) {
	a := &acted{at: at{f: testFleet(t, "failed", 700, 3), t: 30 * time.Second}}
	servers := map[instance]http.Handler{}
	for where := range instances {
		servers[where] = helixServer{a.now, where, actingRoutes{&a.deeds, "token-of-this-demo"}}.handler()
	}
	home := func(i int32) http.Handler { return servers[a.f.sessions[a.f.workspaces[i].session].where] }
	reset := func(i int32, want int) {
		t.Helper()
		if got, said := a.post(t, home(i), i, "token-of-this-demo"); got != want {
			t.Errorf("reset of %d at %v: %d %s, want %d", i, a.t, got, said, want)
		}
	}
	gone, stays, later := a.f.of(t, causeColdStart), a.f.of(t, causeSchema), a.f.of(t, causeBackupBucket)
	for _, token := range []string{"", "token", "token-of-this-demo "} {
		if got, said := a.post(t, home(gone), gone, token); got != http.StatusUnauthorized || !strings.Contains(said, "not with this token") {
			t.Errorf("with the token %q: %d %s", token, got, said)
		}
	}
	if a.deeds.resets != nil {
		t.Fatal("a stranger reset something")
	}
	for where := range instances {
		if where != a.f.sessions[a.f.workspaces[gone].session].where {
			if got, _ := a.post(t, servers[where], gone, "token-of-this-demo"); got != http.StatusNotFound {
				t.Errorf("the other instance answers %d", got)
			}
		}
	}
	before := map[int32]entry{}
	tag := a.now().tag(page{where: a.f.sessions[a.f.workspaces[stays].session].where, full: true})
	for _, i := range []int32{gone, stays, later} {
		before[i] = a.now().entry(i)
		reset(i, http.StatusAccepted)
		reset(i, http.StatusConflict)
	}
	if tag == a.now().tag(page{where: a.f.sessions[a.f.workspaces[stays].session].where, full: true}) {
		t.Error("a page with a reset keeps its tag")
	}
	began := a.t
	for a.t = began; a.t < began+5*time.Minute; a.t += 500 * time.Millisecond {
		for i, was := range before {
			e := a.now().entry(i)
			age := a.t - began
			if e.attempt.at > a.t || e.success.at > a.t || e.attempt.at < was.attempt.at {
				t.Fatalf("%d, %v after its reset: %+v", i, age, e)
			}
			switch {
			case age < openTime && e.state != reportedOpening:
				t.Fatalf("%d, %v after its reset, is not opening: %+v", i, age, e)
			case age >= openTime && i == gone && (e.state != reportedHealthy || e.success.at <= began || e.cause != causeNone):
				t.Fatalf("%d, %v after its reset, does not work: %+v", i, age, e)
			case age >= openTime+resetLasts && i == stays && a.t%resetAfter > resetLasts && (e.state != reportedFailed || e.attempt.at <= began || e.cause != was.cause):
				t.Fatalf("%d, %v after its reset, did not fail again: %+v", i, age, e)
			case age >= openTime && i == later && (e.state != reportedFailed || e.attempt.at <= began || e.success.at > began):
				t.Fatalf("%d, %v after a reset that came too early: %+v", i, age, e)
			}
		}
	}
	reset(later, http.StatusAccepted) // the binding was added meanwhile
	a.t += openTime
	if e := a.now().entry(later); e.state != reportedHealthy || e.success.at < began+5*time.Minute {
		t.Errorf("a reset without the cause: %+v", e)
	}
	if a.now().healed(stays) || !a.now().healed(later) || !a.now().healed(gone) {
		t.Error("the log has the wrong ones complain")
	}
	reset(gone, http.StatusConflict)
}

// TestRoutesForActingNeedAToken holds that a server without a token has no way in.
func TestRoutesForActingNeedAToken(t *testing.T) {
	a := &acted{at: at{f: testFleet(t, "failed", 700, 3), t: time.Second}}
	i := a.f.of(t, causeColdStart)
	h := helixServer{a.now, a.f.sessions[a.f.workspaces[i].session].where, actingRoutes{&a.deeds, ""}}.handler()
	for _, token := range []string{"", " "} {
		if got, _ := a.post(t, h, i, token); got != http.StatusUnauthorized {
			t.Errorf("answered %d", got)
		}
	}
}
