package main

import (
	"archive/tar"
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"sandglass/demo"
)

// dockerCommand runs the Docker command and returns its output.
func dockerCommand(t *testing.T, stdin []byte, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("docker", args...)
	cmd.Stdin = bytes.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Logf("docker %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSpace(string(out)), err
}

// busyboxTree is a tar of the smallest root file system that can sleep.
func busyboxTree(t *testing.T) []byte {
	t.Helper()
	path, err := exec.LookPath("busybox")
	if err != nil {
		required(t, "docker", err.Error())
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	if err := w.WriteHeader(&tar.Header{Name: "bin/busybox", Mode: 0o755, Size: int64(len(b))}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestDemoAndRealDockerOnOneScreen reads the demo's fleet and a real engine side by side.
func TestDemoAndRealDockerOnOneScreen(t *testing.T) {
	if _, err := exec.LookPath("docker"); err != nil {
		required(t, "docker", err.Error())
	}
	if _, err := dockerCommand(t, nil, "version", "--format", "{{.Server.Version}}"); err != nil {
		required(t, "docker", "no engine answers")
	}
	const image, name = "sandglass-test:screen", "sandglass-test-screen"
	if _, err := dockerCommand(t, busyboxTree(t), "import", "-", image); err != nil {
		t.Fatal("docker import failed")
	}
	t.Cleanup(func() { _, _ = dockerCommand(t, nil, "rmi", image) })
	if _, err := dockerCommand(t, nil, "run", "-d", "--name", name, "--network", "none", "--label", "sandglass.session=c4f1",
		image, "/bin/busybox", "sleep", "600"); err != nil {
		t.Fatal("docker run failed")
	}
	t.Cleanup(func() { _, _ = dockerCommand(t, nil, "rm", "-f", name) })
	d, err := demo.Start(t.Context(), demo.Options{Workspaces: 60, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	file := writeConfig(t, d.Config()+"\n[[source]]\nid = \"docker-real\"\nkind = \"docker\"\n")
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
