package blaxel

import (
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/internal/skip"
)

// realServer names the address of a sandbox server of the vendor, on this machine. The test makes files below its /tmp and starts a
// process; it removes both.
const realServer = "SANDGLASS_BLAXEL_SERVER"

// TestASandboxServerIsActedOn plays one story against the demo's server, and against the vendor's own where one is named: what the
// demo answers is then what the real one does.
func TestASandboxServerIsActedOn(t *testing.T) {
	t.Run("demo", func(t *testing.T) { actOn(t, "") })
	t.Run("real", func(t *testing.T) {
		at := os.Getenv(realServer)
		if at == "" {
			skip.Without(t, "blaxel", realServer+" names no sandbox server")
		}
		actOn(t, at)
	})
}

func actOn(t *testing.T, at string) {
	w := newWorld(t)
	if at == "" {
		at = w.sandbox.Address.String()
	}
	w.sandbox.Address = backend.Clean(strings.TrimRight(at, "/"), 300)
	order := func(method, path, body string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, w.sandbox.Address.String()+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+theKey)
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = a.Body.Close() }()
		said, err := io.ReadAll(a.Body)
		if err != nil {
			t.Fatal(err)
		}
		return a.StatusCode, string(said)
	}
	name := "sandglass-contract-" + strings.ToLower(rand.Text())
	root := "/tmp/" + name
	made := func(path, body string) {
		t.Helper()
		if status, said := order(http.MethodPut, "/filesystem/"+url.PathEscape(path), body); status != http.StatusOK {
			t.Fatalf("%s: %d %s", path, status, said)
		}
	}
	made(root, `{"isDirectory":true}`)
	t.Cleanup(func() {
		r, err := http.NewRequest(http.MethodDelete, w.sandbox.Address.String()+"/filesystem/"+url.PathEscape(root)+"?recursive=true", nil)
		if err == nil {
			r.Header.Set("Authorization", "Bearer "+theKey)
			if a, err := http.DefaultClient.Do(r); err != nil || a.StatusCode != http.StatusOK {
				t.Errorf("%s stays there: %v", root, err)
			} else {
				_ = a.Body.Close()
			}
		}
	})
	made(root+"/notes.txt", `{"content":"hello"}`)
	state := func(root string) {
		w.refs = []*backend.Ref{{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "refs", Parent: backend.MustID("s1"), ID: backend.MustID("workspace")}}, Session: backend.MustID("s1"),
			Provider: backend.Text("blaxel"), Sandbox: backend.MustID(boxName), Agent: &backend.AgentState{Root: backend.Clean(root, 200)}}}
	}
	state(root)
	body, err := json.Marshal(map[string]any{"name": name, "command": "trap '' TERM; while :; do sleep 0.2; done", "workingDir": root})
	if err != nil {
		t.Fatal(err)
	}
	if status, said := order(http.MethodPost, "/process", string(body)); status != http.StatusOK {
		t.Fatalf("a process does not start: %d %s", status, said)
	}

	done, err := w.do(actions.Probe, actions.Params{})
	if err != nil || !done.Proved {
		t.Fatalf("probe: %s %v", done.Text, err)
	}
	for plane, what := range map[backend.Plane]string{backend.PlaneExec: "true ran in " + root, backend.PlaneList: root + " has 1 entry", backend.PlaneRead: "a file of 5 B was read"} {
		if v := on(done, plane); v.Outcome != backend.OutcomeOK || v.What.String() != what {
			t.Errorf("%s: %s %q, want %q", plane, v.Outcome, v.What, what)
		}
	}
	in, _ := w.sandbox.Inside()
	runs := 0
	for _, p := range in.Processes {
		if p.Name.String() == name && p.Class == backend.WorkRunning && p.WorkDir.String() == root && time.Since(p.StartedAt).Abs() < time.Minute {
			runs++
		}
	}
	if runs != 1 || !in.AgentSees.Or(false) || len(in.Unread) > 0 {
		t.Errorf("the process is %d times in %+v", runs, in)
	}
	if _, err := w.do(actions.StopProcess, actions.Params{Process: name}); err == nil || !strings.Contains(err.Error(), "kill-process") {
		t.Errorf("a stop that the process ignores: %v", err)
	}
	if done, err := w.do(actions.KillProcess, actions.Params{Process: name}); err != nil || !done.Proved {
		t.Errorf("kill: %s %v", done.Text, err)
	}
	if done, err := w.do(actions.Rescue, actions.Params{}); err != nil || !strings.HasPrefix(done.Text.String(), "1 file,") {
		t.Errorf("rescue: %s %v", done.Text, err)
	}
	state(root + "/gone")
	done, err = w.do(actions.Probe, actions.Params{})
	if v := on(done, backend.PlaneExec); err != nil || v.Outcome != backend.OutcomeFailed || v.Kind != backend.FailWorkDirMissing {
		t.Errorf("a root that is not there: %+v %v", v, err)
	}
}
