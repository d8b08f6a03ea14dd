package test

import (
	"io"
	"strings"
	"testing"
	"time"
)

// overtaken is how much processor time the program may need to end behind thousands of keys. It needs twice that when it
// draws each of them. Time on a clock would tell how busy the machine is.
const overtaken = 8 * time.Second

// TestTheEndOvertakesKeys: 4,000 keys that came at once delay neither q nor an interrupt, also one right behind esc.
func TestTheEndOvertakesKeys(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string]string{
		"a held arrow, then ctrl+c":    strings.Repeat("\x1b[B", 4000) + "\x03",
		"changes of screens, then q":   strings.Repeat("1234", 1000) + "q",
		"details in and out, ctrl+c":   strings.Repeat("\r\x1b", 2000) + "\x03",
		"a filter typed and left, q":   strings.Repeat("/a\r", 1000) + "\x1b[Bq",
		"help in and out, then ctrl+c": strings.Repeat("?q", 2000) + "\x03",
	} {
		t.Run(name, func(t *testing.T) {
			p := startOnTerminal(t, nil, "demo", "--workspaces", "300", "--state-dir", t.TempDir())
			p.waitFor(t, "Workspaces")
			time.Sleep(time.Second)
			if _, err := io.WriteString(p.tty, keys); err != nil {
				t.Fatal(err)
			}
			if code := p.ended(t); code != 0 {
				t.Errorf("exit status %d", code)
			}
			used := p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
			if t.Logf("%d bytes of keys: %s of processor time", len(keys), used); used > overtaken {
				t.Errorf("it needed %s of processor time for %d bytes of keys", used, len(keys))
			}
			p.clean(t)
		})
	}
}
