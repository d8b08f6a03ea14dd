package cloudflare

import (
	"context"
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

// recorded are the exchanges of the real bridge.
const recorded = "../../backend/cloudflare/bridge/testdata/"

type exchange struct {
	Request struct {
		Method, Path string
		Headers      map[string]string
		Body         json.RawMessage
	}
	Response struct {
		Status                           int
		ContentType, ReadError, BodyText string
		Body                             any
	}
}

const mainID = "2ae7pib2vjeswlcbc2d4d4auzy"

// plays are the recorded exchanges, in order, each list with the world in which it was recorded.
var plays = []struct {
	name  string
	o     BridgeOptions
	setup func(*Bridge)
	files []string
}{
	{name: "main", setup: func(b *Bridge) { b.Start("aaaa") }, files: []string{"rpc_00-health", "rpc_01-create-no-auth", "rpc_02-running-bad-token", "rpc_03-bad-sandbox-id",
		"rpc_04-list-sandboxes-not-a-route", "rpc_06-pool-stats-empty", "rpc_07-create", "rpc_08-pool-stats-after-create", "rpc_09-delete-never-started",
		"rpc_10-running-never-started-id", "rpc_12-exec-ok", "rpc_13-exec-nonzero", "rpc_15-exec-timeout", "rpc_16-exec-empty-argv", "rpc_19-exec-cwd-missing", "rpc_20-file-put",
		"rpc_21-file-get", "rpc_22-file-get-missing", "rpc_27-session-delete-missing", "rpc_28-pty-without-upgrade", "rpc_ws-1-rm-rf", "rpc_ws-2-running", "rpc_ws-3-exec",
		"rpc_ws-4-exec-cwd-workspace", "rpc_ws-5-file-get", "rpc_ws-7-health", "rpc_ws-8-exec-in-session", "rpc_ws-9-hydrate", "rpc_ws-10-repair-put-file",
		"rpc_ws-11-running-after-repair", "rpc_90-delete", "rpc_91-pool-stats-after-delete", "rpc_92-delete-again"}},
	{name: "a route that is none", files: []string{"rpc_05-get-sandbox-not-a-route"}},
	{name: "session", setup: func(b *Bridge) { b.Start(mainID).sessions["session-1795246180516"] = "/workspace" }, files: []string{"rpc_26-session-delete"}},
	{name: "old", o: BridgeOptions{Old: true}, setup: func(b *Bridge) { b.Start("jkdsymaqdrsi4q7jy6dqdvlzby") }, files: []string{"http_15-exec-timeout", "http_19-exec-cwd-missing"}},
	{name: "old, emptied", o: BridgeOptions{Old: true}, setup: func(b *Bridge) { b.Start("jkdsymaqdrsi4q7jy6dqdvlzby").Root = Missing }, files: []string{"http_ws-2-running", "http_ws-3-exec"}},
	{name: "starts", files: []string{"rpc_alloc-01-pool-stats-fresh"}},
	{name: "starts by questions", setup: func(b *Bridge) { b.Start("aaaa") }, files: []string{"rpc_alloc-03-pool-stats", "rpc_alloc-04-delete-unknown-id", "rpc_alloc-05-pool-stats",
		"rpc_alloc-06-running-unknown-id", "rpc_alloc-07-pool-stats"}},
	{name: "a directory that is missing", files: []string{"rpc_bwedge-2-session-exec-missing-cwd", "rpc_bwedge-3-exec-in-other-session", "rpc_bwedge-7-delete"}},
	{name: "and its session", files: []string{"rpc_bwedge2-02-session-exec-missing-cwd", "rpc_bwedge2-03-same-session", "rpc_bwedge2-07-new-session-exec", "rpc_bwedge2-08-running"}},
	{name: "capacity", o: BridgeOptions{Most: 1}, files: []string{"rpc_capacity-1-first-running", "rpc_capacity-2-second-running", "rpc_capacity-3-second-exec", "rpc_capacity-4-pool-stats",
		"rpc_capacity-5-delete-first", "rpc_capacity-6-second-after-free", "rpc_capacity-7-pool-stats"}},
}

// TestTheBridgeAnswersAsRecorded plays every recorded exchange but one against the demo's bridge.
func TestTheBridgeAnswersAsRecorded(t *testing.T) {
	played := []string{"bridge-nocontainers_running.json"} // of a Worker without containers, which the demo has none of
	for _, p := range plays {
		t.Run(p.name, func(t *testing.T) {
			p.o.Key, p.o.Wait = "the-key", func(context.Context, time.Duration) {}
			b := NewBridge(p.o)
			defer b.Close()
			if p.setup != nil {
				p.setup(b)
			}
			srv := httptest.NewServer(b)
			defer srv.Close()
			for _, name := range p.files {
				played = append(played, "bridge-"+name+".json")
				compare(t, srv.URL, name)
			}
		})
	}
	all, err := filepath.Glob(recorded + "bridge-*.json")
	if err != nil || len(all) == 0 {
		t.Fatalf("%d exchanges (%v)", len(all), err)
	}
	for _, file := range all {
		if !slices.Contains(played, filepath.Base(file)) {
			t.Errorf("%s is not played", filepath.Base(file))
		}
	}
}

func compare(t *testing.T, base, name string) {
	t.Helper()
	raw, err := os.ReadFile(recorded + "bridge-" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var x exchange
	if err := json.Unmarshal(raw, &x); err != nil {
		t.Fatal(err)
	}
	sent := string(x.Request.Body)
	var text string
	if json.Unmarshal(x.Request.Body, &text) == nil {
		sent = text
	}
	within := 10 * time.Second
	if x.Response.ReadError == "TimeoutError" {
		within = 200 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, x.Request.Method, base+x.Request.Path, strings.NewReader(sent))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range x.Request.Headers {
		req.Header.Set(k, strings.Replace(v, "<token>", "the-key", 1))
	}
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, readErr := io.ReadAll(r.Body)
	if r.StatusCode != x.Response.Status || r.Header.Get("Content-Type") != x.Response.ContentType || (readErr != nil) != (x.Response.ReadError == "TimeoutError") {
		t.Errorf("%s: %d %s (%v), recorded %d %s (%s)\n%s", name, r.StatusCode, r.Header.Get("Content-Type"), readErr, x.Response.Status, x.Response.ContentType, x.Response.ReadError, body)
	}
	if x.Response.Body == nil {
		if string(body) != x.Response.BodyText {
			t.Errorf("%s: %q, recorded %q", name, body, x.Response.BodyText)
		}
		return
	}
	var is any
	if err := json.Unmarshal(body, &is); err != nil {
		t.Errorf("%s: %v in %s", name, err, body)
	}
	for _, doc := range []any{is, x.Response.Body} {
		if m, ok := doc.(map[string]any); ok {
			delete(m, "timestamp")
		}
	}
	if !reflect.DeepEqual(is, x.Response.Body) {
		t.Errorf("%s: %v, recorded %v", name, is, x.Response.Body)
	}
}

// TestOperatorRoutesStartNothing, not even for an id that has no container; what is asked of the bridge itself does.
func TestOperatorRoutesStartNothing(t *testing.T) {
	b := NewBridge(BridgeOptions{Key: "k", Ops: "/ops"})
	defer b.Close()
	b.Start("aaaa")
	srv := httptest.NewServer(b)
	defer srv.Close()
	for path, want := range map[string]int{"/ops/sandboxes": 200, "/ops/sandboxes/aaaa": 200, "/ops/sandboxes/bbbb": 404, "/ops/sandboxes/aaaa/processes": 200, "/ops/sandboxes/bbbb/processes": 404,
		"/ops/else": 404, "/v1/pool/stats": 200, "/v1/openapi.json": 200} {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+path, nil)
		req.Header.Set("Authorization", "Bearer k")
		r, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
		if r.StatusCode != want || b.Starts() != 1 {
			t.Errorf("%s: %d, %d containers were started", path, r.StatusCode, b.Starts())
		}
	}
}

// TestAStoryFollowsItsContainers: what is repaired works again in the log, and what was started anew is not broken once more.
func TestAStoryFollowsItsContainers(t *testing.T) {
	start := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, story := range []BridgeStory{WorkspaceMissing, SharedSandbox} {
		b := NewBridge(BridgeOptions{Clock: func() time.Time { return start }})
		p := b.Play(story, start)
		id := BridgeIDs()[1]
		fails := func(to time.Duration) (n int) {
			for _, line := range p.Lines(to) {
				if !json.Valid([]byte(line)) {
					t.Fatalf("%s is no JSON", line)
				}
				if strings.Contains(line, "sandbox-"+id+"': Unknown Error, TODO") {
					n++
				}
			}
			return n
		}
		if n := fails(25 * time.Second); n != 0 {
			t.Errorf("story %d: %d commands fail before anything happened", story, n)
		}
		if n := fails(2 * time.Minute); n < 8 {
			t.Errorf("story %d: %d commands fail without a directory", story, n)
		}
		b.Change(id, func(x *Box) { x.write("/workspace/.keep", "") })
		if n := fails(4 * time.Minute); n != 0 {
			t.Errorf("story %d: %d commands fail after the repair", story, n)
		}
		b.Close()
	}
}
