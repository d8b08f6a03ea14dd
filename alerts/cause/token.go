package cause

import "strings"

// token reads the token from i to end and returns where the next one begins.
func (r *Reader) token(i, end int) int {
	r.at = i
	tok := r.text[i:end]
	n := len(tok)
	for n > 0 && strings.IndexByte(".:-/+~", tok[n-1]) >= 0 {
		n--
	}
	if n == 0 {
		return end
	}
	tail := tok[n:]
	tok = tok[:n]
	if i > 0 && r.text[i-1] == ']' && tok[0] == ':' && n <= 6 && IsNumeric(tok[1:]) { // [::1]:8443
		r.take()
		r.noise()
		r.rawValue("port", tok[1:])
		return end
	}
	if strings.HasPrefix(tok, "::") && isIPv6("", tok[1:]) {
		r.take()
		r.colons("", tok[1:], "")
		return end
	}
	for len(tok) > 1 && (tok[0] == ':' || tok[0] == '.' && isLetter(tok[1]) && !strings.Contains(tok, "/") || tok[0] == '-' && isLetter(tok[1])) {
		tok = tok[1:]
	}
	if end < len(r.text) && r.text[end] == '=' && tail == "" && !isBase64(tok) { // key=value
		if end+1 < len(r.text) && r.text[end+1] != '=' && r.text[end+1] != ' ' {
			r.keyed(tok)
			return end + 1
		}
	}
	key, spoke := r.take()
	if key != "" && !spoke {
		r.valueOf(key, tok, "")
		return end
	}
	r.skip = 0
	r.judge(tok, key)
	return max(end, r.skip)
}

// judge decides what a token is. key is the key whose value it is, empty: none.
func (r *Reader) judge(tok, key string) {
	if plain, digits := shapeOf(tok); plain && !digits {
		r.word(tok, key)
		return
	} else if plain { // letters and digits
		r.mixed(tok, key)
		return
	}
	switch {
	case strings.Contains(tok, "://"):
		r.value("", tok, "")
	case isBase64(tok):
		r.noise()
	case strings.IndexByte(tok, '/') >= 0:
		r.slashed(tok)
	case IsNumeric(tok) || IsHex(tok) || IsUUID(tok):
		r.number(tok, key)
	default:
		r.compounds(tok, key)
	}
}

// shapeOf reports whether a token holds nothing but letters, digits and apostrophes, and whether it holds digits.
func shapeOf(tok string) (plain, digits bool) {
	for i := range len(tok) {
		switch c := tok[i]; {
		case isDigit(c):
			digits = true
		case isLetter(c), c == '\'':
		default:
			return false, digits
		}
	}
	return true, digits
}

// say adds a listed word.
func (r *Reader) say(word string, is meaning) {
	if len(r.Words) > 0 {
		r.Words = append(r.Words, ' ')
	}
	r.before = r.last
	r.last.from = len(r.Words)
	r.Words = appendLower(r.Words, word)
	r.last.to = len(r.Words)
	r.said++
	if is != grammar {
		r.counted++
	}
	r.loose(word)
}

func (r *Reader) loose(word string) {
	if len(r.Loose) > 0 {
		r.Loose = append(r.Loose, ' ')
	}
	r.Loose = appendLower(r.Loose, word)
}

// anonymous stands for a name that looks like an identifier. It counts as any name does, so that its letters do not decide.
func (r *Reader) anonymous() {
	r.names++
	r.loose(anyName)
}

// anyName stands for such a name in Loose. It is like no other word.
const anyName = "_"

func (r *Reader) noise() {
	if n := len(r.Loose); n == 0 || r.Loose[n-1] != '*' {
		r.loose("*")
	}
}

// appendLower appends a word in lower case and without apostrophes.
func appendLower(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case isUpper(c):
			c |= 0x20
		case c == '\'':
			continue
		case c == 0xe2 && i+2 < len(s) && s[i:i+3] == "’":
			i += 2
			continue
		}
		b = append(b, c)
	}
	return b
}

// word reads a token of letters.
func (r *Reader) word(tok, key string) {
	if len(tok) == 1 && tok[0] < 0x80 {
		return
	}
	is := r.known(tok)
	switch {
	case r.counting(tok):
		r.noise()
	case is == filler:
		r.loose(tok)
	case is == numeral, isUpper(tok[0]) && len(tok) < 10 && calendar[tok]:
		r.noise()
	case is == unlisted && isRandom(tok):
		r.anonymous() // whether a name has vowels decides nothing
		r.bares++
	case is != unlisted && r.called(tok):
		r.names++
		r.loose(tok)
		r.nameValue(tok, key)
	case is != unlisted && is != outcome && len(tok) > 2 && allUpper(tok) && holders[r.label()]:
		r.value("", tok, "")
	case is == content && r.last.to > 0 && (named[r.label()] && roles[strings.ToLower(tok)] || string(r.Words[r.last.from:r.last.to]) == "spawn"):
		r.value("", tok, "")
	case is != unlisted, isCode(tok):
		r.say(tok, max(is, content))
		if is == grammar {
			r.counted--
		}
	case compound(tok) != unlisted:
		r.say(tok, content)
	default:
		r.names++
		r.loose(tok)
		r.nameValue(tok, key)
	}
}

// counting reports whether a word belongs to a number: the unit behind it, or an ordinal before an attempt.
func (r *Reader) counting(tok string) bool {
	lower := strings.ToLower(tok)
	switch {
	case units[lower]:
		before := strings.TrimRight(r.text[:r.at], " -")
		if before == "" || len(before) == r.at {
			break
		}
		from := strings.LastIndexByte(before, ' ') + 1
		if last := strings.Trim(before[from:], "(,"); IsNumeric(last) || wordOf(last) == numeral {
			return true
		}
	}
	if lower != "first" && lower != "second" {
		return false
	}
	next, ok := strings.CutPrefix(r.text[r.at+len(tok):], " ")
	end := 0
	for end < len(next) && isLetter(next[end]) {
		end++
	}
	return ok && tries[strings.ToLower(next[:end])]
}

// called reports whether what follows a word makes it the name of something in a program, as in "open is not a function".
func (r *Reader) called(tok string) bool {
	at := r.at + len(tok)
	if at >= len(r.text) || r.at > 0 && r.text[r.at-1] == '.' || !strings.HasPrefix(r.text[at:], " is not ") {
		return false
	}
	rest := r.text[at+len(" is not "):]
	return strings.HasPrefix(rest, "a function") || strings.HasPrefix(rest, "a constructor") || strings.HasPrefix(rest, "iterable")
}

// known looks a word up as it is, without its apostrophe.
func (r *Reader) known(tok string) meaning {
	var buf [24]byte
	if len(tok) > len(buf) {
		return unlisted
	}
	return lexicon[string(appendLower(buf[:0], tok))]
}

func allUpper(s string) bool {
	for i := range len(s) {
		if !isUpper(s[i]) && !isDigit(s[i]) && s[i] != '_' {
			return false
		}
	}
	return true
}

// mixed reads a token of letters and digits: r2 and sha256 are words, 137 and 10MB numbers, the others identifiers.
func (r *Reader) mixed(tok, key string) {
	switch is := r.known(tok); {
	case is != unlisted:
		r.say(tok, is)
	case IsNumeric(tok) || IsHex(tok):
		r.number(tok, key)
	case isCode(tok):
		r.say(tok, content)
	case isVersion(tok):
		r.noise()
		r.rawValue(r.label(), tok)
	case isRandom(tok):
		r.anonymous()
		r.bares++
	default:
		r.anonymous()
		r.nameValue(tok, key)
	}
}

// isShort reports whether a number can be a code: seconds since 1970 cannot.
func isShort(tok string) bool { return len(tok) <= 12 && digitsAt(tok, 0) < 9 }

// number reads a number: what it counts is left out, a status, an exit code or a port tells a variant.
func (r *Reader) number(tok, key string) {
	r.noise()
	if ip, port, ok := strings.Cut(tok, ":"); ok && strings.Count(ip, ".") == 3 && !strings.Contains(port, ":") {
		r.rawValue("port", port)
		return
	}
	switch label := r.label(); {
	case key != "":
		r.valueOf(key, tok, "")
	case tells[label] && r.told != r.labelled() && isShort(tok) && !strings.ContainsAny(tok, "%_"):
		r.told = r.labelled()
		r.rawValue(label, tok)
		if len(tok) == 3 && (tok[0] == '4' || tok[0] == '5') {
			r.skip = reasonEnd(r.text, r.at+len(tok))
		}
	case len(tok) == 3 && (tok[0] == '4' || tok[0] == '5') && isDigit(tok[1]) && isDigit(tok[2]) && answers[label]:
		r.rawValue("status", tok)
	}
}

// coded reports whether a number that comes next would be a value of the last word.
func (r *Reader) coded() bool { return tells[r.label()] && r.told != r.labelled() }

// label is the last word that is not only grammar.
func (r *Reader) label() string {
	at := r.labelled()
	return string(r.Words[at.from:at.to])
}

func (r *Reader) labelled() span {
	if lexicon[string(r.Words[r.last.from:r.last.to])] == grammar && r.before.to > 0 {
		return r.before
	}
	return r.last
}

// slashed reads what holds a slash: words of a pair, numbers, else a path, an image or a module.
func (r *Reader) slashed(tok string) {
	if len(tok) >= 4 && strings.EqualFold(tok[:4], "http") && IsNumeric(tok[5:]) {
		r.say("http", content)
		return
	}
	words, numbers := true, true
	for part := range strings.SplitSeq(tok, "/") {
		numbers = numbers && part != "" && IsNumeric(part)
		words = words && part != "" && (len(part) == 1 || wordOf(part) != unlisted)
	}
	switch {
	case numbers:
		r.noise()
	case words && strings.Count(tok, "/") == 1:
		for part := range strings.SplitSeq(tok, "/") {
			r.say(part, content)
		}
	default:
		r.noise()
		r.value("", tok, "")
	}
}

// compounds reads tokens of several parts: error codes, hosts with their ports, kebab and snake names.
func (r *Reader) compounds(tok, key string) {
	if host, port, ok := strings.Cut(tok, ":"); ok {
		r.colons(host, port, key)
		return
	}
	if head, name, ok := strings.Cut(tok, "."); ok && holders[strings.ToLower(head)] && !strings.Contains(name, ".") {
		r.say(head, content)
		r.value("", name, "")
		return
	}
	if isSpelledOut(tok) {
		r.noise()
		return
	}
	if isVersion(tok) {
		r.noise()
		r.rawValue(r.label(), tok)
		return
	}
	if is := r.known(tok); is != unlisted {
		r.say(tok, is)
		return
	}
	if is := compound(tok); is != unlisted || isCode(tok) {
		if classLen(tok) == len(tok) {
			tok = tok[strings.LastIndexByte(tok, '.')+1:]
		}
		r.say(tok, content)
		return
	}
	r.anonymous()
	r.nameValue(tok, key)
}

func isSpelledOut(tok string) bool {
	for part := range strings.SplitSeq(tok, "-") {
		if wordOf(part) != numeral && part != "first" && part != "second" {
			return false
		}
	}
	return true
}

// colons reads what holds a colon: an address and its port, or words without the blank between them.
func (r *Reader) colons(head, rest, key string) {
	port, column, _ := strings.Cut(rest, ":")
	switch {
	case head == "" || isIPv6(head, rest):
		r.noise()
		if port := portOf(head, rest); port != "" && (r.at == 0 || r.text[r.at-1] != '[') && isCode(strings.ToUpper(r.label())) {
			r.rawValue("port", port)
		}
	case IsNumeric(port) && strings.Contains(head, ".") && isLetter(head[len(head)-1]) && column != "", IsNumeric(port) && column != "":
		r.noise() // a place in a file
		r.nameValue(head, key)
	case IsNumeric(port) && wordOf(head) != unlisted && tells[strings.ToLower(head)]:
		r.say(head, content)
		r.number(port, "")
	case IsNumeric(port):
		r.noise()
		if len(port) <= 5 {
			r.rawValue("port", port)
		}
		if !IsNumeric(head) {
			r.value("", head, "")
		}
	case wordOf(head) != unlisted || classLen(head) == len(head) || compound(head) != unlisted:
		r.judge(head, key)
		if rest != "" {
			r.judge(rest, "")
		}
	default:
		r.noise()
		r.value("", head+":"+rest, "")
	}
}

// nameValue is a value that is a name. A key that says what went wrong may have one.
func (r *Reader) nameValue(tok, key string) {
	if key != "" {
		r.valueOf(key, tok, "")
		return
	}
	r.bareName(tok)
	r.noise()
}
