// Package cause reads error texts: the words that make the cause, and the values that tell variants of it apart.
package cause

import (
	"bytes"
	"strings"
)

// Compared is how many listed words of an error's message are compared. What follows them makes no other cause. Names do not count: a
// longer one in front moves no word out of the comparison.
const Compared = 40

// The bounds of what is looked at for that: bytes of a message, and all its words.
const (
	maxRead  = 1600
	maxLoose = 120
)

// Reader reads one text at a time and uses its memory again. What it returns is valid until the next text is read.
type Reader struct {
	// Words are the listed words, with a blank between them: the cause, unless the text has too few of them.
	Words []byte
	// Loose are the words with the names among them and * for each value.
	Loose []byte
	// Values are the values that may tell variants apart, in the form that Values reads.
	Values []byte
	// Weak says that Words are too few to be the cause.
	Weak bool
	// Beyond says that the message goes on after what is compared.
	Beyond bool

	text           string
	last, before   span // the last words, in Words
	told           span // the word whose number was read: further numbers are not its own
	said           int  // words in Words
	counted, names int  // words that say something, and names
	values, bares  int  // of quotes, keys and numbers, and bare names
	skip           int  // where reading goes on, beyond the token
	at             int  // where the token begins
	depth          int
	spoke          bool // the next word is the value of a key that says what went wrong
	key            string
}

type span struct{ from, to int }

// The bounds of what is kept of one text.
const (
	maxValues = 6
	maxBares  = 24
	maxValue  = 64
)

// Read reads one error text.
func (r *Reader) Read(text string) {
	*r = Reader{Words: r.Words[:0], Loose: r.Loose[:0], Values: r.Values[:0]}
	text = message(text)
	if len(text) > maxRead {
		text, r.Beyond = strings.ToValidUTF8(text[:maxRead], ""), true
	}
	r.scan(text)
	r.Words = once(r.Words, r.last, r.Beyond)
	if r.Weak = r.counted == 0 || r.names > r.counted+1; r.Weak {
		r.Loose = once(r.Loose, span{bytes.LastIndexByte(r.Loose, ' ') + 1, len(r.Loose)}, r.Beyond)
	}
}

// full reports whether enough was read.
func (r *Reader) full() bool { return r.said >= Compared || r.names >= maxLoose }

// scan reads the words, quotes and values of a text.
func (r *Reader) scan(text string) {
	outer := r.text
	r.text = text
	for i := 0; i < len(text); {
		c := text[i]
		if inToken[c] && r.full() {
			r.Beyond = true
			break
		}
		switch {
		case inToken[c]:
			if n := strange(text, i); n > 0 {
				i = r.sign(i, n)
				continue
			}
			if beginsDate[c] {
				if end := dateEnd(text, i, r.coded); end > 0 {
					r.take()
					r.noise()
					i = end
					continue
				}
			}
			end := tokenEnd(text, i)
			i = r.token(i, end)
		case c == '"' || c == '`' || c == '\'' && !insideWord(text, i):
			i = r.quoted(i, i+1, text[i:i+1])
		case c == '(' || c == '[':
			i = r.bracket(i)
		default:
			i++
		}
	}
	r.text = outer
}

// bracket passes over brackets that hold nothing but an identifier or a count with the word for it.
func (r *Reader) bracket(i int) int {
	n := strings.IndexAny(r.text[i:min(len(r.text), i+80)], ")]")
	if n < 0 {
		return i + 1
	}
	in, carried := r.text[i+1:i+n], false
	for w := range strings.FieldsFuncSeq(in, func(c rune) bool { return c == ' ' || c == ':' || c == '=' || c == '#' || c == '/' || c == '_' }) {
		switch is := wordOf(w); {
		case len(w) == 1:
		case carriers[strings.ToLower(w)]:
			carried = true
		case is == content || is == outcome || is == grammar, isCode(w):
			return i + 1
		}
	}
	if !carried || strings.ContainsAny(in, "'\"([") {
		return i + 1
	}
	return i + n + 1
}

// sign reads a sign of more than one byte: quotes, blanks, dashes.
func (r *Reader) sign(i, n int) int {
	switch s := r.text[i : i+n]; s {
	case "«":
		return r.quoted(i, i+n, "»")
	case "“", "„", "”":
		return r.quoted(i, i+n, "”")
	case "‘":
		return r.quoted(i, i+n, "’")
	}
	return i + n
}

// strange is the length of a sign that is no letter though its bytes are beyond ASCII, 0 for a letter.
func strange(s string, i int) int {
	switch s[i] {
	case 0xc2:
		if i+1 < len(s) {
			return 2 // U+0080 to U+00BF: blanks, « and »
		}
	case 0xe2:
		if i+2 < len(s) && s[i+1] <= 0xaf {
			return 3 // U+2000 to U+2BFF: punctuation, arrows, line ends
		}
	}
	return 0
}

// inToken lists what belongs to one token: words, numbers, identifiers, paths, addresses. Bytes of letters beyond ASCII count
// as letters.
var inToken = func() (t [256]bool) {
	for c := range t {
		b := byte(c)
		t[c] = isLetter(b) || isDigit(b) || strings.IndexByte("_-./:@+%~$", b) >= 0
	}
	return t
}()

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80 }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isUpper(c byte) bool  { return c >= 'A' && c <= 'Z' }

// tokenEnd is where the token that begins at i ends. An apostrophe inside a word belongs to it, and so does an = that fills up
// base64.
func tokenEnd(s string, i int) int {
	at := i
	for ; at < len(s); at++ {
		switch c := s[at]; {
		case c >= 0x80:
			if n := strange(s, at); n > 0 {
				if s[at:at+n] == "’" && at > i && insideWord(s, at) {
					at += n - 1
					continue
				}
				return at
			}
			if at > i && isPlain(s[at-1]) && blanklessAt(s, at) {
				return at
			}
		case inToken[c]:
			if at > i && s[at-1] >= 0x80 && isPlain(c) && blanklessBefore(s, at) {
				return at
			}
		case c == '\'' && at > i && insideWord(s, at):
		default:
			if c == '=' && at-i >= 12 && (at+1 == len(s) || s[at+1] == '=' || s[at+1] == ':' || !inToken[s[at+1]] && s[at+1] != '"') {
				continue
			}
			if at-i > 3 && strings.Contains(s[i:at], "://") && c != ' ' && strings.IndexByte("\"'`)>,;]}\t\n", c) < 0 {
				continue // queries and fragments belong to the address
			}
			return at
		}
	}
	return at
}

// isPlain accepts a letter or a digit of ASCII.
func isPlain(c byte) bool { return c < 0x80 && (isLetter(c) || isDigit(c)) }

// blanklessAt reports whether a letter of a script begins that writes its words, or their endings, without blanks: kana, Han, Hangul. A name in
// Latin letters ends there.
func blanklessAt(s string, i int) bool { return s[i] >= 0xe3 && s[i] <= 0xed && i+2 < len(s) }

func blanklessBefore(s string, i int) bool { return i >= 3 && blanklessAt(s, i-3) }

func insideWord(s string, i int) bool {
	next := i + 1
	if s[i] >= 0x80 {
		next = i + 3
	}
	return i > 0 && next < len(s) && isLetter(s[i-1]) && s[next] < 0x80 && isLetter(s[next])
}

// quoted reads what stands between quotes, from begin to the next close. A phrase is text, one word is a value; in JSON a name before a
// colon is a key.
func (r *Reader) quoted(open, begin int, closing string) int {
	n := strings.Index(r.text[begin:], closing)
	for closing == "'" && n >= 0 && insideWord(r.text, begin+n) {
		more := strings.Index(r.text[begin+n+1:], closing)
		if more < 0 {
			n = -1
			break
		}
		n += 1 + more
	}
	if n < 0 {
		return begin
	}
	in, end := strings.TrimSpace(r.text[begin:begin+n]), begin+n+len(closing)
	after := strings.TrimLeft(r.text[end:], " ")
	before := strings.TrimRight(r.text[:open], " ")
	if closing == `"` && strings.HasPrefix(after, ":") && (strings.HasSuffix(before, "{") || strings.HasSuffix(before, ",")) && in != "" {
		r.keyed(in)
		return len(r.text) - len(after) + 1
	}
	switch key, spoke := r.take(); {
	case in == "":
	case beginsDate[in[0]] && dateEnd(in, 0, r.coded) == len(in):
		r.noise()
	case r.phrase(in), spoke && saysSomething(in), isCode(in):
		if r.depth++; r.depth <= 3 {
			r.scan(in)
		}
		r.depth--
	case key != "":
		r.valueOf(key, in, "")
	default:
		r.value("", in, r.text[open:begin])
	}
	return end
}

// keyed notes a key whose value follows.
func (r *Reader) keyed(key string) {
	r.key, r.spoke = key, spoken[strings.ToLower(key)]
}

func (r *Reader) take() (key string, spoke bool) {
	key, spoke = r.key, r.spoke
	r.key, r.spoke = "", false
	return key, spoke
}

// phrase reports whether most words of a quoted text are listed.
func (r *Reader) phrase(s string) bool {
	if r.depth > 2 || !strings.Contains(s, " ") {
		return false
	}
	if s[0] == '{' || s[0] == '[' {
		return true
	}
	listed, others, says := 0, 0, false
	for i := 0; i < len(s); {
		if !isLetter(s[i]) {
			i++
			continue
		}
		end := i
		for end < len(s) && (isLetter(s[end]) || isDigit(s[end]) || s[end] == '-' || s[end] == '_') {
			end++
		}
		switch wordOf(s[i:end]) {
		case unlisted:
			others++
		case grammar, numeral, filler:
		case content:
			listed++
		case outcome:
			listed++
			says = true
		}
		i = end
	}
	return says && listed >= others
}

// saysSomething reports whether a single value is a word that says what went wrong.
func saysSomething(s string) bool {
	return !strings.ContainsAny(s, "/") && (wordOf(s) != unlisted || compound(s) != unlisted)
}

// wordOf looks a plain word up, whatever its case.
func wordOf(s string) meaning {
	var buf [24]byte
	if len(s) > len(buf) {
		return unlisted
	}
	b := buf[:0]
	for i := range len(s) {
		c := s[i]
		if isUpper(c) {
			c |= 0x20
		}
		b = append(b, c)
	}
	return lexicon[string(b)]
}
