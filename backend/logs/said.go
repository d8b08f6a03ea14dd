package logs

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"
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
var failedCommand = regexp.MustCompile(`(?i)\b(?:command|cmd|shell|exec|script|npm|npx|yarn|pnpm)\s+(?:\S+\s+){0,3}?(?:failed|exited|returned|ended)\b|` +
	`\b(?:docker|podman|nerdctl|kubectl|crictl)\s+(?:[\w-]+\s+)?(?:exec|run|logs)\b`)

// endedCommand is how a tool reports the end of a process that it ran. The framework's messages hold none of it.
var endedCommand = regexp.MustCompile(`(?i)\b(?:tool|process|subprocess|child|bash|node|python\d?|task|job|build|step)\s+(?:\S+\s+){0,3}?(?:exited|returned|ended|died|crashed)\b|` +
	`\bexit(?:ed)?(?:\s+(?:with|code|status))*\s*[:=]?\s*\d{1,3}\b|\b(?:shell|exec|bash|sandbox|subprocess|child_process|terminal)\.\w+:`)

// announced is how a line of level info or below announces a text that a command, a tool or a model made and that follows it on
// lines of its own: it ends with a colon, or names a command, a tool by its name in the framework, or what a model wrote.
var announced = regexp.MustCompile(`(?i):\s*$|\b(?:workspace_{1,2}|(?:read|write|edit|list|run|exec|search|grep|web|fetch)_)[a-z]\w*|` +
	`(?:^|[\s\]>:])(?:exec|npm|npx|yarn|pnpm|pytest|jest|vitest|cargo|gradle|mvn|tsc|make|pip|node|python\d?)\s+[\w./-]|` +
	`\b(?:llm|agent|assistant|model|tool|step|command|script)\b.*\b(?:observation|response|reply|answer|completion|thought|print(?:ed|s)?|output|result)s?\b`)

// A runtime's last words begin their line: somebody else reports them after a sentence. ownDeath is how a supervisor of the
// agent's server begins.
var (
	sentence = regexp.MustCompile(`\p{L}{2,} \p{L}+ \p{L}{2,}`)
	reports  = regexp.MustCompile(`(?i)\b(?:failed|exited|exit|died|crashed|aborted|returned|reported|reports|printed|asked|asks|said|says|saw|got|wrote|quoted)\b`)
	ownDeath = regexp.MustCompile(`^[^a-z]*(?:[a-z]+: )?(?:[Tt]he )?(?:[Aa]gents?|[Ss]erver|[Aa]gent[ -][Ss]erver|[Hh]elix)(?: (?:server|process|runtime|worker))? (?:\S+ ){0,2}?(?:crashed|died|exited|terminated|aborted|ran out)\b`)
	grouped  = regexp.MustCompile(`\[[^\]]*\]|\([^)]*\)`)
)

// lastWords is how V8 begins what it prints before its last words.
var lastWords = []byte("FATAL ERROR:")

// retold reports whether a runtime's last words follow a sentence of somebody else.
func retold(before []byte) bool {
	if i := bytes.LastIndex(before, lastWords); i >= 0 {
		before = before[:i]
	}
	if i := bytes.LastIndexByte(before, '\n'); i >= 0 {
		before = before[i+1:]
	}
	if _, rest, is := syslogTag(before); is {
		before = rest
	}
	before = grouped.ReplaceAll(uncarried(before), nil)
	return !ownDeath.Match(before) && (sentence.Match(before) || reports.Match(before))
}

// reported reports whether a text announces what a command or a tool printed.
func (p *pattern) reported(before []byte) bool {
	switch p.class {
	case ClassWorkspaceFailed, ClassWorkspaceEvicted:
		return agentPrefix.Match(before)
	case ClassAgentOOM, ClassEvictionExhausted, ClassRejection, ClassNameCollision, ClassTmpdirCloseFailed:
		return agentPrefix.Match(before) || failedCommand.Match(before) || endedCommand.Match(before)
	case ClassRollup, ClassCloseTimeout, ClassPersistFailed, ClassHydrateFailed, ClassPreviewFailed, ClassPTYCount, ClassPTYUnknown, ClassPTYFailed, ClassSDKExec, ClassSDKFiles, ClassSDKMissing, ClassSDKDelete, ClassSDKNotice, ClassPackageMissing, ClassPersistDone, ClassExecDone, ClassRead, ClassWrite, ClassMemory, ClassLimitKill, ClassNote, ClassHub, ClassNotStarted:
	}
	return agentPrefix.Match(before) || failedCommand.Match(before)
}

// saidByAgent reports whether what stands at a place of a text was written by an agent, or by a command or tool that it
// ran: it is quoted, in a field other than those of the logger itself, or follows a prefix that says so.
func (t *patterns) saidByAgent(p *pattern, text []byte, at int) bool {
	if at <= 0 {
		return false
	}
	open, quote := enclosing(text, at, false)
	if open >= 0 && !p.quoted {
		if quote >= utf8.RuneSelf || !t.own[string(fieldBefore(text[:open]))] {
			return quote != '\'' || bytes.IndexByte(text[at:], '\'') >= 0
		}
		text, at = text[open+1:], at-open-1
		if inner, mark := enclosing(text, at, true); inner >= 0 && (mark != '\'' || bytes.IndexByte(text[at:], '\'') >= 0) {
			return true
		}
	}
	before := text[:at]
	if p.tier == tierMessage && (bytes.IndexByte(before, '\n') >= 0 || open >= 0 && bytes.Contains(before, []byte(`\n`))) {
		return true // a logger's message begins its line
	}
	return p.begins && retold(before) || p.reported(before)
}

// quotes are the signs that close what the typographic ones open. What closes a quotation in one language opens it in
// another; an apostrophe opens none.
var quotes = map[rune]string{'“': "”“", '”': "”", '„': "“”", '‘': "’", '‚': "‘’", '«': "»", '»': "«»", '‹': "›", '›': "‹›", '「': "」", '『': "』",
	'《': "》", '〈': "〉", '〝': "〞〟", '＂': "＂", '｢': "｣"}

// enclosing is where the quotes around a place of a text open, negative when it is not quoted. escaped: a quotation mark
// after a backslash is one as well.
func enclosing(text []byte, at int, escaped bool) (open int, quote rune) {
	open = -1
	for i := 0; i < at; {
		c, n := utf8.DecodeRune(text[i:])
		if c == '\\' && !(escaped && i+1 < at && text[i+1] == '"') {
			i += 2
			continue
		}
		_, typographic := quotes[c]
		switch {
		case open >= 0 && (c == quote && c < utf8.RuneSelf || quote >= utf8.RuneSelf && strings.ContainsRune(quotes[quote], c)):
			open = -1
		case open >= 0:
		case typographic, c == '"', c == '`', c == '\'' && i > 0 && bytes.IndexByte([]byte(" ([=:"), text[i-1]) >= 0: // else an apostrophe
			open, quote = i, c
		}
		i += n
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
