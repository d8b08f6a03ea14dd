package docker

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"sandglass/actions"
	"sandglass/backend/workdir"
)

// TestARepairIsOfWhatThePlanShowed: an agent that bends its working directory elsewhere in between gets nothing made there.
func TestARepairIsOfWhatThePlanShowed(t *testing.T) {
	for what, c := range map[string]struct{ before, after string }{ // where /work leads; empty: it is missing
		"a link where nothing was":      {"", "/tmp/b"},
		"a link that leads elsewhere":   {"/tmp/a", "/tmp/b"},
		"nothing where a link had been": {"/tmp/a", ""},
	} {
		f := newFake(t)
		target := c.before
		f.answer = func(w http.ResponseWriter, r *http.Request, path string) bool {
			if !strings.HasSuffix(path, "/archive") {
				return false
			}
			f.mu.Lock()
			to := target
			f.mu.Unlock()
			if r.URL.Query().Get("path") != "/work" || to == "" {
				w.WriteHeader(http.StatusNotFound)
				return true
			}
			answerLink(w, to)
			return true
		}
		p := f.parts(soon)[actions.Repair]
		got := lookAt(t, p, known(sandbox()))
		if !got.Why.IsEmpty() {
			t.Fatalf("%s: %s", what, got.Why)
		}
		f.mu.Lock()
		target = c.after
		f.mu.Unlock()
		e, err := p.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var changed *actions.ChangedError
		if _, err := e.Do(t.Context(), actions.Target{Key: got.Key, Identity: got.Identity}, actions.Params{}); !errors.As(err, &changed) {
			t.Errorf("%s: %v", what, err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if s := strings.Join(f.requests(), "\n"); strings.Contains(s, "POST") || strings.Contains(s, "PUT") {
			t.Errorf("%s: asked %s", what, s)
		}
	}
}

// TestWhereNothingIsMade: a link of the container's own user may lead to the kernel's files, or out of the container.
func TestWhereNothingIsMade(t *testing.T) {
	f := newFake(t)
	f.answer = func(w http.ResponseWriter, r *http.Request, path string) bool {
		if !strings.HasSuffix(path, "/archive") {
			return false
		}
		if r.URL.Query().Get("path") != "/work" {
			w.WriteHeader(http.StatusNotFound)
			return true
		}
		answerLink(w, "/proc/sys/kernel/x")
		return true
	}
	if c := lookAt(t, f.parts(soon)[actions.Repair], known(sandbox())); !strings.Contains(c.Why.String(), "belongs to the kernel's /proc") {
		t.Errorf("a link into /proc: %q", c.Why)
	}
	b := &containerInfo{Container: workdir.Container{Mounts: []workdir.Mount{{Kind: "bind", Dest: "/host"}, {Kind: "volume", Dest: "/host/volume"}, {Kind: "tmpfs", Dest: "/mem"}}}}
	for path, off := range map[string]bool{"/proc": true, "/sys/fs": true, "/dev/shm": true, "/process": false, "/work": false,
		"/host": true, "/host/a": true, "/host/volume/a": false, "/hosts": false, "/mem/a": true} {
		if why := b.offLimits(path); why.IsEmpty() == off {
			t.Errorf("%s: %q", path, why)
		}
	}
}

// TestARepairMakesNothingForAnotherTrouble: only a command that fails for the missing directory is followed by a mkdir.
func TestARepairMakesNothingForAnotherTrouble(t *testing.T) {
	const oci = "OCI runtime exec failed: exec failed: unable to start container process: "
	for text, want := range map[string]string{
		oci + "current working directory is outside of container mount namespace root -- possible container breakout detected": "nothing helps from inside",
		oci + `exec: "true": executable file not found in $PATH`:                                                               "nothing was done",
		oci + `chdir to cwd ("/work") set in config.json failed: permission denied`:                                            "nothing was done",
	} {
		f := newFake(t)
		f.answer = func(w http.ResponseWriter, r *http.Request, path string) bool {
			switch {
			case strings.HasSuffix(path, "/archive"):
				w.WriteHeader(http.StatusNotFound)
			case strings.HasSuffix(path, "/exec"):
				w.WriteHeader(http.StatusCreated)
				_, _ = w.Write([]byte(`{"Id":"e1"}`))
			case path == "exec/e1/json":
				_, _ = w.Write([]byte(`{"ID":"e1","Running":false,"ExitCode":126}`))
			case path == "exec/e1/start":
				_, _ = io.Copy(io.Discard, r.Body) // or the client is still writing when the connection ends
				conn, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					t.Error(err)
					return true
				}
				frame := append([]byte{2, 0, 0, 0, 0, 0, 0, byte(len(text))}, text...)
				_, _ = conn.Write(append([]byte("HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n"), frame...))
				_ = conn.Close()
			default:
				return false
			}
			return true
		}
		_, err := f.do(actions.Repair, soon)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
		if n := strings.Count(strings.Join(f.requests(), "\n"), "/exec\n"); n != 1 {
			t.Errorf("%s: %d commands, want the one that tells: %v", text, n, f.requests())
		}
	}
}
