package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// The first record binds the journal to the host, its boot and the configuration with which it was written.
func TestTheJournalNamesTheConfiguration(t *testing.T) {
	dir := t.TempDir()
	j, err := newOrderJournal(dir, "abc123")
	if err != nil {
		t.Fatal(err)
	}
	order := alerts.Order{Schema: 1, ID: "01234567", Kind: alerts.OrderSilence, At: time.Now(), For: time.Minute,
		Owner: backend.Text("mara"), Reason: backend.Text("deploy"), Matchers: `rule="host-oom"`}
	if err := j.Ordered(order); err != nil {
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
