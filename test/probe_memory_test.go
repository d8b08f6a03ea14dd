package test

import (
	"strings"
	"testing"

	"sandglass/demo"
)

// TestAProbeIsKnownToTheNextCommand: what a probe proved is in the state directory before its command ends.
func TestAProbeIsKnownToTheNextCommand(t *testing.T) {
	t.Parallel()
	c := newCommandLines(t, demo.Options{Workspaces: 60, Seed: 1, Scenario: "calm"}, func(s string) string { return s })
	id := c.subjects("sandboxes", "reported:running workspace:box")[0]
	out := c.run(0, `(?m)^plan [0-9a-f]{16}$`, "probe", id)
	digest := planLine.FindStringSubmatch(out)[1]
	c.run(0, "1 of 1 done: 1 verified", "probe", "--yes-plan", digest, "--reason", "is it alive")
	c.run(0, `(?m)exec +● ok .*\n +commands run: `, "why", id)
	c.run(0, `"plane": ?"exec",\s+"outcome": ?"ok"`, "get", "sandboxes", id, "-o", "json")
}

// TestProveOnTheDemosEngine proves the demo's engine beside a sandbox whose working directory was removed. Nothing is left.
func TestProveOnTheDemosEngine(t *testing.T) {
	t.Parallel()
	c := newCommandLines(t, demo.Options{Workspaces: 300, Seed: 1, Scenario: "workspace-gone"}, func(s string) string { return s })
	suspect := c.subjects("sandboxes", "observed:missing")[0]
	out := c.run(0, `(?m)^plan [0-9a-f]{16}$`, "prove", "docker-demo", "--beside", suspect)
	c.run(0, `(?s)create +ok.*exec +ok.*pause +ok.*read after resume +ok.*destroy +ok.*the platform works: it is this sandbox`,
		"prove", "--yes-plan", planLine.FindStringSubmatch(out)[1], "--reason", "is it the engine")
	if listed := c.run(0, "", "get", "sandboxes", "--all-containers", "-o", "csv"); strings.Contains(listed, "sandglass-prove") {
		t.Errorf("the container of prove is still there:\n%s", listed)
	}
}
