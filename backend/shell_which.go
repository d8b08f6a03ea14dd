package backend

import (
	"slices"
	"strings"
)

// ids tells which commands of ours begin with the id of a subject: it reads one of any kind, or acts on one of its own kinds.
func ids(command string) (begins, reads bool) {
	reads = slices.Contains([]string{"bundle", "diff", "logs", "why"}, command)
	others := []string{"ack", "audit", "check", "clean", "config", "do", "doctor", "get", "note", "prove", "refs", "rules", "runbook", "silence"}
	return reads || slices.Contains(commands(), command) && !slices.Contains(others, command), reads
}

// ReadsAny reports whether a command of ours takes the id of a subject of any kind.
func ReadsAny(command string) bool {
	_, reads := ids(command)
	return reads
}

// told says behind the id of a command which subject it means, where the id alone does not: in words where a key is pressed.
func (r Reach) told(command, rest string, pressed bool) string {
	if begins, _ := ids(command); r.Which == nil || !begins {
		return rest
	}
	at := strings.IndexFunc(rest, func(c rune) bool { return c != '-' && (c < 'a' || c > 'z') }) // stop-process
	if at < 0 || rest[at] != ' ' {
		return rest
	}
	id, end := firstWord(rest[at+1:])
	end += at + 1
	source, kind := r.Which(command, id)
	var with string
	switch {
	case pressed && source != "":
		with = " of " + source
	case pressed:
	default:
		if source != "" {
			with += " --source " + ShellWord(source).String()
		}
		if kind != "" {
			with += " --kind " + kind
		}
	}
	return rest[:end] + with + rest[end:]
}

// firstWord is the first word of a command line, without its quotes and what ends its sentence, and where it ends.
func firstWord(text string) (word string, end int) {
	if !strings.HasPrefix(text, "'") {
		if end = strings.IndexAny(text, " \n"); end < 0 {
			end = len(text)
		}
		word = strings.TrimRight(text[:end], ".,;:)")
		return word, len(word)
	}
	const inside = `'\''`
	var b strings.Builder
	for rest := text[1:]; ; {
		before, after, closed := strings.Cut(rest, "'")
		b.WriteString(before)
		if again, is := strings.CutPrefix(after, inside[1:]); is && closed {
			b.WriteByte('\'')
			rest = again
			continue
		}
		return b.String(), len(text) - len(after)
	}
}
