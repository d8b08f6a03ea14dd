package demo

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestLogHoldsEveryKindOfLine(t *testing.T) {
	f := testFleet(t, "all", defaultWorkspaces, 1)
	w := f.At(5 * time.Minute)
	for where := range instances {
		var text strings.Builder
		for _, l := range w.logLines(where, -logPast) {
			text.Write(w.textLine(l))
		}
		for _, want := range []string{
			"workspace tool: eviction retry exhausted", "tmpdir close failed", "workspace tool: shell metacharacter rejected",
			"glob/brace expansion rejected", "command not in allowlist", "sub-agent declares workspace name that exists on parent",
			"close timed out", "WorkspaceFailedError", "WorkspaceEvictedError", "ENOTEMPTY",
		} {
			// The storm of this world, its containers and its host are those of one instance.
			ofOne := []string{"workspace tool: eviction retry exhausted", "WorkspaceEvictedError", "tmpdir close failed", "close timed out", "ENOTEMPTY"}
			if where == us && slices.Contains(ofOne, want) {
				continue
			}
			if !strings.Contains(text.String(), want) {
				t.Errorf("%s never logs %q", where, want)
			}
		}
	}
}

func TestFloodIsOneRollupInFiveSeconds(t *testing.T) {
	f := testFleet(t, "audit-flood", defaultWorkspaces, 1)
	w := f.At(time.Minute)
	rollups, full, suppressed := 0, 0, int64(0)
	for _, l := range w.logLines(eu, 0) {
		if l.command != floodCommand {
			continue
		}
		if strings.HasPrefix(l.message, "[rate-limited]") {
			rollups++
			suppressed += l.suppressed
		} else {
			full++
		}
	}
	if rate := suppressed / 60; rollups != 12 || full != 1 || rate < 1800 || rate > 2000 {
		t.Errorf("%d rollups and %d full lines in a minute, %d rejections a second", rollups, full, rate)
	}
}

func TestLinesAreTheSameHoweverOftenOneAsks(t *testing.T) {
	f := testFleet(t, "all", 300, 1)
	for where := range instances {
		whole := f.At(2*time.Minute).logLines(where, 0)
		var parts []logLine
		from := time.Duration(0)
		for _, to := range []time.Duration{250 * time.Millisecond, 5 * time.Second, 5 * time.Second, 71 * time.Second, 2 * time.Minute} {
			parts = append(parts, f.At(to).logLines(where, from)...)
			from = to
		}
		if !slices.Equal(whole, parts) {
			t.Errorf("%s: %d lines at once, %d in parts", where, len(whole), len(parts))
		}
	}
}

func TestLogLinesOnTheWire(t *testing.T) {
	w := (&fleet{start: testStart}).At(0)
	l := logLine{at: time.Second, level: levelWarn, message: "[rate-limited] x", session: "s-1", workspace: "box", command: "ls;", suppressed: 9}
	for want, got := range map[string][]byte{
		`{"level":40,"time":"2026-11-21T09:00:01.000Z","msg":"[rate-limited] x","sessionId":"s-1","workspace":"box","command":"ls;","suppressedCount":9}` + "\n": w.jsonLine(l),
		`2026-11-21T09:00:01.000Z WARN  [rate-limited] x sessionId=s-1 workspace=box command="ls;" suppressedCount=9` + "\n":                                     w.textLine(l),
	} {
		if string(got) != want {
			t.Errorf("got  %swant %s", got, want)
		}
	}
}

func TestWriterFillsThePastAndRotates(t *testing.T) {
	f := testFleet(t, "all", 300, 1)
	f.root = t.TempDir()
	if err := os.Mkdir(filepath.Join(f.root, "logs"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, l := range f.logWriters() {
		for _, at := range []time.Duration{0, time.Minute, 3 * time.Minute, 5 * time.Minute, 9 * time.Minute, 10 * time.Minute, 13 * time.Minute} {
			if err := l.step(f.At(at)); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.close(); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob(filepath.Join(f.root, "logs", "*"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range files {
		names = append(names, filepath.Base(p))
	}
	if want := []string{"agent-eu.jsonl", "agent-us.log", "agent-us.log.1", "agent-us.log.2"}; !slices.Equal(names, want) {
		t.Errorf("files %v, want %v", names, want)
	}
	raw, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	var first struct{ Time time.Time }
	if err := json.Unmarshal([]byte(lines[0]), &first); err != nil || first.Time.After(testStart.Add(-14*time.Minute)) {
		t.Errorf("the log begins with %s, %v", lines[0], err)
	}
}
