package cause

import "strings"

// message is the part of an error text that says what went wrong: without stack frames, without what Python writes before
// the last line, and without the class of the error in front.
func message(text string) string {
	text = strings.TrimSpace(text)
	if i := strings.Index(text, "Traceback (most recent call last)"); i >= 0 {
		text = lastError(text[i:])
	}
	text = withoutFrames(text)
	for {
		text = caught(text)
		n := classLen(text)
		if n == 0 {
			return text
		}
		after := strings.TrimLeft(text[n:], " ")
		code := ""
		if strings.HasPrefix(after, "[") { // TypeError [ERR_INVALID_ARG_TYPE]: …
			if end := strings.IndexByte(after, ']'); end > 0 {
				code, after = after[:end+1], after[end+1:]
			}
		}
		if !strings.HasPrefix(after, ":") {
			return text
		}
		if after = strings.TrimLeft(after[1:], " "); after == "" {
			return text
		}
		text = after
		if code != "" {
			return code + " " + text
		}
	}
}

// reporters are what a runtime writes in front of an error that nothing caught.
var reporters = [...]string{"Uncaught exception: ", "Uncaught Exception: ", "uncaughtException: ", "Uncaught (in promise) ", "Uncaught (in promise): ", "Uncaught: ", "Uncaught ", "Unhandled promise rejection: ",
	"Unhandled Promise Rejection: ", "Unhandled rejection: ", "Unhandled Rejection: ", "unhandledRejection: ", "UnhandledPromiseRejectionWarning: ", "Unhandled exception. "}

// caught is an error without what says that nothing caught it.
func caught(text string) string {
	if text == "" || text[0]|0x20 != 'u' {
		return text
	}
	for _, r := range reporters {
		if rest, ok := strings.CutPrefix(text, r); ok && strings.TrimSpace(rest) != "" {
			return strings.TrimLeft(rest, " ")
		}
	}
	return text
}

// classLen is the length of the name of an error class at the start, 0 when there is none.
func classLen(s string) int {
	n := 0
	for n < len(s) && (isLetter(s[n]) || isDigit(s[n]) || s[n] == '_' || s[n] == '.' || s[n] == '$') {
		n++
	}
	switch name := s[:n]; {
	case n == 0 || isDigit(s[0]):
	case strings.HasSuffix(name, "Error"), strings.HasSuffix(name, "Exception"):
		return n
	}
	return 0
}

// withoutFrames leaves out the stack frames of JavaScript, Java, .NET, Go and Rust. What follows them stays: the cause of an
// error stands behind its frames.
func withoutFrames(s string) string {
	for _, mark := range [...]string{"goroutine ", "stack backtrace:", "note: run with `RUST_BACKTRACE"} {
		if len(s) < 60 {
			break // no room for frames
		}
		if i := strings.Index(s, mark); i > 0 && (mark[0] != 'g' || strings.Contains(s[i:min(len(s), i+40)], " [")) {
			s = s[:i]
		}
	}
	var b strings.Builder
	kept := 0
	for from := 0; ; {
		i := strings.Index(s[from:], "at ")
		if i < 0 {
			break
		}
		at := from + i
		from = at + 3
		if at == 0 || s[at-1] != ' ' && s[at-1] != '\t' && s[at-1] != '\n' && !lineEnd(s, at-3) {
			continue
		}
		if n := frameLen(s[from:]); n > 0 {
			b.WriteString(s[kept:at])
			from += n
			kept = from
		}
	}
	if kept == 0 {
		return s
	}
	b.WriteString(s[kept:])
	return b.String()
}

// frameLen is the length of the frame that s, which follows "at ", begins with: a name and its place with a line. 0: it is
// none.
func frameLen(s string) int {
	s = s[:min(len(s), 400)]
	open := strings.IndexByte(s, '(')
	plain := strings.TrimPrefix(s, "async ")
	word := strings.IndexFunc(plain, func(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r >= 0x2000 && r < 0x3000 }) // punctuation too
	if word < 0 {
		word = len(plain)
	}
	if place := strings.TrimRight(plain[:word], ",)"); lines(place) > 1 {
		return len(s) - len(plain) + word
	}
	if open < 0 || strings.Contains(s[:open], ": ") || strings.Count(s[:open], " ") > 4 {
		return 0
	}
	end := strings.IndexByte(s[open:], ')')
	if end < 0 {
		return 0
	}
	end += open
	switch in := s[open+1 : end]; {
	case lines(in) > 0, in == "<anonymous>", in == "native", in == "Native Method", in == "Unknown Source", strings.HasPrefix(in, "index "):
		return end + 1
	}
	if i := strings.Index(s[end:], ":line "); i > 0 && strings.HasPrefix(s[end:], ") in ") { // .NET
		for i += end + len(":line "); i < len(s) && isDigit(s[i]); i++ {
			continue
		}
		return i
	}
	return 0
}

// lines counts the numbers behind colons at the end of a place: a line, or a line and a column.
func lines(place string) int {
	n := 0
	for {
		at := len(place)
		for at > 0 && isDigit(place[at-1]) {
			at--
		}
		if at == len(place) || at < 2 || place[at-1] != ':' {
			return n
		}
		place = place[:at-1]
		n++
	}
}

// lineEnd reports whether a drawable line end (U+240A, U+240D) or tab (U+2409) begins at i.
func lineEnd(s string, i int) bool {
	return i >= 0 && i+2 < len(s) && s[i] == 0xe2 && s[i+1] == 0x90 && (s[i+2] == 0x89 || s[i+2] == 0x8a || s[i+2] == 0x8d)
}

// lastError is the part of a Python traceback that names the error: it begins at the last class.
func lastError(s string) string {
	for at := len(s); ; {
		i := max(strings.LastIndex(s[:at], "Error: "), strings.LastIndex(s[:at], "Exception: "))
		if i < 0 {
			return s
		}
		for at = i; at > 0 && (isLetter(s[at-1]) && s[at-1] < 0x80 || isDigit(s[at-1]) || s[at-1] == '_' || s[at-1] == '.'); {
			at--
		}
		if at == 0 || s[at-1] == ' ' || s[at-1] == '\n' || lineEnd(s, at-3) {
			return s[at:]
		}
	}
}
