package cause

import "strings"

// compound looks at names of several parts: camel case, kebab or snake. It is a word when all parts are listed; one
// with hyphens only when a part says what went wrong, since names of things have hyphens too.
func compound(tok string) meaning {
	says, n, hyphen := false, 0, false
	for i := 0; i < len(tok); {
		c := tok[i]
		if !isLetter(c) && !isDigit(c) {
			hyphen = hyphen || c == '-'
			if c != '-' && c != '_' { // names with dots are hosts, files and properties
				return unlisted
			}
			i++
			continue
		}
		end := partEnd(tok, i)
		is := wordOf(tok[i:end])
		if is == unlisted {
			return unlisted
		}
		says = says || is == outcome
		n++
		i = end
	}
	if n < 2 || hyphen && !says {
		return unlisted
	}
	return content
}

// partEnd is where the part of a name that begins at i ends: at a sign, or where camel case goes up.
func partEnd(s string, i int) int {
	at := i + 1
	if isUpper(s[i]) { // HTTPStatus: the last capital begins the next part
		for at < len(s) && isUpper(s[at]) {
			at++
		}
		if at-i > 1 {
			if at < len(s) && isLetter(s[at]) {
				at--
			}
			if at-i > 1 || at == len(s) {
				return digitsEnd(s, at)
			}
		}
	}
	for at < len(s) && (isLetter(s[at]) && !isUpper(s[at]) || isDigit(s[at])) {
		at++
	}
	return at
}

func digitsEnd(s string, at int) int {
	for at < len(s) && isDigit(s[at]) {
		at++
	}
	return at
}

// isCode accepts what programs call an error: ENOENT, ERR_MODULE_NOT_FOUND, SQLITE_BUSY, SIGKILL, ImagePullError, P2002.
func isCode(tok string) bool {
	if classLen(tok) == len(tok) {
		return true
	}
	if len(tok) < 4 || !allUpper(tok) {
		return false
	}
	if tok[0] == 'E' && !strings.Contains(tok, "_") {
		return len(tok) <= 15 && !isDigit(tok[1])
	}
	return strings.HasPrefix(tok, "ERR_") || strings.HasPrefix(tok, "SQLITE_") || strings.HasPrefix(tok, "SIG") && len(tok) <= 9 ||
		strings.HasPrefix(tok, "SSL_") || strings.HasPrefix(tok, "UND_ERR_") || strings.HasPrefix(tok, "CERT_")
}

// isVersion accepts v1 and v20.1.0-rc.2: up to four digits after the v, and what follows a dot, a hyphen or a plus.
func isVersion(s string) bool {
	if s[0] != 'v' {
		return false
	}
	end := digitsEnd(s, 1)
	return end > 1 && end <= 5 && (end == len(s) || strings.IndexByte(".-+", s[end]) >= 0 && IsNumeric(s[1:]))
}

// isCodeNumber accepts E1001, P1 and TS2304: one to four capitals and up to five digits.
func isCodeNumber(s string) bool {
	n := 0
	for n < len(s) && isUpper(s[n]) {
		n++
	}
	return n > 0 && n <= 4 && len(s) > n && len(s)-n <= 5 && len(s) == digitsEnd(s, n) && !IsHex(s)
}

// isScratch accepts the six characters that mkdtemp puts at the end of a name, where they are letters of mixed case: as camel case they would
// have a part of one letter.
func isScratch(s string) bool {
	if len(s) != 6 {
		return false
	}
	upper, lower, single := 0, 0, false
	for i := 0; i < len(s); {
		if !isLetter(s[i]) || s[i] >= 0x80 {
			return false
		}
		end := partEnd(s, i)
		single = single || end-i == 1
		for ; i < end; i++ {
			if isUpper(s[i]) {
				upper++
			} else {
				lower++
			}
		}
	}
	return single && upper > 1 && lower > 1 || upper > 3 && lower > 0
}

// IsNumeric accepts numbers, ranges, versions, times of day, dates, durations and sizes: digits with separators and
// units of at most three letters that follow digits.
func IsNumeric(s string) bool {
	if s == "" || !isDigit(s[0]) && !((s[0] == '-' || s[0] == '+' || s[0] == '.') && len(s) > 1 && isDigit(s[1])) {
		return false
	}
	letters := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case isDigit(c), c == '.', c == '-', c == '+', c == ':', c == '%', c == '_':
			letters = 0
		case isLetter(c):
			if letters++; letters > 3 {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// IsHex accepts hexadecimal strings of six or more digits, with or without 0x. Some of them hold no decimal digit; hardly
// any word is one of them.
func IsHex(s string) bool {
	s = strings.TrimPrefix(strings.TrimPrefix(s, "0x"), "0X")
	if len(s) < 6 {
		return false
	}
	for i := 0; i < len(s); i++ {
		if !isDigit(s[i]) && !(s[i]|0x20 >= 'a' && s[i]|0x20 <= 'f') {
			return false
		}
	}
	return true
}

// UUIDLength is how many characters a UUID has.
const UUIDLength = 36

// IsUUID accepts the 36 characters of a UUID (RFC 9562).
func IsUUID(s string) bool {
	if len(s) != UUIDLength || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; c != '-' && !isDigit(c) && !(c|0x20 >= 'a' && c|0x20 <= 'f') {
			return false
		}
	}
	return true
}

func isIPv6(head, rest string) bool {
	if strings.Count(rest, ":") < 1 || len(head) > 4 {
		return false
	}
	for i := range len(rest) {
		if c := rest[i]; c != ':' && c != '.' && !isDigit(c) && !(c|0x20 >= 'a' && c|0x20 <= 'f') {
			return false
		}
	}
	return true
}

// portOf is the port behind an address of IPv6 without brackets, as Node writes it after a code: ::1:8443. It is decimal, and more groups than
// an address needs, or :: before them, leave room for it.
func portOf(head, rest string) string {
	at := strings.LastIndexByte(rest, ':') + 1
	port := rest[at:]
	if len(port) < 2 || len(port) > 5 || digitsEnd(port, 0) != len(port) || port[0] == '0' {
		return ""
	}
	if groups := strings.Count(rest, ":") + 2; !strings.Contains(head+":"+rest, "::") && groups < 9 {
		return ""
	}
	return port
}

// isBase64 accepts base64 of twelve or more characters: with = at its end, or with letters and digits mixed as nobody writes them.
func isBase64(s string) bool {
	if len(s) < 12 {
		return false
	}
	bare := strings.TrimRight(s, "=")
	var upper, lower, digit, turns, slashes, plus int
	was := byte(0)
	for i := range len(bare) {
		c, kind := bare[i], byte(0)
		switch {
		case isUpper(c):
			upper++
			kind = 'A'
		case c >= 'a' && c <= 'z':
			lower++
			kind = 'a'
		case isDigit(c):
			digit++
			kind = '0'
		case c == '/':
			slashes++
		case c == '+':
			plus++
		case c == '-', c == '_':
		default:
			return false
		}
		if kind != was && i > 0 {
			turns++
		}
		was = kind
	}
	switch {
	case len(bare) < len(s):
		return upper > 0 && lower > 0
	case slashes > 0 && plus > 0:
		return upper > 1 && lower > 1
	case slashes > 0 && (len(s) < 20 || bare[0] == '/'):
		return false
	}
	return len(s) >= 16 && upper > 1 && lower > 1 && 3*turns > len(s)
}

// isRandom accepts letters and digits that no name has: base64, base32 such as in a ULID, the suffix of a pod.
func isRandom(s string) bool {
	if len(s) < 5 {
		return false
	}
	if isBase64(s) || IsHex(s) {
		return true
	}
	var digits, vowels, upper, lower, turns, cases int
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 0x80:
			return false
		case isDigit(c):
			digits++
		case vowel(c|0x20) || c|0x20 == 'y':
			vowels++
		}
		if isUpper(c) {
			upper++
		} else if isLetter(c) {
			lower++
		}
		if i > 0 && isDigit(c) != isDigit(s[i-1]) {
			turns++
		}
		if i > 0 && isUpper(c) != isUpper(s[i-1]) {
			cases++
		}
	}
	switch {
	case len(s) >= 5 && vowels == 0 && (upper == 0 || digits > 0): // Kubernetes leaves out vowels
		return true
	case len(s) >= 5 && digits > 0 && turns >= 2:
		return true
	case len(s) >= 8 && lower > 1 && upper > 1 && 5*cases >= 2*len(s): // base64 of letters
		return true
	}
	return len(s) >= 10 && digits >= 2 && turns >= 2 || len(s) >= 6 && upper > 1 && lower > 1 && digits > 0
}
