package cloudflare

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// TestALaterProcessSeesARollout that began, went on or ended since the process before it read the account, once.
func TestALaterProcessSeesARollout(t *testing.T) {
	w := newWorld(t, nil)
	marks := w.poll().Bookmarks
	next := func(version, rollout string) string {
		w.set("/containers/applications", apps(scheduledApp(version, rollout, 2, 10), objectApp))
		w.src = w.source(nil)
		w.src.Resume(marks)
		r := w.poll()
		marks = r.Bookmarks
		return changes(r)
	}
	if got := next("3", ""); got != "" {
		t.Errorf("nothing changed: %s", got)
	}
	if got := next("4", "ro-1"); got != "change rollout: rollout ro-1 of the application agents began, version 3 → 4: its containers are replaced; it was after the run before" {
		t.Errorf("a rollout: %s", got)
	}
	if got := next("4", "ro-1"); got != "" {
		t.Errorf("it goes on: %s", got)
	}
	if got := next("4", ""); !strings.HasPrefix(got, "change rollout-over: rollout ro-1 of the application agents is over") {
		t.Errorf("its end: %s", got)
	}
	w.src = w.source(nil)
	w.src.Resume([]backend.Bookmark{{File: markApp + "x", Sizes: []backend.SizeAt{{At: zero}}}})
	if got := changes(w.poll()); got != "" {
		t.Errorf("a mark that cannot be read: %s", got)
	}
}

// TestAStartAgainIsAfterTheContainerOfBeforeRan, also for a later process.
func TestAStartAgainIsAfterTheContainerOfBeforeRan(t *testing.T) {
	w := newWorld(t, nil)
	first := w.poll()
	ran := sandboxOf(t, first, owned).ReadAt
	w.lists(byObject, []string{instance(owned, "running", "2026-11-20T12:00:20Z", "2026-11-20T12:00:21Z", "")}, nil, nil)
	if b := sandboxOf(t, w.poll(), owned); !b.FreshAfter.Equal(ran) || !b.FreshAfter.Before(b.FreshAt) {
		t.Errorf("fresh between %v and %v, last read to run at %v", b.FreshAfter, b.FreshAt, ran)
	}
	w.src = w.source(nil)
	w.src.Resume(first.Bookmarks)
	r := w.poll()
	if b := sandboxOf(t, r, owned); !b.FreshAfter.Equal(ran) {
		t.Errorf("a later process: fresh after %v, want %v", b.FreshAfter, ran)
	}
	w.src = w.source(nil)
	w.src.Resume(r.Bookmarks)
	if b := sandboxOf(t, w.poll(), owned); !b.FreshAfter.Equal(ran) || b.FreshAt.IsZero() {
		t.Errorf("the one after that: fresh between %v and %v", b.FreshAfter, b.FreshAt)
	}
}

// TestAStateIsAsOldAsThePlatformSays, as far as no reading had another one since.
func TestAStateIsAsOldAsThePlatformSays(t *testing.T) {
	w := newWorld(t, nil)
	since := func() time.Time { return sandboxOf(t, w.poll(), owned).KnownSince.Round(time.Second).UTC() }
	of := func(state, updated string) {
		w.lists(byObject, []string{instance(owned, state, "2026-11-20T11:10:00Z", updated, "")}, nil, nil)
	}
	at := func(text string) time.Time {
		x, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	if got := since(); !got.Equal(at("2026-11-20T11:10:05Z")) {
		t.Errorf("first seen: %v", got)
	}
	was := w.clock.Now().Round(time.Second).UTC()
	of("stopping", "2026-11-20T11:30:00Z") // it was read running after that
	if got := since(); !got.Equal(was) {
		t.Errorf("a change that is dated before a reading without it: %v, want %v", got, was)
	}
	of("running", "2030-01-01T00:00:00Z")
	if got, now := since(), w.clock.Now().Round(time.Second).UTC(); !got.Equal(now) {
		t.Errorf("a time to come: %v, want %v", got, now)
	}
}

// TestABridgeThatDoesNotAnswerIsTold with how often it was asked; one that refuses the key answers.
func TestABridgeThatDoesNotAnswerIsTold(t *testing.T) {
	w := withBridge(t, nil)
	if m := w.poll().Failing; !m.What.IsEmpty() {
		t.Errorf("it answers: %+v", m)
	}
	w.set("/health", reply{status: http.StatusBadGateway})
	if m := w.poll().Failing; m.What.String() != backend.BridgeFailing+" as it should" || m.Tries != 1 {
		t.Errorf("half of it answers: %+v", m)
	}
	w.set("/v1/pool/stats", reply{status: http.StatusBadGateway})
	if m := w.poll().Failing; m.What.String() != backend.BridgeFailing || m.Tries != 2 || !strings.Contains(m.Why.String(), "502") {
		t.Errorf("none of it answers: %+v", m)
	}
	w.set("/health", ok(`{"ok":true}`))
	w.set("/v1/pool/stats", reply{status: http.StatusUnauthorized, body: `{"error":"Unauthorized","code":"unauthorized"}`})
	if m := w.poll().Failing; !m.What.IsEmpty() {
		t.Errorf("a refused key: %+v", m)
	}
}

// TestALaterProcessAsksTheAccountNotBeforeItsTime: of an account that asked for silence the bridge is read all the same.
func TestALaterProcessAsksTheAccountNotBeforeItsTime(t *testing.T) {
	w := withBridge(t, nil)
	w.set("/containers/applications", reply{status: http.StatusTooManyRequests, body: `{"success":false}`, header: map[string]string{"Retry-After": "300"}})
	until, others := backend.TakeQuiet(w.poll().Bookmarks, w.clock.Now())
	if rest := until.Sub(w.clock.Now()); rest < 299*time.Second || rest > 300*time.Second {
		t.Fatalf("asked for silence of %v", rest)
	}
	w.src = w.source(func(o *Options) { o.BridgeURL = o.URL })
	w.src.Quiet(until)
	w.src.Resume(others)
	accounts, bridge := w.requests("/containers/applications"), w.requests("/v1/pool/stats")
	r := w.poll()
	if w.requests("/containers/applications") != accounts || w.requests("/v1/pool/stats") == bridge || !strings.Contains(r.Degraded.String(), "asked for silence for another 4m48s: it is not asked before") {
		t.Errorf("%d requests to the account: %s", w.requests("/containers/applications")-accounts, r.Degraded)
	}
	w.clock.Add(5 * time.Minute)
	if w.poll(); w.requests("/containers/applications") == accounts {
		t.Error("it is not asked again")
	}
}
