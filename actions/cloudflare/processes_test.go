package cloudflare

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	demo "sandglass/demo/cloudflare"
)

// TestAProbeTellsWhatRunsThroughTheOperatorRoutes: and names what is called running and never began.
func TestAProbeTellsWhatRunsThroughTheOperatorRoutes(t *testing.T) {
	old, now := time.Now().Add(-10*time.Minute).UTC().Format(time.RFC3339Nano), time.Now().UTC().Format(time.RFC3339Nano)
	well := `{"id":"p1","pid":7,"command":"npm run dev","status":"running","startTime":"` + old + `"}`
	for name, c := range map[string]struct {
		status       int
		body         string
		wants, lacks []string
	}{
		"one runs": {200, `{"processes":[` + well + `,{"id":"p2","pid":8,"command":"ls","status":"completed","startTime":"` + old + `"}]}`, []string{"operator routes: 1 process runs in it"}, []string{"never began"}},
		"one never began": {200, `{"processes":[` + well + `,{"id":"p9","command":"cd /gone &&\nmake","status":"running","startTime":"` + old + `"}]}`,
			[]string{"2 processes run in it", "process p9 is called running since " + old + " and has no process id: it never began, and its end never comes: cd /gone && make"}, []string{"p1"}},
		"one begins":    {200, `{"processes":[{"id":"p9","command":"make","status":"running","startTime":"` + now + `"}]}`, []string{"1 process runs"}, []string{"never began"}},
		"five":          {200, `{"processes":[` + strings.TrimSuffix(strings.Repeat(`{"id":"p9","command":"make","status":"running","startTime":"`+old+`"},`, 5), ",") + `]}`, []string{"5 processes run", "and 2 processes more, which never began"}, nil},
		"it is refused": {409, `{"error":"its object says stopping"}`, []string{"what runs in it was not told", "its object says stopping"}, nil},
		"no list":       {200, `{"processes":7}`, []string{"what runs in it was not told"}, nil},
	} {
		w := newWorld(t, demo.BridgeOptions{Ops: "/ops"})
		w.change(func(*demo.Box) {})
		w.answer = func(out http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/processes") {
				return false
			}
			out.Header().Set("Content-Type", "application/json")
			out.WriteHeader(c.status)
			_, _ = io.WriteString(out, c.body)
			return true
		}
		done, _, err := w.do(actions.Probe)
		if err != nil || !done.Proved {
			t.Fatalf("%s: %v", name, err)
		}
		said := fmt.Sprint(backend.Join(on(done, backend.PlaneControl).Evidence, "\n"))
		for _, want := range c.wants {
			if !strings.Contains(said, want) {
				t.Errorf("%s: %q is missing in\n%s", name, want, said)
			}
		}
		for _, no := range c.lacks {
			if strings.Contains(said, no) {
				t.Errorf("%s: %q in\n%s", name, no, said)
			}
		}
	}
	w := newWorld(t, demo.BridgeOptions{})
	w.change(func(*demo.Box) {})
	if done, _, err := w.do(actions.Probe); err != nil || w.asks("/processes") > 0 || len(on(done, backend.PlaneControl).Evidence) > 0 {
		t.Errorf("without operator routes: %v, %d requests", err, w.asks("/processes"))
	}
}
