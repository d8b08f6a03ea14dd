package blaxel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/backend/examine"
)

func TestWhatPollingCosts(t *testing.T) {
	w := newWorld(t, nil)
	if n, text := w.src.EstimateLoad(); n != 60_000 || !strings.Contains(text.String(), "how many sandboxes there are is not known yet") {
		t.Errorf("%v %s", n, text)
	}
	var rows []string
	for i := range 50 {
		rows = append(rows, one(fmt.Sprintf("s%d", i), "DEPLOYED", day, `,"state":"RUNNING"`))
	}
	w.set("/sandboxes", page("", append(rows, one("over", "TERMINATED", day, ""))...))
	w.poll()
	if n, text := w.src.EstimateLoad(); n < 16.1 || n > 16.3 || !strings.HasPrefix(text.String(), "about 16 requests a minute: 6 for lists, 10 for own records and previews of 50 live sandboxes;") {
		t.Errorf("%v %s", n, text)
	}
}

// TestDoctorKnowsTheFields holds that an examination of this platform names no documented field as unknown, that one which no
// schema has is named, and that its samples hold no value of a secret.
func TestDoctorKnowsTheFields(t *testing.T) {
	w := newWorld(t, nil)
	list := readSample(t, "control_plane_list_page")
	list.body = strings.Replace(list.body, `"opaque-cursor"`, `""`, 1)
	list.body = strings.Replace(list.body, `"envs": []`, `"envs": [{"name":"TOKEN","value":"plain-one","secret":true}], "extraArgs": {"mine":"plain-two"}`, 1)
	list.body = strings.Replace(list.body, `"state": "RUNNING"`, `"state": "RUNNING", "brandNew": 1`, 1)
	list.header = map[string]string{"Content-Type": "application/json"}
	w.set("/sandboxes", list)
	failed := readSample(t, "control_plane_get_failed")
	failed.header = list.header
	w.set("/sandboxes/agents-0a1b2c3d4e5f", failed)
	w.set("/sandboxes/agents-0a1b2c3d4e5f/previews", reply{http.StatusOK, `[{"metadata":{"name":"p"},"spec":{"port":1,"public":true,"url":"https://x.bl.run?bl_preview_token=plain-three"}}]`, list.header})
	r, err := examine.Source(t.Context(), examine.Options{Kind: "blaxel", ID: "bl", Tries: 1, Deps: w.deps(map[string]string{envKey: apiKey}),
		Make: func(deps backend.Deps) (backend.Source, error) {
			return Kind().New(backendtest.Options[Options](func(o *Options) { o.URL, o.Workspace = w.url, "acme" }), deps)
		}})
	if err != nil {
		t.Fatal(err)
	}
	all, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var sample strings.Builder
	if err := r.WriteSample(&sample); err != nil || !strings.Contains(sample.String(), "terminatedRetention") {
		t.Fatalf("%v\n%s", err, sample.String())
	}
	unknown := map[string]bool{}
	for _, route := range r.Routes {
		for _, f := range route.Unknown {
			unknown[f.String()] = true
		}
	}
	if len(unknown) != 1 || !unknown["data.brandNew"] {
		t.Errorf("unknown fields: %v", unknown)
	}
	if told := string(all) + sample.String(); strings.Contains(told, "plain-") || strings.Contains(told, apiKey) || strings.Contains(told, "acme") {
		t.Errorf("a secret or a name is in the report:\n%s", told)
	}
}
