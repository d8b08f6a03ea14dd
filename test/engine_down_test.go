package test

import (
	"os"
	"regexp"
	"testing"

	"sandglass/demo"
)

// TestWhatWasObservedIsShownWhileTheEngineIsDown: commands on one state directory show the planes that were read last, with
// their age, and the alert that is held.
func TestWhatWasObservedIsShownWhileTheEngineIsDown(t *testing.T) {
	c := newCommandLines(t, demo.Options{Workspaces: 300, Seed: 1, Scenario: "workspace-gone"}, func(s string) string { return s })
	id := c.subjects("sandboxes", "observed:missing")[0]
	c.run(0, `contradiction`, "why", id)
	healthy := c.subjects("sandboxes", "observed:healthy reported:running")[0]
	config, err := os.ReadFile(c.config)
	if err != nil {
		t.Fatal(err)
	}
	away := regexp.MustCompile(`unix://[^"]*`).ReplaceAllString(string(config), "unix:///nowhere/docker.sock")
	if err := os.WriteFile(c.config, []byte(away), 0o600); err != nil {
		t.Fatal(err)
	}
	c.run(3, `(?s)Its present state is unknown: source docker-demo is down.*observed +✗ \d+s ago: the working directory.*stale +docker-demo is down.*Alerts that name it.*contradiction +held`+
		`.*filesystem list +✗ failed, working directory missing +\d+s ago.*no success of it is recorded.*not tried +control, exec, filesystem read`, "why", id)
	c.run(3, `observed +● \d+s ago: healthy; not tried`, "why", healthy)
	c.run(3, `(?s)confirmed.*the working directory /workspace is missing`, "runbook", "contradiction", "--subject", id)
	c.run(3, `(?m)^\S+ +running +\d+s ago: the working directory /workspace is missing .*stale \d+s`, "get", "sandboxes")
	c.run(3, `(?s)"stale": true,\s+"stale_why": "docker-demo is down: .*"kind": "working-directory-missing"`, "get", "sandboxes", id, "-o", "json")
}
