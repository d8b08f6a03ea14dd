package test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandglass/backend/backendtest/enginetest"
	"sandglass/demo"
)

// report is what these tests read of the JSON form.
type doctorReport struct {
	Routes []struct {
		Target, Permission, Problem string
		Asked                       int
		Answers                     map[string]int
		Latency                     *struct {
			Median float64 `json:"median_seconds"`
		}
		Known   []string `json:"known_fields"`
		Unknown []string `json:"unknown_fields"`
	}
	States []struct {
		Reported string
		Known    bool
	}
	Problems []string
	ExitCode int `json:"exit_code"`
}

func (c *commandLines) doctor(source string, args ...string) (r doctorReport, code int) {
	c.t.Helper()
	out, errs, code := c.process(append([]string{"doctor", source, "-o", "json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &r); err != nil || r.ExitCode != code {
		c.t.Fatalf("doctor %s: exit code %d, %v\n%s%s", source, code, err, out, errs)
	}
	return r, code
}

// TestDoctorOnTheDemo examines every source of the demo. What it writes for others has no host, id or text of the fleet.
func TestDoctorOnTheDemo(t *testing.T) {
	var config string
	c := newCommandLines(t, demo.Options{Workspaces: 60, Seed: 1}, func(s string) string { config = s; return s })
	var sources []string
	for line := range strings.Lines(config) {
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), "id = "); ok {
			sources = append(sources, strings.Trim(id, `"`))
		}
	}
	if len(sources) < 5 {
		t.Fatalf("only %d sources in\n%s", len(sources), config)
	}
	sessions := c.subjects("sessions", "")
	for _, id := range sources {
		file := filepath.Join(t.TempDir(), "sample.json")
		r, code := c.doctor(id, "--out", file)
		read := 0
		for _, route := range r.Routes {
			if route.Asked > 0 && route.Permission == "yes" && route.Latency != nil {
				read++
			}
		}
		if read == 0 || code > 1 {
			t.Errorf("%s: exit code %d, %d routes are read: %+v", id, code, read, r)
		}
		sample, err := os.ReadFile(file)
		info, err2 := os.Stat(file)
		if err != nil || err2 != nil || info.Mode().Perm() != 0o600 || !json.Valid(sample) {
			t.Fatalf("%s: the sample is no private JSON file: %v, %v", id, err, err2)
		}
		for _, secret := range append([]string{"127.0.0.1", "/tmp/", "helix-eu"}, sessions...) {
			if strings.Contains(string(sample), secret) {
				t.Errorf("%s: the sample holds %q", id, secret)
			}
		}
	}
	if _, errs, code := c.process("doctor", sources[0], "--out", c.config); code != 64 || !strings.Contains(errs, "is there already") {
		t.Errorf("a file was overwritten: %d %s", code, errs)
	}
}

// TestDoctorOnLyingServers examines servers that answer what they should not.
func TestDoctorOnLyingServers(t *testing.T) {
	t.Parallel()
	good := `{"workspaces":[{"name":"repo","state":"ready","provider":"docker","frobnicate":{"depth":3},"lastError":null}],"secret_token_of_ann":"hunter2hunter2"}`
	for name, x := range map[string]struct {
		answer http.HandlerFunc
		code   int
		check  func(doctorReport) bool
	}{
		"unknown fields": {func(w http.ResponseWriter, _ *http.Request) { jsonAnswer(w, 200, good) }, 1, func(r doctorReport) bool {
			return strings.Contains(fmt.Sprint(r.Routes[0].Unknown), "frobnicate") && strings.Contains(fmt.Sprint(r.Routes[0].Known), "state")
		}},
		"an unknown state": {func(w http.ResponseWriter, _ *http.Request) {
			jsonAnswer(w, 200, strings.ReplaceAll(good, `"ready"`, `"levitating"`))
		}, 1, func(r doctorReport) bool {
			return len(r.States) == 1 && r.States[0].Reported == "levitating" && !r.States[0].Known
		}},
		"a web page": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<html><body>Sign in as ann@example.com</body></html>"))
		}, -1, func(r doctorReport) bool { return strings.Contains(r.Routes[0].Problem, "web page") }},
		"forbidden": {func(w http.ResponseWriter, _ *http.Request) { jsonAnswer(w, 403, `{"message":"no"}`) }, -1, func(r doctorReport) bool {
			return r.Routes[0].Permission == "no" && r.Routes[0].Answers["403"] > 0
		}},
		"hangs": {func(_ http.ResponseWriter, q *http.Request) {
			select {
			case <-q.Context().Done():
			case <-time.After(10 * time.Second):
			}
		}, -1, func(r doctorReport) bool { return r.Routes[0].Answers["0"] > 0 && r.Routes[0].Problem != "" }},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(x.answer)
			t.Cleanup(server.Close)
			c := newCommandLines(t, demo.Options{Workspaces: 10, Seed: 1, Scenario: "calm"}, func(string) string {
				return fmt.Sprintf("environment = \"x\"\n[[source]]\nid = \"helix\"\nkind = \"helix\"\ndeadline = \"1s\"\nurl = \"%s/session/{session}/workspace\"\nsessions = [\"s-ann\"]\n", server.URL)
			})
			file := filepath.Join(t.TempDir(), "sample.json")
			r, code := c.doctor("helix", "--out", file)
			if len(r.Routes) == 0 || !x.check(r) || x.code >= 0 && code != x.code || x.code < 0 && code == 0 {
				t.Errorf("exit code %d: %+v", code, r)
			}
			sample, err := os.ReadFile(file)
			at, err2 := url.Parse(server.URL)
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			for _, secret := range []string{"s-ann", "hunter2", "ann@", at.Host, `"repo"`} {
				if strings.Contains(string(sample), secret) {
					t.Errorf("the sample holds %q:\n%s", secret, sample)
				}
			}
		})
	}
}

func jsonAnswer(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
}

// TestDoctorOnARealEngine examines a real engine, which answers no field that is not known.
func TestDoctorOnARealEngine(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *enginetest.Engine) {
		w := newProveWorld(t, e, "doctor")
		r, code := w.doctor("engine")
		if code != 0 {
			t.Errorf("a healthy engine is not understood: exit code %d, %v", code, r.Problems)
		}
		asked := map[string]int{}
		for _, route := range r.Routes {
			asked[route.Target[strings.LastIndexByte(route.Target, '/')+1:]] += route.Asked
			if route.Problem != "" || len(route.Unknown) > 0 {
				t.Errorf("%+v", route)
			}
		}
		for _, want := range []string{"json?all=1", "json", "_ping", "events"} {
			if asked[want] == 0 {
				t.Errorf("%s was not asked: %v", want, asked)
			}
		}
	})
}
