package backend

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// ChangesRoot reports whether a shell command removes, moves or replaces the directory root itself, not what is below it. Words that
// it only carries are none: quoted text of another command, comments, and the lines of a here-document. A relative path is taken from
// root, or from where its cd leads.
func ChangesRoot(command, root string) bool {
	return inShell(command, path.Clean(root), 3, changedBy)
}

// RootMovedTo is where a shell command moves the directory root, as it names the target: the files are there, or below it where it was
// a directory already. Empty: it moves it nowhere, or to a place that only the shell knows.
func RootMovedTo(command, root string) (to string) {
	inShell(command, path.Clean(root), 3, func(name string, args []string, place func(string) string, root string) bool {
		operands := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return strings.HasPrefix(a, "-") })
		if last := len(operands) - 1; name == "mv" && last > 0 && slices.ContainsFunc(operands[:last], func(a string) bool { return place(a) == root }) {
			to = place(operands[last])
		}
		return to != ""
	})
	return to
}

// shellWords stand before a command and are none.
var shellWords = []string{"sudo", "env", "time", "nohup", "exec", "command", "then", "do", "else", "if", "while", "!", "{"}

var assignment = regexp.MustCompile(`^[A-Za-z_]\w*=`)

// inShell shows the commands of a shell text that surely ran to visit, each with its arguments and what tells the path that a word of it
// names, until it returns true.
func inShell(command, root string, deep int, visit func(name string, args []string, place func(string) string, root string) bool) bool {
	dir, perhaps := root, false
	for _, words := range simpleCommands(command) {
		if maybe := perhaps; maybe || words[0] == orElse {
			perhaps = !maybe
			continue
		}
		for len(words) > 1 && (slices.Contains(shellWords, words[0]) || assignment.MatchString(words[0])) {
			words = words[1:]
		}
		name, args := path.Base(words[0]), words[1:]
		switch name {
		case ")": // what a subshell changed is over
			dir = root
		case "cd":
			if dir = root; len(args) > 0 {
				dir = placeOf(args[len(args)-1], dir)
			}
		case "sh", "bash", "dash", "ash":
			if i := slices.IndexFunc(args, func(a string) bool { return len(a) > 1 && a[0] == '-' && a[len(a)-1] == 'c' }); deep > 0 && i >= 0 && i+1 < len(args) && inShell(args[i+1], root, deep-1, visit) {
				return true
			}
		default:
			if visit(name, args, func(word string) string { return placeOf(word, dir) }, root) {
				return true
			}
		}
	}
	return false
}

// changedBy reports whether a command with these arguments removes, moves or replaces the root; place is the path that a word names.
func changedBy(name string, args []string, place func(string) string, root string) bool {
	is := func(word string) bool { return place(word) == root }
	option := func(a string) bool { return strings.HasPrefix(a, "-") }
	exact := slices.ContainsFunc(args, func(a string) bool {
		return a == "--no-target-directory" || option(a) && !strings.HasPrefix(a, "--") && strings.Contains(a, "T")
	})
	operands := slices.DeleteFunc(slices.Clone(args), option)
	last := len(operands) - 1
	switch name {
	case "rm", "rmdir", "unlink":
		return slices.ContainsFunc(operands, is)
	case "mv": // into a directory that is there, unless it takes the name as the target itself
		return last > 0 && (slices.ContainsFunc(operands[:last], is) || exact && is(operands[last]))
	case "ln":
		return last > 0 && is(operands[last])
	case "find":
		return len(args) == 2 && args[1] == "-delete" && is(args[0])
	}
	return false
}

// placeOf is the path that a word names in a directory; empty: it is not known, or no command takes it for the directory itself.
func placeOf(word, dir string) string {
	switch last := path.Base(word); {
	case word == "$PWD", word == "${PWD}":
		return dir
	case strings.ContainsAny(word, "$`*?["), last == ".", last == "..", word == "":
		return ""
	case path.IsAbs(word):
		return path.Clean(word)
	case dir == "":
		return ""
	}
	return path.Join(dir, word)
}

// hereDoc begins the text that a command reads from the lines after it.
var hereDoc = regexp.MustCompile(`^<<-?\s*["'\\]?(\w+)["']?`)

// orElse stands before a command that runs only where the one before it failed, which nothing tells.
const orElse = "||"

// simpleCommands splits a shell text into its commands, each with its words. The end of a subshell and orElse are of their own.
func simpleCommands(text string) [][]string {
	s := &shellText{}
	for i := 0; i < len(text); i++ {
		rest := text[i:]
		switch c := text[i]; {
		case c == '\\' && len(rest) > 1:
			if i++; rest[1] != '\n' {
				s.add(rest[1:2])
			}
		case c == '\'' || c == '"':
			n := quotedLength(rest)
			s.add(strings.Trim(rest[:n], rest[:1]))
			i += n - 1
		case c == '#' && !s.begun:
			n := strings.IndexByte(rest+"\n", '\n')
			i += n - 1
		case strings.HasPrefix(rest, "<<") && hereDoc.MatchString(rest):
			m := hereDoc.FindStringSubmatch(rest)
			s.here = append(s.here, m[1])
			i += len(m[0]) - 1
			s.end()
		case c == '>' || c == '<':
			if len(s.word) == 1 && strings.Contains("0123456789", s.word) { // the number of what is redirected
				s.word, s.begun = "", false
			}
			s.end()
			n := len(rest) - len(strings.TrimLeft(rest, "<>& \t"))
			i += n + len(rest[n:]) - len(strings.TrimLeft(rest[n:], "0123456789-/._abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")) - 1
		case c == '\n':
			s.finish()
			i += s.skip(text[i+1:])
		case strings.HasPrefix(rest, orElse):
			s.finish()
			s.out = append(s.out, []string{orElse})
			i++
		case strings.IndexByte(";&|()", c) >= 0:
			if s.finish(); c == ')' {
				s.out = append(s.out, []string{")"})
			}
		case c == ' ' || c == '\t' || c == '\r':
			s.end()
		default:
			s.add(rest[:1])
		}
	}
	s.finish()
	return s.out
}

// shellText is a shell text as far as it was read.
type shellText struct {
	out   [][]string
	words []string
	word  string
	begun bool     // a word is, which may be empty
	here  []string // the lines that end the here-documents to come
}

func (s *shellText) add(text string) { s.word, s.begun = s.word+text, true }

func (s *shellText) end() {
	if s.begun {
		s.words, s.word, s.begun = append(s.words, s.word), "", false
	}
}

func (s *shellText) finish() {
	if s.end(); len(s.words) > 0 {
		s.out, s.words = append(s.out, s.words), nil
	}
}

// skip is the length of the here-documents with which a text begins.
func (s *shellText) skip(text string) (n int) {
	for _, end := range s.here {
		for n < len(text) {
			line, _, more := strings.Cut(text[n:], "\n")
			if n += len(line); more {
				n++
			}
			if strings.TrimSpace(line) == end {
				break
			}
		}
	}
	s.here = nil
	return n
}

// quotedLength is the length of the quoted text with which a text begins, quotes included; without an end it is all of it.
func quotedLength(text string) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && text[0] == '"':
			i++
		case text[i] == text[0]:
			return i + 1
		}
	}
	return len(text)
}
