package operator

import (
	"path"
	"strings"
)

// shellReads reports whether an argument of a command is read by a shell after all: the script that a shell, or a program
// that runs one, is given with -c, and everything that ssh hands to the other machine, where a shell puts it together.
func shellReads(command []string, at int) bool {
	for _, a := range command[:at] {
		switch path.Base(a) {
		case "ssh", "rsh", "autossh", "mosh", "eval":
			return true
		case "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh", "busybox", "su", "runuser", "script", "flock":
			option := command[at-1] // -c, -lc, --command
			if short := strings.HasPrefix(option, "-") && !strings.HasPrefix(option, "--"); short && strings.Contains(option, "c") || option == "--command" {
				return true
			}
		}
	}
	return false
}

// plainWord reports whether a shell reads the text as that text alone, in any position.
func plainWord(s string) bool {
	return s != "" && s[0] != '-' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/:@+-") == ""
}
