package cloudflare

import (
	"crypto/subtle"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Handler serves the routes of the account API that list containers.
func (a *Account) Handler() http.Handler {
	mux := http.NewServeMux()
	const of = "GET /client/v4/accounts/{account}"
	mux.HandleFunc(of+"/containers/applications", a.applications)
	mux.HandleFunc(of+"/containers/applications/{application}/instances-v2", a.instances)
	mux.HandleFunc(of+"/containers/applications/{application}/instances/{instance}", a.instance)
	mux.HandleFunc(of+"/workers/durable_objects/namespaces", a.namespaces)
	mux.HandleFunc("POST /client/v4/graphql", a.analytics)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		accountRefuses(w, http.StatusNotFound, 7000, "No route for that URI")
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		defer a.mu.Unlock()
		w.Header().Set("Date", a.o.Start.Add(a.o.Clock()).UTC().Format(http.TimeFormat))
		w.Header().Set("Ratelimit", `"default";r=1100;t=240`)
		given := []byte(r.Header.Get("Authorization"))
		switch {
		case a.Down():
			accountRefuses(w, http.StatusInternalServerError, 1000, "Internal server error")
		case subtle.ConstantTimeCompare(given, []byte("Bearer "+a.o.Token)) != 1:
			accountRefuses(w, http.StatusForbidden, 10000, "Authentication error")
		default:
			mux.ServeHTTP(w, r)
		}
	})
}

func accountSays(w http.ResponseWriter, result any, next string) {
	info := map[string]any{}
	if next != "" {
		info["next_page_token"] = next
	}
	accountWrites(w, http.StatusOK, map[string]any{"success": true, "errors": []any{}, "messages": []any{}, "result": result, "result_info": info})
}

func accountRefuses(w http.ResponseWriter, status, code int, message string) {
	accountWrites(w, status, map[string]any{"success": false, "errors": []any{map[string]any{"code": code, "message": message}}, "messages": []any{}, "result": nil})
}

func accountWrites(w http.ResponseWriter, status int, body any) {
	b, err := json.Marshal(body)
	if err != nil {
		panic(err) // our own values
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b)
}

// page cuts a list. A token is the index of its first row.
func page[T any](r *http.Request, all []T, usual, most int) (rows []T, next string) {
	size, err := strconv.Atoi(r.URL.Query().Get("per_page"))
	if err != nil || size < 1 {
		size = usual
	}
	size = min(size, most)
	from, err := strconv.Atoi(r.URL.Query().Get("page_token"))
	if err != nil || from < 0 || from > len(all) {
		from = 0
	}
	to := min(from+size, len(all))
	if to < len(all) {
		next = strconv.Itoa(to)
	}
	return slices.Clip(all[from:to]), next
}

func (a *Account) applications(w http.ResponseWriter, r *http.Request) {
	running, waiting := a.running()
	live := 0
	for _, x := range a.managed() {
		if x.State == "running" || x.State == "stopping" {
			live++
		}
	}
	all := []any{
		map[string]any{"id": Scheduled, "name": "agents", "scheduling_policy": "default", "instances": 1, "max_instances": most, "version": versionNow, "active_rollout_id": nil,
			"configuration": map[string]any{"image": "registry.cloudflare.com/demo/agents:7"}, "durable_objects": map[string]any{"namespace_id": ScheduledNS},
			"health": map[string]any{"summary": "healthy", "instances": map[string]any{"active": running, "assigned": 0, "starting": waiting}}},
		map[string]any{"id": Managed, "name": "sandboxes", "scheduling_policy": "durable_object", "configuration": map[string]any{"image": "registry.cloudflare.com/demo/sandbox:0.12.10"},
			"health": map[string]any{"summary": "healthy", "instances": map[string]any{"active": live, "starting": 0}}},
	}
	rows, next := page(r, all, 100, 500)
	accountSays(w, rows, next)
}

// of lists the instances of an application, false where there is no such one.
func (a *Account) of(application string) ([]Instance, bool) {
	switch application {
	case Scheduled:
		return a.scheduled(), true
	case Managed:
		return a.managed(), true
	}
	return nil, false
}

func (a *Account) instances(w http.ResponseWriter, r *http.Request) {
	application := r.PathValue("application")
	all, found := a.of(application)
	if !found {
		accountRefuses(w, http.StatusNotFound, 1003, "Application not found")
		return
	}
	wanted := map[string][]string{"active": {"provisioning", "running", "stopping"}, "not-active": {"stopped", "failed"}}[r.URL.Query().Get("state")]
	out := []any{}
	for _, x := range all {
		if wanted == nil || slices.Contains(wanted, x.State) {
			out = append(out, x.told(application))
		}
	}
	rows, next := page(r, out, 100, 1000)
	accountSays(w, rows, next)
}

func (a *Account) instance(w http.ResponseWriter, r *http.Request) {
	all, _ := a.of(r.PathValue("application"))
	for _, x := range all {
		if x.ID == r.PathValue("instance") {
			accountSays(w, x.told(r.PathValue("application")), "")
			return
		}
	}
	accountRefuses(w, http.StatusNotFound, 1004, "Instance not found")
}

// analytics answers the one question that is asked of it: what each instance used in steps of five minutes.
func (a *Account) analytics(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Query     string
		Variables struct {
			Account      string
			Since, Until time.Time
		}
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 100_000)).Decode(&asked); err != nil || !strings.Contains(asked.Query, "containersMetricsAdaptiveGroups") || asked.Variables.Account != AccountID {
		accountWrites(w, http.StatusOK, map[string]any{"data": nil, "errors": []any{map[string]any{"message": "unknown field or account"}}})
		return
	}
	const step = 5 * time.Minute
	rows := []any{}
	for _, application := range []string{Scheduled, Managed} {
		all, _ := a.of(application)
		for n, x := range all {
			for at := asked.Variables.Since.Truncate(step); !at.After(asked.Variables.Until); at = at.Add(step) {
				if at.Before(x.Started) || x.State != "running" {
					continue
				}
				used := 0.2 + 0.07*float64((n*5+int(at.Unix()/300))%7)
				rows = append(rows, map[string]any{"dimensions": map[string]any{"applicationId": application, "instanceId": x.ID, "placementId": x.ID[:12], "datetimeFiveMinutes": at.UTC().Format(time.RFC3339)},
					"max": map[string]any{"memory": math.Round(used * 4096 * (1 << 20))}, "sum": map[string]any{"cpuTimeSec": math.Round(used * 0.5 * step.Seconds()), "txBytes": math.Round(used * 40e6)}})
			}
		}
	}
	accountWrites(w, http.StatusOK, map[string]any{"data": map[string]any{"viewer": map[string]any{"accounts": []any{map[string]any{"containersMetricsAdaptiveGroups": rows}}}}, "errors": nil})
}

func (x *Instance) told(application string) map[string]any {
	status := map[string]any{"state": x.State, "updated_at": x.Updated.UTC().Format(time.RFC3339)}
	if x.State == "stopped" || x.State == "failed" {
		status["exit_code"] = x.Exit
	}
	out := map[string]any{"id": x.ID, "application_id": application, "image": "registry.cloudflare.com/demo/agents:7", "location": map[string]any{"name": "fra02", "region": "EEUR"},
		"configuration": map[string]any{"vcpu": 0.5, "memory": 4096, "disk": 8000}, "started_at": x.Started.UTC().Format(time.RFC3339), "status": status}
	if x.Name != "" {
		out["name"] = x.Name
	}
	return out
}

func (a *Account) namespaces(w http.ResponseWriter, _ *http.Request) {
	accountSays(w, []any{
		map[string]any{"id": ScheduledNS, "class": "Agent", "name": "agents_Agent", "script": "agents", "use_sqlite": true},
		map[string]any{"id": Managed, "class": "Sandbox", "name": "bridge_Sandbox", "script": "sandbox-bridge", "use_sqlite": true},
	}, "")
}
