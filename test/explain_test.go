package test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/demo"
)

const actingConfig = `
[[source]]
id = "h"
kind = "helix"
url = "http://127.0.0.1:1/{session}"
sessions = ["a"]
actions = ["reset", "stop-it"]
read.env = "TOKEN"
act.env = "TOKEN"
reset.url = "http://127.0.0.1:1/{session}/{workspace}/reset?key=hunter2-and-more"
[[source]]
id = "bare"
kind = "helix"
url = "http://127.0.0.1:1/{session}"
sessions = ["a"]
actions = ["reset"]
[[action]]
name = "stop-it"
of = "session"
effect = "stops"
url = "https://agents.example/{session}"
act.file = "/etc/act"
`

// checked runs `config check --explain` and returns what it printed.
func checked(t *testing.T, text string) (code int, out string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	p := testProgram(time.Now)
	p.Stdout, p.Stderr = &stdout, &stderr
	code = p.Run(t.Context(), []string{"config", "check", "--explain", "--config", writeConfig(t, text)})
	return code, stdout.String() + stderr.String()
}

// TestExplainNamesWhatCanAct holds that every allowed verb, its route and the place of its credential are printed, and
// nothing that could be a secret.
func TestExplainNamesWhatCanAct(t *testing.T) {
	code, out := checked(t, actingConfig)
	for _, want := range []string{
		"Warning: h acts with the credential that it reads with, Authorization from the environment variable TOKEN: give [source.act] one of its own\n",
		"  h: reset of a workspace, POST http://127.0.0.1:1/{session}/{workspace}/reset?…\n",
		"  h: stop-it of a session, POST https://agents.example/{session}\n      stops\n",
		"  h: Authorization from the file /etc/act\n      the acting credential; read only while a confirmed plan runs, for stop-it\n",
		"  h: Authorization from the environment variable TOKEN\n      the acting credential; read only while a confirmed plan runs\n",
		"  bare: reset of a workspace\n      allowed, but not available: a Helix server has no reset route of its own",
	} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("exit code %d, and %q is missing in\n%s", code, want, out)
		}
	}
	if strings.Contains(out, "hunter2") {
		t.Errorf("a query is shown:\n%s", out)
	}
	for wrong, want := range map[string]string{
		`of = "session"`:           "the configuration cannot be used",
		`reset.url = "http://127.`: "the configuration cannot be used",
	} {
		code, out := checked(t, strings.Replace(actingConfig, wrong, strings.NewReplacer("session", "planet", "127.", "{session}.").Replace(wrong), 1))
		if code != 78 || !strings.Contains(out, want) || !strings.Contains(out, "sandglass.toml:") {
			t.Errorf("%s: exit code %d\n%s", wrong, code, out)
		}
	}
}

// TestKeysAreClaimedOnce holds that the options of an adapter and of the actions of its kind are told apart by name.
func TestKeysAreClaimedOnce(t *testing.T) {
	known := testProgram(time.Now).Known()
	for _, k := range known.Kinds {
		if twice := known.Overlap(k); len(twice) > 0 {
			t.Errorf("%s: both the adapter and the actions claim %v", k.Name, twice)
		}
	}
}

// TestDemoCanBeReset holds that the demo's configuration leads to the reset route of its servers, with the token for it.
func TestDemoCanBeReset(t *testing.T) {
	d, err := demo.Start(t.Context(), demo.Options{Workspaces: 120, Seed: 1, Scenario: "failed"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	p := testProgram(time.Now)
	c := parseConfig(t, p, d.Config())
	s := readNow(t, p, d.Config())
	accepted := 0
	for _, source := range c.Sources {
		if source.Kind != "helix" {
			continue
		}
		part := partOf(t, p, d.Config(), source.ID, actions.Reset)
		effect, err := part.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer effect.Close()
		for w := range s.Workspaces.All() {
			if w.Key.Source != source.ID {
				continue
			}
			x := part.Targets.Look(t.Context(), actions.Question{Keys: []backend.Key{w.Key}, State: s, Now: s.Wall})[0]
			if x.Why.IsEmpty() != (w.Class == backend.ClassFailed) {
				t.Errorf("%v is %v: %q", w.Key, w.Reported, x.Why)
			}
			if !x.Why.IsEmpty() {
				continue
			}
			target := actions.Target{Key: x.Key, Identity: x.Identity}
			var changed *actions.ChangedError
			if _, err := effect.Do(t.Context(), target, actions.Params{}); err == nil {
				accepted++
			} else if !errors.As(err, &changed) { // it can be opening just now
				t.Errorf("reset of %v: %v", w.Key, err)
			}
			if _, err := effect.Do(t.Context(), target, actions.Params{}); !errors.As(err, &changed) {
				t.Errorf("a second reset of %v: %v", w.Key, err)
			}
		}
	}
	if accepted < 3 {
		t.Errorf("%d resets were accepted", accepted)
	}
}

// TestConfigCheckKnowsTheStateDirectory: an effect that keeps files is available where a run could keep them, and the check itself
// makes no directory. Where no place for state exists, it says so.
func TestConfigCheckKnowsTheStateDirectory(t *testing.T) {
	const text = `
[[source]]
id = "ag"
kind = "agentuity"
org = "org_1"
read.env = "TOKEN"
act.env = "ACT"
actions = ["rescue"]
`
	run := func(args ...string) string {
		var stdout, stderr bytes.Buffer
		p := testProgram(time.Now)
		p.Stdout, p.Stderr = &stdout, &stderr
		p.Getenv = func(name string) string { return map[string]string{"TOKEN": "key-1", "ACT": "key-2"}[name] }
		if code := p.Run(t.Context(), append([]string{"config", "check", "--offline"}, args...)); code != 0 {
			t.Errorf("%v: exit code %d\n%s%s", args, code, &stdout, &stderr)
		}
		return stdout.String()
	}
	dir := filepath.Join(t.TempDir(), "state")
	for name, args := range map[string][]string{"in the file": {"--config", writeConfig(t, fmt.Sprintf("state_dir = %q\n%s", dir, text))}, "given": {"--config", writeConfig(t, text), "--state-dir", dir}} {
		if out := run(args...); strings.Contains(out, "not available") || !strings.Contains(out, "State directory: "+dir) || !strings.Contains(out, "load: at most 480 requests a minute") {
			t.Errorf("%s:\n%s", name, out)
		}
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the check made %s: %v", dir, err)
	}
	if out := run("--config", writeConfig(t, text)); !strings.Contains(out, "rescue is allowed, but not available: rescue needs a state directory") {
		t.Errorf("without a place:\n%s", out)
	}
}
