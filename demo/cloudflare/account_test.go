package cloudflare

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

type listed struct {
	Success bool
	Errors  []struct{ Code int }
	Result  []struct {
		ID     string
		Status struct {
			State string
			Exit  *int `json:"exit_code"`
		}
		Most   *int   `json:"max_instances"`
		Policy string `json:"scheduling_policy"`
		Health struct{ Instances struct{ Active int } }
	}
	Info struct {
		Next string `json:"next_page_token"`
	} `json:"result_info"`
}

func ask(t *testing.T, a *Account, path, token string) (int, listed) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/client/v4/accounts/"+AccountID+path, nil)
	r.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	a.Handler().ServeHTTP(w, r)
	var l listed
	if err := json.Unmarshal(w.Body.Bytes(), &l); err != nil {
		t.Fatalf("%s: %v: %s", path, err, w.Body)
	}
	return w.Code, l
}

// TestTheAccountAnswersAsPublished: the envelope, the union of applications, the two filters, pages and refusals.
func TestTheAccountAnswersAsPublished(t *testing.T) {
	now := time.Duration(0)
	start := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	box := Instance{ID: "b0", Name: "c-1", State: "running", Started: start, Updated: start}
	a := NewAccount(AccountOptions{Trouble: Quota, Token: "t", Start: start, Clock: func() time.Duration { return now }, More: func() []Instance { return []Instance{box} }})
	if code, l := ask(t, a, "/containers/applications", "wrong"); code != http.StatusForbidden || l.Success || l.Errors[0].Code != 10000 {
		t.Errorf("another token: %d %+v", code, l)
	}
	_, apps := ask(t, a, "/containers/applications", "t")
	if len(apps.Result) != 2 || *apps.Result[0].Most != most || apps.Result[0].Health.Instances.Active != most || apps.Result[1].Most != nil || apps.Result[1].Policy != "durable_object" || apps.Result[1].Health.Instances.Active != 1 {
		t.Errorf("applications %+v", apps.Result)
	}
	seen, token := map[string]bool{}, ""
	for range 10 {
		_, l := ask(t, a, "/containers/applications/"+Scheduled+"/instances-v2?state=active&per_page=7&page_token="+token, "t")
		for _, x := range l.Result {
			seen[x.ID] = true
		}
		if token = l.Info.Next; token == "" {
			break
		}
	}
	if len(seen) != most+3 {
		t.Errorf("%d instances on all pages", len(seen))
	}
	_, over := ask(t, a, "/containers/applications/"+Scheduled+"/instances-v2?state=not-active", "t")
	for _, x := range over.Result {
		if x.Status.State != "stopped" || x.Status.Exit == nil || seen[x.ID] {
			t.Errorf("ended: %+v", x)
		}
	}
	if len(over.Result) == 0 {
		t.Error("none has ended")
	}
	if code, _ := ask(t, a, "/containers/applications/nobody/instances-v2", "t"); code != http.StatusNotFound {
		t.Errorf("another application: %d", code)
	}
}

// TestAnalyticsAnswersItsOneQuestion: figures of steps since a container started, of running ones only, and a refusal as GraphQL has it.
func TestAnalyticsAnswersItsOneQuestion(t *testing.T) {
	start := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	box := Instance{ID: "b0b0b0b0b0b0b0", State: "running", Started: start.Add(-7 * time.Minute), Updated: start}
	a := NewAccount(AccountOptions{Token: "t", Start: start, Clock: func() time.Duration { return 0 }, More: func() []Instance { return []Instance{box} }})
	for query, want := range map[string]int{"query X { containersMetricsAdaptiveGroups }": usual*5 + 2, "query X { other }": -1} {
		body, err := json.Marshal(map[string]any{"query": query, "variables": map[string]string{"account": AccountID, "since": "2026-11-20T11:40:00Z", "until": "2026-11-20T12:00:00Z"}})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/client/v4/graphql", bytes.NewReader(body))
		r.Header.Set("Authorization", "Bearer t")
		w := httptest.NewRecorder()
		a.Handler().ServeHTTP(w, r)
		var got struct {
			Data *struct {
				Viewer struct {
					Accounts []struct{ ContainersMetricsAdaptiveGroups []any }
				}
			}
			Errors []struct{ Message string }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK {
			t.Fatalf("%d %v: %s", w.Code, err, w.Body)
		}
		n := -1
		if got.Data != nil {
			n = len(got.Data.Viewer.Accounts[0].ContainersMetricsAdaptiveGroups)
		}
		if n != want || (n < 0) != (len(got.Errors) > 0) {
			t.Errorf("%s: %d rows, errors %v; want %d", query, n, got.Errors, want)
		}
	}
}

// TestTheOutageBeginsAndEnds: before it and after it the account answers.
func TestTheOutageBeginsAndEnds(t *testing.T) {
	now := time.Duration(0)
	a := NewAccount(AccountOptions{Trouble: Outage, Token: "t", Clock: func() time.Duration { return now }})
	for at, want := range map[time.Duration]int{0: 200, outageFrom: 500, outageUntil - time.Second: 500, outageUntil: 200} {
		now = at
		if code, _ := ask(t, a, "/containers/applications", "t"); code != want {
			t.Errorf("at %v: %d, want %d", at, code, want)
		}
	}
}
