package bridge

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// TestOperatorRoutesAreRead page by page. A list that goes in circles or has an entry that cannot be read is not whole.
func TestOperatorRoutesAreRead(t *testing.T) {
	pages := map[string]string{
		"":  `{"sandboxes":[{"id":"abc","container":"u-1","instance":"0123","class":"Sandbox","state":"healthy","lastChange":1795246180516,"sleepAfter":"10m"}],"next":"2"}`,
		"2": `{"sandboxes":[{"id":"def","container":"u-2","state":"stopped_with_code","exitCode":137,"sleepAfter":90},{"id":"xyz","state":"napping","sleepAfter":"soon"}]}`,
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+testKey {
			w.WriteHeader(401)
			return
		}
		switch r.URL.Path {
		case "/ops/sandboxes":
			_, _ = io.WriteString(w, pages[r.URL.Query().Get("cursor")])
		default:
			w.WriteHeader(404)
		}
	}))
	defer srv.Close()
	c := open(t, srv.URL, "ops/")
	all, whole, err := c.Boxes(t.Context())
	if err != nil || !whole || len(all) != 3 || all[0].Instance != "0123" || !all[0].Changed.Equal(time.UnixMilli(1795246180516)) {
		t.Fatalf("%+v %t %v", all, whole, err)
	}
	for i, want := range [][2]bool{{true, true}, {false, true}, {false, false}} {
		if runs, known := all[i].Runs(); runs != want[0] || known != want[1] {
			t.Errorf("%s: runs %t, known %t", all[i].State, runs, known)
		}
	}
	for i, want := range []time.Duration{10 * time.Minute, 90 * time.Second, 0} {
		if all[i].SleepAfter != want {
			t.Errorf("%s sleeps after %s, not %s", all[i].ID, all[i].SleepAfter, want)
		}
	}
	if code, known := all[1].Exit.Get(); code != 137 || !known {
		t.Errorf("exit code %d", code)
	}
	ps, err := ReadProcesses([]byte(`{"processes":[{"id":"p1","pid":7,"command":"npm run dev","status":"running","startTime":"2026-11-21T07:29:40Z"},{"id":"p2","command":["sh","-c","exit 3"],"state":"exited","exit":{"code":3,"timedOut":false}}]}`))
	if err != nil || len(ps) != 2 || ps[0].PID != 7 || ps[0].State != "running" || ps[1].Command != "sh -c 'exit 3'" || ps[1].Exit.Or(0) != 3 || ps[1].State != "exited" {
		t.Errorf("%+v %v", ps, err)
	}
	if _, err := (Ops{"/ops"}).Processes("../x"); err == nil {
		t.Error("an id that leads elsewhere")
	}
	pages["2"] = `{"sandboxes":[],"next":"2"}`
	if all, whole, err := c.Boxes(t.Context()); err != nil || whole || len(all) != 1 {
		t.Errorf("in circles: %d, whole %t, %v", len(all), whole, err)
	}
	pages["2"] = `{"sandboxes":[{"id":"Not-An-Id"}]}`
	if all, whole, err := c.Boxes(t.Context()); err != nil || whole || len(all) != 1 {
		t.Errorf("an id that no bridge takes: %d, whole %t, %v", len(all), whole, err)
	}
	pages["2"] = `{"error":"not here"}`
	if all, whole, err := c.Boxes(t.Context()); err == nil || whole || len(all) != 1 {
		t.Errorf("a page that is none: %d, whole %t, %v", len(all), whole, err)
	}
}
