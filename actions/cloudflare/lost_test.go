package cloudflare

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/fleet"
	demo "sandglass/demo/cloudflare"
)

// TestALostAnswerProvesNothing: a web page, an object, a stream that breaks off or has no code of its end, and a connection that is
// closed are no silence of a sandbox, also where it is known to run.
func TestALostAnswerProvesNothing(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{"a web page": "<html>log in</html>", "an object": "{}", "nothing": "", "a broken stream": "event: stdout\ndata: L3dv",
		"no code": "event: exit\ndata: {\"exit_code\":\"0\"}\n\n", "closed": "closed"} {
		w := newWorld(t, demo.BridgeOptions{})
		w.change(func(*demo.Box) {})
		w.answer = func(out http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/exec") {
				return false
			}
			if body == "closed" {
				panic(http.ErrAbortHandler)
			}
			_, _ = io.WriteString(out, body)
			return true
		}
		done, _, err := w.do(actions.Probe)
		v := on(done, backend.PlaneExec)
		said := v.What.String() + backend.Join(v.Evidence, "; ").String()
		if v.Outcome != backend.OutcomeUnknown || v.Kind != "" || err == nil || done.Proved || !strings.Contains(said, "no answer of the bridge") || strings.Contains(said, "within") {
			t.Errorf("%s: %s %s %s: %v", name, v.Outcome, v.Kind, said, err)
		}
	}
}

// TestRoutesThatDisagreeWithTheAccountAreInThePlan: where the operator routes call a sandbox stopped that the account calls running, a
// plan says so and takes it for not known, so that a new plan is no different from this one.
func TestRoutesThatDisagreeWithTheAccountAreInThePlan(t *testing.T) {
	t.Parallel()
	b := &backend.Sandbox{Meta: backend.Meta{Key: key()}, Class: backend.SandboxRunning, Reported: backend.Text("running"),
		Labels: []backend.Field{{Name: backend.Text(backend.RoutesSayLabel), Value: backend.Text("stopped")}}}
	b.BridgeID, b.NamedBy = backend.MustID(boxID), backend.NamedByRoutes
	var c actions.Candidate
	targetReader{actions.Probe, true}.sandbox(&c, b, &fleet.State{})
	runs := ""
	for _, f := range c.Identity {
		if f.Name == factRuns {
			runs = f.Value
		}
	}
	if notes := backend.Join(c.Notes, " | ").String(); runs != runsUnknown || !strings.Contains(notes, "the operator routes say stopped and the account says running") || !strings.Contains(notes, "starts a new, empty container") {
		t.Errorf("runs %s: %s", runs, notes)
	}
}
