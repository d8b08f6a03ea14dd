package subjects

import (
	"strings"

	"sandglass/views/kit"
)

// programs are those whose command lines stand in steps, behind a colon.
var programs = []string{"sandglass ", "docker ", "podman ", "curl ", "mkdir ", "journalctl ", "ps "}

// commandLines lays the commands of a step out so that each can be copied: whole on one line where one has room for it, without the
// full stop of its sentence, and with nothing behind it but a remark in brackets.
func commandLines(step string) string {
	var b strings.Builder
	for rest := step; rest != ""; {
		at := commandIn(rest)
		if at < 0 {
			b.WriteString(rest)
			break
		}
		end := commandEnd(rest[at:])
		b.WriteString(rest[:at] + kit.Joined(rest[at:at+end]))
		rest = rest[at+end:]
		if after, stops := strings.CutPrefix(rest, "."); stops {
			if rest = strings.TrimPrefix(after, " "); rest != "" {
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}

// commandIn is where the first command of a text begins, -1 where there is none.
func commandIn(s string) int {
	for at := 0; ; {
		i := strings.Index(s[at:], ": ")
		if i < 0 {
			return -1
		}
		at += i + 2
		for _, p := range programs {
			if strings.HasPrefix(s[at:], p) {
				return at
			}
		}
	}
}

// commandEnd is where the command at the beginning of a text ends: before the end of its sentence, or a bracket.
func commandEnd(s string) int {
	quoted := false
	for i := range len(s) {
		rest := s[i+1:]
		switch {
		case s[i] == '\'':
			quoted = !quoted
		case quoted:
		case s[i] == '.' && (rest == "" || len(rest) > 1 && rest[0] == ' ' && rest[1] >= 'A' && rest[1] <= 'Z'),
			s[i] == ' ' && strings.HasPrefix(rest, "("):
			return i
		}
	}
	return len(s)
}
