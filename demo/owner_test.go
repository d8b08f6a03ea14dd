package demo

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// endedProcess returns the number of a process of ours that is over.
func endedProcess(t *testing.T) int {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

func place(t *testing.T, base, name string, o *owner) string {
	t.Helper()
	dir := filepath.Join(base, name)
	if err := os.MkdirAll(filepath.Join(dir, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	if o == nil {
		return dir
	}
	raw, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ownerFile), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestSweepRemovesOnlyWhatIsCertainlyAbandoned(t *testing.T) {
	base := t.TempDir()
	me := owner{PID: os.Getpid(), Boot: bootID()}
	me.Started, _ = processStarted(me.PID)
	gone := owner{PID: endedProcess(t), Started: "1", Boot: bootID()}

	dead := place(t, base, dirPrefix+"dead", &gone)
	live := place(t, base, dirPrefix+"live", &me)
	bare := place(t, base, dirPrefix+"bare", nil)
	other := place(t, base, "somebody-else", &gone)
	broken := place(t, base, dirPrefix+"broken", &owner{})
	link := filepath.Join(base, dirPrefix+"link")
	if err := os.Symlink(other, link); err != nil {
		t.Fatal(err)
	}
	// Claimed by this process, but by its number another one's: a number of
	// another process namespace means nothing, the lock does.
	locked := filepath.Join(base, dirPrefix+"locked")
	if err := os.Mkdir(locked, 0o700); err != nil {
		t.Fatal(err)
	}
	lock, err := claim(locked)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := lock.Close(); err != nil {
			t.Error(err)
		}
	}()
	raw, err := json.Marshal(gone)
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Truncate(0); err != nil {
		t.Fatal(err)
	}
	if _, err := lock.WriteAt(raw, 0); err != nil {
		t.Fatal(err)
	}

	if err := sweepBase(base); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dead); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", dead, err)
	}
	for _, dir := range []string{live, bare, other, broken, link, locked} {
		if _, err := os.Stat(filepath.Join(dir)); err != nil {
			t.Errorf("%s is gone: %v", dir, err)
		}
	}
	if err := sweepBase(filepath.Join(base, "nowhere")); err != nil {
		t.Errorf("a directory that does not exist: %v", err)
	}
}

func TestUsedNumberOfAnotherProcessIsNotAlive(t *testing.T) {
	o := owner{PID: os.Getpid(), Boot: bootID()}
	started, ok := processStarted(o.PID)
	if !ok {
		t.Fatal("this process is not found")
	}
	o.Started = started
	if !o.alive() {
		t.Error("this process is taken for dead")
	}
	o.Started += "1"
	if o.alive() {
		t.Error("a process that started at another time is taken for the owner")
	}
	o.Started, o.Boot = started, "another boot"
	if o.alive() {
		t.Error("a process of another boot is taken for the owner")
	}
}
