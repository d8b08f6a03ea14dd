package rules

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"sandglass/alerts"
)

// formerNotes are state files, one a line. The version of commit d444fcd wrote them while it played the stories of this
// package's tests; the notes of all its rules were one type. Kept are those rules of each file whose notes hold a field
// that no earlier line has. Blind rules and change markers are left out.
const formerNotes = "states-of-one-note.jsonl"

// unread are the fields of former notes that no rule read, by rule; a note that is saved again does not have them.
var unread = map[string][]string{
	"error-burst":    {"was_failed"},
	"error-chaos":    {"was_failed"},
	"eviction-storm": {"count", "was_evicted"},
	"agent-oom":      {"count", "last"}, // the sum of several kernels' counters; each is followed for itself now
	"host-oom":       {"first"},         // each increment tells when the reading before was
}

// newer are the rules that the former version did not have, or that took no notes then.
var newer = []string{"source-degraded", "intermittent-failure", "registry-not-published", "sandbox-crash-loop", "source-down", "contradiction",
	"no-checkpoint", "wake-failed", "stuck-in-transit", "reaped-soon", "sandbox-expiring", "public-preview", "preview-token-expiring", "preview-failed", "snapshot-interrupted", "runaway-process", "package-missing", "pty-pressure", "pty-failed", "sandbox-unhealthy"}

// TestReadsTheNotesOfTheFormerVersion loads what the former version saved, and saves it again.
func TestReadsTheNotesOfTheFormerVersion(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", formerNotes))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data))
	for n := 1; lines.Scan(); n++ {
		want := notesIn(t, lines.Bytes())
		got := notesIn(t, savedAgain(t, lines.Bytes()))
		for rule, subjects := range want {
			if len(got[rule]) != len(subjects) {
				t.Errorf("line %d: %s remembers %d subjects, want %d", n, rule, len(got[rule]), len(subjects))
			}
			for subject, note := range subjects {
				for field, was := range note {
					seen[rule] = true
					switch is, kept := got[rule][subject][field]; {
					case slices.Contains(unread[rule], field):
						if kept {
							t.Errorf("line %d: %s keeps %s", n, rule, field)
						}
					case string(is) != string(was):
						t.Errorf("line %d: %s of %s about %s is %s, was %s", n, field, rule, subject, is, was)
					}
				}
				if more := len(got[rule][subject]); more > len(note) {
					t.Errorf("line %d: the note of %s about %s has %d fields, had %d", n, rule, subject, more, len(note))
				}
			}
		}
	}
	for _, r := range Defaults() {
		if _, takes := r.(alerts.NoteTaker); takes != seen[r.Meta().Name] && !slices.Contains(newer, r.Meta().Name) {
			t.Errorf("%s takes notes: %v; the file has some: %v", r.Meta().Name, takes, !takes)
		}
	}
}

// savedAgain is a state file after a console has read and saved it.
func savedAgain(t *testing.T, file []byte) []byte {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "alerts.json")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := alerts.OpenStateStore(dir, alerts.NewEngine(Defaults(), "test"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	now := alerts.ClockReading{Wall: noon.Add(time.Hour), Boot: "test", SinceBoot: time.Hour}
	l, err := s.Load(now)
	if err != nil {
		t.Fatal(err)
	}
	if saved, err := s.Save(l.Board, now); err != nil || !saved {
		t.Fatalf("saved %v: %v", saved, err)
	}
	out, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// notesIn are the notes of a state file by rule and subject, each field as it is written.
func notesIn(t *testing.T, file []byte) map[string]map[string]map[string]json.RawMessage {
	t.Helper()
	var s struct {
		Rules map[string]struct {
			Records []struct {
				Key  json.RawMessage            `json:"key"`
				Note map[string]json.RawMessage `json:"note"`
			} `json:"records"`
		} `json:"rules"`
	}
	if err := json.Unmarshal(file, &s); err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]map[string]json.RawMessage{}
	for rule, r := range s.Rules {
		out[rule] = map[string]map[string]json.RawMessage{}
		for _, x := range r.Records {
			if x.Note != nil {
				out[rule][string(x.Key)] = x.Note
			}
		}
	}
	return out
}
