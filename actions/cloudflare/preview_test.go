package cloudflare

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"sandglass/actions"
	"sandglass/backend"
	demo "sandglass/demo/cloudflare"
)

// TestAProbeReadsThePreview: it asks whether the runtime is active, what runs in it and which terminals it has, and runs no command. That
// is the word of the platform, which proves nothing of the sandbox.
func TestAProbeReadsThePreview(t *testing.T) {
	for name, c := range map[string]struct {
		running string
		status  int
		outcome backend.Outcome
		asks    int
		wants   []string
	}{
		"it is active":     {`{"running":true}`, 200, backend.OutcomeOK, 3, []string{"its runtime is active; no command is run", "the bridge: 2 processes run in it", "process p9 is called running", "it has 1 terminal"}},
		"it is not":        {`{"running":false}`, 200, backend.OutcomeUnknown, 1, []string{"its runtime is not active"}},
		"another form":     {`{"active":true}`, 200, backend.OutcomeUnknown, 1, []string{"another form"}},
		"it is refused":    {`{"error":"Unauthorized","code":"unauthorized"}`, 401, backend.OutcomeUnknown, 1, []string{"check the key"}},
		"a rollout":        {`{"error":"x","code":"CONTROL_PROTOCOL_INCOMPATIBLE"}`, 502, backend.OutcomeUnknown, 1, []string{"without one, deploy both with one version"}},
		"no instance left": {`{"error":"There is no container instance that can be provided","code":"capacity_exceeded"}`, 503, backend.OutcomeUnknown, 1, []string{"that is not your limit"}},
	} {
		w := newWorld(t, demo.BridgeOptions{Next: true})
		w.change(func(*demo.Box) {})
		lists := map[string]string{"/processes": `[{"id":"p1","pid":7,"command":["npm","test"],"state":"running","startedAt":"2026-01-01T00:00:00Z"},
			{"id":"p9","command":["make"],"state":"running","startedAt":"2026-01-01T00:00:00Z"},{"id":"p3","pid":8,"state":"exited","exit":{"code":0}}]`, "/terminals": `{"terminals":[{"id":"t1"}]}`}
		w.answer = func(out http.ResponseWriter, r *http.Request) bool {
			rest, below := strings.CutPrefix(r.URL.Path, "/v1/sandbox/"+boxID)
			if below && r.Method != http.MethodGet {
				t.Errorf("%s: %s %s was sent", name, r.Method, r.URL.Path)
			}
			body, status := lists[rest], 200
			if rest == "/running" {
				body, status = c.running, c.status
			}
			if body == "" {
				return false
			}
			out.Header().Set("Content-Type", "application/json")
			out.WriteHeader(status)
			_, _ = io.WriteString(out, body)
			return true
		}
		done, _, err := w.do(actions.Probe)
		var untried *actions.UntriedError
		v := on(done, backend.PlaneControl)
		said := backend.Join(append([]backend.Safe{v.What}, v.Evidence...), "; ").String()
		if err == nil || errors.As(err, &untried) || done.Proved || v.Outcome != c.outcome || w.asks("/v1/sandbox") != c.asks {
			t.Errorf("%s: %v, proved %v, %s, %d requests: %s", name, err, done.Proved, v.Outcome, w.asks("/v1/sandbox"), said)
		}
		for _, want := range c.wants {
			if !strings.Contains(said, want) {
				t.Errorf("%s: %q is missing in %s", name, want, said)
			}
		}
	}
}
