package test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/app"
	"sandglass/backend"
)

// The first record binds the journal to the host, its boot and the configuration with which it was written.
func TestTheJournalNamesTheConfiguration(t *testing.T) {
	dir := t.TempDir()
	p := testProgram(time.Now)
	c := parseConfig(t, p, "environment = \"eu\"")
	c.Digest = "abc123"
	s, err := p.Open(app.StationOptions{Config: c, StateDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ms, err := alerts.ParseMatchers(`rule="host-oom"`)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Alerts.Silence(ms, backend.Text("mara"), backend.Text("deploy"), time.Minute); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "audit.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), `"config_digest":"abc123"`) || !strings.Contains(string(data), `"host":"`) {
		t.Errorf("the first record:\n%s", data)
	}
}
