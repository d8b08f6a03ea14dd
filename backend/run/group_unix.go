//go:build unix

package run

import (
	"os/exec"
	"syscall"
)

// Group gives a command a process group of its own, so that the children of a shell end with it: politely when its
// context ends, and without its pipes 2 s later.
func Group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = killWait
}
