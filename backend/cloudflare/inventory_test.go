package cloudflare

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/backendtest"
)

func TestTheInventoryOfAnAccount(t *testing.T) {
	w := newWorld(t, nil)
	r := w.poll()
	if len(r.Sandboxes) != 5 || !r.Whole(backend.KindSandbox) || len(r.Problems) > 0 || !r.Degraded.IsEmpty() {
		t.Fatalf("%d sandboxes, scopes %v, problems %s, degraded %v", len(r.Sandboxes), r.Scopes, problems(r), r.Degraded)
	}
	for _, x := range []struct {
		id, reported   string
		class          backend.SandboxClass
		script, object string
	}{
		{runs, "running", backend.SandboxRunning, "agents-worker", "Agent"},
		{starts, "provisioning", backend.SandboxCreated, "agents-worker", "Agent"},
		{died, "failed", backend.SandboxDead, "agents-worker", "Agent"},
		{ailing, "unhealthy", backend.SandboxRunning, "agents-worker", "Agent"},
		{owned, "running", backend.SandboxRunning, "bridge-worker", "Sandbox"},
	} {
		b := sandboxOf(t, r, x.id)
		if b.Reported.String() != x.reported || b.Class != x.class || b.Script.String() != x.script || b.ObjectClass.String() != x.object || !b.Unattributed || b.Container.Raw() != x.id {
			t.Errorf("%s is %v %s, script %v, class %v, unattributed %v", x.id[:4], b.Reported, b.Class, b.Script, b.ObjectClass, b.Unattributed)
		}
	}
	dead := sandboxOf(t, r, died)
	if code, _ := dead.ExitCode.Get(); code != 137 || dead.OOMKilled.IsKnown() || !dead.FinishedAt.Or(time.Time{}).Equal(time.Date(2026, 11, 20, 11, 30, 0, 0, time.UTC)) {
		t.Errorf("the one that died has exit code %v, oom %v, ended %v", dead.ExitCode, dead.OOMKilled, dead.FinishedAt)
	}
	if sandboxOf(t, r, ailing).Health.Or(backend.Safe{}).String() != "unhealthy" || !sandboxOf(t, r, runs).Health.IsNotApplicable() {
		t.Error("an unhealthy instance is not unhealthy, or a running one has a health check")
	}
	if b := sandboxOf(t, r, owned); b.Name.String() != "box-of-acme" || b.Region.String() != "EEUR" || b.MemLimit.Or(0) != 4<<30 {
		t.Errorf("the named one is %v in %v with %v", b.Name, b.Region, b.MemLimit)
	}
	// Live instances come from health, not from the configured number; no limit is not a limit of 0.
	if p := r.Pools[0]; p.Used.Or(-1) != 2 || p.Limit.Or(-1) != 10 || p.Starting.Or(-1) != 1 {
		t.Errorf("the scheduled application has %v of %v, %v starting", p.Used, p.Limit, p.Starting)
	}
	if p := r.Pools[1]; p.Used.Or(-1) != 1 || !p.Limit.IsNotApplicable() || p.Health.String() != "degraded" {
		t.Errorf("the application of the object has %v of %v, %v", p.Used, p.Limit, p.Health)
	}
	if got := w.heads[0].Get("Authorization"); got != "Bearer "+apiToken {
		t.Errorf("the token was sent as %q", got)
	}
	for _, head := range w.asked {
		if !strings.HasPrefix(head, "GET ") {
			t.Errorf("asked %s", head)
		}
	}
}

// TestAnAccountWithoutApplications is no sign of health: the account and what names it are told, first of all notes, until one is seen. A
// list that was not read to its end proves nothing.
func TestAnAccountWithoutApplications(t *testing.T) {
	const unseen = "no container application is seen"
	w := newWorld(t, nil)
	w.set("/containers/applications", apps())
	want := "no container application is seen in the account " + account + ": it has none, account_id names another account, or the token sees none of them (it needs Workers Containers Read)"
	if r := w.poll(); len(r.Notes) == 0 || r.Notes[0].String() != want || len(r.Problems) > 0 || !r.Degraded.IsEmpty() {
		t.Errorf("notes %v, problems %s, degraded %v", r.Notes, problems(r), r.Degraded)
	}
	src, err := Kind().New(backendtest.Options[Options](func(o *Options) { o.URL, o.Analytics = w.url, false }), w.deps(map[string]string{envToken: apiToken, envAccount: account}))
	if err != nil {
		t.Fatal(err)
	}
	w.src = src.(*Source)
	if r := w.poll(); !strings.Contains(fmt.Sprint(r.Notes), "CLOUDFLARE_ACCOUNT_ID names another account") {
		t.Errorf("notes %v", r.Notes)
	}
	w.set("/containers/applications", apps(objectApp))
	if r := w.poll(); strings.Contains(fmt.Sprint(r.Notes), unseen) {
		t.Errorf("with one: %v", r.Notes)
	}
	w.src = w.source(func(o *Options) { o.Applications = []string{"others"} })
	if r := w.poll(); !strings.Contains(fmt.Sprint(r.Notes), unseen+": none of 1 application of the account is named in applications") {
		t.Errorf("none of those that are named: %v", r.Notes)
	}
	w.src = w.source(nil)
	w.set("/containers/applications", rows("", `{"id":7}`))
	if r := w.poll(); strings.Contains(fmt.Sprint(r.Notes), unseen) {
		t.Errorf("one that cannot be read: %v", r.Notes)
	}
}

func TestTheLimitIsNotReadWhereItIsUnknown(t *testing.T) {
	w := newWorld(t, nil)
	w.set("/containers/applications", apps(`{"id":"`+scheduled+`","name":"agents","scheduling_policy":"default","max_instances":0,"health":{"summary":"unhealthy","instances":{"active":2,"failed":3}}}`))
	if p := w.poll().Pools[0]; p.Used.Or(-1) != 2 || p.Failed.Or(-1) != 3 || p.Limit.Or(-1) != 0 || p.Health.String() != "unhealthy" {
		t.Errorf("an unhealthy one: %+v", p)
	}
	w.set("/containers/applications", apps(`{"id":"`+scheduled+`","name":"agents","scheduling_policy":"default","instances":7}`))
	if p := w.poll().Pools[0]; p.Used.IsKnown() || p.Failed.IsKnown() || p.Limit.IsKnown() || p.Limit.IsNotApplicable() {
		t.Errorf("without health and max_instances: %v of %v", p.Used, p.Limit)
	}
}

func TestPagesLoseNothing(t *testing.T) {
	w := newWorld(t, nil)
	broken := true
	w.setFunc("/containers/applications/"+scheduled+"/instances-v2", func(q url.Values) reply {
		switch {
		case q.Get("state") == "not-active":
			return rows("")
		case q.Get("page_token") == "":
			return rows("two", instance(runs, "running", "2026-11-20T11:00:00Z", "2026-11-20T11:00:05Z", ""), `{"id":7}`, `{"id":"\ud800"}`)
		case broken:
			return refusal(http.StatusBadGateway, 0, "")
		}
		return rows("", instance(starts, "provisioning", "2026-11-20T11:59:55Z", "2026-11-20T11:59:56Z", ""))
	})
	r := w.poll()
	if r.Whole(backend.KindSandbox) || r.Degraded.IsEmpty() || !r.Unseen {
		t.Errorf("a list that broke off counts as whole: %v, degraded %v", r.Scopes, r.Degraded)
	}
	sandboxOf(t, r, owned) // the other application is there
	broken = false
	r = w.poll()
	sandboxOf(t, r, runs)
	sandboxOf(t, r, starts)
	if got := problems(r); !strings.Contains(got, "2 instances cannot be read; the others are shown") || r.Whole(backend.KindSandbox) {
		t.Errorf("rows that cannot be read: %q, scopes %v", got, r.Scopes)
	}
}

func TestTheSamePageTwiceEnds(t *testing.T) {
	w := newWorld(t, nil)
	w.set("/containers/applications/"+scheduled+"/instances-v2", rows("again", instance(runs, "running", "2026-11-20T11:00:00Z", "2026-11-20T11:00:05Z", "")))
	r := w.poll()
	sandboxOf(t, r, runs)
	if r.Whole(backend.KindSandbox) || !strings.Contains(problems(r), "same page token twice") || !strings.Contains(r.Degraded.String(), "not known to be whole") || !r.Unseen {
		t.Errorf("scopes %v, problems %s, degraded %v", r.Scopes, problems(r), r.Degraded)
	}
	w.set("/containers/applications/"+scheduled+"/instances-v2", rows("more"))
	if r := w.poll(); r.Whole(backend.KindSandbox) || len(r.Ended) > 0 || !strings.Contains(r.Degraded.String(), "an empty page names a next one") {
		t.Errorf("an empty page with a next one: degraded %v, %d ended", r.Degraded, len(r.Ended))
	}
}

func TestWhatEndedLongAgoIsNotListed(t *testing.T) {
	w := newWorld(t, nil)
	w.lists(scheduled, nil, []string{instance(died, "stopped", "2026-10-20T10:00:00Z", "2026-10-20T11:30:00Z", `,"exit_code":0`)}, nil)
	if r := w.poll(); len(r.Sandboxes) != 1 || !r.Whole(backend.KindSandbox) {
		t.Errorf("%d sandboxes, scopes %v; want the one that runs", len(r.Sandboxes), r.Scopes)
	}
}

// TestAStopFromBeforeTheFirstReadingIsTold, once, at its own time and of the id that it is listed by; without an exit code too.
func TestAStopFromBeforeTheFirstReadingIsTold(t *testing.T) {
	for more, want := range map[string]string{`,"exit_code":137`: "platform exit: agents-", "": "platform stop: agents-"} {
		w := newWorld(t, nil)
		w.lists(scheduled, nil, []string{instance(died, "stopped", "2026-11-20T10:00:00Z", "2026-11-20T11:30:00Z", more)}, nil)
		r := w.poll()
		i := slices.IndexFunc(r.Events, func(e backend.Event) bool { return e.Subject == sandboxOf(t, r, died).Key })
		if i < 0 || !strings.Contains(texts(r), want) || !r.Events[i].At.Equal(sandboxOf(t, r, died).FinishedAt.Or(time.Time{})) {
			t.Errorf("%s: %s %+v", more, texts(r), r.Events)
		}
		if r = w.poll(); strings.Contains(texts(r), want) {
			t.Errorf("told again: %s", texts(r))
		}
	}
}

func TestAnInstanceThatLeftTheListsIsAskedFor(t *testing.T) {
	w := newWorld(t, nil)
	w.poll()
	w.lists(scheduled, []string{instance(starts, "running", "2026-11-20T11:59:55Z", "2026-11-20T12:00:15Z", "")}, nil, nil)
	w.set("/containers/applications/"+scheduled+"/instances/"+runs, ok(`{"success":true,"result":`+instance(runs, "stopped", "2026-11-20T11:00:00Z", "2026-11-20T12:00:20Z", `,"exit_code":143`)+`}`))
	w.set("/containers/applications/"+scheduled+"/instances/"+ailing, refusal(http.StatusNotFound, 1000, "instance not found"))
	r := w.poll()
	if b := sandboxOf(t, r, runs); b.Class != backend.SandboxExited || b.ExitCode.Or(0) != 143 {
		t.Errorf("the one that left the list is %v, exit %v", b.Reported, b.ExitCode)
	}
	if got := texts(r); !strings.Contains(got, "platform exit: agents-111111111111: its container ended with exit code 143 (asked to stop)") {
		t.Errorf("the events are\n%s", got)
	}
	if len(r.Ended) != 1 || r.Ended[0].ID.Raw() != ailing {
		t.Errorf("ended: %v", r.Ended)
	}
}

func TestAStartAgainIsOnAnEmptyDisk(t *testing.T) {
	w := newWorld(t, nil)
	w.poll()
	w.lists(byObject, []string{instance(owned, "running", "2026-11-20T12:00:20Z", "2026-11-20T12:00:21Z", "")}, nil, nil)
	r := w.poll()
	if b := sandboxOf(t, r, owned); b.FreshAt.Round(time.Millisecond) != time.Date(2026, 11, 20, 12, 0, 20, 0, time.UTC) || !strings.Contains(texts(r), "change start: boxes-555555555555: its container started again, on an empty disk") {
		t.Errorf("fresh at %v; events %s", b.FreshAt, texts(r))
	}
	if r = w.poll(); sandboxOf(t, r, owned).FreshAt.IsZero() || texts(r) != "" {
		t.Errorf("the next reading tells it again, or has forgotten it: %s", texts(r))
	}
}

func TestRolloutsAreChanges(t *testing.T) {
	w := newWorld(t, nil)
	if r := w.poll(); changes(r) != "" {
		t.Errorf("the first reading tells %s", texts(r))
	}
	w.set("/containers/applications", apps(scheduledApp("4", "ro-1", 2, 10), objectApp))
	if got := texts(w.poll()); got != "change rollout: rollout ro-1 of the application agents began, version 3 → 4: its containers are replaced" {
		t.Errorf("begin: %s", got)
	}
	w.set("/containers/applications", apps(scheduledApp("4", "", 2, 10), objectApp))
	if got := texts(w.poll()); got != "change rollout-over: rollout ro-1 of the application agents is over" {
		t.Errorf("end: %s", got)
	}
	w.set("/containers/applications", apps(objectApp))
	r := w.poll()
	if got := texts(r); got != "change application: the application agents was deleted" || len(r.Ended) != 4 {
		t.Errorf("deleted: %s, %d ended", got, len(r.Ended))
	}
}

func TestAnApplicationWithoutInstanceRoutes(t *testing.T) {
	w := newWorld(t, nil)
	w.set("/containers/applications/"+scheduled+"/instances-v2", refusal(http.StatusBadRequest, 1607, "instance APIs are not enabled for this application"))
	r := w.poll()
	if got := problems(r); !strings.Contains(got, "application agents: answered 400 Bad Request: instance APIs are not enabled for this application (code 1607); the platform does not list the instances") || !r.Unseen || !r.Degraded.IsEmpty() {
		t.Errorf("problems %s, degraded %v", got, r.Degraded)
	}
	if p := r.Pools[0]; p.Used.Or(-1) != 2 {
		t.Errorf("its live instances are %v", p.Used)
	}
	sandboxOf(t, r, owned)
}

func TestOnlyTheNamedApplications(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.Applications = []string{"AAAABBBB-CCCC-DDDD-EEEE-FFFF00001111"} })
	if r := w.poll(); len(r.Sandboxes) != 1 || len(r.Pools) != 1 || w.requests(scheduled) > 0 {
		t.Errorf("%d sandboxes, %d applications", len(r.Sandboxes), len(r.Pools))
	}
}

func TestUnknownWordsStayAndEscapesDoNot(t *testing.T) {
	w := newWorld(t, nil)
	w.lists(scheduled, []string{instance(runs, "hiber\\u001b[31mnating", "2026-11-20T11:00:00Z", "soon", "")}, nil, nil)
	b := sandboxOf(t, w.poll(), runs)
	if b.Class != backend.SandboxUnknown || !strings.Contains(b.Reported.String(), "hiber") || strings.ContainsRune(b.Reported.String(), 0x1b) || strings.ContainsRune(b.Raw.String(), 0x1b) {
		t.Errorf("reported %q, class %s", b.Reported, b.Class)
	}
}

func TestListsAreNotReadMoreOftenThanTheyAreDue(t *testing.T) {
	w := newWorld(t, nil)
	w.poll()
	n := w.requests("")
	w.clock.Add(5 * time.Second)
	r, err := w.src.Poll(t.Context())
	if err != nil || w.requests("") != n || len(r.Sandboxes) != 5 {
		t.Errorf("%v, %d requests after 5 s, %d sandboxes", err, w.requests("")-n, len(r.Sandboxes))
	}
}

func TestALaterProcessSeesThatAContainerStartedAgain(t *testing.T) {
	w := newWorld(t, nil)
	marks := w.poll().Bookmarks
	for i := range marks {
		marks[i].Sizes[0].At = marks[i].Sizes[0].At.Add(-3 * time.Microsecond)
	}
	w.lists(byObject, []string{instance(owned, "running", "2026-11-20T12:00:20Z", "2026-11-20T12:00:21Z", "")}, nil, nil)
	for range 2 { // the second one recalls what the first one found
		w.src = w.source(nil)
		w.src.Resume(marks)
		r := w.poll()
		if b := sandboxOf(t, r, owned); b.FreshAt.Round(time.Millisecond) != time.Date(2026, 11, 20, 12, 0, 20, 0, time.UTC) || !sandboxOf(t, r, runs).FreshAt.IsZero() {
			t.Fatalf("fresh at %v; one that did not start again: %v", b.FreshAt, sandboxOf(t, r, runs).FreshAt)
		}
		marks = r.Bookmarks
		for i := range marks { // our clock was set back: saved times move with it
			marks[i].Sizes[0].At = marks[i].Sizes[0].At.Add(-3 * time.Microsecond)
		}
	}
}

// TestAClockThatMovesIsNoStart: what the platform's clock is believed to be moves all times, and no container.
func TestAClockThatMovesIsNoStart(t *testing.T) {
	w := newWorld(t, nil)
	w.ahead = 0
	w.poll()
	w.ahead = -7 * time.Second
	for range 3 {
		if r := w.poll(); texts(r) != "" || !sandboxOf(t, r, owned).FreshAt.IsZero() {
			t.Fatalf("events: %s", texts(r))
		}
	}
}

// TestPagesThatWereReadAreKept: a page that is refused loses nothing of those before it, also for a command that reads once.
func TestPagesThatWereReadAreKept(t *testing.T) {
	w := newWorld(t, nil)
	w.setFunc("/containers/applications/"+scheduled+"/instances-v2", func(q url.Values) reply {
		if q.Get("page_token") == "" {
			return rows("more", instance(runs, "running", "2026-11-20T11:00:00Z", "2026-11-20T11:00:05Z", ""))
		}
		r := refusal(http.StatusTooManyRequests, 10000, "slow down")
		r.header = map[string]string{"Retry-After": "30"}
		return r
	})
	r := w.poll()
	sandboxOf(t, r, runs)
	if slices.ContainsFunc(r.Stale, func(m backend.StaleMark) bool { return m.Key.ID.Raw() == runs }) {
		t.Errorf("what was read now is called old: %v", r.Stale)
	}
	if got := problems(r); r.Whole(backend.KindSandbox) || !strings.Contains(got, "it asks to wait 30s") {
		t.Errorf("problems %s, scopes %v", got, r.Scopes)
	}
}

// TestABridgeThatDoesNotTellItsRoutes: that is a note, and a key that it refuses is a part that cannot be read.
func TestABridgeThatDoesNotTellItsRoutes(t *testing.T) {
	w := newWorld(t, nil)
	w.src = w.source(func(o *Options) { o.BridgeURL = w.url })
	w.set("/health", ok(`{"ok":true}`))
	w.set("/v1/pool/stats", ok(`{"warm":0,"assigned":1,"total":1,"maxInstances":3,"config":{}}`))
	w.set("/v1/openapi.json", reply{status: http.StatusNotFound, body: "Not found"})
	r := w.poll()
	if notes := fmt.Sprint(r.Notes); !strings.Contains(notes, "does not tell which routes it has") {
		t.Errorf("notes %s", notes)
	}
	if r.Unseen {
		t.Errorf("a bridge that answers: %s", problems(r))
	}
	w.set("/v1/pool/stats", reply{status: http.StatusUnauthorized, body: `{"error":"Unauthorized","code":"unauthorized"}`})
	w.clock.Add(time.Minute)
	if r = w.poll(); !r.Unseen || r.Degraded.IsEmpty() {
		t.Errorf("a refused key: unseen %v, degraded %v", r.Unseen, r.Degraded)
	}
}
