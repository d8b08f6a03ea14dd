package cloudflare

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// step is one row of analytics.
func step(application, instance, at, figures string) string {
	return fmt.Sprintf(`{"dimensions":{"applicationId":%q,"instanceId":%q,"placementId":"p-1","datetimeFiveMinutes":%q},%s}`, application, instance, at, figures)
}

func measured(rows ...string) reply {
	return ok(`{"data":{"viewer":{"accounts":[{"containersMetricsAdaptiveGroups":[` + strings.Join(rows, ",") + `]}]}},"errors":null}`)
}

// withAnalytics serves analytics too. The first poll is at 12:00:12.
func withAnalytics(t *testing.T, answer reply) *world {
	t.Helper()
	w := newWorld(t, func(o *Options) { o.Analytics = true })
	w.set("/graphql", answer)
	return w
}

const most = `"max":{"memory":4200000000},"sum":{"cpuTimeSec":150,"txBytes":12000000}`

func TestWhatAnInstanceUsedIsReadBesideItsLimits(t *testing.T) {
	w := withAnalytics(t, measured(
		step(strings.ReplaceAll(scheduled, "-", ""), runs, "2026-11-20T11:45:00Z", `"max":{"memory":1000000000},"sum":{"cpuTimeSec":3,"txBytes":1}`),
		step(scheduled, runs, "2026-11-20T11:50:00Z", most),
		step(scheduled, runs, "2026-11-20T12:00:00Z", `"max":{"memory":99},"sum":{"cpuTimeSec":1,"txBytes":1}`), // goes on
		step(byObject, owned, "2026-11-20T11:05:00Z", most),                                                     // before its start
		step(scheduled, died, "2026-11-20T11:25:00Z", most),
		`7`, `{"dimensions":null}`, step(scheduled, starts, "soon", most)))
	r := w.poll()
	u, known := sandboxOf(t, r, runs).Usage.Get()
	if !known || u.CPU.Or(0) != 0.5 || u.CPULimit.Or(0) != 0.5 || u.Mem.Or(0) != 4200000000 || u.MemLimit.Or(0) != 4<<30 || u.Sent.Or(0) != 12e6 || u.Over != 5*time.Minute ||
		!u.At.Equal(time.Date(2026, 11, 20, 11, 55, 0, 0, time.UTC)) {
		t.Errorf("%t %+v", known, u)
	}
	for _, id := range []string{owned, starts, ailing} {
		if u := sandboxOf(t, r, id).Usage; u.IsKnown() || u.IsNotApplicable() {
			t.Errorf("%s… used %v; nothing is known of its present container", id[:4], u)
		}
	}
	if u, known := sandboxOf(t, r, died).Usage.Get(); !known || u.Mem.Or(0) != 4200000000 || !u.At.Equal(time.Date(2026, 11, 20, 11, 30, 0, 0, time.UTC)) {
		t.Errorf("the one that died used %+v", u)
	}
	if len(r.Problems)+len(r.Notes) > 0 || !r.Degraded.IsEmpty() || !r.Whole(backend.KindSandbox) {
		t.Errorf("problems %s, notes %v", problems(r), r.Notes)
	}
	if w.requests("POST /graphql") != 1 || !strings.Contains(w.posted, `"account":"`+account+`"`) || !strings.Contains(w.posted, `"since":"2026-11-20T11:40:00Z","until":"2026-11-20T12:00:12Z"`) || !strings.Contains(w.posted, `"query":"query Containers(`) {
		t.Errorf("%d questions: %s", w.requests("graphql"), w.posted)
	}
	for range 4 {
		w.poll()
	}
	if n := w.requests("graphql"); n != 1 {
		t.Errorf("%d questions in 48 s", n)
	}
	w.set("/graphql", measured())
	w.poll()
	if u := sandboxOf(t, w.poll(), runs).Usage; w.requests("graphql") != 2 || u.IsKnown() || u.IsNotApplicable() {
		t.Errorf("an answer without figures: %v", u)
	}
}

// TestAnInstanceIsKnownByItsNameToo: a bridge names the object of a sandbox by a UUID.
func TestAnInstanceIsKnownByItsNameToo(t *testing.T) {
	const container = "ed74fc00-1fef-409a-888c-dcd2bcf9838f"
	w := withAnalytics(t, measured(step(byObject, strings.ToUpper(container), "2026-11-20T11:50:00Z", most)))
	w.lists(byObject, []string{strings.Replace(instance(owned, "running", "2026-11-20T11:10:00Z", "2026-11-20T11:10:05Z", ""), `"image"`, `"name":"`+container+`","image"`, 1)}, nil, nil)
	if u := sandboxOf(t, w.poll(), owned).Usage.Or(backend.Usage{}); u.Mem.Or(0) != 4200000000 {
		t.Errorf("%+v", u)
	}
}

func TestFiguresOfInstancesThatNoListNamesAreToldOfTheirApplication(t *testing.T) {
	w := withAnalytics(t, measured(step(byObject, "b7c5ce8d-0000-4e55-9d6e-111122223333", "2026-11-20T11:50:00Z", most)))
	r := w.poll()
	if got := backend.Join(r.Notes, " ").String(); got != "analytics names instances of the application boxes in another way than its list; the most memory that one of them used in the last 20m: 4.2 GB" {
		t.Errorf("notes %s", got)
	}
	if u := sandboxOf(t, r, owned).Usage; u.IsKnown() {
		t.Errorf("figures of nobody knows which instance were given to one: %v", u)
	}
}

// TestFiguresOfAnotherUnitAreNotTaken: the unit of memory is not documented.
func TestFiguresOfAnotherUnitAreNotTaken(t *testing.T) {
	for _, memory := range []string{"0.4", "3900", "9e9", "-1", `"much"`, "null"} {
		w := withAnalytics(t, measured(step(scheduled, runs, "2026-11-20T11:50:00Z", `"max":{"memory":`+memory+`},"sum":{"cpuTimeSec":30,"txBytes":null}`)))
		u, known := sandboxOf(t, w.poll(), runs).Usage.Get()
		if !known || u.Mem.IsKnown() || u.Sent.IsKnown() || u.CPU.Or(0) != 0.1 {
			t.Errorf("memory %s: %+v", memory, u)
		}
	}
}

func TestWithoutAnalyticsTheRestIsRead(t *testing.T) {
	for _, x := range []struct {
		answer reply
		want   string
		asked  time.Duration // after it the question is asked again
	}{
		{refusal(http.StatusForbidden, 10000, "Authentication error"), "Authentication error (code 10000); give the token (environment variable CLOUDFLARE_API_TOKEN) the permission Account Analytics Read, or set analytics = false", 11 * time.Minute},
		{ok(`{"data":null,"errors":[{"message":"does not have permission 'com.cloudflare.api.account.analytics.read'","extensions":{"code":"authz"}}]}`), "the permission Account Analytics Read", 11 * time.Minute},
		{ok(`{"data":{"viewer":{"accounts":[]}},"errors":[{"message":"unknown field \u001b[31mmemory"}]}`), "answered: unknown field", 6 * time.Minute},
		{reply{status: http.StatusTooManyRequests, body: "{}", header: map[string]string{"Retry-After": "900", "X-Rate-Limit-Type": "account-based"}}, "429", 16 * time.Minute},
		{reply{status: http.StatusTooManyRequests, body: "{}"}, "429", 6 * time.Minute},
		{reply{status: http.StatusInternalServerError}, "500", 6 * time.Minute},
		{refusal(http.StatusNotFound, 7000, "No route for that URI"), "the account API has no route for it", 6 * time.Minute},
		{ok(`<html>`), "the answer cannot be read", 6 * time.Minute},
		{ok(`{"data":{"viewer":{"accounts":[{"containersMetricsAdaptiveGroups":{}}]}}}`), "the answer holds no figures", 6 * time.Minute},
	} {
		w := withAnalytics(t, x.answer)
		r := w.poll()
		notes, denied := backend.Join(r.Notes, " ").String(), strings.Contains(x.want, needAnalytics)
		if denied {
			notes = problems(r)
		}
		if !strings.Contains(notes, "CPU, memory and traffic of sandboxes (analytics): ") || !strings.Contains(notes, x.want) || strings.ContainsRune(notes, 0x1b) || strings.Contains(notes, apiToken) {
			t.Errorf("%s: notes %q", x.want, notes)
		}
		if len(r.Sandboxes) != 5 || !r.Whole(backend.KindSandbox) || len(r.Problems) > 0 != denied || !r.Degraded.IsEmpty() || sandboxOf(t, r, runs).Usage.IsKnown() {
			t.Errorf("%s: %d sandboxes, scopes %v, problems %s", x.want, len(r.Sandboxes), r.Scopes, problems(r))
		}
		w.clock.Add(x.asked - 90*time.Second)
		if r = w.poll(); w.requests("graphql") != 1 || len(r.Sandboxes) != 5 {
			t.Errorf("%s: asked %d times within %v", x.want, w.requests("graphql"), x.asked)
		}
		w.set("/graphql", measured(step(scheduled, runs, w.clock.Now().Add(-10*time.Minute).Truncate(5*time.Minute).Format(time.RFC3339), most)))
		w.clock.Add(3 * time.Minute)
		if r = w.poll(); w.requests("graphql") != 2 || !sandboxOf(t, r, runs).Usage.IsKnown() || len(r.Notes)+len(r.Problems) > 0 {
			t.Errorf("%s: afterwards %d questions, notes %v", x.want, w.requests("graphql"), r.Notes)
		}
	}
}

func TestFiguresStayWithTheirAgeWhenAnalyticsFails(t *testing.T) {
	w := withAnalytics(t, measured(step(scheduled, runs, "2026-11-20T11:50:00Z", most)))
	w.poll()
	w.setFunc("/graphql", func(url.Values) reply { return reply{status: http.StatusBadGateway} })
	w.clock.Add(time.Minute)
	r := w.poll()
	if u := sandboxOf(t, r, runs).Usage.Or(backend.Usage{}); !u.At.Equal(time.Date(2026, 11, 20, 11, 55, 0, 0, time.UTC)) || len(r.Notes) != 1 {
		t.Errorf("%+v, notes %v", u, r.Notes)
	}
}

// TestPlacementsOfOneStepAreTakenTogether, in whatever order the platform gives them.
func TestPlacementsOfOneStepAreTakenTogether(t *testing.T) {
	one := step(scheduled, runs, "2026-11-20T11:50:00Z", `"max":{"memory":1000000000},"sum":{"cpuTimeSec":60,"txBytes":5}`)
	two := step(scheduled, runs, "2026-11-20T11:50:00Z", `"max":{"memory":2000000000},"sum":{"cpuTimeSec":30,"txBytes":null}`)
	for _, rows := range [][]string{{one, two}, {two, one}} {
		w := withAnalytics(t, measured(rows...))
		u := sandboxOf(t, w.poll(), runs).Usage.Or(backend.Usage{})
		if u.Mem.Or(0) != 2_000_000_000 || u.CPU.Or(0) != 0.3 || u.Sent.Or(0) != 5 {
			t.Errorf("%+v", u)
		}
	}
}
