package demo

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sandglass/demo/cloudflare"
)

// worker is the bridge Worker beside a Cloudflare account, with the log of the agents that use its sandboxes.
type worker struct {
	bridge *cloudflare.Bridge
	play   *cloudflare.Play
	gate   *gate
	key    string // file with the key of the bridge
	log    string
	file   *os.File
	clock  func() time.Duration
}

// newWorker makes the bridge of a story; nil where the world has none.
func (f *fleet) newWorker(clock func() time.Duration) (*worker, error) {
	if f.incidents.bridge == cloudflare.NoBridge {
		return nil, nil
	}
	w := &worker{key: filepath.Join(f.root, "cloudflare-bridge-key"), log: filepath.Join(f.root, "logs", "sandbox-agents.jsonl"), clock: clock}
	key := rand.Text()
	if err := os.WriteFile(w.key, []byte(key+"\n"), 0o600); err != nil {
		return nil, fmt.Errorf("demo: write the key of the bridge: %w", err)
	}
	w.bridge = cloudflare.NewBridge(cloudflare.BridgeOptions{Key: key, Ops: "/ops", Clock: func() time.Time { return f.start.Add(clock()) }})
	w.play = w.bridge.Play(f.incidents.bridge, f.start)
	var err error
	if w.file, err = os.OpenFile(w.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return nil, fmt.Errorf("demo: create log: %w", err)
	}
	return w, nil
}

// keys are the lines of a source that name the bridge. The names of the sandboxes are of use without the operator routes only.
func (w *worker) keys() string {
	if w == nil {
		return ""
	}
	var ids []string
	for _, id := range cloudflare.BridgeIDs() {
		ids = append(ids, quote(id))
	}
	return fmt.Sprintf("bridge_url = %s\nops_prefix = \"/ops\"\nsandboxes = [%s]\nactions = [\"probe\", \"repair\", \"stop\", \"destroy\"]\n[source.bridge]\nfile = %s\n",
		quote("http://"+w.gate.addr), strings.Join(ids, ", "), quote(w.key))
}

// logs is the source of the agents' log.
func (w *worker) logs() string {
	if w == nil {
		return ""
	}
	return fmt.Sprintf("\n[[source]]\nid = \"agents-log\"\nkind = \"logs\"\ninterval = \"1s\"\nabout = [\"cloudflare\"]\nfiles = [%s]\n", quote(w.log))
}

// instances are the containers of the bridge as the account lists them.
func (w *worker) instances() []cloudflare.Instance {
	var out []cloudflare.Instance
	for _, b := range w.bridge.Boxes() {
		state := b.State
		if state == "healthy" {
			state = "running"
		}
		out = append(out, cloudflare.Instance{ID: b.Instance, Name: b.Container, State: state, Started: b.Started, Updated: b.Changed})
	}
	return out
}

// step writes what the agents logged since the last step.
func (w *worker) step() error {
	if w == nil {
		return nil
	}
	for _, line := range w.play.Lines(w.clock()) {
		if _, err := w.file.WriteString(line + "\n"); err != nil {
			return fmt.Errorf("demo: write log: %w", err)
		}
	}
	return nil
}

func (w *worker) close() error {
	if w == nil {
		return nil
	}
	w.bridge.Close()
	return w.file.Close()
}
