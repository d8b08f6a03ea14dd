package test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/actions"
	"sandglass/app"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/cli"
	"sandglass/internal/skip"
)

// documented is the folder of the handlers that the documentation names.
const documented = "examples/helix-operator-routes"

// serveDocumented runs the documented handlers, which end with the test, and returns their addresses.
func serveDocumented(t *testing.T) (at struct{ Node, Object int }) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		skip.Without(t, "node", err.Error())
	}
	cmd := exec.Command(node, "test/testdata/operator_routes.mjs", documented)
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
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err != nil || json.Unmarshal(line, &at) != nil || at.Node == 0 || at.Object == 0 {
		t.Fatalf("node said %q (%v)", line, err)
	}
	return at
}

// TestDocumentedHandler reads the documented routes as Sandglass does, resets through them, and reads again.
func TestDocumentedHandler(t *testing.T) {
	at := serveDocumented(t)
	for name, port := range map[string]int{"JS runtime": at.Node, "Durable Object": at.Object} {
		t.Run(name, func(t *testing.T) {
			base := fmt.Sprintf("http://127.0.0.1:%d", port)
			refusesStrangers(t, base)
			text := fmt.Sprintf("[[source]]\nid = \"h\"\nkind = \"helix\"\nactions = [\"reset\"]\nlist_url = \"%[1]s/operator/sessions\"\n"+
				"url = \"%[1]s/operator/sessions/{session}\"\nread.env = \"READ\"\nact.env = \"ACT\"\n"+
				"reset.url = \"%[1]s/operator/sessions/{session}/workspaces/{workspace}/reset\"\n", base)
			if name == "Durable Object" {
				text += "runtime = \"durable-object\"\n"
			}
			resetsAsDocumented(t, text)
		})
	}
	// The worker asked for the sleeping session too, without waking anything but the one that runs.
	resp := documentedAnswer(t, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d", at.Object), "/operator/sessions/asleep", "read-token-1")
	if resp.StatusCode != 404 || resp.Header.Get("X-Woken") != "1" {
		t.Errorf("an idle session: %d, %s objects were woken", resp.StatusCode, resp.Header.Get("X-Woken"))
	}
}

// documentedAnswer sends the path as it is, correctly escaped or not.
func documentedAnswer(t *testing.T, method, base, path, token string) *http.Response {
	t.Helper()
	req, err := http.NewRequest(method, base, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.URL.Opaque = path
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp
}

func refusesStrangers(t *testing.T, base string) {
	t.Helper()
	const reset = "/operator/sessions/s%201%2Fx/workspaces/fixed/reset"
	for _, c := range []struct {
		method, path, token string
		want                int
	}{
		{"GET", "/operator/sessions", "", 401}, {"GET", "/operator/sessions", "act-token-2", 401}, {"GET", "/operator/sessions/asleep", "read-token-1", 404},
		{"POST", reset, "", 401}, {"POST", reset, "read-token-1", 401}, {"POST", reset, "act-token-2x", 401},
		{"GET", reset, "act-token-2", 404}, {"POST", reset + "/x", "act-token-2", 404}, {"POST", "/operator/sessions", "act-token-2", 404},
		{"POST", "/operator/sessions/asleep/workspaces/fixed/reset", "act-token-2", 404}, {"POST", "/operator/sessions/%zz/workspaces/fixed/reset", "act-token-2", 400},
		{"POST", "/operator/sessions/s%201%2Fx/workspaces/toString/reset", "act-token-2", 404},
	} {
		if got := documentedAnswer(t, c.method, base, c.path, c.token).StatusCode; got != c.want {
			t.Errorf("%s %s with %q: %d, want %d", c.method, c.path, c.token, got, c.want)
		}
	}
}

// readNow polls the sources of a configuration once.
func readNow(t *testing.T, p *cli.Program, text string) *fleet.State {
	t.Helper()
	s, err := p.Open(app.StationOptions{Config: parseConfig(t, p, text), Stateless: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	return s.Poll(t.Context())
}

func resetsAsDocumented(t *testing.T, text string) {
	t.Helper()
	p := testProgram(time.Now)
	p.Getenv = func(name string) string { return map[string]string{"READ": "read-token-1", "ACT": "act-token-2"}[name] }
	s := readNow(t, p, text)
	part := partOf(t, p, text, parseConfig(t, p, text).Sources[0].ID, actions.Reset)
	effect, err := part.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer effect.Close()
	targets := map[string]actions.Target{}
	issued := time.Now()
	for w := range s.Workspaces.All() {
		x := part.Targets.Look(t.Context(), actions.Question{Keys: []backend.Key{w.Key}, State: s, Now: issued})[0]
		name := w.Key.ID.Raw()
		if x.Why.IsEmpty() == (name == "open") {
			t.Errorf("%q: %v", name, x.Why)
		}
		targets[name] = actions.Target{Key: x.Key, Identity: x.Identity, CauseSeen: x.CauseSeen, Cause: app.CauseOf(w.LastError)}
	}
	var changed *actions.ChangedError
	var uncertain *actions.UncertainError
	for name, ok := range map[string]func(error) bool{
		"fixed":               func(err error) bool { return err == nil },
		"a/b ..%2f\u202e":     func(err error) bool { return err == nil },
		"still":               func(err error) bool { return err == nil },
		"open":                func(err error) bool { return errors.As(err, &changed) },
		"explodes":            func(err error) bool { return errors.As(err, &uncertain) },
		"is not there at all": func(err error) bool { return err != nil && strings.Contains(err.Error(), "no such workspace") },
	} {
		target, listed := targets[name]
		if !listed {
			target = targets["fixed"]
			target.Key.ID = backend.MustID(name)
		}
		if _, err := effect.Do(t.Context(), target, actions.Params{}); !ok(err) {
			t.Errorf("reset of %q: %v", name, err)
		}
	}
	s = readNow(t, p, text)
	for name, want := range map[string]actions.Result{"fixed": actions.ResultVerified, "a/b ..%2f\u202e": actions.ResultVerified, "still": actions.ResultFailedAgain} {
		if got := part.Verifier.Verify(targets[name], issued, s); got.Result != want {
			t.Errorf("%q: %v (%v), want %v", name, got.Result, got.Why, want)
		}
	}
	if len(targets) != 5 || !slices.Contains(s.Source("h").Inputs, backend.InputRegistry) {
		t.Errorf("%d workspaces were read: %+v", len(targets), s.Source("h"))
	}
}
