package blaxel

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"sandglass/actions"
)

// TestAKillThatIsNotAnsweredIsReadAgain: after a 504 the process itself tells whether it is over. Where it cannot be read, nothing is known.
func TestAKillThatIsNotAnsweredIsReadAgain(t *testing.T) {
	const row = `{"pid":"40","name":"job","command":"sleep 9","status":"%s","startedAt":"Sat, 21 Nov 2026 12:00:00 GMT","completedAt":"%s","exitCode":-1}`
	for name, c := range map[string]struct {
		ends, reads bool
		want        string
	}{
		"it is over": {true, true, ""}, "it runs on": {false, true, "read again, it still runs"}, "it cannot be read": {true, false, "result is not known"},
	} {
		w := newWorld(t)
		kills := 0
		w.answer = func(out http.ResponseWriter, r *http.Request) bool {
			status, end := "running", ""
			if kills > 0 && c.ends {
				status, end = "killed", "Sat, 21 Nov 2026 12:01:00 GMT"
			}
			switch at := r.URL.EscapedPath(); {
			case r.Method == http.MethodDelete && strings.HasSuffix(at, "/process/40/kill"):
				kills++
				out.WriteHeader(http.StatusGatewayTimeout)
			case r.Method == http.MethodGet && strings.HasSuffix(at, "/process"):
				_, _ = fmt.Fprintf(out, "["+row+"]", status, end)
			case r.Method == http.MethodGet && strings.HasSuffix(at, "/process/40") && kills > 0 && !c.reads:
				out.WriteHeader(http.StatusBadRequest)
			case r.Method == http.MethodGet && strings.HasSuffix(at, "/process/40"):
				_, _ = fmt.Fprintf(out, row, status, end)
			default:
				return false
			}
			return true
		}
		_, _ = w.do(actions.Probe, actions.Params{})
		done, err := w.do(actions.KillProcess, actions.Params{})
		unsure := (*actions.UncertainError)(nil)
		if kills != 1 || done.Proved != (c.want == "") || (err == nil) != done.Proved || err != nil && !strings.Contains(err.Error(), c.want) || errors.As(err, &unsure) == c.reads {
			t.Errorf("%s: %d kills, %+v, %v", name, kills, done, err)
		}
	}
}

// TestAKillThatTheServerUndoes: a process that is started again when it fails is not over, and the plan says so before.
func TestAKillThatTheServerUndoes(t *testing.T) {
	w, killed := newWorld(t), 0
	w.answer = func(out http.ResponseWriter, r *http.Request) bool {
		at := r.URL.EscapedPath()
		row := fmt.Sprintf(`{"pid":"80","name":"loop","command":"x","status":"running","startedAt":"Sat, 21 Nov 2026 12:0%d:00 GMT","restartOnFailure":true,"maxRestarts":-1,"restartCount":%d}`, killed, 3+killed)
		switch {
		case strings.HasSuffix(at, "/process/80/kill"):
			killed++
			_, _ = out.Write([]byte(`{"message":"ok"}`))
		case strings.HasSuffix(at, "/process/80"):
			_, _ = out.Write([]byte(row))
		case r.Method == http.MethodGet && strings.HasSuffix(at, "/process"):
			_, _ = out.Write([]byte("[" + row + "]"))
		default:
			return false
		}
		return true
	}
	_, _ = w.do(actions.Probe, actions.Params{})
	if c := w.look(actions.KillProcess, actions.Params{}); !strings.Contains(fmt.Sprint(c.Notes), "the server starts it again when it fails") {
		t.Errorf("%v", c.Notes)
	}
	done, err := w.do(actions.KillProcess, actions.Params{})
	if err == nil || done.Proved || killed != 1 || !strings.Contains(err.Error(), "the server started it again") {
		t.Errorf("killed %d times: %+v %v", killed, done, err)
	}
}
