package demo

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"sandglass/demo/blaxel"
)

// blaxelCloud is the Blaxel workspace of a world, with the states and the log of the agents that use its sandboxes.
type blaxelCloud struct {
	platform *blaxel.Platform
	play     *blaxel.Play
	gate     *gate
	key      string // file with the key
	states   string // directory of saved states
	log      string
	file     *os.File
	start    time.Time
	clock    func() time.Duration
}

// newBlaxel makes the workspace of a story; nil where the world has none.
func (f *fleet) newBlaxel(clock func() time.Duration) (*blaxelCloud, error) {
	if f.incidents.blaxel == blaxel.NoStory {
		return nil, nil
	}
	c := &blaxelCloud{key: filepath.Join(f.root, "blaxel-key"), states: filepath.Join(f.root, "agent-states"), log: filepath.Join(f.root, "logs", "agents.jsonl"), start: f.start, clock: clock}
	key := rand.Text()
	if err := os.WriteFile(c.key, []byte(key+"\n"), 0o600); err != nil {
		return nil, fmt.Errorf("demo: write the key of Blaxel: %w", err)
	}
	if err := os.Mkdir(c.states, 0o700); err != nil {
		return nil, fmt.Errorf("demo: make directory: %w", err)
	}
	c.platform = blaxel.NewPlatform(key, func() time.Time { return f.start.Add(clock()) }, func() string { return "http://" + c.gate.addr }, time.Sleep)
	c.play = c.platform.Play(f.incidents.blaxel, f.start)
	var err error
	if c.file, err = os.OpenFile(c.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return nil, fmt.Errorf("demo: create log: %w", err)
	}
	return c, nil
}

// save writes the saved states, which name the address of the gate: it must be open.
func (c *blaxelCloud) save() error {
	if c == nil {
		return nil
	}
	saved := c.start.Add(-30 * time.Minute)
	for name, state := range c.play.States() {
		file := filepath.Join(c.states, name)
		if err := errors.Join(os.WriteFile(file, state, 0o600), os.Chtimes(file, saved, saved)); err != nil {
			return fmt.Errorf("demo: write a saved state: %w", err)
		}
	}
	return nil
}

// config points a console at the workspace, the saved states and the log.
func (c *blaxelCloud) config() string {
	if c == nil {
		return ""
	}
	return fmt.Sprintf("\n[[source]]\nid = \"blaxel\"\nkind = \"blaxel\"\ninterval = \"5s\"\nworkspace = %s\nurl = %s\nsession_label = \"session\"\n"+
		"requests_per_second = 40 # demo: the server is on this machine\n"+
		"actions = [\"probe\", \"rescue\", \"revoke-token\", \"stop-process\", \"kill-process\", \"destroy\"]\n[source.read]\nfile = %s\n", quote(blaxel.Workspace), quote("http://"+c.gate.addr+"/v0"), quote(c.key)) +
		fmt.Sprintf("\n[[source]]\nid = \"agent-states\"\nkind = \"refs\"\ninterval = \"10s\"\nlayout = \"agent-sdk\"\nfiles = [%s]\n", quote(filepath.Join(c.states, "*.json"))) +
		fmt.Sprintf("\n[[source]]\nid = \"agents-log\"\nkind = \"logs\"\ninterval = \"1s\"\nabout = [\"blaxel\"]\nlookback = \"1h\"\nfiles = [%s]\n", quote(c.log))
}

// step writes what the agents logged since the last step.
func (c *blaxelCloud) step() error {
	if c == nil {
		return nil
	}
	for _, line := range c.play.Lines(c.clock()) {
		if _, err := c.file.WriteString(line + "\n"); err != nil {
			return fmt.Errorf("demo: write log: %w", err)
		}
	}
	return nil
}

func (c *blaxelCloud) close() error {
	if c == nil || c.file == nil {
		return nil
	}
	return c.file.Close()
}
