package test

import (
	"strings"
	"testing"
	"time"

	"sandglass/demo"
	"sandglass/demo/blaxel"
)

// blaxelLines is a command line beside the demo of a Blaxel scenario, two minutes after its start.
func blaxelLines(t *testing.T, scenario string) *commandLines {
	began := time.Now()
	return newCommandLines(t, demo.Options{Workspaces: 10, Seed: 1, Scenario: scenario, Start: began.Add(-2 * time.Minute),
		Clock: func() time.Duration { return time.Since(began) + 2*time.Minute }}, func(config string) string { return config })
}

// TestARunawayProcess plays the story on the command line: nothing is known of processes until a probe, whose plan says what it
// wakes; the process is then named, killed once, and proved to be over.
func TestARunawayProcess(t *testing.T) {
	t.Parallel()
	w, id := blaxelLines(t, "runaway"), blaxel.Names()[1]
	w.run(4, `which processes run in it is not known: probe it first`, "kill-process", id)
	w.run(0, `(?s)wakes the sandbox where it sleeps.*its address is from inventory`, "probe", id)
	w.carryOut(0, `(?s)exec +ok.*filesystem list +ok`, "probe", id)
	w.run(0, `(?s)runaway-process.*agent-build \(.*npm run build\), started at .*: the agent gave up at .*, as its log says too; only its own wait ended`, "get", "alerts", "-o", "json", "--filter", "runaway-process")
	w.run(0, `(?s)A process in it runs on without its agent.*kill-process`, "why", id)
	out := w.run(0, `(?s)agent-build.*running`, "get", "sandboxes", "-o", "json", "--filter", id)
	if strings.Contains(out, "npm_0123456789") {
		t.Error("a secret before a command is shown")
	}
	w.carryOut(0, `(?s)it is over: killed, exit code -1`, "kill-process", id)
	w.run(4, `nothing ran in it when it was probed`, "kill-process", id)
	w.run(0, `OK: no alert fires`, "check")
}

// TestAnAgentThatGaveItsSandboxUp: it is there, a probe wakes it, and says why the agent's own check said otherwise.
func TestAnAgentThatGaveItsSandboxUp(t *testing.T) {
	t.Parallel()
	w, id := blaxelLines(t, "believes-dead"), blaxel.Names()[1]
	w.run(1, `(?s)its agent takes it for not running, but blaxel lists it as DEPLOYED STANDBY.*Its agent gave it up, and it is there`, "check")
	w.carryOut(0, `exec +ok`, "probe", id)
	w.run(1, `(?s)its agent takes it for not running, but a command ran in it`, "check")
	w.run(0, `although the sandbox only wakes`, "get", "sandboxes", "-o", "json", "--filter", id)
}

// TestASaveThatBrokeOff: a probe finds the archive that it left, which is an alert that names the session and what its log said.
func TestASaveThatBrokeOff(t *testing.T) {
	t.Parallel()
	w, id := blaxelLines(t, "interrupted-snapshot"), blaxel.Names()[1]
	w.carryOut(0, `exec +ok`, "probe", id)
	w.run(0, `bl-persist-1122334455664778899aabbccddeeff0\.tar`, "get", "sandboxes", "-o", "json", "--filter", id)
	w.run(0, `(?s)snapshot-interrupted.*not written since .*of session 11223344-5566-4778-899a-abbccddeeff0.*newest: tar: ./node_modules/.cache: Cannot open: No space left on device \(phase: tar\)`, "get", "alerts", "-o", "json", "--filter", "snapshot-interrupted")
}

// TestALeakedSandboxIsDestroyed: the plan names the snapshot that could restore it, and the inventory proves the end.
func TestALeakedSandboxIsDestroyed(t *testing.T) {
	t.Parallel()
	w, id := blaxelLines(t, "leaked-on-exit"), blaxel.Names()[1]
	w.run(0, `(?s)snapshot before-refactoring of .* could restore`, "destroy", id)
	w.carryOut(0, `(?s)verified`, "destroy", id)
}

// TestASandboxThatThePlatformLost: the state that names it is compared with the inventory.
func TestASandboxThatThePlatformLost(t *testing.T) {
	t.Parallel()
	w := blaxelLines(t, "believes-alive")
	w.run(0, `(?s)gone.*not listed by blaxel`, "why", blaxel.Names()[1]) // by the state that names it
	w.run(0, `(?s)"result": ?"gone"`, "get", "refs", "-o", "json", "--filter", blaxel.Names()[1])
	w.run(3, `(?s)same +0a1b2c3d-.*gone +11223344-5566-4778-899a-abbccddeeff0  agents-112233445566  \(not listed by blaxel\)`, "refs", "check", "--reads", "0..9")
}
