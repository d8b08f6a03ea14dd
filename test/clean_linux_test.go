package test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sandglass/actions/audit"
	"sandglass/internal/skip"
)

// behindCover is set for the run of a test in a mount namespace of its own.
const behindCover = "SANDGLASS_TEST_BEHIND_COVER"

// runBehindCover runs the test again where process 1 is covered. Some virtual machines are started by a process that not
// even the superuser can look into, so that nothing could be cleaned there; this test is about everything else.
func runBehindCover(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), behindCover+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("where process 1 is covered: %v\n%s", err, out)
	}
}

// cover lays this process's own directory over that of process 1, in this mount namespace alone.
func cover(t *testing.T) {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount(fmt.Sprintf("/proc/%d", os.Getpid()), "/proc/1", "", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
}

// TestCleanFromTheCommandLine sets directories aside, puts them back, and removes them, a process for each step.
func TestCleanFromTheCommandLine(t *testing.T) {
	if os.Geteuid() != 0 {
		skip.Without(t, "root", "only the superuser sees who uses a directory")
	}
	if os.Getenv(behindCover) != "" {
		cover(t)
	}
	c, root := scratchLines(t)
	both := []string{"helix-ws-a", "helix-ws-b"}
	if advice, _, _ := c.process("clean", "--dry-run"); strings.Contains(advice, "(first: process 1,") && os.Getenv(behindCover) == "" {
		runBehindCover(t)
		return
	} else if strings.Contains(advice, "unreadable even for root") || strings.Contains(advice, "of this container can be seen") {
		skip.Without(t, "root", "what this runs in hides processes: "+strings.SplitN(advice, "\n", 2)[0])
	}
	c.run(0, "(?s)clean 2 scratch directories on scratch.*dry run: 2 of 2", "clean", "--dry-run")
	if got := names(t, root); !slices.Equal(got, both) {
		t.Fatalf("a dry run left %v", got)
	}
	c.carryOut(0, "2 of 2 done: 2 verified.* moved, 0 B freed", "clean")
	if got := names(t, root); len(got) != 2 || slices.Contains(got, "helix-ws-a") {
		t.Fatalf("set aside: %v", got)
	}
	c.run(0, `helix-ws-a\n +quarantined .* ago as .*, removed in 1`, "clean", "--list")
	c.carryOut(0, "1 of 1 done: 1 verified", "clean", "--undo", filepath.Join(root, "helix-ws-a"))
	if got := names(t, root); !slices.Contains(got, "helix-ws-a") || slices.Contains(got, "helix-ws-b") {
		t.Fatalf("put back: %v", got)
	}
	c.carryOut(0, "1 of 1 done: 1 verified.* freed", "clean", "--purge")
	if got := names(t, root); !slices.Equal(got, []string{"helix-ws-a"}) {
		t.Fatalf("purged: %v", got)
	}
	policy := c.policy(0o600, 10)
	c.run(0, "dry run: 1 of 1", "clean", "--policy", policy, "--dry-run")
	c.run(0, "1 of 1 done: 1 verified", "clean", "--policy", policy)
	c.run(0, "^there is nothing to clean\n$", "clean", "--policy", policy)
	c.clock = func() time.Time { return time.Now().Add(6 * time.Hour) } // the grace period is over
	for {
		out, errs, code := c.process("clean", "--policy", policy)
		if strings.Contains(errs, processesHidden) && c.tries < mostTries {
			c.tries++
			continue
		}
		if code != 0 || out != "there is nothing to clean\n" || !strings.Contains(errs, "its grace period is over: ") {
			t.Errorf("exit code %d\n%s\n%s", code, out, errs)
		}
		break
	}
	if got := names(t, root); len(got) != 0 {
		t.Fatalf("after the grace period: %v", got)
	}
	reasons := map[string]bool{}
	for _, r := range c.journal() {
		if r.Phase == audit.PhaseIntent {
			words := strings.Fields(r.Reason.String())
			reasons[words[0]] = true
		}
	}
	if !reasons["policy"] || !reasons["the"] {
		t.Errorf("reasons in the journal: %v", reasons)
	}
}
