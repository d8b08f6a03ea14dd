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

// Reach is how a command of ours that a text names looks at what this run looks at.
type Reach struct {
	Flags string // the options without which it would look at something else
	// Keys do the same on the screen, by command, "get events" too; nil: commands reach what this run looks at.
	Keys map[string]string
	// Which says which of several subjects the id of a command means: its source, empty where the id alone tells, and its kind where
	// the source has other kinds of that id. nil: ids tell.
	Which func(command, id string) (source, kind string)
}

// WithFlags gives the sandglass commands in a text what they need to be pasted as they are, or names keys instead.
func WithFlags(text Safe, reach Reach) Safe {
	if s := CommandsWith(text.String(), reach); s != text.String() {
		return Clean(s, MaxTextRunes)
	}
	return text
}

// CommandsWith is WithFlags for our own text, of any length.
func CommandsWith(text string, reach Reach) string {
	flags := reach.Flags
	if reach.Keys != nil {
		flags = strings.TrimSpace("--config FILE " + flags) // nothing is read rather than something else
	}
	if flags == "" && reach.Which == nil || !strings.Contains(text, program) {
		return text
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, program)
		if !found {
			b.WriteString(before)
			return b.String()
		}
		word := lowerWord(after)
		if key, rest := reach.key(word, reach.told(word, after[len(word):], true)); key != "" {
			before = strings.TrimSuffix(before, key+", or ")
			if s, is := strings.CutSuffix(before, "Run: "); is {
				before = s + "Press "
			}
			b.WriteString(before + key)
			text = rest
			continue
		}
		b.WriteString(before + program)
		if flags != "" && slices.Contains(commands(), word) {
			b.WriteString(flags + " ")
		}
		text = word + reach.told(word, after[len(word):], false)
	}
}

// key is what is pressed instead of a command, and how the text goes on; empty: no key does the same.
func (r Reach) key(word, rest string) (key, on string) {
	takesID := word != "get" && word != "clean"
	if word == "get" {
		kind := lowerWord(strings.TrimPrefix(rest, " "))
		word, rest = "get "+kind, strings.TrimPrefix(rest, " "+kind)
	}
	key = r.Keys[word]
	if filter, is := strings.CutPrefix(rest, " --filter "); is && key != "" {
		if quoted, after, closed := strings.Cut(strings.TrimPrefix(filter, "'"), "'"); closed && filter[0] == '\'' {
			filter = quoted + after
		}
		return key, ", then / " + filter
	}
	rest = strings.TrimPrefix(rest, " --dry-run")
	switch {
	case strings.HasPrefix(rest, " -"):
		return "", rest // the key has no such option
	case takesID && strings.HasPrefix(rest, " "):
		return key, " on" + rest
	}
	return key, rest
}

func lowerWord(text string) string {
	if end := strings.IndexFunc(text, func(r rune) bool { return r < 'a' || r > 'z' }); end >= 0 {
		return text[:end]
	}
	return text
}

const program = "sandglass "

// commands are the commands of the program that look at a configuration or a state directory, up to a hyphen: kill is kill-process.
func commands() []string {
	return []string{"ack", "audit", "bundle", "check", "clean", "config", "destroy", "diff", "do", "doctor", "get", "kill", "logs", "note", "pause", "probe", "prove", "refs", "repair",
		"replace", "rescue", "reset", "restart", "resume", "revoke", "rules", "runbook", "shell", "silence", "start", "stop", "wake", "why"}
}
