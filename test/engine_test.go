package test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/actions/audit"
	"sandglass/backend/backendtest/enginetest"
	"sandglass/demo"
)

// TestDemoAndRealDockerOnOneScreen reads the demo's fleet and a real engine side by side.
func TestDemoAndRealDockerOnOneScreen(t *testing.T) {
	t.Parallel()
	enginetest.Each(t, demoAndRealDockerOnOneScreen)
}

func demoAndRealDockerOnOneScreen(t *testing.T, e *enginetest.Engine) {
	t.Parallel()
	image := e.Image("screen")
	name := fmt.Sprint("sandglass-test-screen-", os.Getpid())
	if _, err := e.Docker("run", "-d", "--name", name, "--network", "none", "--label", "sandglass.session=c4f1",
		image, "/bin/busybox", "sleep", "600"); err != nil {
		t.Fatal("docker run failed")
	}
	t.Cleanup(func() { _, _ = e.Docker("rm", "-f", name) })
	d, err := demo.Start(t.Context(), demo.Options{Workspaces: 60, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	file := writeConfig(t, d.Config()+fmt.Sprintf("\n[[source]]\nid = \"docker-real\"\nkind = \"docker\"\nhost = %q\n", e.Host))
	p := testProgram(time.Now)
	p.Getenv = os.Getenv
	var out bytes.Buffer
	p.Stdout = &out
	p.Run(t.Context(), []string{"get", "sandboxes", "-o", "csv", "--config", file, "--state-dir", t.TempDir()})
	real, embedded := 0, 0
	for line := range strings.Lines(out.String()) {
		if strings.Contains(line, "docker-real") && strings.Contains(line, name) && strings.Contains(line, "running") && strings.Contains(line, "c4f1") {
			real++
		}
		if strings.Contains(line, "docker-demo") {
			embedded++
		}
	}
	if real != 1 || embedded < 5 {
		t.Errorf("%d of the real engine's containers and %d of the demo's are shown, want 1 and some:\n%s", real, embedded, out.String())
	}
}

// TestRealDockerFromTheCommandLine probes, repairs, pauses, resumes and destroys real containers, two command lines for
// each, and leaves alone what is none of its business.
func TestRealDockerFromTheCommandLine(t *testing.T) { enginetest.Each(t, realDockerFromTheCommandLine) }

func realDockerFromTheCommandLine(t *testing.T, e *enginetest.Engine) {
	image := e.Image("acting")
	c := newCommandLines(t, demo.Options{Workspaces: 10, Seed: 1, Scenario: "calm"}, func(string) string {
		return fmt.Sprintf("environment = \"real\"\n[[source]]\nid = \"engine\"\nkind = \"docker\"\nhost = %q\nprobe_command = [\"/bin/busybox\", \"true\"]\n"+
			"actions = [\"destroy\", \"pause\", \"resume\", \"repair\", \"probe\"]\n", e.Host)
	})
	docker := func(args ...string) string {
		t.Helper()
		out, err := e.Docker(args...)
		if err != nil {
			t.Fatal("docker failed")
		}
		return out
	}
	run := func(name string) string {
		t.Helper()
		name = fmt.Sprint("sandglass-acting-", os.Getpid(), "-", name)
		id := docker("run", "-d", "--name", name, "--network", "none", "-w", "/workspace", "--label", "sandglass.session=s-"+name, image, "/bin/busybox", "sleep", "600")
		t.Cleanup(func() { _, _ = e.Docker("rm", "-f", "-v", id) })
		return id
	}
	id, bystander := run("target"), run("bystander")
	status := func(of string) string { return docker("inspect", "-f", "{{.State.Status}}", of) }

	c.run(4, "/workspace is there", "repair", id)
	docker("exec", "-w", "/", id, "/bin/busybox", "rmdir", "/workspace")
	c.carryOut(1, "commands do not run", "probe", id)
	c.run(0, "(?s)is gone already.*dry run: 1 of 1", "repair", id, "--dry-run")
	c.carryOut(0, "1 of 1 done: 1 verified", "repair", id)
	docker("exec", id, "/bin/busybox", "true")
	c.carryOut(0, "its engine calls it paused", "pause", id)
	if got := status(id); got != "paused" {
		t.Errorf("after pause: %s", got)
	}
	c.carryOut(0, "its engine calls it running", "resume", id)

	out := c.run(0, "(?s)up .*written since it was made", "destroy", id)
	digest := planLine.FindStringSubmatch(out)[1]
	docker("restart", "-t", "0", id)
	c.run(4, "skipped, changed since the plan: started", "destroy", "--yes-plan", digest, "--reason", "another one by now")
	if got := status(id); got != "running" {
		t.Errorf("what changed since the plan is %s", got)
	}
	c.carryOut(0, "its source lists it no longer", "destroy", id)
	if left := docker("ps", "-aq", "--no-trunc", "--filter", "id="+id); left != "" {
		t.Errorf("left: %s", left)
	}
	if got := status(bystander); got != "running" {
		t.Errorf("the other container is %s", got)
	}
	var done []string
	for _, r := range c.journal() {
		if r.Phase == audit.PhaseDone {
			done = append(done, fmt.Sprint(r.Verb, " ", r.Result))
		}
	}
	if want := []string{"probe verified", "repair verified", "pause verified", "resume verified", "destroy verified"}; !slices.Equal(done, want) {
		t.Errorf("done %q", done)
	}
}
