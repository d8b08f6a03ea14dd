package backend

import (
	"slices"
	"strings"
)

// ShellWord is one word of a POSIX shell's command line, for commands that people copy from a screen. What cannot be
// drawn is not fit for copying either, and is drawn safely.
func ShellWord(raw string) Safe {
	s := Clean(raw, MaxTextRunes).String()
	plain := s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_./:=@%+,", r)
	})
	if plain {
		return Safe{s}
	}
	return Clean("'"+strings.ReplaceAll(s, "'", `'\''`)+"'", MaxTextRunes)
}

// ShellLine is a command line of a POSIX shell, with secrets masked.
func ShellLine(argv []string) string {
	var words []string
	for _, a := range MaskArgs(argv) {
		words = append(words, ShellWord(maskShapes(a)).String())
	}
	return strings.Join(words, " ")
}

// MaskArgs masks the arguments of a command of which those before say that they are secrets: the one behind --password.
// What looks like a secret by itself is left to Clean.
func MaskArgs(argv []string) []string {
	out := make([]string, len(argv))
	before := ""
	for i, a := range argv {
		out[i] = a
		said, is := strings.CutPrefix(maskShapes(before+a), before)
		if is && said != maskShapes(a) {
			out[i] = said
		}
		before += maskShapes(out[i]) + " " // masked, so that it stays as it is with the next
	}
	return out
}

// WithFlags gives the sandglass commands in a text the flags without which they would look at something else, so that they can
// be pasted as they are.
func WithFlags(text Safe, flags string) Safe {
	if s := CommandsWith(text.String(), flags); s != text.String() {
		return Clean(s, MaxTextRunes)
	}
	return text
}

// CommandsWith is WithFlags for our own text, of any length.
func CommandsWith(text, flags string) string {
	if flags == "" || !strings.Contains(text, program) {
		return text
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, program)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString(program)
		word := after
		if end := strings.IndexFunc(after, func(r rune) bool { return r < 'a' || r > 'z' }); end >= 0 {
			word = after[:end]
		}
		if slices.Contains(commands(), word) {
			b.WriteString(flags + " ")
		}
		text = after
	}
}

const program = "sandglass "

// commands are the commands of the program that look at a configuration or a state directory.
func commands() []string {
	return []string{"ack", "audit", "bundle", "check", "clean", "config", "destroy", "do", "doctor", "get", "note", "pause", "probe", "prove", "refs", "repair",
		"replace", "rescue", "reset", "resume", "rules", "runbook", "silence", "stop", "wake", "why"}
}
