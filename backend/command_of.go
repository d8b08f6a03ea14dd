package backend

import (
	"regexp"
	"strings"
)

var (
	// envHead is the prefix with which an agent's SDK sets the environment of a command.
	envHead = regexp.MustCompile(`^\s*(?:/usr/bin/)?env(?:\s+` + envAssign + `)+\s+`)
	quotes  = strings.NewReplacer(`'`, "", `"`, "", `\`, "")
	// wrapped is what may stand before a command that one line gives alone and another as it was run.
	wrapped = [...]string{"&& ", "; ", "-c ", "-lc "}
)

// CommandOf is a command as it can be compared with how another place writes it: without the prefix that sets its environment, without
// quotes, and with one blank between words.
func CommandOf(line string) string {
	return strings.Join(strings.Fields(quotes.Replace(envHead.ReplaceAllString(line, ""))), " ")
}

// SameCommand reports whether two texts that CommandOf made are of one command. What was masked or cut tells nothing, and what
// stands before that decides.
func SameCommand(a, b string) bool {
	open := false
	for _, s := range []*string{&a, &b} {
		if i := strings.IndexAny(*s, masked[:len("‹")]+"…"); i >= 0 {
			*s, open = (*s)[:i], true
		}
	}
	if open {
		n := min(len(a), len(b))
		return n > 0 && a[:n] == b[:n]
	}
	inner := func(whole, part string) bool {
		before, is := strings.CutSuffix(whole, part)
		for _, w := range wrapped {
			if is && strings.HasSuffix(before, w) {
				return true
			}
		}
		return false
	}
	return a != "" && b != "" && (a == b || inner(a, b) || inner(b, a))
}
