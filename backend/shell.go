package backend

import "strings"

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
