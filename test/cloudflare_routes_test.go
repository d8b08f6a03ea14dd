package test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/backend/cloudflare/bridge"
	"sandglass/backend/wire"
	"sandglass/internal/skip"
)

// bridgePackage stands for @cloudflare/sandbox 0.12.10: what its bridge answers itself and what it hands on, and its pool.
const bridgePackage = `export class WarmPool {
  assignments = new Map();
  initialized = false;
  fill(all) { this.stored = all; }
  async init() { if (!this.initialized) { this.initialized = true; this.assignments = new Map(this.stored); } }
}
export const bridge = (worker) => ({
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith("/v1/") || pathname === "/v1" || pathname === "/health") return new Response('{"ok":true}', { headers: { "content-type": "application/json" } });
    return worker.fetch(request, env);
  },
});
`

// serveCloudflareRoutes runs the documented Worker under Node.js, which ends with the test, and returns its address.
func serveCloudflareRoutes(t *testing.T, key string) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		skip.Without(t, "node", err.Error())
	}
	dir := t.TempDir()
	const example = "examples/cloudflare-operator-routes"
	for _, name := range []string{"worker.mjs", "operator-routes.mjs"} {
		text, err := os.ReadFile(filepath.Join(example, name))
		if err != nil {
			t.Fatal(err)
		}
		backendtest.Write(t, filepath.Join(dir, name), string(text))
	}
	below := filepath.Join(dir, "node_modules", "@cloudflare", "sandbox")
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Fatal(err)
	}
	backendtest.Write(t, filepath.Join(below, "package.json"), `{"name":"@cloudflare/sandbox","type":"module","exports":{".":"./index.js","./bridge":"./bridge.js"}}`)
	backendtest.Write(t, filepath.Join(below, "index.js"), "export class Sandbox {}\n")
	backendtest.Write(t, filepath.Join(below, "bridge.js"), bridgePackage)
	cmd := exec.Command(node, "test/testdata/cloudflare_routes.mjs", dir, key)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	var at struct{ Port int }
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err != nil || json.Unmarshal(line, &at) != nil || at.Port == 0 {
		t.Fatalf("node said %q (%v)", line, err)
	}
	return fmt.Sprintf("http://127.0.0.1:%d", at.Port)
}

// TestCloudflareOperatorRoutes reads the documented routes under real Node.js as Sandglass does: all pages, what an object that
// cannot be asked is, what runs, and a stop. Nothing of it starts a container, and nobody is answered without the key.
func TestCloudflareOperatorRoutes(t *testing.T) {
	const key = "bridge-key-0123456789"
	base := serveCloudflareRoutes(t, key)
	c, err := bridge.New(bridge.Site{URL: base, Key: wire.Credential{Env: "KEY"}, Ops: "/ops"}, backend.Deps{ID: "cf", Now: time.Now,
		Dial: (&net.Dialer{}).DialContext, Getenv: func(string) string { return key }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	all, whole, err := c.Boxes(t.Context())
	if err != nil || !whole || len(all) != 253 {
		t.Fatalf("%d sandboxes, whole %t: %v", len(all), whole, err)
	}
	if !slices.IsSortedFunc(all, func(a, b bridge.Box) int { return strings.Compare(a.ID, b.ID) }) {
		t.Error("the pages overlap or are in disorder")
	}
	a := all[0]
	if a.ID != "aaaa" || a.Container != "u-a" || len(a.Instance) != 64 || a.State != "healthy" || a.Class != "Sandbox" || !a.Changed.Equal(time.UnixMilli(1795246180516)) || a.Exit.IsKnown() {
		t.Errorf("%+v", a)
	}
	if b := all[1]; b.State != "stopped_with_code" || b.Exit.Or(0) != 137 {
		t.Errorf("%+v", b)
	}
	if _, known := all[2].Runs(); all[2].State != "unknown" || known {
		t.Errorf("an object that cannot be asked: %+v", all[2])
	}
	call, err := bridge.Ops{Prefix: "/ops"}.Processes("aaaa")
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), call.Method, base+call.Path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	told, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	ps, err := bridge.ReadProcesses(told)
	if err != nil || len(ps) != 1 || ps[0].PID != 7 || ps[0].Command != "npm run dev" || ps[0].State != "running" {
		t.Errorf("%+v %v", ps, err)
	}
	for _, x := range []struct {
		method, path, key string
		want              int
	}{
		{"GET", "/ops/sandboxes", "", 401}, {"GET", "/ops/sandboxes", key + "x", 401}, {"POST", "/ops/sandboxes/aaaa/stop", "", 401},
		{"GET", "/ops/sandboxes/bbbb/processes", key, 409}, {"POST", "/ops/sandboxes/bbbb/stop", key, 409}, {"GET", "/ops/sandboxes/cccc/processes", key, 409},
		{"GET", "/ops/sandboxes/none", key, 404}, {"GET", "/ops/sandboxes/aaaa/stop", key, 404}, {"POST", "/ops/sandboxes", key, 404}, {"POST", "/ops/sandboxes/aaaa", key, 404},
		{"DELETE", "/ops/sandboxes/aaaa", key, 404}, {"GET", "/ops/sandboxes/aaaa/processes/x", key, 404}, {"GET", "/opsx/sandboxes", key, 404}, {"GET", "/health", "", 200},
		{"POST", "/ops/sandboxes/aaaa/stop", key, 202}, {"GET", "/ops/sandboxes/aaaa/processes", key, 409},
	} {
		r := documentedAnswer(t, x.method, base, x.path, x.key)
		if r.StatusCode != x.want || r.Header.Get("X-Started") != "0" {
			t.Errorf("%s %s with key %q: %d, want %d; %s containers were started", x.method, x.path, x.key, r.StatusCode, x.want, r.Header.Get("X-Started"))
		}
	}
	if all, _, err = c.Boxes(t.Context()); err != nil || all[0].State != "stopped" {
		t.Errorf("after the stop: %+v %v", all[0], err)
	}
	closed := serveCloudflareRoutes(t, "")
	if r := documentedAnswer(t, http.MethodGet, closed, "/ops/sandboxes", ""); r.StatusCode != http.StatusUnauthorized {
		t.Errorf("a Worker without a key: its operator routes answer %d", r.StatusCode)
	}
}
