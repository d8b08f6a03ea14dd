package logs

import (
	"bytes"
	"regexp"
)

// agentPrefix is what loggers and tools write before the output of a command or a tool, which agents make. The output
// streams need a sign after them: container runtimes begin each line with the bare word.
var agentPrefix = regexp.MustCompile(`(?i)(?:^|[^a-z])(?:` +
	`std(?:out|err)\s*[\])]?\s*[:=>|]|\[std(?:out|err)\]|` +
	`(?:tool|command|cmd|shell|bash|exec|process|script|agent|assistant|user|model|sandbox)[\s_-]*(?:output|result|response|stdout|stderr|said|says|wrote|prompt|message)s?\b|` +
	`(?:output|result)s?\s*[:=]|` +
	`(?:ba|z|da|k)?sh:|` +
	`\[(?:tool|exec|command|shell|bash|assistant|user)\b[^\]]*\]|\[sandbox\s[^\]]+\]|` +
	`(?:tool|exec|command|cmd|shell|bash)\s*>|` +
	`(?:assistant|user)\s*[:>]|npm ERR!)|(?:^|[\s\]])[>$]\s`)

// failedCommand stands before what a failed command printed, and before the framework's own errors about a command too.
var failedCommand = regexp.MustCompile(`(?i)\b(?:command|cmd|shell|exec|script)\s+(?:\S+\s+){0,3}?(?:failed|exited|returned|ended)\b`)

// saidByAgent reports whether what stands at a place of a text was written by an agent, or by a command or tool that it
// ran: it is quoted, in a field other than those of the logger itself, or follows a prefix that says so.
func (t *patterns) saidByAgent(p *pattern, text []byte, at int) bool {
	if at <= 0 {
		return false
	}
	open, quote := enclosing(text, at)
	if open >= 0 && !p.quoted {
		if !t.own[string(fieldBefore(text[:open]))] {
			return quote != '\'' || bytes.IndexByte(text[at:], '\'') >= 0
		}
		text, at = text[open+1:], at-open-1
	}
	before := text[:at]
	if p.tier == tierMessage && (bytes.IndexByte(before, '\n') >= 0 || open >= 0 && bytes.Contains(before, []byte(`\n`))) {
		return true // a logger's message begins its line
	}
	return agentPrefix.Match(before) || p.class != ClassWorkspaceFailed && p.class != ClassWorkspaceEvicted && failedCommand.Match(before)
}

// enclosing is where the quotes around a place of a text open, negative when it is not quoted.
func enclosing(text []byte, at int) (open int, quote byte) {
	open = -1
	for i := 0; i < at; i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case open >= 0 && c == quote:
			open = -1
		case open >= 0:
		case c == '"', c == '`', c == '\'' && i > 0 && bytes.IndexByte([]byte(" ([=:"), text[i-1]) >= 0: // else an apostrophe
			open, quote = i, c
		}
	}
	return open, quote
}

// fieldBefore is the name of the field whose value opens after the text, as name=, name: or "name":, empty when there is none.
func fieldBefore(text []byte) []byte {
	text = bytes.TrimRight(text, " ")
	if n := len(text); n == 0 || text[n-1] != '=' && text[n-1] != ':' {
		return nil
	}
	text = bytes.TrimRight(text[:len(text)-1], " ")
	text = bytes.TrimRight(text, `"`)
	from := len(text)
	for from > 0 && nameByte(text[from-1]) {
		from--
	}
	return text[from:]
}
