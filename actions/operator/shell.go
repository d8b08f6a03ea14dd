package operator

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// Programs that read a text as code, by how they are given it.
var (
	// readsAll hand every later argument to a shell or read it as a program.
	readsAll = []string{"ssh", "rsh", "autossh", "mosh", "eval", "watch", "parallel", "tmux", "screen", "awk", "gawk", "mawk", "nawk", "jq", "sqlite3", "gdb"}
	// inlineOption is an option of any program whose next argument is code, as sh -lc, perl -ne, node --eval, env -S have it.
	inlineOption = regexp.MustCompile(`^(?:-[A-Za-z]{0,4}[ceEpr]|-ex|-S|--(?:command|eval|execute|expression|exec|print|run|split-string|code)|-(?i:command|encodedcommand))$`)
	// inlineJoined is such an option with its code in the same argument.
	inlineJoined = regexp.MustCompile(`^(?:-[A-Za-z]{0,2}[ceE].*\{|-S.*\{|--(?:command|eval|execute|expression|exec|print|run|split-string|code)=)`)
	// interpreter is the name of a program that runs code.
	interpreter = regexp.MustCompile(`^(?:.*sh|busybox|su|runuser|script|flock|env|python[0-9.]*|perl|ruby|node|nodejs|bun|deno|php[0-9.]*|lua.*|Rscript|osascript|psql|mysql|sqlite3|xargs)$`)
	// plainOption are programs, and words behind them, whose short options of these letters take no code.
	plainOption = []string{"cp", "curl", "docker", "git", "kubectl", "mkdir", "podman", "rm", "sudo", "tar", "wget", "create", "exec", "run"}
)

// codeReads reports whether an argument of a command is read as code after all: what a shell or another interpreter is
// given with -c, -e or --eval, behind env, sudo, timeout and the like too, and everything that ssh hands to the other
// machine, where a shell puts it together. An option that no table knows counts as one that takes code: the value is then
// a plain word or refused.
func codeReads(command []string, at int) bool {
	plain := true // only words that take no code stand before
	for i, a := range command[:at] {
		name := path.Base(a)
		switch value := i > 0 && strings.HasPrefix(command[i-1], "-") && command[i-1] != "--"; {
		case slices.Contains(readsAll, name):
			return true
		case interpreter.MatchString(name):
			plain = false
		case !value && !strings.HasPrefix(a, "-"):
			plain = plain && slices.Contains(plainOption, name)
		}
	}
	return !plain && (inlineOption.MatchString(command[at-1]) || inlineJoined.MatchString(command[at]))
}

// plainWord reports whether a shell reads the text as that text alone, in any position.
func plainWord(s string) bool {
	return s != "" && s[0] != '-' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/:@+-") == ""
}
