package test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestLogsInTheConsole follows the file of a source of logs on a real terminal: new lines, a filter, the next error, and back.
func TestLogsInTheConsole(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "agents.log")
	write := func(lines ...string) {
		t.Helper()
		f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range lines {
			if _, err := fmt.Fprintf(f, "%s INFO %s\n", time.Now().UTC().Add(time.Duration(i)*time.Millisecond).Format(time.RFC3339Nano), line); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	write("first-line", "ERROR early trouble", "second-line")
	config := writeConfig(t, fmt.Sprintf("environment = \"logs\"\n[[source]]\nid = \"app\"\nkind = \"logs\"\ninterval = \"1s\"\nfiles = [%q]\n", file))
	p := startOnTerminal(t, nil, "--config", config, "--state-dir", filepath.Join(t.TempDir(), "state"))
	types := func(keys string) {
		t.Helper()
		if _, err := io.WriteString(p.tty, keys); err != nil {
			t.Fatal(err)
		}
	}
	p.waitFor(t, "Sources")
	types("9")
	p.sees(t, "l logs")
	types("l")
	p.sees(t, "second-line")
	p.sees(t, "following")
	write("third-line \x1b]0;x\a", "ERROR late trouble", "fourth-line")
	if shown := p.sees(t, "fourth-line"); !strings.Contains(shown, "first-line") || !strings.Contains(shown, "␛]0;x␇") {
		t.Errorf("following shows\n%s", shown)
	}
	types("/trouble\r")
	if shown := p.sees(t, "/trouble 2 of 6 lines"); strings.Contains(shown, "fourth-line") {
		t.Errorf("the filter leaves other lines:\n%s", shown)
	}
	types("\x7f") // ends the filter
	p.sees(t, "fourth-line")
	types("g")
	p.sees(t, "stopped: G follows")
	types("e")
	cursor := func(text string) func() bool {
		return func() bool {
			for line := range strings.Lines(p.sees(t, "stopped: G follows")) {
				if strings.HasPrefix(line, "›") && strings.Contains(line, text) {
					return true
				}
			}
			return false
		}
	}
	until(t, "the cursor is on the first error", cursor("early trouble"))
	types("e")
	until(t, "the cursor is on the next error", cursor("late trouble"))
	types("\x7f")
	p.sees(t, "l logs") // back on Sources
	p.quit(t)
	p.clean(t)
}
