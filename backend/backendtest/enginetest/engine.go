// Package enginetest makes containers on the Docker and Podman engines of this machine. Only tests import it.
package enginetest

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"debug/elf"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"sandglass/internal/skip"
)

const (
	// Label is on every container.
	Label = "sandglass.test"
	// Busybox is the only program in the images, under several names.
	Busybox = "/bin/busybox"
)

// Engine makes and removes the containers and images of a test. It removes nothing else.
type Engine struct {
	T    *testing.T
	API  *client.Client
	Host string
	Run  string // begins every name, so that two runs or tests on one engine do not meet
	Kind string // Docker or Podman
}

// The engines that the tests run on.
const (
	Docker = "docker" // at DOCKER_HOST, else /var/run/docker.sock
	Podman = "podman" // at SANDGLASS_PODMAN, else /run/podman/podman.sock
)

// Each runs a test on both engines, each in a subtest with its name.
func Each(t *testing.T, test func(*testing.T, *Engine)) {
	t.Helper()
	for _, kind := range []string{Docker, Podman} {
		t.Run(kind, func(t *testing.T) {
			test(t, Real(t, kind))
		})
	}
}

// Missing skips the test with a reason, or fails it where the environment variable SANDGLASS_REQUIRE demands its engine.
func (e *Engine) Missing(format string, args ...any) {
	e.T.Helper()
	skip.Without(e.T, e.Kind, fmt.Sprintf(format, args...))
}

// Real finds the engine of a kind, or skips with the reason.
func Real(t *testing.T, kind string) *Engine {
	t.Helper()
	host := cmp.Or(os.Getenv("DOCKER_HOST"), "unix:///var/run/docker.sock")
	if kind == Podman {
		host = cmp.Or(os.Getenv("SANDGLASS_PODMAN"), "unix:///run/podman/podman.sock")
	}
	e := &Engine{T: t, Kind: kind, Host: host, Run: fmt.Sprintf("sgtest-%d-%08x-", os.Getpid(), crc32.ChecksumIEEE([]byte(t.Name())))}
	if u, err := url.Parse(e.Host); err != nil || u.Scheme != "unix" && u.Hostname() != "127.0.0.1" && u.Hostname() != "localhost" {
		e.Missing("%s is not on this machine", e.Host)
	}
	var err error
	if e.API, err = client.New(client.WithHost(e.Host)); err != nil {
		e.Missing("%v", err)
	}
	t.Cleanup(func() { _ = e.API.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := e.API.Ping(ctx, client.PingOptions{NegotiateAPIVersion: true}); err != nil {
		e.Missing("no engine answers at %s: %v", e.Host, err)
	}
	binary, err := elf.Open(Busybox)
	if err != nil {
		e.Missing("%s (Debian package busybox-static): %v", Busybox, err)
	}
	defer func() { _ = binary.Close() }()
	for _, p := range binary.Progs {
		if p.Type == elf.PT_INTERP {
			e.Missing("%s is not a static binary; Debian package busybox-static has one", Busybox)
		}
	}
	return e
}

// Image imports busybox with links for the given programs.
func (e *Engine) Image(name string, programs ...string) string {
	e.T.Helper()
	program, err := os.ReadFile(Busybox)
	if err != nil {
		e.T.Fatal(err)
	}
	var tree bytes.Buffer
	w := tar.NewWriter(&tree)
	put := func(h *tar.Header, body []byte) {
		h.Size = int64(len(body))
		if err := w.WriteHeader(h); err != nil {
			e.T.Fatal(err)
		}
		if _, err := w.Write(body); err != nil {
			e.T.Fatal(err)
		}
	}
	for _, dir := range []string{"bin/", "etc/", "tmp/", "work/"} {
		put(&tar.Header{Name: dir, Typeflag: tar.TypeDir, Mode: 0o755}, nil)
	}
	put(&tar.Header{Name: "home/", Typeflag: tar.TypeDir, Mode: 0o755, Uid: 1000, Gid: 1000}, nil)
	put(&tar.Header{Name: "etc/passwd", Typeflag: tar.TypeReg, Mode: 0o644}, []byte("root:x:0:0::/:/bin/sh\nagent:x:1000:1000::/:/bin/sh\n"))
	ref := e.Run + name + ":test"
	// Nothing that another test removes meanwhile: engines share equal layers.
	put(&tar.Header{Name: "etc/image", Typeflag: tar.TypeReg, Mode: 0o644}, []byte(ref))
	put(&tar.Header{Name: "bin/busybox", Typeflag: tar.TypeReg, Mode: 0o755}, program)
	for _, p := range programs {
		put(&tar.Header{Name: "bin/" + p, Typeflag: tar.TypeSymlink, Linkname: "busybox", Mode: 0o777}, nil)
	}
	if err := w.Close(); err != nil {
		e.T.Fatal(err)
	}
	out, err := e.API.ImageImport(e.T.Context(), client.ImageImportSource{Source: &tree, SourceName: "-"}, ref, client.ImageImportOptions{})
	if err != nil {
		e.T.Fatalf("import: %v", err)
	}
	if _, err := io.Copy(io.Discard, out); err != nil {
		e.T.Fatalf("import: %v", err)
	}
	_ = out.Close()
	e.T.Cleanup(func() {
		if _, err := e.API.ImageRemove(context.Background(), ref, client.ImageRemoveOptions{Force: true}); err != nil {
			e.T.Errorf("remove the image: %v", err)
		}
	})
	return ref
}

// Container makes and starts one without a network, and removes it after the test.
func (e *Engine) Container(name string, c container.Config, h container.HostConfig) string {
	e.T.Helper()
	labels := map[string]string{Label: "1"}
	for k, v := range c.Labels {
		labels[k] = v
	}
	c.Labels = labels
	if len(c.Cmd) == 0 {
		c.Cmd = []string{Busybox, "sleep", "1000"}
	}
	h.NetworkMode = "none"
	e.Limits(&h)
	res, err := e.API.ContainerCreate(e.T.Context(), client.ContainerCreateOptions{Name: e.Run + name, Config: &c, HostConfig: &h})
	if err != nil {
		e.T.Fatalf("create %s: %v", name, err)
	}
	e.T.Cleanup(func() {
		if err := e.Remove(res.ID); err != nil {
			e.T.Errorf("remove %s: %v", name, err)
		}
	})
	if _, err := e.API.ContainerStart(e.T.Context(), res.ID, client.ContainerStartOptions{}); err != nil {
		e.T.Fatalf("start %s: %v", name, err)
	}
	if c.Healthcheck != nil {
		e.CheckHealth(res.ID, c.Healthcheck.Interval)
	}
	return res.ID
}

// Remove removes a container that may be gone. Podman refuses it where a run of a crash loop ends just then, and Docker where
// a process still writes into its file system.
func (e *Engine) Remove(id string) (err error) {
	for range 20 {
		_, err = e.API.ContainerRemove(context.Background(), id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		if err == nil || errdefs.IsNotFound(err) {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

// CheckHealth runs the health check of a container from time to time, as Podman lets systemd do. Docker does it by itself.
func (e *Engine) CheckHealth(id string, every time.Duration) {
	path, local := strings.CutPrefix(e.Host, "unix://")
	if e.Kind != Podman || !local {
		return
	}
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}}}
	ctx, cancel := context.WithCancel(e.T.Context())
	over := make(chan struct{})
	e.T.Cleanup(func() { cancel(); <-over })
	go func() {
		defer close(over)
		for ctx.Err() == nil {
			if r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://podman/v4.0.0/libpod/containers/"+id+"/healthcheck", nil); err == nil {
				if resp, err := c.Do(r); err == nil {
					_ = resp.Body.Close()
				}
			}
			select {
			case <-time.After(every): // the end of the check before
			case <-ctx.Done():
			}
		}
	}()
}

// Limits gives a container of Podman limits that a test machine may set: Podman asks for more than some may.
func (e *Engine) Limits(h *container.HostConfig) {
	if e.Kind == Podman {
		h.Ulimits = []*container.Ulimit{{Name: "nofile", Soft: 1024, Hard: 1024}, {Name: "nproc", Soft: 1024, Hard: 1024}}
	}
}

// Docker runs the Docker command on the engine and returns what it printed on its standard output.
func (e *Engine) Docker(args ...string) (string, error) {
	e.T.Helper()
	if _, err := exec.LookPath("docker"); err != nil {
		skip.Without(e.T, Docker, err.Error())
	}
	if e.Kind == Podman && (args[0] == "run" || args[0] == "create") {
		args = slices.Insert(slices.Clone(args), 1, "--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024")
	}
	cmd := exec.Command("docker", append([]string{"--host", e.Host}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		e.T.Logf("docker %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSpace(string(out)), err
}
