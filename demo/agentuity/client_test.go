package agentuity

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sandglass/internal/skip"
)

// clientDir holds the pinned client of the vendor and what it is made to do.
const clientDir = "testdata/client"

// served is a world under the vendor's names, whose time begins with the first request and goes faster than ours.
func served(t *testing.T, s Story, speed time.Duration) map[string]string {
	t.Helper()
	begin := sync.OnceValue(time.Now)
	w := New(Options{Story: s, Seed: 1, Start: time.Now(), Clock: func() time.Duration { return speed * time.Since(begin()) }, CLIKey: "demo-cli-key", SDKKey: "demo-sdk-key"})
	out := map[string]string{}
	for host, h := range map[string]http.Handler{
		"api.agentuity.com": w.ServeAPI(), "hub.example.invalid": w.ServeHub(),
		"catalyst-usc.agentuity.cloud": w.ServeRegion(Home), "catalyst-use.agentuity.cloud": w.ServeRegion(Away),
	} {
		server := httptest.NewServer(h)
		t.Cleanup(server.Close)
		out[host] = server.URL
	}
	for region, host := range map[string]string{Home: "streams-usc.agentuity.cloud", Away: "streams-use.agentuity.cloud"} {
		streams := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			r.URL.Path = "/streams" + r.URL.Path
			w.ServeRegion(region).ServeHTTP(out, r)
		}))
		t.Cleanup(streams.Close)
		out[host] = streams.URL
	}
	return out
}

// TestVendorClient: the vendor's own client, pinned, works with the demo as with the service: it reads, acts, follows a wrong
// region, and tells the failures apart as it does there.
func TestVendorClient(t *testing.T) {
	dir := installClient(t)
	worlds := map[string]map[string]string{"calm": served(t, Calm, 10), "zombie": served(t, Zombie, 1), "no-checkpoint": served(t, NoCheckpoint, 1), "resume-race": served(t, ResumeRace, 60)}
	arg, err := json.Marshal(worlds)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "contract.mjs", string(arg), OrgID)
	cmd.Dir = dir
	said, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(said), "10 passed, 0 failed") {
		t.Fatalf("%v\n%s", err, said)
	}
}

// installClient puts the client into a directory of its own.
func installClient(t *testing.T) string {
	t.Helper()
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			skip.Without(t, "node", err.Error())
		}
	}
	dir := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json", "contract.mjs"} {
		raw, err := os.ReadFile(filepath.Join(clientDir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	install := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1")
	install.Dir = dir
	if said, err := install.CombinedOutput(); err != nil {
		skip.Without(t, "node", "npm ci of the vendor's client failed ("+err.Error()+"): "+lastLine(string(said)))
	}
	return dir
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

// TestClientIsPinned: the lock file names every package with its hash, and no registry.
func TestClientIsPinned(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(clientDir, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	var lock struct {
		Packages map[string]struct{ Version, Resolved, Integrity string }
	}
	if err := json.Unmarshal(raw, &lock); err != nil {
		t.Fatal(err)
	}
	for name, p := range lock.Packages {
		if name != "" && (p.Resolved != "" || !strings.HasPrefix(p.Integrity, "sha512-")) {
			t.Errorf("%s is resolved %q, integrity %q", name, p.Resolved, p.Integrity)
		}
	}
	if got := lock.Packages["node_modules/@agentuity/core"].Version; got != "2.0.21" {
		t.Errorf("the client is %q", got)
	}
}
