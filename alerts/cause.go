package alerts

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"sandglass/alerts/cause"
	"sandglass/backend"
)

// causeVersion names how causes are compared. It is part of every fingerprint: when that changes, old fingerprints are
// recognisably old instead of silently different.
const causeVersion = "v3"

// maxCause bounds the text that is normalised and shown, in bytes.
const maxCause = 400

// Fingerprint identifies a sentence of a rule's own: two that differ only in identifiers, numbers, paths, durations and
// quoted values have the same one. It has the form "v3:" and 12 hexadecimal digits.
func Fingerprint(text string) string { return fingerprint(NormaliseCause(text)) }

// ErrorFingerprint identifies the cause of an error text of a backend. Texts of few listed words are compared as a whole; a
// Board knows their templates too, see Board.CauseOf.
func ErrorFingerprint(text string) string {
	var r cause.Reader
	r.Read(text)
	return errorFingerprint(&r)
}

func errorFingerprint(r *cause.Reader) string {
	if r.Weak {
		return looseFingerprint(string(r.Loose))
	}
	return fingerprint("words\x00" + string(r.Words))
}

// CauseOf identifies the cause of an error text as the alerts of this Board do, except that one without a line of its own has its own here.
func (b *Board) CauseOf(text backend.Safe) string {
	var r cause.Reader
	r.Read(text.String())
	if r.Weak && b != nil && b.memory != nil {
		return looseIn(b.memory.templates, string(r.Loose))
	}
	return errorFingerprint(&r)
}

func looseFingerprint(loose string) string { return fingerprint("loose\x00" + loose) }

// looseIn identifies a text of few listed words.
func looseIn(t *cause.Templates, loose string) string {
	if id := t.Find(loose); id != "" {
		return id
	}
	return looseFingerprint(loose)
}

func fingerprint(normalised string) string {
	sum := sha256.Sum256([]byte(normalised))
	return causeVersion + ":" + hex.EncodeToString(sum[:6])
}

// CauseText is the readable representative of a cause: one line of at most 160 characters. It leaves out which request
// failed: each occurrence names another, and the raw readings keep them all.
func CauseText(text backend.Safe) backend.Safe {
	s := text.String()
	if len(s) > 4*maxCause {
		s = s[:4*maxCause]
	}
	if strings.IndexByte(s, 0xe2) >= 0 && (strings.Contains(s, "\u2409") || strings.Contains(s, "\u240a") || strings.Contains(s, "\u240d")) {
		s = strings.Map(func(r rune) rune {
			if r == '\u2409' || r == '\u240a' || r == '\u240d' { // drawable tab and line ends
				return ' '
			}
			return r
		}, s)
	}
	if strings.Contains(s, "  ") {
		s = strings.Join(strings.Fields(s), " ")
	}
	s = withoutRequest(s)
	if s = strings.TrimSpace(s); s == text.String() && len(s) <= 160 {
		return text // it is clean already
	}
	return backend.Clean(s, 160)
}

// withoutRequest leaves out what names one request, as in "(60/60 in use, request be393ae5)": the word and at least eight
// hexadecimal digits after it.
func withoutRequest(s string) string {
	const word = "request"
	at := strings.Index(s, word)
	if at < 0 || at > 0 && isLetter(s[at-1]) {
		return s
	}
	id := at + len(word)
	for _, between := range []string{" ", "_", "-", "id", "Id", "ID", ":", "=", " "} {
		if strings.HasPrefix(s[id:], between) {
			id += len(between)
		}
	}
	end := id
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || s[end] >= 'a' && s[end] <= 'f' || s[end] == '-') {
		end++
	}
	if end-id < 8 || end < len(s) && isLetter(s[end]) {
		return s
	}
	if at > 0 && s[at-1] == '(' && end < len(s) && s[end] == ')' {
		at, end = at-1, end+1
	}
	return strings.TrimRight(s[:at], " ,;") + s[end:]
}

// varies stands for a number or an identifier. They are not told apart: of identifiers of eight hexadecimal digits every
// fortieth has no letter and looks like a number, and would be a cause of its own.
const varies = "<n>"

// partly marks a text that goes on after what is compared.
func partly(text backend.Safe) backend.Safe {
	return backend.Textf("%s (it goes on: its first %d known words are compared)", backend.Clean(text.String(), 110), cause.Compared)
}

// NormaliseCause replaces what varies between occurrences of one cause. Words keep their spelling in lower case, since
// they carry the meaning; a token is judged as a whole, so that "r2" and "schemaVersion" stay words.
func NormaliseCause(text string) string {
	return string(appendCause(make([]byte, 0, 256), text)) // room on the stack for most
}

// appendCause appends the normalised text to b.
func appendCause(b []byte, text string) []byte {
	if len(text) > maxCause {
		text = strings.ToValidUTF8(text[:maxCause], "")
	}
	start := len(b)
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case tokenTable[c] && spaceLen(text, i) == 0:
			end, slash := i+1, false
			for end < len(text) && tokenTable[text[end]] && (text[end] < 0x80 || spaceLen(text, end) == 0) {
				slash = slash || text[end] == '/'
				end++
			}
			if slash && strings.Contains(text[i:end], "://") { // queries and fragments belong to the address
				for end < len(text) && !isSpace(text, end) && !strings.ContainsRune("\"'`)>,;", rune(text[end])) {
					end++
				}
			}
			b = appendToken(b, text[i:end])
			i = end
		case isSpace(text, i):
			for i < len(text) && isSpace(text, i) {
				i += spaceLen(text, i)
			}
			if len(b) > start && i < len(text) {
				b = append(b, ' ')
			}
		case c == '"' || c == '`' || c == '\'' && !insideWord(text, i):
			if end := strings.IndexByte(text[i+1:], c); end >= 0 {
				b = append(b, "<q>"...)
				i += end + 2
				continue
			}
			b = append(b, ' ')
			i++
		default:
			b = append(b, c)
			i++
		}
	}
	return b
}

func insideWord(s string, i int) bool {
	return i > 0 && i+1 < len(s) && isLetter(s[i-1]) && isLetter(s[i+1])
}

// spaceLen is the length of the blank at i: line ends arrive as drawable stand-ins (U+2409, U+240A, U+240D).
func spaceLen(s string, i int) int {
	if s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r' {
		return 1
	}
	if s[i] == 0xe2 && i+2 < len(s) && s[i+1] == 0x90 && (s[i+2] == 0x89 || s[i+2] == 0x8a || s[i+2] == 0x8d) {
		return 3
	}
	return 0
}

func isSpace(s string, i int) bool { return spaceLen(s, i) > 0 }

// tokenTable lists what belongs to one token: words, numbers, identifiers, paths, addresses. Bytes of non-ASCII letters
// count as letters.
var tokenTable = func() (t [256]bool) {
	for c := range t {
		b := byte(c)
		t[c] = isLetter(b) || isDigit(b) || strings.IndexByte("_-./:@+%~", b) >= 0
	}
	return t
}()

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80 }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// appendToken judges one token. Punctuation at its end belongs to the sentence.
func appendToken(b []byte, tok string) []byte {
	n := len(tok)
	for n > 0 && (tok[n-1] == '.' || tok[n-1] == ':' || tok[n-1] == '-' || tok[n-1] == '/') {
		n--
	}
	core := tok[:n]
	var digit, slash bool
	for i := range n {
		switch c := core[i]; {
		case isDigit(c):
			digit = true
		case c == '/':
			slash = true
		}
	}
	switch {
	case core == "":
		return append(b, tok...)
	case slash && strings.Contains(core, "://"):
		b = append(b, "<url>"...)
	case slash:
		b = append(b, "<path>"...)
	case cause.IsHex(core), digit && cause.IsNumeric(core):
		b = append(b, varies...)
	default:
		b = appendParts(b, core)
	}
	return append(b, strings.Trim(tok[n:], "/")...)
}

func appendLower(b []byte, s string) []byte {
	for i := range len(s) {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		b = append(b, c)
	}
	return b
}

// appendParts handles words and compounds such as "sbx_76fca18e", "build-3", "host:8080" and "retry3": a part that holds
// letters only stays, a number is a number, and anything that mixes the two beyond a short name is an identifier. A UUID
// is one part: some of its groups can look like words.
func appendParts(b []byte, s string) []byte {
	for len(s) > 0 {
		if len(s) >= cause.UUIDLength && cause.IsUUID(s[:cause.UUIDLength]) {
			b, s = append(b, varies...), s[cause.UUIDLength:]
			continue
		}
		n, digits := 0, 0
		for n < len(s) && (isLetter(s[n]) || isDigit(s[n])) {
			if isDigit(s[n]) {
				digits++
			}
			n++
		}
		switch part := s[:n]; {
		case digits == 0 && !cause.IsHex(part):
			b = appendLower(b, part)
		case digits == 1 && len(part) <= 3 && isLetter(part[0]) && isDigit(part[len(part)-1]):
			b = appendLower(b, part) // r2, s3, ip6, h2: names, not numbers
		default:
			b = append(b, varies...)
		}
		if n == len(s) {
			return b
		}
		b = append(b, s[n])
		s = s[n+1:]
	}
	return b
}
