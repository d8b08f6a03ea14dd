package test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// overtaken is how many times the processor time of its start the program may need to end behind thousands of keys. It needs
// under one, and more than thirty when it draws each of them. The start tells how fast the machine is, and whether races are
// looked for.
const overtaken = 10

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
			start := processorTime(t, p.cmd.Process.Pid)
			if _, err := io.WriteString(p.tty, keys); err != nil {
				t.Fatal(err)
			}
			if code := p.ended(t); code != 0 {
				t.Errorf("exit status %d", code)
			}
			used := p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime() - start
			if t.Logf("%d bytes of keys: %s of processor time, after %s to start", len(keys), used, start); used > overtaken*start {
				t.Errorf("it needed %s of processor time for %d bytes of keys, and %s to start", used, len(keys), start)
			}
			p.clean(t)
		})
	}
}

// processorTime is what a process used so far, from Linux's /proc/PID/stat: fields 14 and 15, in hundredths of a second.
func processorTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Skip("needs /proc of Linux to tell how much processor time another process used")
	}
	fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
	user, err := strconv.ParseInt(fields[11], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	system, err := strconv.ParseInt(fields[12], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}
