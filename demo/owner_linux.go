package demo

import (
	"fmt"
	"os"
	"strings"
)

// processStarted returns field 22 of /proc/<pid>/stat (proc_pid_stat(5)), the
// start time in clock ticks since boot.
func processStarted(pid int) (string, bool) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", false
	}
	// The second field is the command in brackets and may hold anything.
	_, rest, ok := strings.Cut(string(raw[strings.LastIndexByte(string(raw), ')')+1:]), " ")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 20 {
		return "", false
	}
	return fields[19], true
}

// bootID changes with every boot of the machine.
func bootID() string {
	raw, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}
