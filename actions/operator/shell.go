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
	readsAll = []string{"ssh", "rsh", "autossh", "mosh", "eval", "watch", "parallel", "tmux", "screen", "awk", "gawk", "mawk", "nawk", "jq", "sqlite3", "gdb", "sed",
		"vi", "vim", "nvim", "ex", "ed", "emacs", "cmd", "powershell", "pwsh"}
	// inlineOption is an option of any program whose next argument is code, as sh -lc, perl -ne, node --eval, env -S have it.
	inlineOption = regexp.MustCompile(`^(?:-[A-Za-z]{0,4}[ceEprRB]|-ex|-S|--?(?:command|session-command|eval|execute|expression|exec|print|run|split-string|code)|-(?i:command|encodedcommand))$`)
	// inlineCluster is such an option of an interpreter, which takes other letters behind it, as in sh -cx.
	inlineCluster = regexp.MustCompile(`^-[A-Za-z]*[ceE][A-Za-z]*$`)
	// inlineJoined is such an option with its code in the same argument.
	inlineJoined = regexp.MustCompile(`^(?:-[A-Za-z]{0,2}[ceE].*\{|-S.*\{|--(?:command|session-command|eval|execute|expression|exec|print|run|split-string|code)=)`)
	// inlineAnywhere is an argument that even programs of plainOption hand to a shell: an alias or setting of git, what tar runs.
	inlineAnywhere = regexp.MustCompile(`^(?:(?:alias|core|diff|filter|credential|sequence|gpg|pager|ssh|uploadpack)\..*=|--(?:checkpoint-action|to-command|rsh-command|use-compress-program|info-script|new-volume-script|upload-pack|receive-pack|exec)=)`)
	// interpreter is the name of a program that runs code.
	interpreter = regexp.MustCompile(`^(?:.*sh|busybox|su|runuser|script|flock|env|python[0-9.]*|perl|ruby|node|nodejs|bun|deno|php[0-9.]*|erl|lua.*|Rscript|osascript|psql|mysql|sqlite3|xargs)$`)
	// plainOption are programs, and words behind them, whose short options of these letters take no code.
	plainOption = []string{"cp", "curl", "docker", "git", "kubectl", "mkdir", "podman", "rm", "sudo", "tar", "wget", "create", "exec", "run"}
	// valued are options of shells between -c and its code that take a value.
	valued = []string{"-o", "+o", "-O", "+O", "--rcfile", "--init-file"}
)

// codeReads reports whether an argument of a command is read as code after all: what a shell or another interpreter is
// given with -c, -e or --eval, behind env, sudo, timeout and the like too, and everything that ssh hands to the other
// machine, where a shell puts it together. An option that no table knows counts as one that takes code: the value is then
// a plain word or refused.
func codeReads(command []string, at int) bool {
	plain, interprets := true, false // only words that take no code stand before; an interpreter does
	awaited := false                 // an option said that code follows, and only options did so far
	for i, a := range command[:at] {
		name := programName(a)
		option := strings.HasPrefix(a, "-") || awaited && strings.HasPrefix(a, "+")
		switch value := i > 0 && strings.HasPrefix(command[i-1], "-") && command[i-1] != "--"; {
		case slices.Contains(readsAll, name):
			return true
		case interpreter.MatchString(name):
			plain, interprets = false, true
		case !value && !option:
			plain = plain && slices.Contains(plainOption, name)
		}
		switch {
		case !plain && (inlineOption.MatchString(a) || interprets && inlineCluster.MatchString(a)):
			awaited = true
		case !option && !(i > 0 && slices.Contains(valued, command[i-1])):
			awaited = false // this was the code, and what follows are its arguments
		}
	}
	return awaited || inlineAnywhere.MatchString(command[at]) || !plain && inlineJoined.MatchString(command[at])
}

// programName is the name of a program in the words of the tables.
func programName(a string) string {
	name := path.Base(strings.ReplaceAll(a, `\`, "/"))
	if rest, windows := strings.CutSuffix(strings.ToLower(name), ".exe"); windows {
		return rest
	}
	return name
}

// plainWord reports whether a shell reads the text as that text alone, in any position.
func plainWord(s string) bool {
	return s != "" && s[0] != '-' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/:@+-") == ""
}
