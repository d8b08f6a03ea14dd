package cloudflare

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"sandglass/actions"
	"sandglass/backend"
	demo "sandglass/demo/cloudflare"
)

// TestWhatIsRefusedForGoodIsAFailure: a container that cannot start, and one that only asked for patience for all the time of a first
// request although it is called running. Of one that is not known to run, or that was refused for want of an instance, nothing is known.
func TestWhatIsRefusedForGoodIsAFailure(t *testing.T) {
	t.Parallel()
	const starting = `{"error":"x","code":"CONTAINER_UNAVAILABLE","context":{"reason":"container_starting","retryable":true,"retryAfterMs":60}}`
	for name, c := range map[string]struct {
		status int
		body   string
		runs   string
		fails  bool
		want   string
	}{
		"it cannot start":       {500, `{"error":"startup failed","code":"INTERNAL_ERROR","context":{"phase":"startup"}}`, runsUnknown, true, "the bridge answered 500: startup failed; its container cannot start, and no wait helps"},
		"it still starts":       {503, `{"error":"startup failed","code":"INTERNAL_ERROR","context":{"phase":"startup"}}`, runsUnknown, false, "the bridge answered 503: startup failed"},
		"another error":         {500, `{"error":"no","code":"INTERNAL_ERROR","context":{"phase":"exec"}}`, runsYes, false, "the bridge answered 500: no"},
		"starts for ever":       {503, starting, runsYes, true, "it is called running, and nothing else was answered for "},
		"may start":             {503, starting, runsUnknown, false, "the bridge answered 503: x (container_starting)"},
		"no instance":           {503, `{"error":"x","code":"CONTAINER_UNAVAILABLE","context":{"reason":"no_container_instance_available"}}`, runsYes, false, "that is not your limit"},
		"interrupted, for good": {409, `{"error":"x","code":"OPERATION_INTERRUPTED","context":{"reason":"recovery_exhausted"}}`, runsYes, false, "the bridge answered 409"},
	} {
		w := newWorld(t, demo.BridgeOptions{})
		w.change(func(*demo.Box) {})
		w.brief = true
		w.answer = func(out http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/exec") {
				return false
			}
			out.WriteHeader(c.status)
			_, _ = io.WriteString(out, c.body)
			return true
		}
		done, _, err := w.do(actions.Probe, factRuns, c.runs)
		v := on(done, backend.PlaneExec)
		if (v.Outcome == backend.OutcomeFailed) != c.fails || (v.Kind == backend.FailControl5xx) != c.fails || (err == nil) != c.fails || !strings.Contains(v.What.String(), c.want) {
			t.Errorf("%s: %s %q: %s (%v)", name, v.Outcome, v.Kind, v.What, err)
		}
	}
}
