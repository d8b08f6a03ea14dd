package run

import (
	"os/exec"
	"syscall"
)

// Group takes a command away from the console's interrupt. The command is killed when its context ends; a child of it
// may stay, without its pipes 2 s later.
func Group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
	cmd.WaitDelay = killWait
}
