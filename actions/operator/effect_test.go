package operator

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"sandglass/actions"
	"sandglass/backend"
)

func part(t *testing.T, text string) actions.Part {
	t.Helper()
	parts, missing, err := HelixKind(printed).Build(helixSite(t, text))
	if err != nil || len(missing) > 0 {
		t.Fatalf("%v, missing %v", err, missing)
	}
	return parts[actions.Reset]
}

// TestAnswers holds what each answer to a reset means.
func TestAnswers(t *testing.T) {
	var hits atomic.Int64
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		body, _ := io.ReadAll(r.Body)
		if got := r.Header.Get("Authorization"); got != "Bearer act-123456789" {
			t.Errorf("credential %q", got)
		}
		if r.URL.Path != "/s/s 1/reset" || string(body) != `{"name":"a\"b","of":"h"}` || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("got %s %s %s", r.URL.Path, body, r.Header)
		}
		var status int
		_, _ = fmt.Sscan(r.URL.Query().Get("status"), &status)
		switch {
		case status == 0:
			panic(http.ErrAbortHandler)
		case status/100 == 3:
			w.Header().Set("Location", "http://evil.example/")
		case status == 429:
			w.Header().Set("Retry-After", "9")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "it said act-123456789")
	})
	for _, c := range []struct {
		status string
		want   string // accepted, changed, unknown, or the text of a failure
	}{
		{"200", "accepted"}, {"202", "accepted"}, {"204", "accepted"},
		{"400", "answered 400 Bad Request: it said ‹masked›"}, {"401", "answered 401"}, {"404", "answered 404"}, {"410", "answered 410"}, {"422", "answered 422"},
		{"409", "changed"}, {"412", "changed"}, {"429", "the server asks to wait 9s"}, {"307", "it redirects to evil.example, which is not followed"},
		{"501", "answered 501"}, {"503", "answered 503"}, {"500", "unknown"}, {"502", "unknown"}, {"504", "unknown"}, {"0", "unknown"},
	} {
		p := part(t, fmt.Sprintf("act.env = \"ACT\"\nreset.url = \"%s/s/{session}/reset?status=%s\"\nreset.body = '{\"name\":\"{workspace}\",\"of\":\"{source}\"}'", base, c.status))
		before := hits.Load()
		e, err := p.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if hits.Load() != before {
			t.Error("opening an effect sent something")
		}
		k := workspaceKey("s 1", `a"b`)
		done, err := e.Do(t.Context(), actions.Target{Key: k}, actions.Params{})
		if n := hits.Load() - before; n != 1 {
			t.Errorf("%s: sent %d times", c.status, n)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		var changed *actions.ChangedError
		var uncertain *actions.UncertainError
		got := fmt.Sprint(err)
		switch {
		case err == nil:
			got = "accepted"
		case errors.As(err, &changed):
			got = "changed"
		case errors.As(err, &uncertain):
			got = "unknown"
		}
		if !strings.Contains(got, c.want) || done.Proved || strings.Contains(fmt.Sprint(err, done.Text), "act-123456789") {
			t.Errorf("%s: got %s (%v, %v), want %s", c.status, got, err, done.Text, c.want)
		}
	}
}

func TestNothingIsSent(t *testing.T) {
	base := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("something was sent") })
	missing := part(t, "act.env = \"NOT_SET\"\nreset.url = \""+base+"/{session}/{workspace}\"")
	if e, err := missing.Open(t.Context()); err == nil || !strings.Contains(err.Error(), "nothing was sent: ") || !strings.Contains(err.Error(), "NOT_SET") {
		t.Errorf("without its credential: %v, %v", e, err)
	}
	e, err := part(t, "reset.url = \""+base+"/{session}/{workspace}\"").Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var uncertain *actions.UncertainError
	if _, err := e.Do(t.Context(), actions.Target{Key: workspaceKey("..", "w")}, actions.Params{}); err == nil || errors.As(err, &uncertain) {
		t.Errorf("a step in the tree: %v", err)
	}
	if parts, missing, err := HelixKind(printed).Build(helixSite(t, "")); err != nil || len(parts) != 0 || !strings.Contains(missing[actions.Reset].String(), "[source.reset]") {
		t.Errorf("nothing configured: %v, %v, %v", parts, missing, err)
	}
}

// TestCommands holds that a command gets its arguments whole, no shell and none of our secrets, and what its end means.
func TestCommands(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "tool")
	if err := os.WriteFile(script, []byte(`#!/bin/sh
case "$2" in
show) env | sort > "$1/env"; printf '%s\n' "$#" "$3" > "$1/args"; echo fine;;
fail) echo "no such session" >&2; exit 3;;
kill) kill -9 $$;;
hang) sleep 60;;
esac
`), 0o700); err != nil {
		t.Fatal(err)
	}
	do := func(mode, id, more string) (actions.Done, error) {
		t.Helper()
		p := part(t, fmt.Sprintf("reset.command = [%q, %q, %q, \"{session}\", \"{workspace}\"]\nreset.pass = [\"KUBECONFIG\"]\n%s", script, dir, mode, more))
		e, err := p.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		return e.Do(t.Context(), actions.Target{Key: workspaceKey(id, "w")}, actions.Params{})
	}
	const id = "$(touch x); 'a' \"b\" | *\n&"
	done, err := do("show", id, "")
	if err != nil || !strings.Contains(done.Text.String(), "ended with exit code 0: fine") {
		t.Fatalf("%v, %v", done.Text, err)
	}
	args, _ := os.ReadFile(filepath.Join(dir, "args"))
	if string(args) != "4\n"+id+"\n" {
		t.Errorf("arguments %q", args)
	}
	env, _ := os.ReadFile(filepath.Join(dir, "env"))
	if strings.Contains(string(env), "123456789") || !strings.Contains(string(env), "KUBECONFIG=/k\n") || !strings.Contains(string(env), "PATH=/usr/bin:/bin\n") {
		t.Errorf("environment:\n%s", env)
	}
	var uncertain *actions.UncertainError
	if _, err := do("fail", "s", ""); err == nil || errors.As(err, &uncertain) || !strings.Contains(err.Error(), "exit code 3: no such session") {
		t.Errorf("a failure: %v", err)
	}
	if _, err := do("kill", "s", ""); !errors.As(err, &uncertain) {
		t.Errorf("ended from outside: %v", err)
	}
	if _, err := do("hang", "s", "reset.deadline = \"300ms\"\n"); !errors.As(err, &uncertain) || !strings.Contains(err.Error(), "300ms") {
		t.Errorf("too long: %v", err)
	}
	p := part(t, "reset.command = [\"/does/not/exist\", \"{session}\", \"{workspace}\"]")
	e, err := p.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Do(t.Context(), actions.Target{Key: workspaceKey("s", "w")}, actions.Params{}); err == nil || errors.As(err, &uncertain) || !strings.Contains(err.Error(), "nothing was run") {
		t.Errorf("no such program: %v", err)
	}
}

func TestCustom(t *testing.T) {
	v, err := verb(t, "name = \"stop\"\nof = \"sandbox\"\neffect = \"stops\"\ncommand = [\"true\", \"{sandbox}\"]\nper_minute = 6\nconfirm = \"count\"")
	if err != nil {
		t.Fatal(err)
	}
	k := Custom(HelixKind(printed), printed, v)
	site := helixSite(t, "reset.url = \"http://127.0.0.1:1/{session}/{workspace}\"")
	site.Allowed = []actions.Verb{"stop", actions.Reset}
	parts, _, err := k.Build(site)
	if err != nil || len(parts) != 2 || len(k.Specs) != 2 || parts["stop"].Verifier != nil {
		t.Errorf("%v, %v", parts, err)
	}
	if s := k.Specs[1]; s.Verb != "stop" || !s.Custom || s.Gesture != actions.GestureCount || s.PerMinute != 6 || s.Of != backend.KindSandbox {
		t.Errorf("%+v", s)
	}
	bare := Custom(actions.Kind{Name: "logs"}, printed, v)
	site.Allowed = []actions.Verb{"stop"}
	if parts, _, err := bare.Build(site); err != nil || len(parts) != 1 {
		t.Errorf("a kind without verbs of its own: %v, %v", parts, err)
	}
	site.Allowed = []actions.Verb{"destroy"}
	if _, _, err := bare.Build(site); err == nil {
		t.Error("a verb that nobody has was built")
	}
}
