package blaxel

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// recorded are the exchanges of the real server.
const recorded = "../../backend/blaxel/sandbox/testdata/"

// unplayed are the exchanges with routes that the demo does not have, since the console never asks them.
var unplayed = []string{"fs_content_search", "fs_find", "network_ports", "terminal_ws", "terminal_ws_missing_working_dir", "watch_filesystem"}

type exchange struct {
	Request struct {
		Method, Path string
		Headers      map[string]string
		Body         json.RawMessage
		RawBody      string `json:"raw_body"`
	}
	Response struct {
		Status      int
		ContentType string `json:"content_type"`
		Body        any
	}
}

// stage is one server with a clock that tests turn.
type stage struct {
	t   *testing.T
	now time.Time
	s   *Server
	url string
	did []string
}

func newStage(t *testing.T) *stage {
	x := &stage{t: t, now: time.Date(2026, 11, 21, 7, 12, 14, 0, time.UTC)}
	x.s = NewServer(func() time.Time { return x.now }, func(d time.Duration) { x.now = x.now.Add(d) })
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { x.s.answer(w, r, r.URL.EscapedPath()) }))
	t.Cleanup(srv.Close)
	x.url = srv.URL
	return x
}

// plain takes out of an answer what differs from run to run: times, and the names that the server invents.
func plain(doc any) any {
	switch d := doc.(type) {
	case map[string]any:
		for k, v := range d {
			text, _ := v.(string)
			switch {
			case slices.Contains([]string{"startedAt", "completedAt", "lastModified", "uptime"}, k) && text != "", k == "uptimeSeconds":
				d[k] = "TIME"
			case k == "name" && strings.HasPrefix(text, "proc-"):
				d[k] = "NAME"
			default:
				d[k] = plain(v)
			}
		}
	case []any:
		for i := range d {
			d[i] = plain(d[i])
		}
		slices.SortFunc(d, func(a, b any) int { // processes have no order
			x, _ := json.Marshal(a)
			y, _ := json.Marshal(b)
			return strings.Compare(string(x), string(y))
		})
	case string:
		var inner any
		lines := strings.Split(d, "\n")
		for i, l := range lines {
			if strings.HasPrefix(l, "{") && json.Unmarshal([]byte(l), &inner) == nil {
				m, _ := inner.(map[string]any)
				if text, is := m["data"].(string); is && m["type"] == "result" {
					var result any
					if json.Unmarshal([]byte(text), &result) == nil {
						m["data"] = plain(result)
					}
				}
				b, _ := json.Marshal(m)
				lines[i] = string(b)
			}
		}
		return strings.Join(lines, "\n")
	}
	return doc
}

func (x *stage) play(names ...string) {
	x.t.Helper()
	for _, name := range names {
		x.did = append(x.did, name)
		raw, err := os.ReadFile(recorded + name + ".json")
		if err != nil {
			x.t.Fatal(err)
		}
		var e exchange
		if err := json.Unmarshal(raw, &e); err != nil {
			x.t.Fatal(err)
		}
		body := string(e.Request.Body)
		if e.Request.RawBody != "" {
			body = e.Request.RawBody
		}
		req, err := http.NewRequestWithContext(x.t.Context(), e.Request.Method, x.url+e.Request.Path, strings.NewReader(body))
		if err != nil {
			x.t.Fatal(err)
		}
		for k, v := range e.Request.Headers {
			req.Header.Set(k, v)
		}
		r, err := http.DefaultClient.Do(req)
		if err != nil {
			x.t.Fatal(err)
		}
		got, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if err != nil {
			x.t.Fatal(err)
		}
		if r.StatusCode != e.Response.Status || r.Header.Get("Content-Type") != e.Response.ContentType && e.Response.ContentType != "" {
			x.t.Errorf("%s: %d %s, recorded %d %s", name, r.StatusCode, r.Header.Get("Content-Type"), e.Response.Status, e.Response.ContentType)
		}
		var is any = string(got)
		if _, stream := e.Response.Body.(string); !stream {
			if err := json.Unmarshal(got, &is); err != nil {
				x.t.Errorf("%s: %v: %s", name, err, got)
				continue
			}
		}
		if !reflect.DeepEqual(plain(is), plain(e.Response.Body)) {
			x.t.Errorf("%s:\n got %v\nwant %v", name, is, e.Response.Body)
		}
	}
}

// TestTheServerAnswersAsRecorded plays the recorded exchanges, as they followed each other, against the demo's server.
func TestTheServerAnswersAsRecorded(t *testing.T) {
	x := newStage(t)
	x.play("root_welcome", "health", "drives_list", "unknown_route", "method_not_allowed", "process_list_empty", "fs_list_root", "fs_list_workspace", "fs_read_file_json", "fs_tree", "fs_list_missing",
		"exec_ok", "exec_nonzero_exit", "exec_command_not_found", "exec_no_working_dir", "exec_missing_working_dir", "exec_timeout", "process_get_after_timeout", "exec_bad_json", "exec_empty_body", "head_process")
	x.s.next = 37
	x.s.Start("proc-x", "echo $FOO", "/workspace", x.now)
	x.s.find("proc-x").lines = []line{{text: "bar\n"}} // an environment, which the demo does not play
	x.play("exec_background")
	x.now = x.now.Add(1500 * time.Millisecond)
	x.play("process_get_running", "process_logs", "exec_duplicate_running_name")
	x.now = x.now.Add(4 * time.Second)
	x.play("process_list", "process_logs_stream", "process_kill", "process_get_just_killed")
	x.now = x.now.Add(time.Second)
	x.play("process_get_killed", "process_kill_again", "process_stop_not_running", "process_kill_completed", "process_stop", "process_get_stopped", "process_stop_missing", "process_get_missing",
		"process_logs_missing", "process_logs_stream_missing")
	x.s.next = 46
	x.play("exec_stream_ndjson")
	x.s.next = 48
	x.s.Start("ka", "sleep 30", "", x.now)
	x.s.find("ka").word, x.s.find("ka").over = "killed", x.now
	x.play("process_get_keepalive_timeout")
	x.s.next = 50
	x.s.Start("stubborn", "trap '' TERM; while :; do sleep 0.2; done", "", x.now)
	x.play("process_stop_stubborn", "process_get_stopped_but_alive", "process_stop_stubborn_again", "process_kill_stubborn", "exec_wait_ports_timeout")
	x.s.next = 62
	x.s.Start("flaky", "echo boom; exit 1", "", x.now)
	x.s.find("flaky").restarts, x.s.find("flaky").most = true, 2
	x.play("process_get_restarted", "fs_mkdir", "fs_write_file", "fs_delete_dir_nonrecursive", "fs_delete_missing")

	all, err := filepath.Glob(recorded + "*.json")
	if err != nil || len(all) == 0 {
		t.Fatalf("%d exchanges (%v)", len(all), err)
	}
	for _, f := range all {
		name := strings.TrimSuffix(filepath.Base(f), ".json")
		if slices.Contains(x.did, name) == slices.Contains(unplayed, name) {
			t.Errorf("%s is neither played nor named as left out, or both", name)
		}
	}
}
