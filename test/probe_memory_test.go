package test

import (
	"testing"

	"sandglass/demo"
)

// TestAProbeIsKnownToTheNextCommand: what a probe proved is in the state directory before its command ends.
func TestAProbeIsKnownToTheNextCommand(t *testing.T) {
	c := newCommandLines(t, demo.Options{Workspaces: 60, Seed: 1, Scenario: "calm"}, func(s string) string { return s })
	id := c.subjects("sandboxes", "reported:running workspace:box")[0]
	out := c.run(0, `(?m)^plan [0-9a-f]{16}$`, "probe", id)
	digest := planLine.FindStringSubmatch(out)[1]
	c.run(0, "1 of 1 done: 1 verified", "probe", "--yes-plan", digest, "--reason", "is it alive")
	c.run(0, `(?m)exec +● ok .*\n +commands run: `, "why", id)
	c.run(0, `"plane": ?"exec",\s+"outcome": ?"ok"`, "get", "sandboxes", id, "-o", "json")
}
